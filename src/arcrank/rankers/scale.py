"""Defaults that follow the data: the weight C of the data term, and the size of the constant feature.

Both are relative to the mean squared length of the rows, so that multiplying X by a number changes no ranking.
`benchmarks/default_c.py` shows how the constants were chosen.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from arcrank._features import squared_lengths
from arcrank._typing import Array
from arcrank._validation import check_real
from arcrank.errors import ParameterError

__all__ = [
    "INTERCEPTS",
    "SCALE",
    "DataScale",
    "check_cost",
    "check_intercept",
    "measure_scale",
    "scale_of_sums",
    "scale_sums",
]

SCALE = "scale"
INTERCEPTS = ("scaled", "regularised")
_FLOOR = 200.0
_SMALLEST, _LARGEST = 1e-90, 1e90
"""Mean squared lengths beyond are taken for these."""


class DataScale(NamedTuple):
    """The mean squared length of the rows, and the share of values that are not 0.

    Examples
    --------
    >>> scale = measure_scale(np.array([[3.0, 0.0], [0.0, 4.0]]), np.ones(2))
    >>> scale
    DataScale(square=12.5, density=0.5)
    >>> scale.cost("scale", 10.0, n_labels=8), scale.cost(0.5, 10.0, n_labels=8)
    (3.2, 0.5)
    """

    square: float
    density: float

    @classmethod
    def of_diagonal(cls, values: Array, weight: Array) -> DataScale:
        """Measure a kernel by its values k(x, x), (n,)."""
        return cls(_within_limits(_weighted_mean(values, weight)), 1.0)

    def cost(self, C: float | str, factor: float, n_labels: int, pieces: float = math.inf) -> float:
        """Return C as a number: "scale" is `factor sqrt(labels / density) / square`.

        Where most values are 0, a weight is learnt from few instances, and each label has fewer instances where labels
        are many: both take a larger C. So do losses with a margin where the `pieces` of all instances are few, as on
        small dense data: it is at least `200 / (pieces square)`, else no score would get near the margin.
        """
        if C != SCALE:
            return float(C)
        least = _FLOOR / pieces if pieces > 0 else 0.0
        return max(factor * math.sqrt(n_labels / self.density), least) / self.square

    def constant(self, intercept: str, *, with_cut: bool) -> float:
        """Return the value of the constant feature: 1, or for "scaled" the square root of `density square`.

        All instances have this feature, the others on average a share of `density`. As long as a row, it would have
        much more influence than any other feature of sparse data, and labels would be ranked by how frequent they are.
        With a cut it is as long as a row, the square root of `square`: how frequent a label is tells most about
        whether it is above the cut.
        """
        if intercept != "scaled":
            return 1.0
        return math.sqrt(self.square if with_cut else self.density * self.square)


def measure_scale(X: Any, weight: Array) -> DataScale:
    """Measure instances X, (n, d), with weights (n,); rows of weight 0 do not count."""
    return scale_of_sums(scale_sums(X, weight), X.shape[1])


def scale_sums(X: Any, weight: Array) -> tuple[float, float, float]:
    """Return the weighted sums of squared lengths and of values that are not 0, and the sum of the weights.

    They may be added over parts of the instances.
    """
    if not sp.issparse(X):
        stored = np.count_nonzero(X, axis=1)
    else:
        stored = np.diff((X if X.data.all() else (X != 0).tocsr()).indptr)
    square, nonzeros = (float(v.astype(np.float64) @ weight) for v in (squared_lengths(X), stored))
    return square, nonzeros, float(weight.sum())


def scale_of_sums(sums: tuple[float, float, float], n_features: int) -> DataScale:
    """Return the scale of instances whose `scale_sums` are known."""
    square, nonzeros = (value / sums[2] if sums[2] > 0 else 0.0 for value in sums[:2])
    return DataScale(_within_limits(square), nonzeros / n_features if nonzeros > 0 else 1.0)


def _within_limits(square: float) -> float:
    """Return the mean square as one that can be divided by; 1 where all values are 0."""
    return min(max(square, _SMALLEST), _LARGEST) if square > 0 else 1.0


def _weighted_mean(values: Any, weight: Array) -> float:
    total = float(weight.sum())
    return float(np.asarray(values, dtype=np.float64).ravel() @ weight) / total if total > 0 else 0.0


def check_cost(C: Any) -> None:
    """Refuse a C that is neither "scale" nor a number above 0."""
    if isinstance(C, str):
        if C != SCALE:
            raise ParameterError(f"C must be a number above 0, or 'scale' to choose it by the data; got {C!r}.")
        return
    check_real("C", C, above=0, also="'scale'")


def check_intercept(intercept: Any) -> None:
    """Refuse what is not the name of a way to regularise intercepts."""
    if not isinstance(intercept, str) or intercept not in INTERCEPTS:
        allowed = " or ".join(map(repr, INTERCEPTS))
        raise ParameterError(f"intercept must be {allowed}, got {intercept!r}. For none, pass fit_intercept=False.")

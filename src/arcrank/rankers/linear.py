"""Linear rankers on arrays: the parts of a margin, the order of labels, and weights relative to the cut.

Ranking with a stored model uses these functions without the estimators, so nothing here imports scikit-learn or SciPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array

__all__ = ["Explanation", "relative_to_cut", "replaced_by_relative", "top_columns"]

_BLOCK = 1 << 16  # numbers that are moved at a time


@dataclass(frozen=True)
class Explanation:
    """The parts of a margin, largest first; `intercept` and `parts` sum to `margin`.

    Examples
    --------
    >>> from arcrank import RocchioRanker
    >>> ranker = RocchioRanker().fit([[1, 0], [0, 1]], ["tea", "milk"])
    >>> why = ranker.explain([2, 1], above="tea", below="milk")
    >>> why.margin, why.parts
    (1.0, [(0, 2.0), (1, -1.0)])
    """

    above: Any
    below: Any
    margin: float
    intercept: float
    parts: list[tuple[Any, float]]

    @classmethod
    def of(cls, above: Any, below: Any, names: Any, values: Array, intercept: float) -> Explanation:
        """Sort the parts of the features by their size, largest first."""
        order = np.argsort(-np.abs(values), kind="stable")
        names = names.tolist() if isinstance(names, np.ndarray) else names
        parts = [(names[j], float(values[j])) for j in order]
        return cls(above, below, intercept + sum(value for _, value in parts), intercept, parts)


def relative_to_cut(columns: Array) -> Array:
    """Columns of labels less that of the cut, which comes first."""
    relative: Array = columns[:, 1:] - columns[:, :1]
    return relative


def replaced_by_relative(columns: Array) -> Array:
    """Return the same in the memory of the columns, which are lost, a block of rows at a time.

    Examples
    --------
    >>> replaced_by_relative(np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 4.0]])).tolist()
    [[1.0, 2.0], [0.0, -1.0]]
    """
    n, k = columns.shape
    flat, step = columns.reshape(-1), max(1, _BLOCK // k)
    for start in range(0, n, step):  # a row moves to the left, over rows that have been moved
        stop = min(n, start + step)
        flat[start * (k - 1) : stop * (k - 1)] = relative_to_cut(columns[start:stop]).reshape(-1)
    return flat[: n * (k - 1)].reshape(n, k - 1)


def top_columns(scores: NDArray[np.floating[Any]], top: int | None) -> NDArray[np.intp]:
    """Columns in order of descending score, only the first `top`; equal scores keep the order of columns."""
    k = scores.shape[1]
    if top is None or 4 * top >= k:
        return np.argsort(-scores, axis=1, kind="stable")[:, :top]
    # Everything that ties with the last place must be seen for the order of columns to be kept.
    last = -np.partition(-scores, top - 1, axis=1)[:, top - 1]
    result = np.empty((len(scores), top), dtype=np.intp)
    for row, (values, threshold) in enumerate(zip(scores, last, strict=True)):
        candidates = np.flatnonzero(values >= threshold)
        result[row] = candidates[np.argsort(-values[candidates], kind="stable")[:top]]
    return result

"""From scores to label sets: thresholds for all instances, so that as many labels are predicted as were given.

A ranking loss leaves open where a ranking is to be cut. The cut of the smallest loss, instance by instance, is a gap of
the scores, and falls anywhere; thresholds give better sets, and `cut_label=True` better ones still.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array, Mask
from arcrank.graphs import LayeredGraphs
from arcrank.solvers.products import row_products

__all__ = ["MOST_CELLS", "Thresholds", "learn_thresholds", "set_sizes", "thresholds_of"]

MOST_CELLS = 1 << 24  # scores that are looked at: 128 MB


class Thresholds(NamedTuple):
    """`any`: a label that scores above it is in the set; `first`: so is the best one, if it scores above this.

    >>> import numpy as np
    >>> Thresholds(1.0, -np.inf).sets(np.array([[3.0, 2.0, 0.0], [0.5, 0.2, 0.1]])).astype(int).tolist()
    [[1, 1, 0], [1, 0, 0]]
    """

    any: float
    first: float

    def sets(self, scores: Array) -> Mask:
        """The labels of each set, (n, k)."""
        taken = scores > self.any
        rows = np.flatnonzero(scores.max(axis=1) > self.first)
        taken[rows, scores[rows].argmax(axis=1)] = True
        return taken


def set_sizes(graphs: LayeredGraphs) -> NDArray[np.int64]:
    """How many labels are relevant in each of n label sets."""
    others = np.where(graphs.rest == 0, graphs.n_labels - np.diff(graphs.ptr), 0)
    rows = np.repeat(np.arange(len(graphs)), np.diff(graphs.ptr))
    return others + np.bincount(rows[graphs.level == 0], minlength=len(graphs))


def learn_thresholds(X: Any, coef: Array, intercept: Array, sizes: NDArray[np.int64]) -> Thresholds:
    """Choose the thresholds so that the training instances get as many labels as they were given.

    As many labels score above `any` as were given, and as many best labels above `first` as sets were not empty.
    """
    step = 1 + X.shape[0] * len(coef) // MOST_CELLS
    scores = row_products(X if step == 1 else X[::step], coef.T)
    scores += intercept
    return thresholds_of(scores, sizes[::step])


def thresholds_of(scores: Array, sizes: NDArray[np.int64]) -> Thresholds:
    """Choose the thresholds by scores, (n, k), of instances with so many labels each; the scores are rearranged."""
    first = _passed_by(scores.max(axis=1), int(np.count_nonzero(sizes)))
    return Thresholds(_passed_by(scores.reshape(-1), int(sizes.sum())), first)


def _passed_by(values: Array, n: int) -> float:
    """A threshold that n of the values, which are rearranged, are above."""
    if n in (0, len(values)):
        return float("inf") if n == 0 else float("-inf")
    place = len(values) - n
    values.partition([place - 1, place])
    return float(values[place - 1] + values[place]) / 2

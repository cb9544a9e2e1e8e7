"""The log-linear loss of votes: `w log(1 + sum exp(-margin))`, where w is the weight of a piece's arcs."""

from __future__ import annotations

import numpy as np

from arcrank._typing import Array
from arcrank.decompositions import Decomposition
from arcrank.graphs import ArcGraphs
from arcrank.graphs.votes import counted_arcs
from arcrank.losses.loglinear import LogLinearLoss

__all__ = ["CountedLoss"]


class CountedLoss:
    """`sum_i weight_i sum_pieces w log(1 + sum_arcs exp(-margin))` over pieces of arcs of equal weight w.

    Parameters and methods are those of `LogLinearLoss`; pieces are not divided by their number.

    Examples
    --------
    >>> import numpy as np
    >>> from arcrank.decompositions import get_decomposition
    >>> from arcrank.graphs import from_votes
    >>> votes = from_votes(["x"] * 4, ["tea"] * 3 + ["milk"], ["milk"] * 3 + ["tea"])
    >>> loss = CountedLoss(votes.graphs, get_decomposition("disagreement"))
    >>> loss.flows(np.zeros((1, 2)))[1].tolist()
    [[0.5, 1.5]]
    """

    def __init__(
        self, graphs: ArcGraphs, decomposition: Decomposition, weight: Array | None = None, *, n_jobs: int = 1
    ) -> None:
        self.shape = graphs.shape
        self._rows, plain, counts = counted_arcs(graphs)
        counts = counts if weight is None else counts * weight[self._rows]
        self._loss = LogLinearLoss(plain, decomposition, counts, normalize=False, n_jobs=n_jobs)
        starts = np.flatnonzero(np.diff(self._rows, prepend=-1))
        self._starts, self._used = starts, self._rows[starts]

    def flows(self, scores: Array) -> tuple[float, Array, Array]:
        """The loss, and outflow and inflow as (n, k) arrays."""
        value, outflow, inflow = self._loss.flows(np.ascontiguousarray(scores[self._rows]))
        return value, self._summed(outflow), self._summed(inflow)

    def derivatives(self, scores: Array) -> tuple[float, Array, Array]:
        """The loss, its gradient in the scores and the diagonal of its Hessian, (n, k) arrays."""
        value, gradient, curvature = self._loss.derivatives(np.ascontiguousarray(scores[self._rows]))
        return value, self._summed(gradient), self._summed(curvature)

    def _summed(self, parts: Array) -> Array:
        """Add up the rows of each instance; those of an instance are neighbours."""
        total = np.zeros(self.shape)
        if len(self._starts):
            total[self._used] = np.add.reduceat(parts, self._starts, axis=0)
        return total

"""What a solver asks of a loss."""

from __future__ import annotations

from typing import Protocol

from arcrank._typing import Array

__all__ = ["FlowLoss"]


class FlowLoss(Protocol):
    """A convex loss of scores, at least 0, that knows its flows; `LogLinearRanker(loss=...)` takes a custom one.

    The flow of an arc is minus the derivative of the loss in its margin: outflow of the head, inflow of the tail. A
    linear ranker needs no more, and the duality gap follows from the flows for every convex loss.

    Examples
    --------
    >>> import numpy as np
    >>> from arcrank import LogLinearRanker
    >>> class Exponential:
    ...     def __init__(self, graphs, decomposition, weight):
    ...         arcs = graphs.to_arcs()
    ...         self.row, self.head, self.tail, self.weight = arcs.rows(), arcs.head, arcs.tail, weight
    ...     def flows(self, scores):
    ...         margin = scores[self.row, self.head] - scores[self.row, self.tail]
    ...         flow = self.weight[self.row] * np.exp(-margin)
    ...         outflow, inflow = np.zeros_like(scores), np.zeros_like(scores)
    ...         np.add.at(outflow, (self.row, self.head), flow)
    ...         np.add.at(inflow, (self.row, self.tail), flow)
    ...         return float(flow.sum()), outflow, inflow
    >>> ranker = LogLinearRanker(loss=Exponential).fit([[1.0], [-1.0]], ["tea", "milk"])
    >>> ranker.rank([[2.0]]).tolist(), ranker.duality_gap_ < 1e-3
    ([['tea', 'milk']], True)
    """

    def flows(self, scores: Array) -> tuple[float, Array, Array]:
        """The loss at (n, k) scores, and the outflow and inflow of each label, (n, k) each."""
        ...

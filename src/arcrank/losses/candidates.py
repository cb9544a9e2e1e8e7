"""Losses of candidates: sums over buckets of instances of similar size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from arcrank._typing import Array
from arcrank.decompositions import Decomposition
from arcrank.graphs import CandidateGraphs, PreferenceGraphs
from arcrank.losses.flows import FlowLoss

__all__ = ["CandidateLoss"]


class CandidateLoss:
    """A loss of candidate graphs: scores and flows are (candidates,) arrays in place of (n, k) ones.

    Parameters
    ----------
    graphs : CandidateGraphs
        Of n instances.
    decomposition : Decomposition
        How they are cut.
    weight : (n,) array
        Weights of the instances.
    bind : callable
        From graphs, decomposition and weights of the instances of a bucket to their loss.

    Examples
    --------
    >>> import numpy as np
    >>> from arcrank.decompositions import get_decomposition
    >>> from arcrank.losses import LogLinearLoss
    >>> graphs = CandidateGraphs.from_grades([1, 0, 0, 2, 2], [0, 2, 5])
    >>> loss = CandidateLoss(graphs, get_decomposition("domination"), np.ones(2), LogLinearLoss)
    >>> value, outflow, inflow = loss.flows(np.zeros(5))
    >>> round(value, 4), outflow.tolist(), inflow.tolist()
    (1.3863, [0.5, 0.0, 0.0, 0.25, 0.25], [0.0, 0.5, 0.5, 0.0, 0.0])
    """

    def __init__(
        self,
        graphs: CandidateGraphs,
        decomposition: Decomposition,
        weight: Array,
        bind: Callable[[PreferenceGraphs, Decomposition, Array], FlowLoss],
    ) -> None:
        self._parts = [
            (bucket, bind(bucket.graphs, decomposition.of_rows(bucket.rows), weight[bucket.rows]))
            for bucket in graphs.buckets()
        ]

    def flows(self, scores: Array) -> tuple[float, Array, Array]:
        """The loss at the scores of all candidates, and the outflow and inflow of each."""
        total, outflow, inflow = 0.0, np.zeros_like(scores), np.zeros_like(scores)
        for bucket, loss in self._parts:
            value, out, into = loss.flows(bucket.gather(scores))
            total += value
            bucket.scatter(out, outflow)
            bucket.scatter(into, inflow)
        return total, outflow, inflow

"""The log-linear loss of Dekel, Manning & Singer (2003): `log(1 + sum_arcs w exp(-margin))` for each piece."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from arcrank._typing import Array
from arcrank.compiled import loglinear_layers
from arcrank.compiled.loglinear_curvature import disagreement_curvature, domination_curvature, piece_curvature
from arcrank.compiled.loglinear_pieces import piece_flows
from arcrank.decompositions import Decomposition
from arcrank.graphs import LayeredGraphs, PreferenceGraphs
from arcrank.graphs.base import row_blocks

_LAYERED: dict[str, tuple[Callable[..., None], bool]] = {  # kernel, and whether it sees the graph upside down
    "zero-one": (loglinear_layers.zero_one, False),
    "disagreement": (loglinear_layers.disagreement, False),
    "domination": (loglinear_layers.domination, False),
    "dominated": (loglinear_layers.domination, True),
}
_CURVATURES: dict[Callable[..., None], Callable[..., None]] = {  # zero-one has one piece: flows are enough
    loglinear_layers.disagreement: disagreement_curvature,
    loglinear_layers.domination: domination_curvature,
    piece_flows: piece_curvature,
}


class LogLinearLoss:
    """`sum_i weight_i 1/s_i sum_{pieces of D(G_i)} log(1 + sum_arcs w exp(-margin))` over given graphs.

    Scores are (n, k) float64. Flows are derivatives in the negative margin, (n, k): outflow where a label is a head,
    inflow where it is a tail; the gradient in the scores is inflow - outflow. Natural logarithms: the loss divided
    by ln 2 bounds the error.

    Parameters
    ----------
    graphs : preference graphs
        Of n instances over k labels.
    decomposition : Decomposition
        How they are cut. With `constant_cut` label 0 has no flow: its score is not learnt.
    weight : (n,) array, optional
        Weights of the instances.
    normalize : bool
        Divide an instance's pieces by their number s_i (the paper's way), or count every piece fully.
    n_jobs : int
        Threads; the result does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from arcrank.decompositions import get_decomposition
    >>> from arcrank.graphs import as_graphs
    >>> loss = LogLinearLoss(as_graphs(["tea", "milk"]), get_decomposition("domination"))
    >>> value, outflow, inflow = loss.flows(np.array([[0.0, 0.0], [9.0, 0.0]]))
    >>> round(value, 4), outflow.round(4).tolist()
    (0.6933, [[0.0, 0.5], [0.0001, 0.0]])
    """

    def __init__(
        self,
        graphs: PreferenceGraphs,
        decomposition: Decomposition,
        weight: Array | None = None,
        *,
        normalize: bool = True,
        n_jobs: int = 1,
    ) -> None:
        n = len(graphs)
        self.shape = graphs.shape
        self.weight = np.ones(n) if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
        self.normalize = normalize
        self.n_jobs = n_jobs
        self._mirror = False
        self._constant_cut = decomposition.constant_cut
        self._kernel, self._graph = self._choose(graphs, decomposition)

    def _choose(self, graphs: PreferenceGraphs, decomposition: Decomposition) -> tuple[Callable[..., None], Any]:
        if isinstance(graphs, LayeredGraphs) and decomposition.layered in _LAYERED:
            kernel, self._mirror = _LAYERED[decomposition.layered]
            return kernel, (graphs.ptr, graphs.label, graphs.level, graphs.rest, max(1, graphs.n_layers))
        pieces = decomposition.pieces(graphs.to_arcs())
        return piece_flows, (pieces.row_ptr, pieces.arc_ptr, pieces.head, pieces.tail, pieces.weight)

    def flows(self, scores: Array) -> tuple[float, Array, Array]:
        """The loss, and outflow and inflow as (n, k) arrays; the number of threads does not change them."""
        outflow, inflow = np.empty(self.shape), np.empty(self.shape)
        losses = np.empty(self.shape[0])
        flows = (inflow, outflow) if self._mirror else (outflow, inflow)
        self._run(self._kernel, scores, *flows, losses)
        if self._constant_cut:
            outflow[:, 0] = inflow[:, 0] = 0.0
        return float(losses.sum()), outflow, inflow

    def flows_of(self, block: slice, scores: Array) -> tuple[float, Array, Array]:
        """The loss, outflow and inflow of some instances, from their scores, (m, k)."""
        outflow, inflow, losses = np.empty_like(scores), np.empty_like(scores), np.empty(len(scores))
        flows = (inflow, outflow) if self._mirror else (outflow, inflow)
        self._kernel(*self._arguments, self.weight, self.normalize, block.start, scores, *flows, losses)
        if self._constant_cut:
            outflow[:, 0] = inflow[:, 0] = 0.0
        return float(losses.sum()), outflow, inflow

    def derivatives(self, scores: Array) -> tuple[float, Array, Array]:
        """The loss, its gradient in the scores (inflow - outflow), and the diagonal of its Hessian, (n, k) arrays.

        The curvature of a piece is `(inflow + outflow) - (inflow - outflow)^2` with the flows of the piece alone; see
        `arcrank.compiled.loglinear_curvature`.
        """
        value, outflow, inflow = self.flows(scores)
        gradient = inflow - outflow
        if self._kernel in _CURVATURES:
            curvature = np.empty(self.shape)
            self._run(_CURVATURES[self._kernel], scores, curvature)
            if self._constant_cut:
                curvature[:, 0] = 0.0
            return value, gradient, curvature
        weight = np.where(self.weight > 0.0, self.weight, 1.0)[:, None]  # without weight there is no flow
        return value, gradient, np.maximum(0.0, inflow + outflow - gradient**2 / weight)

    @property
    def _arguments(self) -> tuple[Any, ...]:
        return (self._graph,) if self._kernel is piece_flows else (self._graph, self._mirror)

    def _run(self, kernel: Callable[..., None], scores: Array, *results: Array) -> None:
        """Call a kernel on blocks of rows, by one thread or several."""

        def work(block: slice) -> None:
            parts = (part[block] for part in results)
            kernel(*self._arguments, self.weight, self.normalize, block.start, scores[block], *parts)

        blocks = row_blocks(*self.shape, cells=1 << 17)
        if self.n_jobs == 1 or len(blocks) < 2:
            for block in blocks:
                work(block)
        else:
            with ThreadPoolExecutor(self.n_jobs) as threads:
                list(threads.map(work, blocks))

    def value(self, scores: Array) -> float:
        """The loss alone."""
        return self.flows(scores)[0]

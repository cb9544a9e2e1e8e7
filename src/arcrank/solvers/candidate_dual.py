"""Dual ascent for the log-linear loss on candidates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arcrank._typing import Array, IntArray
from arcrank.compiled import candidate_dual
from arcrank.decompositions import Decomposition
from arcrank.graphs import CandidateGraphs, LayeredGraphs
from arcrank.solvers.design import csr_triple
from arcrank.solvers.history import History
from arcrank.solvers.loglinear_dual import _LAYERED, DualAscent, DualState

__all__ = ["CandidateAscent", "count_candidate_flows", "depths"]


class CandidateAscent(DualAscent):
    """`min 1/2 ||w||^2 + sum_i weight_i 1/s_i sum_pieces log(1 + sum_arcs w exp(-margin))` over joint features.

    features : (candidates, d), dense or CSR
    """

    def __init__(
        self,
        features: Any,
        graphs: CandidateGraphs,
        decomposition: Decomposition,
        weight: Array,
        *,
        normalize: bool = True,
    ) -> None:
        self.shape = (features.shape[1],)  # type: ignore[assignment]
        self._X = csr_triple(features)
        self._squares = np.empty(0)  # the quadratic term of a step depends on the candidates that it moves
        self._weight = np.ascontiguousarray(weight, dtype=np.float64)
        self._visit, self.n_flows = _bind(graphs, decomposition, normalize)

    def solve(
        self, state: DualState, *, tol: float, max_iter: int, random: np.random.RandomState, history: History
    ) -> None:
        """Ascend from `state` on, in place (Ctrl-C loses nothing), until the relative gap is at most tol."""
        n = len(self._weight)
        gaps, losses, sleep = np.zeros(n), np.zeros(n), np.zeros((n, 2), dtype=np.int64)
        skip, usual = 0.0, 0.4  # usual: how much smaller the gap is after a pass than what the pass saw on its way
        for _ in range(max_iter):
            self.ascend(state, gaps, losses, sleep, random.permutation(n), skip)
            estimate = state.relative_gap
            exact = usual * estimate <= tol
            if exact:
                self.measure(state, gaps, losses, sleep)
                usual = max(0.1, min(1.0, state.relative_gap / estimate)) if estimate > 0 else usual
            stop = history.add(loss=state.loss, gap=state.relative_gap)
            # An instance waits when its gap is small compared with what tol allows it, or with the present mean.
            skip = max(0.1 * tol * state.primal, 0.03 * state.gap) / max(1, n)
            if exact and state.relative_gap <= tol:
                state.converged = True
                return
            sleep[gaps > skip] = 0
            if stop:
                break
        self.measure(state, gaps, losses, sleep)
        state.converged = state.relative_gap <= tol

    def ascend(self, state: DualState, gaps: Array, losses: Array, sleep: Any, rows: Any, skip: float) -> None:
        """Visit these instances once, moving the flows of those whose gap is above `skip`."""
        arrays = self._weight, self._X, self._squares, state.W, state.flows, gaps, losses, sleep
        self._visit(*arrays, rows, skip, True)
        state.loss, state.gap = float(losses.sum()), float(gaps.sum())

    def measure(self, state: DualState, gaps: Array, losses: Array, sleep: Any) -> None:
        """The exact loss and gap at the present weights."""
        arrays = self._weight, self._X, self._squares, state.W, state.flows, gaps, losses, sleep
        self._visit(*arrays, np.arange(len(gaps)), 0.0, False)
        state.loss, state.gap = float(losses.sum()), float(gaps.sum())


def _bind(graphs: CandidateGraphs, decomposition: Decomposition, normalize: bool) -> tuple[Callable[..., int], int]:
    layers = graphs.graphs
    if isinstance(layers, LayeredGraphs) and decomposition.layered in _LAYERED:
        mirror, shared = _LAYERED[decomposition.layered]
        depth = depths(graphs)
        flow_ptr = candidate_dual.flow_sizes(graphs.ptr, layers.level, depth, mirror)
        graph = graphs.ptr, layers.label, layers.level, layers.rest, max(1, layers.n_layers)
        fixed = graph, depth, flow_ptr, mirror, shared, normalize
        return lambda *a: candidate_dual.ascend_layers(*fixed, *a), int(flow_ptr[-1])
    cut = decomposition.pieces(graphs.to_arcs())
    pieces = cut.row_ptr, cut.arc_ptr, cut.head, cut.tail, cut.weight
    return lambda *a: candidate_dual.ascend_pieces(pieces, graphs.ptr, normalize, *a), len(cut.head)


def depths(graphs: CandidateGraphs) -> IntArray:
    """One more than the largest level of each instance, (n,)."""
    assert graphs.level is not None
    depth = np.zeros(len(graphs), dtype=np.int64)
    np.maximum.at(depth, graphs.rows(), graphs.level + 1)
    return depth


def count_candidate_flows(graphs: CandidateGraphs, decomposition: Decomposition) -> int:
    """How many dual variables the problem would have."""
    layers = graphs.graphs
    if isinstance(layers, LayeredGraphs) and decomposition.layered in _LAYERED:
        mirror, _ = _LAYERED[decomposition.layered]
        return int(candidate_dual.flow_sizes(graphs.ptr, layers.level, depths(graphs), mirror)[-1])
    return graphs.n_arcs

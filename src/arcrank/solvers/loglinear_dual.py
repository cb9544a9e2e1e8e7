"""Dual ascent for the log-linear loss, with the duality gap as stopping rule and certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from arcrank._typing import Array
from arcrank.compiled import loglinear_dual_layers, loglinear_dual_pieces
from arcrank.decompositions import Decomposition
from arcrank.graphs import LayeredGraphs, PreferenceGraphs
from arcrank.solvers.history import History

_LAYERED = {"zero-one": (False, True), "domination": (False, False), "dominated": (True, False)}  # mirror, shared


@dataclass
class DualState:
    """Weights, the dual variables that make them, and how far they are from the optimum."""

    W: Array
    flows: Array
    loss: float = np.inf
    gap: float = np.inf
    converged: bool = False

    @property
    def primal(self) -> float:
        """Objective at W: the summed loss and half of the squared norm."""
        return self.loss + 0.5 * float(np.vdot(self.W, self.W))

    @property
    def relative_gap(self) -> float:
        """(primal - dual) / primal; infinite where it is not known."""
        if not np.isfinite(self.gap):
            return np.inf
        return self.gap / self.primal if self.primal > 0 else 0.0


class DualAscent:
    """`min 1/2 ||W||^2 + sum_i weight_i 1/s_i sum_pieces log(1 + sum_arcs w exp(-margin))` by its dual.

    Instances are visited in random order; each visit moves the instance's flows towards the best ones at the present
    scores by an exact one-dimensional search. Instances at their optimum sleep for a while. One thread.
    """

    def __init__(
        self,
        X: Any,
        graphs: PreferenceGraphs,
        decomposition: Decomposition,
        weight: Array,
        *,
        normalize: bool = True,
    ) -> None:
        X = sp.csr_matrix(X)
        self.shape = X.shape[1], graphs.n_labels
        self._X = (
            X.indptr.astype(np.int64, copy=False),
            X.indices.astype(np.int32, copy=False),
            np.ascontiguousarray(X.data, dtype=np.float64),
        )
        self._squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
        self._weight = np.ascontiguousarray(weight, dtype=np.float64)
        self._visit, self.n_flows = _bind(graphs, decomposition, normalize)

    def start(self) -> DualState:
        """All flows 0."""
        return DualState(np.zeros(self.shape), np.zeros(self.n_flows))

    def rescale(self, state: DualState, factor: float) -> None:
        """Multiply the instances' weights, and flows and W alike: the start for another C."""
        self._weight = self._weight * factor
        state.flows *= factor
        state.W *= factor
        state.converged = False

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


def _bind(graphs: PreferenceGraphs, decomposition: Decomposition, normalize: bool) -> tuple[Callable[..., int], int]:
    """The kernel for these graphs with its graph arguments filled in, and the number of dual variables."""
    if isinstance(graphs, LayeredGraphs) and decomposition.layered in _LAYERED:
        mirror, shared = _LAYERED[decomposition.layered]
        layers = graphs.ptr, graphs.label, graphs.level, graphs.rest, max(1, graphs.n_layers)
        state_ptr = loglinear_dual_layers.state_sizes(
            graphs.ptr, graphs.level, graphs.rest, layers[-1], graphs.n_labels, mirror
        )
        fixed = (*layers, state_ptr), mirror, shared, normalize, decomposition.constant_cut
        return lambda *a: loglinear_dual_layers.ascend(*fixed, *a), int(state_ptr[-1])
    cut = decomposition.pieces(graphs.to_arcs())
    pieces = cut.row_ptr, cut.arc_ptr, cut.head, cut.tail, cut.weight
    return lambda *a: loglinear_dual_pieces.ascend(pieces, normalize, decomposition.constant_cut, *a), len(cut.head)


def count_flows(graphs: PreferenceGraphs, decomposition: Decomposition) -> int:
    """How many dual variables the problem would have: the memory that the dual needs."""
    if isinstance(graphs, LayeredGraphs) and decomposition.layered in _LAYERED:
        return _bind(graphs, decomposition, True)[1]
    return graphs.n_arcs

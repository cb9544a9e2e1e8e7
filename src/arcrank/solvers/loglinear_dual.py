"""Dual ascent for the log-linear loss, with the duality gap as stopping rule and certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from arcrank._features import squared_lengths
from arcrank._typing import Array
from arcrank.compiled import loglinear_dual_layers, loglinear_dual_pieces
from arcrank.decompositions import Decomposition
from arcrank.graphs import LayeredGraphs, PreferenceGraphs
from arcrank.solvers.history import History

_FIRST_PASSES = 3  # over all instances, before those that hold the gap are visited more often than others
_RELAX = 1.6  # factor of the steps after them, below 2; see `compiled.loglinear_dual_block`
_WAITING = 0.15  # share of the mean gap below which an instance waits
_REPEATS = 50  # visits of such instances after a pass, at most
_LARGE = 4000.0  # weight times squared length of an instance from which on a start from 0 takes long
_APPROACH_PASSES, _NEAR_ENOUGH = 10, 0.02  # at each smaller weight: passes at most, and the gap that is enough
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
        primal = self.primal
        return self.gap / primal if primal > 0 else 0.0


class DualAscent:
    """`min 1/2 ||W||^2 + sum_i weight_i 1/s_i sum_pieces log(1 + sum_arcs w exp(-margin))` by its dual.

    Instances are visited in random order; a visit solves the instance's flows with those of all others held fixed.
    After a pass, those that still hold a part of the gap are visited again until most of it is gone: where C is large,
    these are few documents that contradict each other. One thread.
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
        self._squares = squared_lengths(X)
        self._weight = np.ascontiguousarray(weight, dtype=np.float64)
        self._visit, self.n_flows = _bind(graphs, decomposition, normalize)
        self._entropies = np.full(len(self._weight), np.nan)
        self._primal = self._relative_gap = np.inf

    def start(self) -> DualState:
        """All flows 0."""
        return DualState(np.zeros(self.shape), np.zeros(self.n_flows))

    def rescale(self, state: DualState, factor: float) -> None:
        """Multiply the instances' weights, and flows and W alike: the start for another C."""
        if factor == 1.0:
            return
        self._weight = self._weight * factor
        state.flows *= factor
        state.W *= factor
        state.converged = False

    def solve(
        self, state: DualState, *, tol: float, max_iter: int, random: np.random.RandomState, history: History
    ) -> None:
        """Ascend from `state` on, in place (Ctrl-C loses nothing), until the relative gap is at most tol."""
        if not state.flows.any():
            self._approach(state, max_iter, random)
        self._solve(state, tol, max_iter, random, history)

    def _approach(self, state: DualState, max_iter: int, random: np.random.RandomState) -> None:
        """Start from the scaled flows of smaller weights: from 0, those of contradicting instances grow slowly."""
        scale = float((self._weight * self._squares).max(initial=0.0))
        steps = int(np.ceil(np.log10(scale / _LARGE))) if scale > _LARGE else 0
        self.rescale(state, 0.1**steps)
        for _ in range(steps):
            self._solve(state, _NEAR_ENOUGH, min(max_iter, _APPROACH_PASSES), random, History())
            self.rescale(state, 10.0)

    def _solve(
        self, state: DualState, tol: float, max_iter: int, random: np.random.RandomState, history: History
    ) -> None:
        n = len(self._weight)
        gaps, losses, sleep = np.zeros(n), np.zeros(n), np.zeros((n, 2), dtype=np.int64)
        skip, usual = 0.0, 0.4  # usual: how much smaller the gap is after a pass than what the pass saw on its way
        self._entropies[:] = np.nan  # the flows may be those of a caller
        for number in range(max_iter):
            relax = 1.0 if number < _FIRST_PASSES else _RELAX
            self._pass(state, gaps, losses, sleep, random.permutation(n), skip, relax)
            estimate = self._relative_gap
            exact = usual * estimate <= tol
            if exact:
                self.measure(state, gaps, losses, sleep)
                usual = max(0.1, min(1.0, self._relative_gap / estimate)) if estimate > 0 else usual
            elif number >= _FIRST_PASSES:
                self._repeat(state, gaps, losses, sleep, random, self._negligible(state, tol), tol)
                exact = self._relative_gap <= tol
                if exact:
                    self.measure(state, gaps, losses, sleep)
            stop = history.add(loss=state.loss, gap=self._relative_gap)
            skip = self._negligible(state, tol)
            if exact and self._relative_gap <= tol:
                state.converged = True
                return
            if stop:
                break
        self.measure(state, gaps, losses, sleep)
        state.converged = self._relative_gap <= tol

    def _negligible(self, state: DualState, tol: float) -> float:
        """The gap below which an instance waits: small compared with what tol allows it, or with the present mean."""
        return max(0.1 * tol * self._primal, _WAITING * state.gap) / max(1, len(self._weight))

    def _repeat(
        self,
        state: DualState,
        gaps: Array,
        losses: Array,
        sleep: Any,
        random: np.random.RandomState,
        skip: float,
        tol: float,
    ) -> None:
        """Visit the instances above `skip` until they hold a tenth of their gap; those below drop out on the way."""
        rows = random.permutation(np.flatnonzero(gaps > skip))  # the order stays the same, as over-relaxation needs it
        goal = max(0.1 * float(gaps[rows].sum()), 0.3 * tol * self._primal)
        for _ in range(_REPEATS):
            self._pass(state, gaps, losses, sleep, rows, skip, _RELAX)
            left = float(gaps[rows].sum())
            rows = rows[gaps[rows] > skip]
            if left <= goal or len(rows) == 0:
                break

    def ascend(self, state: DualState, gaps: Array, losses: Array, sleep: Any, rows: Any, skip: float) -> None:
        """Visit these instances once, moving the flows of those whose gap is above `skip`; small ones sleep."""
        self._entropies[:] = np.nan  # the flows may have changed since the last visit
        self._run(state, gaps, losses, sleep, rows, skip, 1.0, True)

    def measure(self, state: DualState, gaps: Array, losses: Array, sleep: Any) -> None:
        """The exact loss and gap at the present weights."""
        self._entropies[:] = np.nan
        self._run(state, gaps, losses, sleep, np.arange(len(gaps)), 0.0, 1.0, False)

    def _pass(
        self, state: DualState, gaps: Array, losses: Array, sleep: Any, rows: Any, skip: float, relax: float
    ) -> None:
        sleep[:] = 0
        self._run(state, gaps, losses, sleep, rows, skip, relax, True)

    def _run(self, state: DualState, gaps: Array, losses: Array, sleep: Any, *how: Any) -> None:
        arrays = self._weight, self._X, self._squares, state.W, state.flows, self._entropies, gaps, losses, sleep
        self._visit(*arrays, *how)
        state.loss, state.gap = float(losses.sum()), float(gaps.sum())
        self._primal, self._relative_gap = state.primal, state.relative_gap  # which read all of W


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
    return partial(_visit_pieces, pieces, normalize, decomposition.constant_cut), len(cut.head)


def _visit_pieces(pieces: Any, normalize: bool, fixed: bool, *arguments: Any) -> int:
    """Explicit pieces have their own search, without stored entropies and over-relaxation."""
    *arrays, _entropies, gaps, losses, sleep, rows, skip, _relax, learn = arguments
    measured = (gaps, losses, sleep, rows, skip, learn)
    steps: int = loglinear_dual_pieces.ascend(pieces, normalize, fixed, *(*arrays, *measured))
    return steps


def count_flows(graphs: PreferenceGraphs, decomposition: Decomposition) -> int:
    """How many dual variables the problem would have: the memory that the dual needs."""
    if isinstance(graphs, LayeredGraphs) and decomposition.layered in _LAYERED:
        return _bind(graphs, decomposition, True)[1]
    return graphs.n_arcs

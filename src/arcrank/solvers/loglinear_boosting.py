"""The paper's parallel boosting algorithm (Dekel et al. 2003, Fig. 3), unregularised or with virtual examples."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from arcrank._typing import Array, Mask
from arcrank.compiled.candidate_boosting import arc_sums, largest_norm
from arcrank.compiled.loglinear_boosting import boosting_step
from arcrank.decompositions import Decomposition
from arcrank.graphs import CandidateGraphs
from arcrank.losses import FlowLoss
from arcrank.solvers.design import LabelDesign, csr_triple
from arcrank.solvers.flow_sums import RowBlocks
from arcrank.solvers.history import History
from arcrank.solvers.lbfgs import PrimalState


class BoostingSums(Protocol):
    """What the update needs of the base functions and of the data."""

    rho: float
    """The largest sum of |pi| over base functions, of all arcs."""

    def sums(self, W: Array) -> tuple[float, Array, Array]:
        """The loss at the weights, and W+ and W- in their shape."""


class LabelSums:
    """Base functions `x_w [y' = y]`: a head and a tail share none, so that the flows of labels are enough.

    rows : (n,) instances that have arcs
    """

    def __init__(self, features: LabelDesign, loss: FlowLoss, rows: Mask) -> None:
        self.rho = 2.0 * features.largest_norm(rows)
        self._features, self._loss = features, loss
        self._positive, self._negative = features.split()
        parts = [RowBlocks.of(one, loss) for one in (features, self._positive, self._negative) if one is not None]
        self._blocks = [one for one in parts if one is not None]  # all of them or none: they differ in X only

    def sums(self, W: Array) -> tuple[float, Array, Array]:
        """`W+ = X' inflow` and `W- = X' outflow`; for features of either sign the terms are crossed."""
        if self._blocks:
            return self._sums_by_blocks(W, *self._blocks)
        value, outflow, inflow = self._loss.flows(self._features.scores(W))
        plus, minus = self._positive.transposed(inflow), self._positive.transposed(outflow)
        if self._negative is not None:
            plus += self._negative.transposed(outflow)
            minus += self._negative.transposed(inflow)
        return value, plus, minus

    def _sums_by_blocks(
        self, W: Array, features: RowBlocks, positive: RowBlocks, negative: RowBlocks | None = None
    ) -> tuple[float, Array, Array]:
        value, plus, minus = 0.0, np.zeros(W.shape), np.zeros(W.shape)
        for rows, part, outflow, inflow in features.flows(W):
            value += part
            positive.add(rows, inflow, plus)
            positive.add(rows, outflow, minus)
            if negative is not None:
                negative.add(rows, outflow, plus)
                negative.add(rows, inflow, minus)
        return value, plus, minus


class CandidateSums:
    """Joint features of candidates, (candidates, d): pi differs from arc to arc, and so every arc is written out.

    features : dense, or CSR with ascending columns
    """

    def __init__(
        self, features: Any, graphs: CandidateGraphs, decomposition: Decomposition, weight: Array, *, normalize: bool
    ) -> None:
        self._features = features
        self._Z, self._ptr, self._normalize = csr_triple(features), graphs.ptr, normalize
        arcs = graphs.to_arcs()
        pieces = decomposition.pieces(arcs)
        self._pieces = pieces.row_ptr, pieces.arc_ptr, pieces.head, pieces.tail, pieces.weight
        self._weight = np.ascontiguousarray(weight, dtype=np.float64)
        self.rho = largest_norm(self._ptr, arcs.arc_ptr, arcs.head, arcs.tail, self._Z, features.shape[1])

    def sums(self, W: Array) -> tuple[float, Array, Array]:
        """Fig. 3: `W+` sums `q pi / s` over arcs with pi > 0, and `W-` minus that over those with pi < 0."""
        plus, minus = np.empty_like(W), np.empty_like(W)
        scores = np.asarray(self._features @ W)
        value = arc_sums(self._ptr, self._pieces, self._weight, self._normalize, self._Z, scores, plus, minus)
        return value, plus, minus


def solve_boosting(
    problem: BoostingSums,
    state: PrimalState,
    *,
    smoothing: float,
    virtual: float,
    tol: float,
    max_iter: int,
    history: History,
) -> None:
    """Minimise `loss + virtual * sum_l (log(1 + e^l) + log(1 + e^-l))` by Fig. 3's update.

    smoothing : eps, added to W+ and W- in Lambda = 1/2 ln(W+ / W-); 0 is the paper's update.
    virtual : nu, the weight of the virtual examples; 0 is the paper's unregularised algorithm.
    tol : stop when Theorem 1 promises a relative decrease of at most tol.
    history : `bound` is the decrease that Theorem 1 promises for the step from the loss noted in the same entry.
    """
    rho = max(problem.rho, 1.0) if virtual > 0 else problem.rho
    if rho == 0.0:  # no arcs, or no features where there are arcs: nothing can be learnt
        state.loss, state.relative_gap, state.converged = problem.sums(state.W)[0], 0.0, True
        return
    for _ in range(max_iter):
        value, plus, minus = problem.sums(state.W)
        state.loss = value + virtual * _virtual_loss(state.W) if virtual > 0 else value
        bound = boosting_step(plus.ravel(), minus.ravel(), state.W.reshape(-1), rho, smoothing, virtual)  # in place
        state.relative_gap = bound / max(state.loss, 1e-300)
        stop = history.add(loss=state.loss, bound=bound)
        state.converged = state.relative_gap <= tol
        if stop or state.converged:
            break


def _virtual_loss(W: Array) -> float:
    return float(np.sum(np.logaddexp(0.0, W) + np.logaddexp(0.0, -W)))

"""The paper's parallel boosting algorithm (Dekel et al. 2003, Fig. 3), unregularised or with virtual examples."""

from __future__ import annotations

import numpy as np

from arcrank._typing import Array, Mask
from arcrank.compiled.loglinear_boosting import boosting_step
from arcrank.losses import LogLinearLoss
from arcrank.solvers.design import Design
from arcrank.solvers.history import History
from arcrank.solvers.lbfgs import PrimalState


def solve_boosting(
    features: Design,
    loss: LogLinearLoss,
    rows: Mask,
    state: PrimalState,
    *,
    smoothing: float,
    virtual: float,
    tol: float,
    max_iter: int,
    history: History,
) -> None:
    """Minimise `loss + virtual * sum_l (log(1 + e^l) + log(1 + e^-l))` by Fig. 3's update.

    rows : (n,) instances that have arcs; rho is the largest |pi|_1 over their arcs, 2 max ||x||_1.
    smoothing : eps, added to W+ and W- in Lambda = 1/2 ln(W+ / W-); 0 is the paper's update.
    virtual : nu, the weight of the virtual examples; 0 is the paper's unregularised algorithm.
    tol : stop when Theorem 1 promises a relative decrease of at most tol.
    history : `bound` is the decrease that Theorem 1 promises for the step from the loss noted in the same entry.
    """
    positive, negative = features.split()
    rho = 2.0 * features.largest_norm(rows)
    rho = max(rho, 1.0) if virtual > 0 else rho
    if rho == 0.0:  # no arcs, or no features where there are arcs: nothing can be learnt
        state.loss, state.relative_gap, state.converged = loss.value(features.scores(state.W)), 0.0, True
        return
    for _ in range(max_iter):
        value, outflow, inflow = loss.flows(features.scores(state.W))
        plus, minus = positive.transposed(inflow), positive.transposed(outflow)
        if negative is not None:  # features of either sign: cross the terms
            plus += negative.transposed(outflow)
            minus += negative.transposed(inflow)
        state.loss = value + virtual * _virtual_loss(state.W) if virtual > 0 else value
        bound = boosting_step(plus.ravel(), minus.ravel(), state.W.reshape(-1), rho, smoothing, virtual)  # in place
        state.relative_gap = bound / max(state.loss, 1e-300)
        stop = history.add(loss=state.loss, bound=bound)
        state.converged = state.relative_gap <= tol
        if stop or state.converged:
            break


def _virtual_loss(W: Array) -> float:
    return float(np.sum(np.logaddexp(0.0, W) + np.logaddexp(0.0, -W)))

"""L-BFGS on the primal problem of any loss that knows its flows, where the dual is not practical."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize

from arcrank._typing import Array
from arcrank.solvers.history import History

if TYPE_CHECKING:
    from arcrank.solvers.flow_sums import PrimalProblem  # which imports kernels

_ROUNDING = 1e-30  # of the square of a gradient


@dataclass
class PrimalState:
    """Weights, their loss and their distance from the optimum. Solvers work on it in place: Ctrl-C loses nothing."""

    W: Array
    loss: float = np.inf
    relative_gap: float = np.inf
    converged: bool = False
    stalled: bool = False  # gave up by itself above tol: nobody stopped it


def solve_lbfgs(
    problem: PrimalProblem,
    state: PrimalState,
    *,
    tol: float,
    max_iter: int,
    history: History,
) -> None:
    """Minimise `1/2 ||W||^2 + loss(W)` from `state` on, until the relative duality gap is at most tol.

    The flows at W are a feasible dual point, and with the gradient g = W - X'(outflow - inflow) the gap between the two
    is exactly ||g||^2 / 2: the primal method has a certificate too.
    """
    latest: dict[str, Any] = {}

    def objective(flat: Array) -> tuple[float, Array]:
        W = flat.reshape(problem.weight_shape)
        value, sums = problem.flow_sums(W)
        gradient = W - sums
        primal = value + 0.5 * float(np.vdot(W, W))
        latest.update(loss=value, gap=_relative(0.5 * float(np.vdot(gradient, gradient)), primal), x=flat.copy())
        return primal, gradient.ravel()

    def note(_: Any) -> None:
        state.W = latest["x"].reshape(problem.weight_shape)
        state.loss, state.relative_gap = latest["loss"], latest["gap"]
        stop = history.add(loss=state.loss, gap=state.relative_gap)
        latest["stopped"] = stop or state.relative_gap <= tol
        if latest["stopped"]:
            raise StopIteration

    objective(state.W.ravel())  # at an optimum L-BFGS makes no iteration and would call nothing
    state.loss, state.relative_gap = latest["loss"], latest["gap"]
    if state.relative_gap > tol and max_iter > 0:
        options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "maxcor": 20, "ftol": 0.0, "gtol": 0.0}
        minimize(objective, state.W.ravel(), jac=True, method="L-BFGS-B", callback=note, options=options)
        state.stalled = not latest.get("stopped") and len(history.entries) < max_iter
    state.converged = state.relative_gap <= tol


def _relative(gap: float, primal: float) -> float:
    """The gap over the primal; 0 where tiny arc weights vanish in log(1 + w), though not in the gradient."""
    return 0.0 if primal == 0 and gap < _ROUNDING else gap / max(primal, 1e-300)

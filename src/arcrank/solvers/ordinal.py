"""One projection and ordered thresholds: `min 1/2 ||w||^2 + C sum_i loss_i(w, theta)`, thresholds free of charge.

The variables are w, the first threshold and the gaps between thresholds, which are at least 0: so the thresholds are
ordered, the nearest ones are known, and every loss but the hinge is smooth. L-BFGS-B takes the bounds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import logit

from arcrank._typing import Array, IntArray
from arcrank.losses.grades import grade_loss

__all__ = ["OrdinalSolution", "solve_ordinal"]

_WIDTHS = (1.0, 0.1, 0.01, 1e-3)
"""Of the hinge, which is rounded off less and less; the last one changes the loss of an arc by at most 0.0005."""
_SMALLEST_GAP = 1e-8


class OrdinalSolution(NamedTuple):
    """The projection (d,), the ascending thresholds (K - 1,), the objective, and whether it converged."""

    direction: Array
    thresholds: Array
    objective: float
    n_iter: int
    converged: bool


def solve_ordinal(
    X: Any,
    grade: IntArray,
    n_grades: int,
    *,
    loss: str,
    decomposition: str,
    weight: Array,
    tol: float,
    max_iter: int,
) -> OrdinalSolution:
    """Minimise the objective; `weight` (n,) holds C times the weights of the instances."""
    d, gaps = X.shape[1], n_grades - 2
    start = _first_thresholds(grade, n_grades, weight)
    x = np.concatenate([np.zeros(d), start[:1], np.maximum(np.diff(start), _SMALLEST_GAP)])
    bounds = [(None, None)] * (d + 1) + [(_SMALLEST_GAP if loss == "proportional-odds" else 0.0, None)] * gaps
    spent, result = 0, None
    for width in _WIDTHS if loss == "hinge" else (0.0,):
        problem = _Problem(X, grade, loss, decomposition, weight, width)
        options = {"maxiter": max_iter, "maxfun": 2 * max_iter, "ftol": 1e-15, "gtol": tol * weight.sum(), "maxcor": 20}
        result = minimize(problem, x, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        x, spent = result.x, spent + int(result.nit)
    thresholds = x[d] + np.concatenate([[0.0], np.cumsum(x[d + 1 :])])
    exact = _Problem(X, grade, loss, decomposition, weight, 0.0)
    return OrdinalSolution(x[:d], thresholds, exact(x)[0], spent, bool(result is not None and result.status != 1))


class _Problem:
    """Value and gradient of the objective at (w, first threshold, gaps)."""

    def __init__(self, X: Any, grade: IntArray, loss: str, decomposition: str, weight: Array, width: float) -> None:
        self._X, self._grade, self._weight = X, grade, weight
        self._loss, self._decomposition, self._width = loss, decomposition, width

    def __call__(self, x: Array) -> tuple[float, Array]:
        d = self._X.shape[1]
        w, thresholds = x[:d], x[d] + np.concatenate([[0.0], np.cumsum(x[d + 1 :])])
        scores = np.asarray(self._X @ w)
        value, slope = grade_loss(self._loss, self._decomposition, scores, self._grade, thresholds, self._width)
        below = np.arange(len(thresholds)) < self._grade[:, None]
        flow = np.where(below, slope, -slope) * self._weight[:, None]  # by f; by theta_j it is the opposite
        by_threshold = -flow.sum(axis=0)
        by_gap = np.cumsum(by_threshold[::-1])[::-1]  # a gap moves all thresholds above it
        gradient = np.concatenate([w + self._X.T @ flow.sum(axis=1), by_gap])
        return float(0.5 * w @ w + self._weight @ value), gradient


def _first_thresholds(grade: IntArray, n_grades: int, weight: Array) -> Array:
    """Those of w = 0: the log-odds of how many instances are below."""
    counts = np.bincount(grade, weights=weight, minlength=n_grades)
    share = (np.cumsum(counts)[:-1] / max(counts.sum(), 1e-300)).clip(1e-3, 1.0 - 1e-3)
    found: Array = logit(share)
    return found

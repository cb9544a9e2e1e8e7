"""Newton's method for the Bradley-Terry model and Davidson's extension to ties, on counts per pair of labels.

`P(a above b) = e^a / (e^a + e^b)`. With ties (Davidson 1970) the three outcomes are in the proportion
`e^a : e^b : e^(t + (a + b) / 2)`, which is symmetric and has Bradley-Terry's odds given that there is a winner.
However many votes there are, the problem has k + 1 unknowns, and an iteration costs O(k^3).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from arcrank._typing import Array

__all__ = ["davidson_hessian", "solve_bradley_terry"]

_MOST_HALVINGS = 40


def solve_bradley_terry(
    wins: Array, ties: Array | None, C: float, *, start: Array | None = None, tol: float = 1e-10, max_iter: int = 200
) -> tuple[Array, float | None]:
    """Minimise `1/2 ||s||^2 + C sum of -log P(outcome)`; return the strengths s and the tie parameter t.

    Parameters
    ----------
    wins : (k, k) array
        How often the label of the row was preferred to that of the column.
    ties : symmetric (k, k) array, or None
        How often two labels tied; None for the model without ties, which has no t. The penalty includes t^2 / 2.
    C : float
        Weight of the votes.
    start : (k,) array, optional
        Strengths to start from.
    tol : float
        The largest derivative to reach, relative to C times the number of votes.
    """
    k = len(wins)
    x = np.zeros(k + 1)
    x[:k] = 0.0 if start is None else start
    goal = tol * max(1.0, C * (wins.sum() + (0.0 if ties is None else ties.sum() / 2)))
    value = _value(x, wins, ties, C)
    for _ in range(max_iter):
        gradient, hessian = _derivatives(x, wins, ties, C)
        if np.abs(gradient).max() <= goal:
            break
        step = cho_solve(cho_factor(hessian), gradient)
        length, slope = 1.0, float(gradient @ step)
        for _ in range(_MOST_HALVINGS):
            trial = x - length * step
            new = _value(trial, wins, ties, C)
            if new <= value - 1e-4 * length * slope:
                break
            length /= 2
        else:
            break  # rounding: no shorter step is better
        x, value = trial, new
    return x[:k], None if ties is None else float(x[k])


def davidson_hessian(strengths: Array, tie: float | None, wins: Array, ties: Array | None, C: float) -> Array:
    """The Hessian of the objective in (strengths, t), or in the strengths alone without ties."""
    x = np.append(strengths, 0.0 if tie is None else tie)
    hessian = _derivatives(x, wins, ties, C)[1]
    return hessian if ties is not None else hessian[:-1, :-1]


def _log_parts(x: Array, ties: Array | None) -> tuple[Array, Array, Array]:
    """Log-probabilities that the row's label wins, that the column's wins, and of a tie, (k, k) each."""
    s, t = x[:-1], x[-1]
    half = (s[:, None] - s[None, :]) / 2
    tie = np.full_like(half, -np.inf) if ties is None else np.full_like(half, t)
    top = np.maximum(np.abs(half), tie)
    total = top + np.log(np.exp(half - top) + np.exp(-half - top) + np.exp(tie - top))
    return half - total, -half - total, tie - total


def _value(x: Array, wins: Array, ties: Array | None, C: float) -> float:
    win, _, tie = _log_parts(x, ties)
    loss = -float((wins * win).sum())
    if ties is not None:
        loss -= float((ties * tie).sum()) / 2  # the matrix has every tie twice
    return C * loss + 0.5 * float(x @ x)


def _derivatives(x: Array, wins: Array, ties: Array | None, C: float) -> tuple[Array, Array]:
    win, lose, tie = (np.exp(part) for part in _log_parts(x, ties))
    votes = wins + wins.T + (0.0 if ties is None else ties)  # of a pair, in both of its cells
    halves = wins - wins.T  # a win moves the difference of its labels by a half each way, a tie not at all
    mean = (win - lose) / 2
    gradient = C * (votes * mean - halves / 2).sum(axis=1)
    spread = (win + lose) / 4 - mean**2  # the variance of the difference's coefficient, -1/2, 0 or 1/2
    off = C * votes * spread
    hessian = np.diag(off.sum(axis=1)) - off
    n_ties = 0.0 if ties is None else float(ties.sum()) / 2
    pairs = votes / 2  # every pair is in two cells
    tie_gradient = C * (float((pairs * tie).sum()) - n_ties)
    tie_curvature = C * float((pairs * tie * (1 - tie)).sum())
    mixed = -C * (votes * tie * mean).sum(axis=1)
    full = np.block([[hessian, mixed[:, None]], [mixed[None, :], np.array([[tie_curvature]])]])
    full[np.diag_indices_from(full)] += 1.0
    return np.append(gradient, tie_gradient) + x, full

"""Losses over the graph of grades: an instance with score f among ordered thresholds.

The labels of the graph are the instance and the K - 1 thresholds between K grades. An instance of grade y should rank
above the thresholds below it, `f > theta_j` for j < y, and below the others, `theta_j > f` for j >= y. A decomposition
cuts these arcs into pieces:

| decomposition  | arcs below y    | arcs from y on  | with margin losses                                           |
|----------------|-----------------|-----------------|--------------------------------------------------------------|
| `disagreement` | one piece each  | one piece each  | all thresholds (Chu & Keerthi 2005, implicit constraints)    |
| `immediate`    | one piece       | one piece       | immediate thresholds (Shashua & Levin 2002; Chu & Keerthi)   |
| `domination`   | one piece       | one piece each  |                                                              |
| `dominated`    | one piece each  | one piece       |                                                              |
| `zero-one`     | one piece of both               ||                                                              |

Sorting the thresholds never increases any of these losses: a piece of arcs to the y lowest thresholds is smallest if
they are the y smallest numbers, and exchanging two thresholds that are out of order reduces two arcs and leaves the
others. So there is always a solution with ordered thresholds, and solvers need to look at those only.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from arcrank._typing import Array, IntArray, Mask
from arcrank.losses.margin import MARGIN_LOSSES

__all__ = ["GRADE_DECOMPOSITIONS", "GRADE_LOSSES", "grade_loss"]

GRADE_DECOMPOSITIONS = {
    "disagreement": (False, False),
    "immediate": (True, True),
    "domination": (True, False),
    "dominated": (False, True),
    "zero-one": (True, True),
}
"""Whether the arcs to thresholds below the grade, and to those above it, are one piece."""
SMOOTH = ("squared-hinge", "logistic", "exponential")
GRADE_LOSSES = ("log-linear", "proportional-odds", "hinge", *SMOOTH)


def grade_loss(
    name: str, decomposition: str, scores: Array, grade: IntArray, thresholds: Array, width: float = 0.0
) -> tuple[Array, Array]:
    """Return the loss of each instance, (n,), and its derivative by the margins, (n, K - 1).

    The margin of arc j is `f - theta_j` for j < grade and `theta_j - f` from there on; thresholds ascend. "hinge" is
    rounded off over `width` below the margin 1.
    """
    below = np.arange(len(thresholds)) < grade[:, None]
    margins = np.where(below, 1.0, -1.0) * (scores[:, None] - thresholds)
    if name == "proportional-odds":
        return _proportional_odds(margins, below)
    if name == "log-linear":
        return _log_linear(decomposition, margins, below)
    value, slope = _margin_loss(name, margins, width)
    together = GRADE_DECOMPOSITIONS[decomposition]
    charged = np.ones_like(below)  # of a piece, the arc of the smallest margin: to the nearest threshold
    if together[0]:
        charged &= ~below | _nearest(below)
    if together[1]:
        charged &= below | _nearest(~below[:, ::-1])[:, ::-1]
    return np.where(charged, value, 0.0).sum(axis=1), np.where(charged, slope, 0.0)


def _nearest(side: Mask) -> Mask:
    """Of a row of leading True values, the last."""
    nearest = side.copy()
    nearest[:, :-1] &= ~side[:, 1:]
    return nearest


def _margin_loss(name: str, margins: Array, width: float) -> tuple[Array, Array]:
    if name != "hinge" or not width:
        loss = MARGIN_LOSSES[name]
        return loss.value(margins), loss.derivative(margins)
    short = np.maximum(0.0, 1.0 - margins)  # the hinge less width / 2 from width on, a parabola before
    value = np.where(short < width, short**2 / (2.0 * width), short - width / 2.0)
    return value, -np.minimum(short / width, 1.0)


def _log_linear(decomposition: str, margins: Array, below: Mask) -> tuple[Array, Array]:
    """`log(1 + sum exp(-margin))` of each piece (Dekel et al. 2003)."""
    if decomposition == "zero-one":
        total = np.logaddexp(0.0, np.logaddexp.reduce(-margins, axis=1))
        return total, -np.exp(-margins - total[:, None])
    value, slope = np.zeros(len(margins)), np.zeros_like(margins)
    for side, together in zip((below, ~below), GRADE_DECOMPOSITIONS[decomposition], strict=True):
        if together:
            gathered = np.logaddexp.reduce(np.where(side, -margins, -np.inf), axis=1)
            total = np.logaddexp(0.0, gathered)
            value += total
            slope -= np.where(side, np.exp(np.minimum(-margins - total[:, None], 0.0)), 0.0)
        else:
            value += np.where(side, np.logaddexp(0.0, -margins), 0.0).sum(axis=1)
            slope -= np.where(side, expit(-margins), 0.0)
    return value, slope


def _proportional_odds(margins: Array, below: Mask) -> tuple[Array, Array]:
    """`-log(sigma(theta_y - f) - sigma(theta_{y-1} - f))` (McCullagh 1980).

    With the margins a and b of the nearest thresholds it is `log(1 + e^-a) + log(1 + e^-b) - log(1 - e^-(a + b))`:
    the loss of the immediate thresholds, and of each gap a + b a term that keeps it open.
    """
    near = (below & _nearest(below)) | (~below & _nearest(~below[:, ::-1])[:, ::-1])
    value = np.where(near, np.logaddexp(0.0, -margins), 0.0).sum(axis=1)
    slope = np.where(near, -expit(-margins), 0.0)
    inner = near.sum(axis=1) == 2
    gaps = np.maximum(np.where(near, margins, 0.0).sum(axis=1)[inner], 1e-12)
    value[inner] -= np.log(-np.expm1(-gaps))
    slope[inner] -= np.where(near[inner], 1.0 / np.expm1(gaps)[:, None], 0.0)
    return value, slope

"""The losses of a piece's smallest margin and their duals, by number (Aiolli & Sperduti 2004, section 2).

`w L(m) = l(u)` at the urgency `u = offset - scale m` of an arc, with l(u) = max(0, u), max(0, u)^2, log2(1 + e^u) or
e^u; the dual of `C l(max u)` at the total flow T is `sum of offset * flow + h(T)`. Losses are numbers, not functions,
since kernels take no functions as arguments.
"""

from __future__ import annotations

import math

from arcrank.compiled.jit import kernel

HINGE, SQUARED, LOGISTIC, EXPONENTIAL = 0, 1, 2, 3
WEIGHTED = 4  # the logistic loss of pieces whose arcs have different weights: see margin_weighted
LN2 = math.log(2.0)


@kernel
def cost_of(loss, u):
    """Return l(u), at most e^700."""
    if loss == HINGE:
        return max(0.0, u)
    if loss == SQUARED:
        return max(0.0, u) ** 2
    if loss == LOGISTIC:
        # log(1 + e^u) without overflow for large u; log2, so that L(0) = 1 bounds the error
        return (max(0.0, u) + math.log1p(math.exp(-abs(u)))) / LN2
    return math.exp(min(700.0, u))  # e^710 overflows: the primal of the first passes must stay finite


@kernel
def gain_of(loss, C, T):
    """Return h(T): 0, -T^2/4C, (C/ln 2) times the binary entropy of T ln 2/C, or T - T ln(T/C)."""
    # The hinge has h = 0 for T <= C, which the solvers keep; for the others h(0) = 0, as T ln T vanishes there.
    if loss == HINGE or T <= 0.0:
        return 0.0
    if loss == SQUARED:
        return -T * T / (4.0 * C)
    if loss == LOGISTIC:
        share = min(1.0, T * LN2 / C)  # T <= C / ln 2, but for rounding
        rest = (1.0 - share) * math.log1p(-share) if share < 1.0 else 0.0
        return -C / LN2 * (share * math.log(share) + rest)
    return T - T * math.log(T / C)


@kernel
def charge(loss, target, m):
    """Return L(m) of an arc of weight 1; `target` is the margin at which the hinge vanishes."""
    return cost_of(loss, 1.0 - m / target if loss <= SQUARED else -m)


@kernel
def gain(loss, target, C, T):
    """Return the dual of C L at the total flow T of a piece of such arcs."""
    # Here T sums what arcs add to the scores, scale times their dual variables with scale = 1 / target. So the sum of
    # offset (1) times the dual variables is target T.
    return gain_of(loss, C, T) + (target * T if loss <= SQUARED else 0.0)

"""A visit of an instance whose graph is one piece of two layers: all heads are joined to all tails."""

from __future__ import annotations

import numpy as np

from arcrank.compiled.jit import kernel
from arcrank.compiled.losses import SQUARED, charge, gain
from arcrank.compiled.margin_dual_totals import solve_piece


@kernel
def relax_identity(rule, C, q, own, quiet, split, judged, f, flow, change, heads, at_head, tails, at_tail):
    """Solve the one piece of a two-layer graph; return gap and cost before, the dual's rise, and whether it moved.

    own : see `compiled.margin_dual_heads`.
    """
    _, _, loss, target = rule
    # The instance's part of the gap, C L(smallest margin) - g(T) + flows . scores, costs one loop and spares the rest.
    low, high, T, product = np.inf, -np.inf, 0.0, 0.0
    for j in range(split):
        low = min(low, f[j])
        T += flow[j]
        product += flow[j] * f[j]
    for j in range(split, judged):
        high = max(high, f[j])
        product -= flow[j] * f[j]
    before = gain(loss, target, C, T)
    cost = C * charge(loss, target, low - high)
    gap = cost - before + product
    if gap <= quiet:
        return gap, cost, 0.0, False
    # Scores without the piece's own flow, for now in `change`: it is not needed before.
    low, high = np.inf, -np.inf
    for j in range(split):
        change[j] = f[j] - own * flow[j]
        low = min(low, change[j])
    for j in range(split, judged):
        change[j] = f[j] + own * flow[j]
        high = max(high, change[j])
    # At the solution phi - theta = g'(T) <= target and theta <= high, so heads from high + target on have no outflow;
    # likewise tails. g' of the smooth losses is not bounded, and every label may take part.
    reach = target if loss <= SQUARED else np.inf
    n_heads, n_tails = 0, 0
    for j in range(split):
        if change[j] < high + reach:
            heads[n_heads], at_head[n_heads] = (low - change[j]) / own, j
            n_heads += 1
        change[j], flow[j] = -flow[j], 0.0
    for j in range(split, judged):
        if change[j] > low - reach:
            tails[n_tails], at_tail[n_tails] = (change[j] - high) / own, j
            n_tails += 1
        change[j], flow[j] = flow[j], 0.0
    rise = -before
    if n_heads > 0 and n_tails > 0:
        T, below, above = solve_piece(rule, C, own, heads, n_heads, tails, n_tails, low - high, T)
        rise += gain(loss, target, C, T)
        for j in range(n_heads):
            flow[at_head[j]] = max(0.0, heads[j] - below)
            change[at_head[j]] += flow[at_head[j]]
        for j in range(n_tails):
            flow[at_tail[j]] = max(0.0, tails[j] - above)
            change[at_tail[j]] -= flow[at_tail[j]]
    # The rise of -||W||^2 / 2, with f the scores before the change.
    for j in range(judged):
        rise -= change[j] * (f[j] + 0.5 * q * change[j])
    return gap, cost, rise, True

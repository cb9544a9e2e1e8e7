"""A visit of an instance of two layers with one piece per head: all its pieces are solved at once.

Every head is joined to every tail, so any outflows and inflows of equal sum can be realised by arcs, and the dual
depends on these alone: the instance has k variables and not heads x tails. With its own flow taken off the scores, and
q = ||x||^2, the best flows of hinge and squared hinge are

`outflow_h = min(cap, [theta + target - f_h]_+ / slope)`   and   `inflow_t = [f_t - theta]_+ / q`

with `slope = q` and `cap = C / target` for the hinge, `slope = q + 1/2C` and no cap for the squared hinge, and theta
such that both have one sum: the root of an increasing function that is linear between the points at which a label
begins or ceases to take part.

own : q, or less for over-relaxation. A smaller q makes longer steps. The dual still rises as long as it is at least
    half of the true one, since all but its parabola is concave.
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.jit import kernel
from arcrank.compiled.losses import HINGE, charge, gain


@kernel
def level_of_heads(heads, n_heads, tails, n_tails, slope, cap, own, low, high, level):
    """Return the level in low:high with sum_h min(cap, [level - heads_h]_+ / slope) = sum_t [tails_t - level]_+ / own.

    The search starts from `level`.
    """
    width = np.inf
    for _ in range(200):
        outflow, above, n_rising, n_above = 0.0, 0.0, 0, 0
        for j in range(n_heads):
            amount = (level - heads[j]) / slope
            if amount >= cap:
                outflow += cap
            elif amount > 0.0:
                outflow += amount
                n_rising += 1
        for j in range(n_tails):
            if tails[j] > level:
                above += tails[j] - level
                n_above += 1
        inflow = above / own
        if outflow > inflow:
            high = level
        else:
            low = level
        rate = n_rising / slope + n_above / own
        new = level + (inflow - outflow) / rate if rate > 0.0 else low
        # Newton's step is exact where the same labels take part after it. The caps make the sum neither convex nor
        # concave, so that steps may go to and fro between two points, with a bracket that hardly shrinks.
        if not low < new < high or high - low > 0.5 * width:
            new = 0.5 * (low + high)
        width = high - low
        if abs(inflow - outflow) <= 1e-14 * (inflow + outflow) or not low < new < high:
            return level
        level = new
    return level


@kernel
def relax_heads(rule, C, q, own, quiet, split, judged, f, flow, change, heads, at_head, tails, at_tail):
    """Solve the pieces of all heads; return gap and cost before, the dual's rise, and whether it moved."""
    _, _, loss, target = rule
    high, cost, product, before = -np.inf, 0.0, 0.0, 0.0
    for j in range(split, judged):
        high = max(high, f[j])
        product -= flow[j] * f[j]
    for j in range(split):
        cost += C * charge(loss, target, f[j] - high)
        if flow[j] > 0.0:
            product += flow[j] * f[j]
            before += gain(loss, target, C, flow[j])
    gap = cost - before + product
    if gap <= quiet:
        return gap, cost, 0.0, False
    # Scores without the instance's flow, for now in `change`: it is not needed before.
    lowest, highest = np.inf, -np.inf
    for j in range(split):
        change[j] = f[j] - own * flow[j] - target
        lowest = min(lowest, change[j])
    for j in range(split, judged):
        change[j] = f[j] + own * flow[j]
        highest = max(highest, change[j])
    n_heads, n_tails = 0, 0
    for j in range(split):
        if change[j] < highest:
            heads[n_heads], at_head[n_heads] = change[j], j
            n_heads += 1
        change[j], flow[j] = -flow[j], 0.0
    for j in range(split, judged):
        if change[j] > lowest:
            tails[n_tails], at_tail[n_tails] = change[j], j
            n_tails += 1
        change[j], flow[j] = flow[j], 0.0
    rise = -before
    if n_heads > 0:  # and so there are tails
        slope, cap = (own, C / target) if loss == HINGE else (own + 0.5 / C, np.inf)
        level = min(max(high, lowest), highest)  # where nothing else changes, the highest tails keep their score
        level = level_of_heads(heads, n_heads, tails, n_tails, slope, cap, own, lowest, highest, level)
        rise += _fill(loss, target, C, slope, cap, own, level, heads, n_heads, at_head, tails, n_tails, at_tail, flow)
        for j in range(n_heads):
            change[at_head[j]] += flow[at_head[j]]
        for j in range(n_tails):
            change[at_tail[j]] -= flow[at_tail[j]]
    # The rise of -||W||^2 / 2, with f the scores before the change.
    for j in range(judged):
        rise -= change[j] * (f[j] + 0.5 * q * change[j])
    return gap, cost, rise, True


@kernel
def _fill(loss, target, C, slope, cap, own, level, heads, n_heads, at_head, tails, n_tails, at_tail, flow):
    """Write the flows of heads and tails at this level, and return the gain of the heads."""
    outflow, inflow, won = 0.0, 0.0, 0.0
    for j in range(n_heads):
        flow[at_head[j]] = min(cap, max(0.0, level - heads[j]) / slope)
        outflow += flow[at_head[j]]
    for j in range(n_tails):
        flow[at_tail[j]] = max(0.0, tails[j] - level) / own
        inflow += flow[at_tail[j]]
    # Rounding leaves a difference, taken from the larger side, so that sums agree and no head exceeds its cap.
    for j in range(n_heads):
        if outflow > inflow:
            flow[at_head[j]] *= inflow / outflow
        won += gain(loss, target, C, flow[at_head[j]])
    for j in range(n_tails):
        if inflow > outflow:
            flow[at_tail[j]] *= outflow / inflow
    return won

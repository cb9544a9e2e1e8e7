"""The total flow of one piece of a layered graph, and the levels to which its heads and tails are filled."""

from __future__ import annotations

import math

import numpy as np

from arcrank.compiled.jit import kernel
from arcrank.compiled.losses import HINGE, LN2, LOGISTIC, SQUARED


@kernel
def fill(room, n, T):
    """Return the level lam with sum_j [room_j - lam]_+ = T, and how many take part; max_j room_j must be 0."""
    if T <= 0.0:
        return 0.0, 1  # a small flow would go to the largest alone
    # Newton's method on a convex decreasing function that is linear between the rooms. At -T the largest room alone
    # makes T, so -T is below the solution; from there the level only rises, and is exact after at most n steps.
    lam, active = -T, n + 1
    while True:
        total, count = 0.0, 0
        for j in range(n):
            if room[j] > lam:
                total += room[j]
                count += 1
        if count >= active:  # it falls from step to step; where rounding lets it rise again, the last level was right
            return lam, active
        lam, active = (total - T) / count, count


@kernel
def _total_of_bounded(loss, target, C, q, heads, n_heads, tails, n_tails, m, T):
    """Return T with margin(T) = g'(T) for hinge and squared hinge, whose g' is linear."""
    # margin(T) - g'(T) is concave and increasing, so a Newton step never passes the root from below, and one from above
    # lands below it. The piece's old T is a good start: most visits change it little.
    cap = C / target if loss == HINGE else np.inf
    curvature = 0.0 if loss == HINGE else 0.5 / C
    for _ in range(100):
        # d level / dT is -1 / (labels that take part), so a and b give the margin's derivative q (1/a + 1/b).
        below, a = fill(heads, n_heads, T)
        above, b = fill(tails, n_tails, T)
        lack = target - curvature * T - (m - q * (below + above))
        new = min(cap, max(0.0, T + lack / (q * (1.0 / a + 1.0 / b) + curvature)))
        if abs(new - T) <= 1e-13 * new:
            return new
        T = new
    return T


@kernel
def _total_of_smooth(loss, C, q, heads, n_heads, tails, n_tails, m):
    """Return T with margin(T) = g'(T) for logistic and exponential loss: z = -g'(T) solves z + margin(T(z)) = 0."""
    # In z and not in T, because g' is infinite at the ends of T's range, and T itself may underflow.
    low, high = -np.inf, -m  # flow only raises the margin, so -z >= m
    if loss != LOGISTIC and high > 0.0:
        # At z >= 0, margin(T) >= m + q T (1/heads + 1/tails) bounds T = C exp(z); from far above, a step gains only 1.
        high = min(high, max(0.0, math.log(high / (q * C * (1.0 / n_heads + 1.0 / n_tails)))))
    z, T, width = high, 0.0, np.inf
    for _ in range(200):
        share = 1.0 / (1.0 + math.exp(-z)) if z > -700.0 else 0.0  # exp(710) overflows
        T = C / LN2 * share if loss == LOGISTIC else C * math.exp(min(700.0, z))
        below, a = fill(heads, n_heads, T)
        above, b = fill(tails, n_tails, T)
        excess = z + m - q * (below + above)
        if excess > 0.0:
            high, low = z, max(low, z - excess)  # the margin cannot grow where T falls
        else:
            low = z
        slope = q * (1.0 / a + 1.0 / b) * (T * (1.0 - share) if loss == LOGISTIC else T)
        new = z - excess / (1.0 + slope)
        # Newton's steps may go to and fro between two points, with a bracket that hardly shrinks.
        if not low < new < high or high - low > 0.5 * width:
            new = 0.5 * (low + high)
        width = high - low
        if abs(new - z) <= 1e-14 * (1.0 + abs(z)) or high <= low:
            return T
        z = new
    return T


@kernel
def solve_piece(rule, C, q, heads, n_heads, tails, n_tails, m, T):
    """Return the total flow of a piece, and the levels to which heads and tails are filled."""
    _, _, loss, target = rule
    if loss <= SQUARED:
        T = _total_of_bounded(loss, target, C, q, heads, n_heads, tails, n_tails, m, T)
    else:
        T = _total_of_smooth(loss, C, q, heads, n_heads, tails, n_tails, m)
    below, _ = fill(heads, n_heads, T)
    above, _ = fill(tails, n_tails, T)
    return T, below, above

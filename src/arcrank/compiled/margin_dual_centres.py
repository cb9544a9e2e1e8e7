"""A visit of an instance with one piece per head or per arc: its part of the gap, and rounds over its pieces.

A head whose arcs are all pieces of their own is solved at once, too. With its own flow taken off the scores, the flow
of each arc is `a_t = [lam + f_t]_+ / (q + 1/2C)` for the squared hinge, with `lam = target - f_h - q sum_t a_t`: one
equation in the head's total flow, linear between the points at which an arc begins to take part.

In mode CUT_CENTRES label 0, the cut, has the score 0 whatever flows through it. Its single arcs are then independent.
In a piece of which it is a tail it is treated like the others, and its score is set back to 0: the step was computed
for a larger curvature than the dual has, so the dual rises.
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.jit import kernel
from arcrank.compiled.losses import HINGE, SQUARED, charge, gain
from arcrank.compiled.margin_dual_totals import solve_piece

CENTRES, ARCS, CUT_CENTRES = 1, 2, 3


@kernel
def has_single_arcs(mode, label):
    """Return whether every arc of this head is a piece."""
    return mode == ARCS or (mode == CUT_CENTRES and label == 0)


@kernel
def gap_of_centres(rule, C, k, start, judged, order, f, keys, values, count):
    """Return the instance's part of the duality gap and of the primal, with one piece per centre or per arc."""
    mode, _, loss, target = rule
    cost = 0.0
    for b in range(len(start) - 1):
        first = start[b + 1]
        # The cut is alone in its layer, so the first label of a layer tells for all of them.
        if start[b] < first and has_single_arcs(mode, order[start[b]]):
            for h in range(start[b], first):
                for t in range(first, judged):
                    cost += C * charge(loss, target, f[h] - f[t])
        elif start[b] < first < judged:
            high = -np.inf  # the smallest margin of every head of the layer is against the highest label below
            for t in range(first, judged):
                high = max(high, f[t])
            for h in range(start[b], first):
                cost += C * charge(loss, target, f[h] - high)
    gap, e = cost, 0
    while e < count:
        centre, T = keys[e] // k, 0.0
        together = not has_single_arcs(mode, order[centre])
        # Keys ascend, so the entries of a centre are adjacent; with one piece per arc each entry is a piece.
        while e < count and keys[e] // k == centre and (T == 0.0 or together):
            T += values[e]
            gap += values[e] * (f[centre] - f[keys[e] % k])
            e += 1
        gap -= gain(loss, target, C, T)
    return gap, cost


@kernel
def _relax_centre(rule, C, q, h, first, last, f, flow, change, heads, tails, at_tail):
    """Solve the piece of head h and the tails first:last, whose flows are in `flow`.

    Return the change of its gain and of its total flow. f and `change` follow at once, since the pieces of an instance
    share its features, and each is solved at the scores that the one before it left.
    """
    _, _, loss, target = rule
    T, high = 0.0, -np.inf
    for t in range(first, last):
        T += flow[t]
        high = max(high, f[t] + q * flow[t])
    alone = f[h] - q * T
    reach = target if loss <= SQUARED else np.inf
    if T == 0.0 and alone >= high + reach:  # no flow, and none is wanted: the usual case, without writing anything
        return 0.0, 0.0
    n_tails = 0
    for t in range(first, last):
        bare = f[t] + q * flow[t]
        if bare > alone - reach:
            tails[n_tails], at_tail[n_tails] = (bare - high) / q, t
            n_tails += 1
        f[t], change[t], flow[t] = bare, change[t] + flow[t], 0.0
    total, above = 0.0, 0.0
    if n_tails > 0:
        heads[0] = 0.0  # a single head takes the whole flow
        total, _, above = solve_piece(rule, C, q, heads, 1, tails, n_tails, alone - high, T)
    for j in range(n_tails):
        t, new = at_tail[j], max(0.0, tails[j] - above)
        flow[t] = new
        f[t] -= q * new
        change[t] -= new
    f[h] = alone + q * total
    change[h] += total - T
    return gain(loss, target, C, total) - gain(loss, target, C, T), abs(total - T)


@kernel
def total_of_star(room, n, q, slope, cap, A):
    """Return A with sum_j min(cap, [room_j - q A]_+ / slope) = A, from the old A on."""
    # The sum falls in A, so there is one solution. Newton's step is exact where the same arcs take part after it; the
    # bracket is for the hinge, whose arcs end at the cap and make the sum neither convex nor concave.
    low, high, width = 0.0, np.inf, np.inf
    for _ in range(400):
        total, inside = 0.0, 0
        for j in range(n):
            amount = (room[j] - q * A) / slope
            if amount >= cap:
                total += cap
            elif amount > 0.0:
                total += amount
                inside += 1
        if total > A:
            low = A
        else:
            high = A
        new = A + (total - A) / (1.0 + inside * q / slope)
        if abs(new - A) <= 1e-14 * new:
            return new
        # Newton's steps of the hinge may go to and fro between two points, with a bracket that hardly shrinks.
        if not low < new < high or (high < np.inf and high - low > 0.5 * width):
            new = 0.5 * (low + high)
        width = high - low
        if not low < new < high:  # no number is between them
            return low
        A = new
    return A


@kernel
def _relax_star(rule, C, q, h, first, last, f, flow, change, room, at_tail):
    """Solve the single arcs of head h to the tails first:last together; hinge and squared hinge only.

    Return the change of their gain and the largest change of a flow; f and `change` follow as in `_relax_centre`.
    """
    mode, _, loss, target = rule
    fixed = mode == CUT_CENTRES
    A, before = 0.0, 0.0
    for t in range(first, last):
        if flow[t] > 0.0:
            A += flow[t]
            before += gain(loss, target, C, flow[t])
    alone = f[h] if fixed else f[h] - q * A
    n = 0
    for t in range(first, last):
        bare = f[t] + q * flow[t]
        if bare > alone - target or flow[t] > 0.0:
            room[n], at_tail[n] = target - alone + bare, t
            n += 1
    if n == 0:
        return 0.0, 0.0
    slope, cap = (q, C / target) if loss == HINGE else (q + 0.5 / C, np.inf)
    level = 0.0 if fixed else q * total_of_star(room, n, q, slope, cap, A)
    total, rise, moved = 0.0, -before, 0.0
    for j in range(n):
        t, new = at_tail[j], min(cap, max(0.0, room[j] - level) / slope)
        step = new - flow[t]
        total += new
        rise += gain(loss, target, C, new)
        moved = max(moved, abs(step))
        f[t] -= q * step
        change[t] -= step
        flow[t] = new
    f[h] = alone + q * total  # the sum of what was set, so that flows and scores agree to the last bit
    change[h] += total - A
    return rise, moved


@kernel
def relax_centres(rule, C, q, k, start, judged, order, f, flow, change, heads, tails, at_tail, old, new, count):
    """Make one round over the pieces of an instance; entries are read from `old` and written to `new`."""
    mode, loss = rule[0], rule[2]
    (keys, values), (new_keys, new_values) = old, new
    # Pieces come in the order of their keys, so reading and writing are one walk each. Two buffers, because a piece may
    # write more entries than it has read.
    rise, moved, e, out = 0.0, 0.0, 0, 0
    cut = -1
    if mode == CUT_CENTRES:
        for j in range(judged):
            if order[j] == 0:
                cut = j
    for b in range(len(start) - 1):
        for h in range(start[b], start[b + 1]):
            first, single = start[b + 1], has_single_arcs(mode, order[h])
            together = not single or loss <= SQUARED
            while first < judged:
                last = judged if together else first + 1
                while e < count and keys[e] < h * k + last:
                    flow[keys[e] - h * k] = values[e]
                    e += 1
                if single and together:
                    up, step = _relax_star(rule, C, q, h, first, last, f, flow, change, tails, at_tail)
                else:
                    up, step = _relax_centre(rule, C, q, h, first, last, f, flow, change, heads, tails, at_tail)
                rise += up
                moved = max(moved, step)
                for t in range(first, last):  # `flow` is all 0 again for the next piece
                    if flow[t] > 0.0:
                        new_keys[out], new_values[out] = h * k + t, flow[t]
                        out += 1
                        flow[t] = 0.0
                if cut >= 0:
                    f[cut], change[cut] = 0.0, 0.0
                first = last
    return rise, moved, out

"""Passive-aggressive steps on the pieces of layered graphs (Aiolli & Sperduti 2004, section 5; Crammer et al. 2006).

A step moves the weights W of a piece to the minimum of `||W' - W||^2 / 2 + C L(smallest margin of the piece at W')`:
PA-I for the hinge, PA-II for the squared hinge. That is the dual of one piece from flow 0, as in `margin_dual_layers`
with q = ||x||^2, and it is solved exactly. The pieces of a document are taken in the order of their margins, the
smallest first and equal ones by label, each at the weights that the one before it left. Pieces that are single arcs of
one head are taken together.

rule : (mode, mirror, loss, target), see `margin_dual_layers`; target is 1, margins are divided by the wanted one
setting : (C, relative, margin): C of a piece, whether it is divided by ||x||^2, and the wanted margin
Arrays of a pass: see `compiled.online`.
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.jit import kernel
from arcrank.compiled.layers import arrange, is_one_layer_of_two, layer_workspace
from arcrank.compiled.losses import HINGE, charge
from arcrank.compiled.margin_dual_centres import CENTRES, has_single_arcs, total_of_star
from arcrank.compiled.margin_dual_identity import relax_identity
from arcrank.compiled.online import OWN_LOSS, ROUNDS, SKIPPED, move_weights, record, score_document

IDENTITY = 0


@kernel
def layered_pass(rule, setting, rows, indptr, indices, data, graph, W, U, counters, sums, curve):
    """Make the steps of the given rows of X in turn; return how many were seen, see `compiled.online`."""
    k = W.shape[1]
    scores, step, touched = np.empty(k), np.empty(k), np.empty(k, np.int64)
    work = workspace(k, graph[4])
    for place in range(len(rows)):
        i = rows[place]
        if not score_document(i, indptr, indices, data, W, scores, sums):
            return place
        square = squared_length(i, indptr, data)
        if layered_step(i, rule, setting, graph, square, scores, step, work, counters, sums, curve):
            move_weights(i, indptr, indices, data, step, W, U, counters[ROUNDS] - 1, touched)
    return len(rows)


@kernel
def squared_length(i, indptr, data):
    """Return ||x_i||^2."""
    square = 0.0
    for at in range(indptr[i], indptr[i + 1]):
        square += data[at] * data[at]
    return square


@kernel
def workspace(k, n_layers):
    """Return the buffers of a step, allocated once per pass."""
    levels, start, order, f = layer_workspace(k, n_layers)
    flow, change = np.zeros(k), np.empty(k)
    heads, at_head, tails, at_tail = np.empty(k), np.empty(k, np.int64), np.empty(k), np.empty(k, np.int64)
    high, centres, margins = np.empty(n_layers), np.empty(k, np.int64), np.empty(k)
    return levels, start, order, f, flow, change, heads, at_head, tails, at_tail, high, centres, margins


@kernel
def layered_step(i, rule, setting, graph, square, scores, step, work, counters, sums, curve):
    """Record the losses of document i, whose scores are overwritten; set step, and return whether any weight moves."""
    C, relative, margin = setting
    if margin != 1.0:
        scores /= margin
    _, start, order, f, _, change = work[:6]
    selects = _has_few_tails(i, rule, graph)
    if selects:
        judged, arcs, wrong, lost, n = _select(i, rule, graph, scores, order, f, work[11], work[12])
    else:
        judged = arrange(i, graph, rule[1], scores, work[0], start, order, f)
        arcs, wrong, lost, n = _measure(rule, start, judged, order, f, work[10], work[11], work[12])
    if arcs == 0:
        counters[SKIPPED] += 1
        return False
    record(wrong, arcs, counters, sums, curve)
    sums[OWN_LOSS] += lost
    if n == 0 or lost == 0.0 or square <= 0.0:
        return False
    # At scores divided by the margin, weights are divided by it too, and the same problem has C / margin^2.
    C = C / (square if relative else 1.0) / margin**2
    if selects:
        _relax_selected(rule[2], C, square, judged, n, order, f, change, work[11], work[12])
    else:
        _relax(rule, C, square, judged, n, work)
    step[:] = 0.0
    sign = -margin if rule[1] else margin
    for j in range(judged):
        step[order[j]] = sign * change[j]
    return True


@kernel
def _has_few_tails(i, rule, graph):
    """Return whether each label that is not listed is a piece with all listed ones, as in dominated label sets."""
    if rule[0] != CENTRES or not is_one_layer_of_two(i, graph):
        return False
    below = graph[2][graph[0][i]] > graph[3][i]
    return below != rule[1]


@kernel
def _select(i, rule, graph, scores, order, f, centres, margins):
    """Arrange only the tails and the heads of margins below 1, and measure as `_measure` does.

    Of two layers no step makes a margin smaller, so the other heads stay as they are; after some training they are most
    of the labels. Returns the number of arranged labels before what `_measure` returns.
    """
    ptr, label = graph[:2]
    first, last, sign = ptr[i], ptr[i + 1], -1.0 if rule[1] else 1.0
    high = -np.inf
    for j in range(first, last):
        high = max(high, sign * scores[label[j]])
    n, wrong, lost, before = 0, 0, 0.0, 0
    for j in range(first, last + 1):
        stop = label[j] if j < last else len(scores)
        for r in range(before, stop):
            m = sign * scores[r] - high
            if m < 1.0:
                order[n], f[n] = r, sign * scores[r]
                centres[n], margins[n] = n, -in_single_precision(1.0 - m)
                lost += charge(rule[2], 1.0, m)
                n += 1
                if m <= 0.0:
                    for at in range(first, last):
                        wrong += sign * scores[r] <= sign * scores[label[at]]
        before = stop + 1
    for j in range(first, last):
        order[n + j - first], f[n + j - first] = label[j], sign * scores[label[j]]
    return n + last - first, (len(scores) - (last - first)) * (last - first), wrong, lost, n


@kernel
def _measure(rule, start, judged, order, f, high, centres, margins):
    """Return arcs, wrong arcs, the loss of all pieces and the number of heads to visit, which are listed by label."""
    mode, _, loss, _ = rule
    top, layers = -np.inf, 0
    for b in range(len(start) - 2, -1, -1):  # high: the highest score below each layer
        high[b] = top
        layers += start[b] < start[b + 1]
        for j in range(start[b], start[b + 1]):
            top = max(top, f[j])
    arcs, wrong, lost, n, lowest = 0, 0, 0.0, 0, np.inf
    for b in range(len(start) - 1):
        first = start[b + 1]
        for h in range(start[b], first if first < judged else start[b]):
            m = f[h] - high[b]
            arcs += judged - first
            lowest = min(lowest, m)
            if m <= 0.0:
                for t in range(first, judged):
                    wrong += f[h] <= f[t]
            if m < 1.0:
                lost += _loss_of_head(mode, loss, order[h], m, h, first, judged, f)
            # Of two layers no step makes a margin smaller, so heads whose margins are large stay as they are.
            if m < 1.0 or layers > 2:
                centres[n], margins[n] = h, -in_single_precision(1.0 - m)
                n += 1
    if mode == IDENTITY:
        lost = charge(loss, 1.0, lowest)
    return arcs, wrong, lost, n


@kernel
def in_single_precision(u):
    """Return the number that pieces are ordered by: a step makes margins equal, and rounding must not order them."""
    return np.float64(np.float32(u))


@kernel
def _loss_of_head(mode, loss, label, m, h, first, judged, f):
    """Return the loss of the pieces of one head, whose smallest margin is m."""
    if not has_single_arcs(mode, label):
        return charge(loss, 1.0, m)
    lost = 0.0
    for t in range(first, judged):
        if f[h] - f[t] < 1.0:
            lost += charge(loss, 1.0, f[h] - f[t])
    return lost


@kernel
def _relax(rule, C, q, judged, n, work):
    """Solve the pieces one after the other; `change` becomes the flow of the document."""
    _, start, order, f, flow, change, heads, at_head, tails, at_tail, _, centres, margins = work
    split = _first_split(start)
    if rule[0] == IDENTITY:
        relax_identity(rule, C, q, q, 0.0, split, judged, f, flow, change, heads, at_head, tails, at_tail)
        flow[:] = 0.0
        return
    change[:judged] = 0.0
    several = centres[n - 1] >= split  # heads of several layers
    _order_by_margin(centres, margins, order, n)
    while n > 0:
        h, n = _pop(centres, margins, order, n), n - 1
        first = _first_below(start, h)
        if has_single_arcs(rule[0], order[h]):
            moved = _relax_star(rule[2], C, q, h, first, judged, f, change, tails, at_tail)
        else:
            moved = _relax_centre(rule[2], C, q, h, first, judged, f, change)
        # Of two layers, heads that are left have larger margins, against tails that have only been lowered.
        if not (moved or several):
            return


@kernel
def _relax_selected(loss, C, q, judged, n, order, f, change, centres, margins):
    """Solve the pieces of n heads with the same tails, f[n:judged], one after the other; see `_relax_centre`."""
    # A piece lowers its highest tails to one level, and the next piece takes up there: nothing but the level and the
    # number of tails at it is needed.
    first = n
    change[:judged] = 0.0
    level, count = _highest_below(f, first, judged, np.inf)
    below, more = _highest_below(f, first, judged, level)
    _order_by_margin(centres, margins, order, n)
    while n > 0:
        h, n = _pop(centres, margins, order, n), n - 1
        if level <= f[h] - 1.0:  # heads that are left have larger margins
            break
        level, count, below, more, change[h] = _lower_tails(
            loss, C, q, first, judged, f, f[h], level, count, below, more
        )
    for t in range(first, judged):
        if f[t] > level:
            change[t] = (level - f[t]) / q


@kernel
def _lower_tails(loss, C, q, first, judged, f, score, level, count, below, more):
    """Solve the piece of a head of this score; return the new level, its tails, what is below it, and the flow."""
    slope = q + (0.0 if loss == HINGE else 0.5 / C)
    total = count * level
    while True:
        theta = (total * slope - q * (1.0 - score)) / (count * slope + q)
        if loss == HINGE:  # the flow is at most C
            theta = max(theta, (total - C * q) / count)
        if theta >= below:
            return theta, count, below, more, (total - count * theta) / q
        total += more * below
        count += more
        below, more = _highest_below(f, first, judged, below)


@kernel
def _highest_below(f, first, judged, bound):
    """Return the highest score of a tail below a bound, or -inf, and the number of tails that have it."""
    highest, number = -np.inf, 0
    for t in range(first, judged):
        if highest < f[t] < bound:
            highest, number = f[t], 0
        number += f[t] == highest
    return highest, number


@kernel
def _order_by_margin(centres, margins, order, n):
    """Make a heap of n heads, the smallest margin first."""
    for j in range(n // 2 - 1, -1, -1):
        _sift_down(centres, margins, order, j, n)


@kernel
def _first_split(start):
    """Return where the first layer that has labels ends."""
    for b in range(1, len(start)):
        if start[b] > 0:
            return start[b]
    return start[0]


@kernel
def _first_below(start, h):
    """Return where the labels below the layer of h begin."""
    b = 1
    while start[b] <= h:
        b += 1
    return start[b]


@kernel
def _relax_centre(loss, C, q, h, first, judged, f, change):
    """Solve the piece of head h and all labels below it; return whether it moves anything."""
    # Each tail gives [f_t - theta]_+ / q, the head takes their sum T, and the margin f_h + q T - theta is 1 - r T. Both
    # sides of the sum are lines between the points at which a tail begins to take part, and Newton's method from the
    # left, where T = 0, ends after at most as many steps as there are tails.
    r, cap = (0.0, C) if loss == HINGE else (0.5 / C, np.inf)
    theta, active = f[h] - 1.0, judged + 1
    while True:
        total, count = 0.0, 0
        for t in range(first, judged):
            if f[t] > theta:
                total += f[t]
                count += 1
        if count == 0 and active > judged:
            return False
        if count == 0 or count >= active:  # it falls from step to step; where rounding lets it rise, theta was right
            break
        active = count
        theta = (total * (q + r) - q * (1.0 - f[h])) / (count * (q + r) + q)
        if count == 1:  # it falls no further
            break
    if (theta + 1.0 - f[h]) / (q + r) > cap:
        theta = _level_of(cap * q, first, judged, f)
    T = 0.0
    for t in range(first, judged):
        if f[t] > theta:
            amount = (f[t] - theta) / q
            change[t] -= amount
            f[t] = theta
            T += amount
    change[h] += T
    f[h] += q * T
    return True


@kernel
def _level_of(amount, first, judged, f):
    """Return the level theta with sum_t [f_t - theta]_+ = amount."""
    theta, active = -np.inf, judged + 1
    while True:
        total, count = 0.0, 0
        for t in range(first, judged):
            if f[t] > theta:
                total += f[t]
                count += 1
        if count == 0 or count >= active:  # as in `_relax_centre`
            return theta
        theta, active = (total - amount) / count, count


@kernel
def _relax_star(loss, C, q, h, first, judged, f, change, room, at_tail):
    """Solve the single arcs of head h together; return whether they move anything."""
    n = 0
    for t in range(first, judged):
        if f[t] > f[h] - 1.0:
            room[n], at_tail[n] = 1.0 - f[h] + f[t], t
            n += 1
    if n == 0:
        return False
    slope, cap = (q, C) if loss == HINGE else (q + 0.5 / C, np.inf)
    level, total = q * total_of_star(room, n, q, slope, cap, 0.0), 0.0
    for j in range(n):
        amount = min(cap, max(0.0, room[j] - level) / slope)
        f[at_tail[j]] -= q * amount
        change[at_tail[j]] -= amount
        total += amount
    f[h] += q * total
    change[h] += total
    return True


@kernel
def _pop(centres, margins, order, n):
    """Take the head of the smallest margin from a heap of n; of equal margins, as at first, the smallest label."""
    h = centres[0]
    centres[0], margins[0] = centres[n - 1], margins[n - 1]
    _sift_down(centres, margins, order, 0, n - 1)
    return h


@kernel
def _sift_down(centres, margins, order, at, n):
    """Let the entry at this place sink to where no entry below it comes before it."""
    h, m = centres[at], margins[at]
    while True:
        child = 2 * at + 1
        if child >= n:
            break
        if child + 1 < n and _is_before(margins[child + 1], centres[child + 1], margins[child], centres[child], order):
            child += 1
        if not _is_before(margins[child], centres[child], m, h, order):
            break
        centres[at], margins[at] = centres[child], margins[child]
        at = child
    centres[at], margins[at] = h, m


@kernel
def _is_before(m, h, other_m, other, order):
    """Return whether a head comes before another one."""
    return m < other_m or (m == other_m and order[h] < order[other])

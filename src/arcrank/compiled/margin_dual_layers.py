"""The dual of the Preference Learning Model on layered graphs, in flows, not arcs (Aiolli & Sperduti 2004, eq. 8).

A piece whose heads are all joined to all its tails is solved exactly: any outflows and inflows of equal sum can be
realised by arcs, so the piece has k variables and not heads x tails. With its own flow taken off the scores,
`outflow_h = [phi - f_h]_+ / q`, `inflow_t = [f_t - theta]_+ / q`, both sum to T, and the smallest margin phi - theta
equals g'(T), where g is the dual of the loss and q = ||x||^2. The margin is a concave increasing function of T, so
Newton's method finds T in a few steps.

rule : (mode, mirror, loss, target); mode IDENTITY has one piece per instance (on two layers only), CENTRES one per
    head, ARCS one per arc, CUT_CENTRES one per head and one per arc of label 0, the cut; `mirror`: see
    `compiled.layers`
graph : (ptr, label, level, rest, n_layers) of LayeredGraphs
rows : (data, indices, indptr) of the CSR features; `square` holds the squared lengths of the rows
cost : (n,) C of every piece of an instance
store : see `compiled.flow_store`; it holds the non-zero flows
watch : (label, place, count, split): the few labels of an instance that visits between two full ones look at, their
    positions, and how many of them are heads
gaps, costs : (n,) an instance's part of the duality gap and of the primal when it was last seen

Keys are positions in the order of layers: of a label (identity), or centre * k + other end (a piece for each centre).
"""

from __future__ import annotations

import math

import numpy as np

from arcrank.compiled.flow_store import is_full, save_flows
from arcrank.compiled.jit import kernel
from arcrank.compiled.layers import arrange, is_one_layer_of_two, layer_workspace
from arcrank.compiled.losses import HINGE, LN2, LOGISTIC, SQUARED, charge, gain
from arcrank.compiled.rows import score_row

IDENTITY, CENTRES, ARCS, CUT_CENTRES = 0, 1, 2, 3
_NEAR = 0.2  # labels whose score is at most this far from taking part are watched


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


@kernel
def _relax_identity(rule, C, q, quiet, split, judged, f, flow, change, heads, at_head, tails, at_tail):
    """Solve the one piece of a two-layer graph; return gap and cost before, the dual's rise, and whether it moved."""
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
        change[j] = f[j] - q * flow[j]
        low = min(low, change[j])
    for j in range(split, judged):
        change[j] = f[j] + q * flow[j]
        high = max(high, change[j])
    # At the solution phi - theta = g'(T) <= target and theta <= high, so heads from high + target on have no outflow;
    # likewise tails. g' of the smooth losses is not bounded, and every label may take part.
    reach = target if loss <= SQUARED else np.inf
    n_heads, n_tails = 0, 0
    for j in range(split):
        if change[j] < high + reach:
            heads[n_heads], at_head[n_heads] = (low - change[j]) / q, j
            n_heads += 1
        change[j], flow[j] = -flow[j], 0.0
    for j in range(split, judged):
        if change[j] > low - reach:
            tails[n_tails], at_tail[n_tails] = (change[j] - high) / q, j
            n_tails += 1
        change[j], flow[j] = flow[j], 0.0
    rise = -before
    if n_heads > 0 and n_tails > 0:
        T, below, above = solve_piece(rule, C, q, heads, n_heads, tails, n_tails, low - high, T)
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


@kernel
def _has_single_arcs(mode, label):
    """Return whether every arc of this head is a piece."""
    return mode == ARCS or (mode == CUT_CENTRES and label == 0)


@kernel
def _gap_of_centres(rule, C, k, start, judged, order, f, keys, values, count):
    """Return the instance's part of the duality gap and of the primal, with one piece per centre or per arc."""
    mode, _, loss, target = rule
    cost = 0.0
    for b in range(len(start) - 1):
        first = start[b + 1]
        # The cut is alone in its layer, so the first label of a layer tells for all of them.
        if start[b] < first and _has_single_arcs(mode, order[start[b]]):
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
        together = not _has_single_arcs(mode, order[centre])
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
def _relax_centres(rule, C, q, k, start, judged, order, f, flow, change, heads, tails, at_tail, old, new, count):
    """Make one round over the pieces of an instance; entries are read from `old` and written to `new`."""
    mode = rule[0]
    (keys, values), (new_keys, new_values) = old, new
    # Pieces come in the order of their keys, so reading and writing are one walk each. Two buffers, because a piece may
    # write more entries than it has read.
    rise, moved, e, out = 0.0, 0.0, 0, 0
    for b in range(len(start) - 1):
        for h in range(start[b], start[b + 1]):
            first, single = start[b + 1], _has_single_arcs(mode, order[h])
            while first < judged:
                last = first + 1 if single else judged
                while e < count and keys[e] < h * k + last:
                    flow[keys[e] - h * k] = values[e]
                    e += 1
                up, step = _relax_centre(rule, C, q, h, first, last, f, flow, change, heads, tails, at_tail)
                rise += up
                moved = max(moved, step)
                for t in range(first, last):  # `flow` is all 0 again for the next piece
                    if flow[t] > 0.0:
                        new_keys[out], new_values[out] = h * k + t, flow[t]
                        out += 1
                        flow[t] = 0.0
                first = last
    return rise, moved, out


@kernel
def _place_of(position, place, judged):
    """Return the index of a position in the order of layers among the watched ones, of which there are few."""
    for j in range(judged):
        if place[j] == position:
            return j
    return -1  # never for a stored flow: labels that carry flow are watched


@kernel
def _load(i, mode, k, store, place, judged, partial, keys, values):
    """Copy an instance's stored flows, renumbered where only some labels are watched; return their number."""
    begin, count = store[0][i], store[1][i]
    for e in range(count):
        key, values[e] = store[3][begin + e], store[4][begin + e]
        if partial and mode == IDENTITY:
            key = _place_of(key, place, judged)
        elif partial:
            key = _place_of(key // k, place, judged) * k + _place_of(key % k, place, judged)
        keys[e] = key
    return count


@kernel
def _save(i, mode, k, store, place, partial, keys, values, count):
    """Store an instance's flows under keys that do not depend on which labels were watched; changes `keys`."""
    if partial:
        for e in range(count):
            own = keys[e]
            keys[e] = np.int64(place[own]) if mode == IDENTITY else np.int64(place[own // k]) * k + place[own % k]
    save_flows(i, store, keys, values, count)


@kernel
def _split_of(start):
    """Return the number of labels in the first layer that has any."""
    for b in range(1, len(start)):
        if start[b] > 0:
            return start[b]
    return start[0]


@kernel
def _visit(i, rule, judged, partial, C, q, quiet, rounds, store, work, place):
    """Solve all pieces of instance i, arranged in `work`, one after another.

    Return its gap and cost before, the rise of the dual, and the number of labels whose `change` (new minus old flow)
    is filled in: 0 where nothing moved. `flow` is all 0 on entry and on return.
    """
    mode = rule[0]
    levels, start, order, f, flow, change, heads, at_head, tails, at_tail, one, two = work
    k = len(levels)
    keys, values = one
    count = _load(i, mode, k, store, place, judged, partial, keys, values)
    if mode == IDENTITY:
        split = _split_of(start)
        if split == judged:  # one layer, no arcs
            return 0.0, 0.0, 0.0, 0
        for e in range(count):
            flow[keys[e]] = values[e]
        gap, cost, rise, moved = _relax_identity(
            rule, C, q, quiet, split, judged, f, flow, change, heads, at_head, tails, at_tail
        )
        out = 0
        for j in range(judged):
            if flow[j] > 0.0:
                keys[out], values[out] = j, flow[j]
                out += 1
                flow[j] = 0.0
        if not moved:
            return gap, cost, 0.0, 0
        for j in range(judged):
            f[j] += q * change[j]
        _save(i, mode, k, store, place, partial, keys, values, out)
        return gap, cost, rise, judged
    gap, cost = _gap_of_centres(rule, C, k, start, judged, order, f, keys, values, count)
    if gap <= quiet:
        return gap, cost, 0.0, 0
    change[:judged] = 0.0
    rise = 0.0
    for _ in range(rounds):
        up, moved, count = _relax_centres(
            rule, C, q, k, start, judged, order, f, flow, change, heads, tails, at_tail, one, two, count
        )
        one, two = two, one
        rise += up
        # The pieces affect each other through the scores, so a round is repeated while it moves much. A single label
        # above all others is one piece (CENTRES), solved exactly by the first round; elsewhere the visit just ends.
        if moved <= 0.02 * C or start[1] == 1:
            break
    # As in _relax_identity, but f holds the scores after the change.
    for j in range(judged):
        rise -= change[j] * (f[j] - 0.5 * q * change[j])
    _save(i, mode, k, store, place, partial, one[0], one[1], count)
    return gap, cost, rise, judged


@kernel
def _watch(i, rule, graph, judged, store, work, watch):
    """Choose, after a full visit, the labels to watch: those that carry flow or may soon do so, unless they are many.

    Moving only these is an exact ascent in some of the variables, so the dual still rises; only full visits see
    the labels that newly take part, and only they measure the gap exactly.
    """
    label, place, count, split_of = watch
    mode, _, loss, target = rule
    start, order, f, flow = work[1], work[2], work[3], work[4]
    count[i] = 0
    if not is_one_layer_of_two(i, graph):  # `_score_watched` arranges two layers only
        return
    k, split = len(order), _split_of(start)
    for e in range(store[0][i], store[0][i] + store[1][i]):
        key = store[3][e]
        flow[key if mode == IDENTITY else key % k] = 1.0  # a mark, removed below
    low, high = np.inf, -np.inf
    for j in range(split):
        low = min(low, f[j])
    for j in range(split, judged):
        high = max(high, f[j])
    reach = target if loss <= SQUARED else 0.0
    lack, n = _NEAR, label.shape[1] + 1
    while n > label.shape[1] and lack > 0.001:  # where too many are near, only the nearer ones
        n = 0
        for j in range(judged):
            if j < split:
                # With one piece per head every head must be there, or its piece would be forgotten.
                near = mode != IDENTITY or f[j] <= max(low, high + reach) + lack
            else:
                near = f[j] >= min(high, low - reach) - lack
            if near or flow[j] > 0.0:
                if n < label.shape[1]:
                    label[i, n], place[i, n] = order[j], j
                n += 1
            split_of[i] = n if j < split else split_of[i]
        lack *= 0.3
    flow[:judged] = 0.0
    count[i] = n if n <= label.shape[1] else 0  # 0: every visit of this instance is full


@kernel
def _workspace(k, n_layers, widest):
    """Return the buffers of a visit, allocated once per pass."""
    levels, start, order, f = layer_workspace(k, n_layers)
    flow, change = np.zeros(k), np.empty(k)
    heads, tails = np.empty(k), np.empty(k)
    at_head, at_tail = np.empty(k, np.int64), np.empty(k, np.int64)
    one = np.empty(widest, np.int64), np.empty(widest)
    two = np.empty(widest, np.int64), np.empty(widest)
    return levels, start, order, f, flow, change, heads, at_head, tails, at_tail, one, two


@kernel
def _score_watched(i, rows, W, label, split, n, sign, work):
    """Compute the scores of n labels only, and arrange them as two layers."""
    data, indices, indptr = rows
    start, order, f = work[1], work[2], work[3]
    for j in range(n):
        order[j], f[j] = label[j], 0.0
    for e in range(indptr[i], indptr[i + 1]):
        row, x = W[indices[e]], sign * data[e]
        for j in range(n):
            f[j] += x * row[order[j]]
    start[:] = n  # layers below the second are empty
    start[0], start[1] = 0, split


@kernel
def linear_pass(
    rule, graph, rows, square, cost, visits, first, full, widest, quiet, rounds, W, store, watch, gaps, costs
):
    """Visit instances until the pool may overflow; return the position reached and the rise of the dual.

    A visit that is not full looks only at the labels that the last full one chose to watch. quiet = inf measures:
    nothing moves, so threads may share W and the store.
    """
    data, indices, indptr = rows
    k, measuring = W.shape[1], quiet == np.inf
    work = _workspace(k, graph[4], widest)
    order, change, scores = work[2], work[5], np.empty(k)
    sign = -1.0 if rule[1] else 1.0
    rise = 0.0
    for v in range(first, len(visits)):
        i = visits[v]
        if is_full(store, widest):
            return v, rise
        partial = not full and watch[2][i] > 0
        if partial:
            judged = np.int64(watch[2][i])
            _score_watched(i, rows, W, watch[0][i], watch[3][i], judged, sign, work)
        else:
            score_row(indptr, indices, data, W, i, scores)
            judged = arrange(i, graph, rule[1], scores, work[0], work[1], order, work[3])
        visit = _visit(i, rule, judged, partial, cost[i], square[i], quiet, rounds, store, work, watch[1][i])
        gaps[i], costs[i], up, changed = visit
        if not partial and not measuring:
            _watch(i, rule, graph, judged, store, work, watch)
        rise += up
        # Few labels move in a visit: writing only these columns of W is cheaper than all of a row. The buffers of this
        # instance are free by now, and n_moved <= j.
        n_moved = 0
        for j in range(changed):
            if change[j] != 0.0:
                order[n_moved], scores[n_moved] = order[j], sign * change[j]
                n_moved += 1
        if n_moved > 0:
            for e in range(indptr[i], indptr[i + 1]):
                row, x = W[indices[e]], data[e]
                for j in range(n_moved):
                    row[order[j]] += x * scores[j]
    return len(visits), rise


@kernel
def gram_pass(rule, graph, square, cost, batch, K, F, cycles, widest, quiet, rounds, store, gaps, costs, coefficients):
    """Visit a batch whose kernel matrix is K and whose scores are F, updated in place; return the rise of the dual."""
    k = F.shape[1]
    work = _workspace(k, graph[4], widest)
    order, change = work[2], work[5]
    nowhere = np.empty(0, np.int32)  # no label is watched: the scores are there anyway
    sign = -1.0 if rule[1] else 1.0
    rise, at_first = 0.0, 0.0
    for cycle in range(cycles):
        total = 0.0
        for b in range(len(batch)):
            i = batch[b]
            if is_full(store, widest):
                return rise
            judged = arrange(i, graph, rule[1], F[b], work[0], work[1], order, work[3])
            visit = _visit(i, rule, judged, False, cost[i], square[i], quiet, rounds, store, work, nowhere)
            gaps[i], costs[i], up, judged = visit
            rise += up
            total += gaps[i]
            for j in range(judged):
                if change[j] != 0.0:
                    amount, r = sign * change[j], order[j]
                    coefficients[b, r] += amount
                    for other in range(len(batch)):
                        F[other, r] += K[other, b] * amount
        # Solving the batch further is wasted: the other batches will change its scores.
        at_first = total if cycle == 0 else at_first
        if total <= 0.1 * at_first:
            break
    return rise


@kernel
def net_flows(rule, graph, first, store, flows):
    """Fill (rows, k) flows with outflow minus inflow of the instances from `first` on."""
    k = flows.shape[1]
    levels, start, order, f = layer_workspace(k, graph[4])
    scores = np.zeros(k)
    for r in range(len(flows)):
        i = first + r
        flows[r] = 0.0
        arrange(i, graph, rule[1], scores, levels, start, order, f)  # for the order only, which keys refer to
        sign = -1.0 if rule[1] else 1.0
        split = _split_of(start)
        for e in range(store[0][i], store[0][i] + store[1][i]):
            key, amount = store[3][e], sign * store[4][e]
            if rule[0] == IDENTITY:
                flows[r, order[key]] += amount if key < split else -amount
            else:
                flows[r, order[key // k]] += amount
                flows[r, order[key % k]] -= amount

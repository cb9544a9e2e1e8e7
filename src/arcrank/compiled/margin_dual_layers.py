"""The dual of the Preference Learning Model on layered graphs, in flows, not arcs (Aiolli & Sperduti 2004, eq. 8).

A piece whose heads are all joined to all its tails is solved exactly: any outflows and inflows of equal sum can be
realised by arcs, so the piece has k variables and not heads x tails. With its own flow taken off the scores,
`outflow_h = [phi - f_h]_+ / q`, `inflow_t = [f_t - theta]_+ / q`, both sum to T, and the smallest margin phi - theta
equals g'(T), where g is the dual of the loss and q = ||x||^2. The margin is a concave increasing function of T, so
Newton's method finds T in a few steps.

rule : (mode, mirror, loss, target); mode IDENTITY has one piece per instance (on two layers only), CENTRES one per
    head, HEADS the same on two layers for hinge and squared hinge, solved at once, ARCS one per arc, CUT_CENTRES one
    per head and one per arc of label 0, the cut; `mirror`: see `compiled.layers`
graph : (ptr, label, level, rest, n_layers) of LayeredGraphs
rows : (data, indices, indptr) of the CSR features; `square` holds the squared lengths of the rows
cost : (n,) C of every piece of an instance
store : see `compiled.flow_store`; it holds the non-zero flows
watch : see `compiled.margin_dual_watch`; without instances where nothing is watched
lag : see `compiled.margin_dual_constant`; `square` does without the constant then
relax : 1, or up to 2 for longer steps in the modes IDENTITY and HEADS; see `compiled.margin_dual_heads`
heads, pieces : (True, None) for the mode HEADS, (None, None) for IDENTITY, (None, True) for the others. numba leaves
    out a branch that an argument None rules out, and compiles half as long
gaps, costs : (n,) an instance's part of the duality gap and of the primal when it was last seen

Keys are positions in the order of layers: of a label (IDENTITY and HEADS), or centre * k + other end.
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.flow_store import is_full, save_flows
from arcrank.compiled.jit import kernel
from arcrank.compiled.layers import arrange, layer_workspace
from arcrank.compiled.margin_dual_centres import ARCS, CENTRES, CUT_CENTRES, gap_of_centres, relax_centres
from arcrank.compiled.margin_dual_constant import FOLLOWS, add_constant, follow
from arcrank.compiled.margin_dual_heads import relax_heads
from arcrank.compiled.margin_dual_identity import relax_identity
from arcrank.compiled.margin_dual_watch import (
    HEADS,
    IDENTITY,
    compress,
    load_flows,
    near_labels,
    note_watched,
    renumber,
    save_watched,
    score_watched,
)
from arcrank.compiled.rows import copy_values, score_row

__all__ = ["ARCS", "CENTRES", "CUT_CENTRES", "HEADS", "IDENTITY", "gram_pass", "linear_pass", "net_flows"]

_MANY_LAYERS = 8  # above, nearly every label is a head, and all of them are looked at


@kernel
def _split_of(start):
    """Return the number of labels in the first layer that has any."""
    for b in range(1, len(start)):
        if start[b] > 0:
            return start[b]
    return start[0]


@kernel
def _save(i, mode, k, some, store, place, keys, values, count):
    """Store an instance's flows, whose keys are places among some labels or positions."""
    if some:
        save_watched(i, mode, k, store, place, keys, values, count)
    else:
        save_flows(i, store, keys, values, count)


@kernel
def _visit_block(i, rule, k, judged, some, C, q, relax, quiet, store, work, count, heads):
    """Solve all flows of a two-layer graph; see `_visit`."""
    start, f, flow, change, one, place = work[1], work[3], work[4], work[5], work[10], work[13]
    keys, values = one
    split = _split_of(start)
    if split == judged:  # one layer, no arcs
        return 0.0, 0.0, 0.0, 0
    for e in range(count):
        flow[keys[e]] = values[e]
    buffers = work[6], work[7], work[8], work[9]
    if heads is not None:
        gap, cost, rise, moved = relax_heads(rule, C, q, q / relax, quiet, split, judged, f, flow, change, *buffers)
    else:
        gap, cost, rise, moved = relax_identity(rule, C, q, q / relax, quiet, split, judged, f, flow, change, *buffers)
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
    _save(i, rule[0], k, some, store, place, keys, values, out)
    return gap, cost, rise, judged


@kernel
def _choose_near(i, rule, k, judged, work, watch, count):
    """Choose the labels to watch, whose flows are in the first buffer; return their number."""
    _, start, order, f, flow, _, _, _, _, _, (keys, _), _, _, _, near, limits, starts = work
    most = watch[0].shape[1]
    n = near_labels(rule, k, start, judged, order, f, keys, count, flow, limits, most, near, starts)
    if len(watch[2]) > 0:
        note_watched(i, n, order, near, starts, watch)
    return n


@kernel
def _visit(i, rule, judged, partial, C, q, relax, quiet, rounds, store, work, watch, heads, pieces):
    """Solve all pieces of instance i, arranged in `work`.

    Return its gap and cost before, the rise of the dual, and the number of labels whose `change` (new minus old flow)
    is filled in: 0 where nothing moved. `flow` is all 0 on entry and on return.
    """
    k, one, index, place = len(work[0]), work[10], work[12], work[13]
    count = load_flows(i, store, one[0], one[1])
    if partial:
        copy_values(watch[1][i, :judged], place)
        renumber(rule[0], k, place, judged, index, one[0], count)
    if pieces is not None:
        return _visit_centres(i, rule, judged, partial, C, q, quiet, rounds, store, work, watch, count)
    return _visit_block(i, rule, k, judged, partial, C, q, relax, quiet, store, work, count, heads)


@kernel
def _visit_centres(i, rule, judged, partial, C, q, quiet, rounds, store, work, watch, count):
    """Solve the pieces of all centres, one after another; see `_visit`."""
    mode = rule[0]
    levels, start, order, f, flow, change, heads, _, tails, at_tail, one, two, index, place, near, _, starts = work
    k, some = len(levels), partial
    gap, cost = gap_of_centres(rule, C, k, start, judged, order, f, one[0], one[1], count)
    if quiet == np.inf:
        return gap, cost, 0.0, 0
    if not partial and len(start) <= _MANY_LAYERS:
        n = _choose_near(i, rule, k, judged, work, watch, count)
        if gap > quiet:
            compress(near, n, starts, place, start, order, f)
            renumber(mode, k, place, n, index, one[0], count)
            judged, some = n, True
    if gap <= quiet:
        return gap, cost, 0.0, 0
    change[:judged] = 0.0
    rise = 0.0
    for _ in range(rounds):
        up, moved, count = relax_centres(
            rule, C, q, k, start, judged, order, f, flow, change, heads, tails, at_tail, one, two, count
        )
        one, two = two, one
        rise += up
        # The pieces affect each other through the scores, so a round is repeated while it moves much. A single label
        # above all others is one piece (CENTRES), solved exactly by the first round.
        if moved <= 0.02 * C or (start[1] == 1 and mode == CENTRES):
            break
    # As in relax_identity, but f holds the scores after the change.
    for j in range(judged):
        rise -= change[j] * (f[j] - 0.5 * q * change[j])
    _save(i, mode, k, some, store, place, one[0], one[1], count)
    return gap, cost, rise, judged


@kernel
def _workspace(k, n_layers, widest):
    """Return the buffers of a visit, allocated once per pass."""
    levels, start, order, f = layer_workspace(k, n_layers)
    flow, change = np.zeros(k), np.empty(k)
    heads, tails = np.empty(k), np.empty(k)
    at_head, at_tail = np.empty(k, np.int64), np.empty(k, np.int64)
    one = np.empty(widest, np.int64), np.empty(widest)
    two = np.empty(widest, np.int64), np.empty(widest)
    index, place, near = np.empty(k, np.int64), np.empty(k, np.int64), np.empty(k, np.int64)
    limits, starts = np.empty(n_layers), np.empty(n_layers + 1, np.int64)
    buffers = flow, change, heads, at_head, tails, at_tail, one, two, index, place, near, limits, starts
    return levels, start, order, f, *buffers


@kernel
def linear_pass(
    rule, graph, rows, square, cost, visits, first, full, widest, relax, quiet, rounds, W, lag, store, watch,
    gaps, costs, heads, pieces,
):  # fmt: skip
    """Visit instances until the pool may overflow; return the position reached and the rise of the dual.

    A visit that is not full looks only at the labels that the last full one chose to watch. quiet = inf measures:
    nothing moves, so threads may share W and the store.
    """
    data, indices, indptr = rows
    k, measuring = W.shape[1], quiet == np.inf
    work = _workspace(k, graph[4], widest)
    order, change, scores = work[2], work[5], np.empty(k)
    sign = -1.0 if rule[1] else 1.0
    held, last = 1 if len(lag[1]) > 0 else 0, len(W) - 1
    every = max(1, len(visits) // FOLLOWS)
    rise = 0.0
    for v in range(first, len(visits)):
        i = visits[v]
        if is_full(store, widest):
            return v, rise
        if held > 0 and v % every == 0 and not measuring:
            follow(lag, W[last])
        partial = not full and watch[2][i] > 0
        if partial:
            judged = np.int64(watch[2][i])
            score_watched(i, rows, W, watch[0][i], watch[3][i], judged, sign, work[1], order, work[3])
        else:
            score_row(indptr, indices, data, W, i, scores)
            judged = arrange(i, graph, rule[1], scores, work[0], work[1], order, work[3])
        visit = _visit(
            i, rule, judged, partial, cost[i], square[i], relax, quiet, rounds, store, work, watch, heads, pieces
        )
        gaps[i], costs[i], up, changed = visit
        if pieces is None and not partial and not measuring:
            count = load_flows(i, store, work[10][0], work[10][1])
            _choose_near(i, rule, k, judged, work, watch, count)
        rise += up
        # Few labels move in a visit: writing only these columns of W is cheaper than all of a row. The buffers of this
        # instance are free by now, and n_moved <= j.
        n_moved = 0
        for j in range(changed):
            if change[j] != 0.0:
                order[n_moved], scores[n_moved] = order[j], sign * change[j]
                n_moved += 1
        if n_moved > 0:
            if held > 0:
                rise += add_constant(lag, W[last], square[i], order, scores, n_moved)
            for e in range(indptr[i], indptr[i + 1] - held):
                row, x = W[indices[e]], data[e]
                for j in range(n_moved):
                    row[order[j]] += x * scores[j]
    return len(visits), rise


@kernel
def gram_pass(
    rule, graph, square, cost, batch, K, F, cycles, widest, quiet, rounds, store, gaps, costs, coefficients, heads,
    pieces,
):  # fmt: skip
    """Visit a batch whose kernel matrix is K and whose scores are F, updated in place; return the rise of the dual."""
    k = F.shape[1]
    work = _workspace(k, graph[4], widest)
    order, change = work[2], work[5]
    nothing = np.empty((0, 0), np.int16)  # no label is watched: the scores are there anyway
    watch = nothing, nothing, np.empty(0, np.int32), np.empty((0, 0), np.int32)
    sign = -1.0 if rule[1] else 1.0
    rise, at_first = 0.0, 0.0
    for cycle in range(cycles):
        total = 0.0
        for b in range(len(batch)):
            i = batch[b]
            if is_full(store, widest):
                return rise
            judged = arrange(i, graph, rule[1], F[b], work[0], work[1], order, work[3])
            visit = _visit(
                i, rule, judged, False, cost[i], square[i], 1.0, quiet, rounds, store, work, watch, heads, pieces
            )
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
    """Fill (rows, k) flows with outflow minus inflow of the instances from `first` on; 0 for a cut without weights."""
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
            if rule[0] <= IDENTITY:
                flows[r, order[key]] += amount if key < split else -amount
            else:
                flows[r, order[key // k]] += amount
                flows[r, order[key % k]] -= amount
        if rule[0] == CUT_CENTRES:
            flows[r, 0] = 0.0

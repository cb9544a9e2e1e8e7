"""The dual of the Preference Learning Model on candidates: `margin_dual_pieces` with joint features.

Urgencies, slack and the choice of steps are the same. An arc's vector is `scale (z_head - z_tail)`, so that the
curvature of a step is the squared length of what it adds to the weights, and a step moves the scores of all candidates.
These are brought up to date only for the arcs that carry weight and for the most urgent one: another arc that turns out
to be less urgent than its old scores say is replaced in the next turn. So a turn costs O(candidates) comparisons, and
products with few of them.

rule, pieces : see `margin_arcs`; store : see `flow_store`; work : see `_workspace`
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.candidate_rows import add_direction, score_candidates
from arcrank.compiled.flow_store import is_full, save_flows
from arcrank.compiled.jit import kernel
from arcrank.compiled.layers import sort_layers
from arcrank.compiled.losses import HINGE
from arcrank.compiled.margin_arcs import (
    EXPLICIT,
    IDENTITY,
    SHARE,
    add_most_urgent,
    dual_of,
    load_arcs,
    slack_urgency,
    step_of_total,
)
from arcrank.compiled.margin_dual_pieces import gap_of_pieces

MOST_ARCS = 128  # of a piece that carry weight
_FEW = 64  # candidates that are all scored again after each piece


@kernel
def _score(Z, row, w):
    """Return z w of one candidate."""
    ptr, index, value = Z
    total = 0.0
    for j in range(ptr[row], ptr[row + 1]):
        total += value[j] * w[index[j]]
    return total


@kernel
def _add_row(Z, row, factor, direction):
    """Add a multiple of a candidate's features to a dense vector."""
    ptr, index, value = Z
    for j in range(ptr[row], ptr[row + 1]):
        direction[index[j]] += factor * value[j]


@kernel
def _take(Z, row, n, square, vector):
    """List the dense vector's entries at a candidate's features, and clear them; return their number and square."""
    ptr, index, _ = Z
    direction, touched, amounts = vector
    for j in range(ptr[row], ptr[row + 1]):
        amount = direction[index[j]]
        if amount != 0.0:
            touched[n], amounts[n] = index[j], amount
            n += 1
            square += amount * amount
            direction[index[j]] = 0.0
    return n, square


@kernel
def _list_step(Z, first, active, top, bottom, vector):
    """List `scale (z_head - z_tail)` of arc `top`, less that of `bottom` unless it is -1; return number and square."""
    head, tail, scale, direction = active[1], active[2], active[3], vector[0]
    _add_row(Z, first + head[top], scale[top], direction)
    _add_row(Z, first + tail[top], -scale[top], direction)
    if bottom >= 0:
        _add_row(Z, first + head[bottom], -scale[bottom], direction)
        _add_row(Z, first + tail[bottom], scale[bottom], direction)
    n, square = _take(Z, first + head[top], 0, 0.0, vector)
    n, square = _take(Z, first + tail[top], n, square, vector)
    if bottom >= 0:
        n, square = _take(Z, first + head[bottom], n, square, vector)
        n, square = _take(Z, first + tail[bottom], n, square, vector)
    return n, square


@kernel
def _without_zeros(active, count):
    """Drop the arcs without weight; return how many are left."""
    ids, head, tail, scale, offset, beta = active
    n = 0
    for j in range(count):
        if beta[j] > 0.0:
            ids[n], head[n], tail[n], scale[n], offset[n], beta[n] = (
                ids[j],
                head[j],
                tail[j],
                scale[j],
                offset[j],
                beta[j],
            )
            n += 1
    return n


@kernel
def relax_candidates(p, rule, pieces, start, order, C, inner, share, exact, Z, first, w, f, active, count, vector):
    """Make exact steps on the two most violating of arcs and slack; return the count and what `||w||^2 / 2` changed by.

    The steps are those of `margin_arcs.relax_piece`. With `exact`, all scores are brought up to date before the
    piece is found to be solved; a machine visits it again anyway.
    """
    loss = rule[2]
    _, head, tail, scale, offset, beta = active
    enough, gained, fresh = 0.0, 0.0, not exact
    for turn in range(inner):
        if count >= MOST_ARCS - 1:
            count = _without_zeros(active, count)
            if count >= MOST_ARCS - 1:
                break
        top, count = add_most_urgent(p, rule, pieces, start, order, f, active, count)
        T, bottom, u_bottom, u_top = 0.0, -1, np.inf, -np.inf
        for j in range(count):
            f[head[j]], f[tail[j]] = _score(Z, first + head[j], w), _score(Z, first + tail[j], w)
        for j in range(count):
            T += beta[j]
            u = offset[j] - scale[j] * (f[head[j]] - f[tail[j]])
            if u > u_top:  # with all of them up to date, another arc may be more urgent
                top, u_top = j, u
            if beta[j] > 0.0 and u < u_bottom:
                bottom, u_bottom = j, u
        slack = slack_urgency(loss, C, T)
        full = loss == HINGE and T >= C
        violation = max(u_top, slack) - (u_bottom if full else min(u_bottom, slack))
        rounding = offset[top] + scale[top] * (abs(f[head[top]]) + abs(f[tail[top]]))
        if violation <= max(enough, 1e-13 * rounding):
            if fresh:
                break
            score_candidates(Z, first, w, f)
            fresh = True
            continue
        fresh = not exact
        if turn == 0 and violation < np.inf:
            enough = share * violation
        if u_top > slack and (full or u_bottom < slack) and bottom >= 0 and bottom != top:
            n, curvature = _list_step(Z, first, active, top, bottom, vector)
            step = min(beta[bottom], (u_top - u_bottom) / max(1e-300, curvature))
            beta[bottom] -= step
            beta[top] += step
            old = scale[top] * (f[head[top]] - f[tail[top]]) - scale[bottom] * (f[head[bottom]] - f[tail[bottom]])
        else:
            j, u = (top, u_top) if u_top > slack else (bottom, u_bottom)
            n, curvature = _list_step(Z, first, active, j, -1, vector)
            step = step_of_total(loss, C, T, u, max(1e-300, curvature), beta[j])
            beta[j] += step
            old = scale[j] * (f[head[j]] - f[tail[j]])
        add_direction(vector[1], vector[2], n, step, w)
        gained += step * old + 0.5 * step * step * curvature
    # Scores of the arcs that moved last are brought up to date for the next piece.
    for j in range(count):
        f[head[j]], f[tail[j]] = _score(Z, first + head[j], w), _score(Z, first + tail[j], w)
    return count, gained


@kernel
def piece_range(i, rule, graph, pieces, levels, start, order):
    """Return the first piece of instance i and the one after its last; layers are sorted on the way."""
    if rule[0] == EXPLICIT:
        return pieces[0][i], pieces[0][i + 1]
    judged = sort_layers(i, graph, rule[1], levels, start, order)
    last = np.int64(0)
    for b in range(len(start) - 1):
        if start[b] < judged:
            last = start[b]  # labels of the last layer are no heads
    return np.int64(0), min(last, 1) if rule[0] == IDENTITY else last


@kernel
def candidate_workspace(ptr, n_layers, d, widest):
    """Return the buffers of a pass: for layers, scores, arcs of a piece, a vector of features, and flows to store."""
    k = 1
    for i in range(len(ptr) - 1):
        k = max(k, ptr[i + 1] - ptr[i])
    layers = np.empty(k, np.int32), np.zeros(n_layers + 1, np.int64), np.empty(k, np.int64), np.empty(k)
    ids, head, tail = np.empty(MOST_ARCS, np.int64), np.empty(MOST_ARCS, np.int64), np.empty(MOST_ARCS, np.int64)
    active = ids, head, tail, np.empty(MOST_ARCS), np.empty(MOST_ARCS), np.empty(MOST_ARCS)
    vector = np.zeros(d), np.empty(d, np.int64), np.empty(d)
    return layers, active, vector, (np.empty(widest, np.int64), np.empty(widest))


@kernel
def machine_pass(rule, graph, depth, pieces, Z, cost, visits, begin, widest, quiet, inner, w, store, gaps, costs):
    """Visit instances from `begin` on until the pool may overflow; return the position reached and the dual's rise."""
    ptr, label, level, rest, n_layers = graph
    (levels, start, order, all_scores), active, vector, (new_keys, new_values) = candidate_workspace(
        ptr, n_layers, len(w), widest
    )
    rise = 0.0
    for v in range(begin, len(visits)):
        i = visits[v]
        if is_full(store, widest):
            return v, rise
        m, C = ptr[i + 1] - ptr[i], cost[i]
        f, own_start, own_order = all_scores[:m], start[: depth[i] + 1], order[:m]
        score_candidates(Z, ptr[i], w, f)
        here = (ptr, label, level, rest, depth[i])
        first, last = piece_range(i, rule, here, pieces, levels[:m], own_start, own_order)
        at, stop = store[0][i], store[1][i]
        keys, values = store[3][at : at + stop], store[4][at : at + stop]
        gaps[i], costs[i] = gap_of_pieces(
            first, last, rule, pieces, own_start, own_order, C, keys, values, stop, f, active
        )
        if gaps[i] <= quiet or first == last:
            continue
        e, out = 0, 0
        for p in range(first, last):
            count = load_arcs(p, rule, pieces, own_order, keys, values, e, stop, m, active)
            e += count
            own = C * pieces[6][p] if rule[0] == EXPLICIT else C
            rise -= dual_of(rule[2], own, active, count)
            count, gained = relax_candidates(
                p, rule, pieces, own_start, own_order, own, inner, SHARE, False, Z, ptr[i], w, f, active, count, vector
            )
            rise += dual_of(rule[2], own, active, count) - gained
            for j in range(count):
                if active[5][j] > 0.0:
                    new_keys[out], new_values[out] = active[0][j], active[5][j]
                    out += 1
            if m <= _FEW and last - first > 1:
                score_candidates(Z, ptr[i], w, f)
        save_flows(i, store, new_keys, new_values, out)
    return len(visits), rise


@kernel
def sum_flows(rule, pieces, ptr, store, net):
    """Set net, (candidates,), to outflow minus inflow."""
    head, tail, scale = pieces[2], pieces[3], pieces[4]
    net[:] = 0.0
    for i in range(len(ptr) - 1):
        m = ptr[i + 1] - ptr[i]
        for e in range(store[0][i], store[0][i] + store[1][i]):
            key, amount = store[3][e], store[4][e]
            if rule[0] == EXPLICIT:
                h, t, amount = np.int64(head[key]), np.int64(tail[key]), amount * scale[key]
            else:
                h, t, amount = key // m, key % m, amount / rule[3]
            net[ptr[i] + h] += amount
            net[ptr[i] + t] -= amount

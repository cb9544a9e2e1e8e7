"""Dual ascent for the log-linear loss on candidates: `loglinear_dual_layers` and `_pieces` with joint features.

The dual variables, the best ones at given scores and the search along a step are the same. What differs is how flows
meet the weights: `w = sum_i Z_i' (outflow_i - inflow_i)` for the rows Z_i of an instance's candidates, so that a step
`net` of its flows has the quadratic term `||Z_i' net||^2`.
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.candidate_flows import best_flows, curvature_at_best, divergence, net_flow, step_length
from arcrank.compiled.candidate_rows import add_direction, gather_direction, score_candidates
from arcrank.compiled.fastmath import math_buffers
from arcrank.compiled.jit import kernel
from arcrank.compiled.layers import arrange, layer_workspace
from arcrank.compiled.loglinear_dual_layers import count_heads
from arcrank.compiled.loglinear_dual_pieces import _best_piece
from arcrank.compiled.loglinear_dual_pieces import _divergence as _piece_divergence
from arcrank.compiled.loglinear_dual_pieces import _step_length as _piece_step_length
from arcrank.compiled.loglinear_dual_search import sleep_longer


@kernel
def flow_sizes(ptr, level, depth, mirror):
    """Return the (n + 1,) pointer to each instance's flows: for each head layer its labels and all labels below.

    depth : (n,) one more than the largest level of each instance
    """
    n = len(depth)
    pointer = np.zeros(n + 1, np.int64)
    size = np.empty(max(1, depth.max()) if n else 1, np.int64)
    for i in range(n):
        size[: depth[i]] = 0
        for j in range(ptr[i], ptr[i + 1]):
            if level[j] >= 0:
                size[level[j]] += 1
        below, length = 0, 0
        for step in range(depth[i]):  # from the lowest layer up, or down where the graph is reversed
            b = step if mirror else depth[i] - 1 - step
            if below > 0 and size[b] > 0:
                length += size[b] + below
            below += size[b]
        pointer[i + 1] = pointer[i] + length
    return pointer


@kernel
def ascend_layers(
    graph,
    depth,
    flow_ptr,
    mirror,
    shared,
    normalize,
    weight,
    Z,
    _squares,
    w,
    state,
    gaps,
    losses,
    sleep,
    rows,
    skip,
    learn,
):
    """Visit the instances in `rows`; see `loglinear_dual_layers.ascend`."""
    ptr, label, level, rest, n_layers = graph
    widest, longest = 1, 1
    for i in range(len(depth)):
        widest = max(widest, ptr[i + 1] - ptr[i])
        longest = max(longest, flow_ptr[i + 1] - flow_ptr[i])
    levels, start, order, f = layer_workspace(widest, n_layers)
    all_scores, all_net = np.empty(widest), np.empty(widest)
    best, step, slack = np.empty(longest), np.empty(longest), np.empty(widest)
    below, values, buffers = np.empty(widest), np.empty(widest), math_buffers(widest)
    direction, touched, amounts = np.zeros(len(w)), np.empty(len(w), np.int64), np.empty(len(w))
    sign = -1.0 if mirror else 1.0
    steps = 0
    for i in rows:
        size = flow_ptr[i + 1] - flow_ptr[i]
        if size == 0 or weight[i] == 0.0:
            continue
        if learn and sleep[i, 0] > 0:
            sleep[i, 0] -= 1
            continue
        m = ptr[i + 1] - ptr[i]
        scores, net, layers = all_scores[:m], all_net[:m], start[: depth[i] + 1]
        score_candidates(Z, ptr[i], w, scores)
        here = (ptr, label, level, rest, depth[i])  # the loops over layers are as long as this instance needs them
        judged = arrange(i, here, mirror, scores, levels[:m], layers, order[:m], f[:m])
        c = weight[i]
        if normalize and not shared:
            c /= count_heads(layers, judged)
        flows = state[flow_ptr[i] : flow_ptr[i + 1]]
        losses[i] = best_flows(shared, c, f, layers, judged, best, slack, below, buffers)
        gaps[i] = divergence(shared, c, layers, judged, flows, best, slack, values, buffers)
        if not learn:
            continue
        if gaps[i] <= skip:
            sleep_longer(sleep, i)
            continue
        sleep[i, 1] = 0
        for j in range(size):
            step[j] = best[j] - flows[j]
        linear, _ = net_flow(layers, judged, step, order, f, net, False)
        n, quadratic = gather_direction(Z, ptr[i], net, direction, touched, amounts)
        curvature = curvature_at_best(shared, layers, judged, best, slack, step)
        t = step_length(shared, c, layers, judged, flows, step, curvature, linear, quadratic, gaps[i], values, buffers)
        for j in range(size):
            flows[j] += t * step[j]
        add_direction(touched, amounts, n, sign * t, w)
        steps += 1
    return steps


@kernel
def ascend_pieces(
    pieces, candidate_ptr, normalize, weight, Z, _squares, w, state, gaps, losses, sleep, rows, skip, learn
):
    """Visit the instances in `rows`, with a variable for each arc; see `loglinear_dual_pieces.ascend`."""
    row_ptr, arc_ptr, head, tail, arc_weight = pieces
    widest, longest = 1, 1
    for i in range(len(row_ptr) - 1):
        widest = max(widest, candidate_ptr[i + 1] - candidate_ptr[i])
        longest = max(longest, arc_ptr[row_ptr[i + 1]] - arc_ptr[row_ptr[i]])
    all_scores, all_net = np.empty(widest), np.empty(widest)
    best, step = np.empty(longest), np.empty(longest)
    direction, touched, amounts = np.zeros(len(w)), np.empty(len(w), np.int64), np.empty(len(w))
    steps = 0
    for i in rows:
        n_pieces = row_ptr[i + 1] - row_ptr[i]
        if n_pieces == 0 or weight[i] == 0.0:
            continue
        if learn and sleep[i, 0] > 0:
            sleep[i, 0] -= 1
            continue
        m = candidate_ptr[i + 1] - candidate_ptr[i]
        scores, net = all_scores[:m], all_net[:m]
        score_candidates(Z, candidate_ptr[i], w, scores)
        c = weight[i] / n_pieces if normalize else weight[i]
        losses[i], gaps[i] = 0.0, 0.0
        first = arc_ptr[row_ptr[i]]
        for p in range(row_ptr[i], row_ptr[i + 1]):
            here = slice(arc_ptr[p], arc_ptr[p + 1])
            there = best[arc_ptr[p] - first : arc_ptr[p + 1] - first]
            loss, slack = _best_piece(c, head[here], tail[here], arc_weight[here], scores, there)
            losses[i] += loss
            gaps[i] += _piece_divergence(c, state[here], there, slack)
        if not learn:
            continue
        if gaps[i] <= skip:
            sleep_longer(sleep, i)
            continue
        sleep[i, 1] = 0
        arcs = slice(first, arc_ptr[row_ptr[i + 1]])
        net[:] = 0.0
        linear = 0.0
        for a in range(arcs.start, arcs.stop):
            change = best[a - first] - state[a]
            step[a - first] = change
            net[head[a]] += change
            net[tail[a]] -= change
            linear += change * (scores[head[a]] - scores[tail[a]])
        n, quadratic = gather_direction(Z, candidate_ptr[i], net, direction, touched, amounts)
        ends = arc_ptr[row_ptr[i] : row_ptr[i + 1] + 1]
        t = _piece_step_length(c, ends, arc_weight[arcs], state[arcs], step, linear, quadratic, gaps[i])
        for a in range(arcs.start, arcs.stop):
            state[a] += t * step[a - first]
        add_direction(touched, amounts, n, t, w)
        steps += 1
    return steps

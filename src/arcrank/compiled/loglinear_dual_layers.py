"""Dual ascent for the log-linear loss on layered graphs, in flows instead of arcs.

The dual of `1/2 ||W||^2 + sum_pieces c log(1 + sum_arcs exp(-margin))` has one variable for each arc:
`max  sum_pieces [-sum_a alpha_a log(alpha_a / c) - slack log(slack / c)] - 1/2 ||W||^2`,
with slack = c - sum_a alpha_a and W = sum_i x_i (outflow_i - inflow_i)'. At given scores the best alpha of a piece is
`c exp(-margin) / (1 + sum exp(-margin))`: rank one within a head layer. Among variables with given flows the rank-one
form has the largest entropy, so for each head layer b only flows are stored: the outflow of its labels, then the inflow
of every label below it. The entropy of flows is concave, and a step towards the best flows with an exact
one-dimensional search never lowers the dual.

`shared` tells whether all heads share one piece (zero-one) or have a piece each (domination; dominated is its mirror).
The primal-dual gap of an instance is the divergence KL(alpha, best alpha), and these sum to the gap of the problem.
"""

from __future__ import annotations

import math

import numpy as np

from arcrank.compiled.jit import kernel
from arcrank.compiled.layers import arrange, layer_workspace
from arcrank.compiled.loglinear_dual_search import TINY, narrow, next_trial, sleep_longer
from arcrank.compiled.rows import add_row, score_row


@kernel
def state_sizes(ptr, level, rest, n_layers, n_labels, mirror):
    """(n + 1,) pointer of each instance's flows: for each head layer its labels and all labels below."""
    n = len(rest)
    pointer = np.zeros(n + 1, np.int64)
    size = np.empty(n_layers, np.int64)
    for i in range(n):
        size[:] = 0
        for j in range(ptr[i], ptr[i + 1]):
            if level[j] >= 0:
                size[level[j]] += 1
        if rest[i] >= 0 and ptr[i + 1] - ptr[i] < n_labels:
            size[rest[i]] += n_labels - (ptr[i + 1] - ptr[i])
        below, length = 0, 0
        for step in range(n_layers):
            b = step if mirror else n_layers - 1 - step
            if below > 0 and size[b] > 0:
                length += size[b] + below
            below += size[b]
        pointer[i + 1] = pointer[i] + length
    return pointer


@kernel
def _has_arcs(start, b, judged):
    """Whether layer b has labels, and some label is below it: only such layers have flows in the state."""
    return start[b + 1] < judged and start[b + 1] > start[b]


@kernel
def _best_flows(shared, c, f, start, judged, best, slack):
    """The flows of the best alpha at scores f, in state layout; slack[h] = c - outflow, exactly. Returns the loss."""
    n_layers = len(start) - 1
    top, total, p = -np.inf, 0.0, 0
    log_all = 0.0  # zero-one: log(1 + sum over all arcs seen so far)
    for b in range(n_layers - 1, -1, -1):
        first, stop = start[b], start[b + 1]
        if _has_arcs(start, b, judged):
            log_below = top + math.log(total)
            for j in range(stop, judged):
                best[p + j - first] = math.exp(f[j] - log_below)  # a softmax over the labels below
            for j in range(first, stop):
                best[p + j - first] = log_below - f[j]
            p += judged - first
        new = top
        for j in range(first, stop):
            new = max(new, f[j])
        if new > -np.inf:
            total *= math.exp(top - new) if top > -np.inf else 0.0
            for j in range(first, stop):
                total += math.exp(f[j] - new)
            top = new
    if shared:
        log_all = _log_of_all(start, judged, best)
    return _scale_flows(shared, c, log_all, start, judged, best, slack)


@kernel
def _log_of_all(start, judged, best):
    """log(1 + sum over heads of exp(log_below - f_h))."""
    top, p = 0.0, 0
    for b in range(len(start) - 2, -1, -1):
        if _has_arcs(start, b, judged):
            for j in range(start[b + 1] - start[b]):
                top = max(top, best[p + j])
            p += judged - start[b]
    total, p = math.exp(-top), 0
    for b in range(len(start) - 2, -1, -1):
        if _has_arcs(start, b, judged):
            for j in range(start[b + 1] - start[b]):
                total += math.exp(best[p + j] - top)
            p += judged - start[b]
    return top + math.log(total)


@kernel
def _scale_flows(shared, c, log_all, start, judged, best, slack):
    """Turn logits of heads into outflows, and softmaxes of tails into inflows. Returns the loss times c."""
    loss, p, head = log_all if shared else 0.0, 0, 0
    for b in range(len(start) - 2, -1, -1):
        if not _has_arcs(start, b, judged):
            continue
        heads, length, flow = start[b + 1] - start[b], judged - start[b], 0.0
        for j in range(p, p + heads):
            if shared:
                best[j] = c * math.exp(best[j] - log_all)
            else:
                z = best[j]
                tail = math.exp(-abs(z))
                loss += max(z, 0.0) + math.log1p(tail)
                best[j] = c * (1.0 if z > 0.0 else tail) / (1.0 + tail)
                slack[head] = c * (tail if z > 0.0 else 1.0) / (1.0 + tail)
                head += 1
            flow += best[j]
        for j in range(p + heads, p + length):
            best[j] *= flow
        p += length
    if shared:
        slack[0] = c * math.exp(-log_all)
    return c * loss


@kernel
def _divergence(shared, c, start, judged, state, best, slack):
    """KL(alpha, best alpha) of rank-one flows, the instance's part of the duality gap."""
    result, p, head, used = 0.0, 0, 0, 0.0
    for b in range(len(start) - 2, -1, -1):
        if not _has_arcs(start, b, judged):
            continue
        heads, length, flow, best_flow = start[b + 1] - start[b], judged - start[b], 0.0, 0.0
        for j in range(p, p + heads):
            flow += state[j]
            best_flow += best[j]
            if not shared:
                left = c - state[j]
                if left > 0.0:
                    result += left * math.log(left / max(slack[head], TINY))
                head += 1
        for j in range(p, p + length):
            if state[j] > 0.0:
                result += state[j] * math.log(state[j] / max(best[j], TINY))
        if flow > 0.0:
            result -= flow * math.log(flow / max(best_flow, TINY))
        used += flow
        p += length
    if shared and c > used:
        result += (c - used) * math.log((c - used) / max(slack[0], TINY))
    return max(result, 0.0)


@kernel
def _slope(shared, c, start, judged, state, step, t):
    """First and second derivative of the entropy of flows at state + t step."""
    slope, bend, p = 0.0, 0.0, 0
    used, used_step = 0.0, 0.0
    for b in range(len(start) - 2, -1, -1):
        if not _has_arcs(start, b, judged):
            continue
        heads, length, flow, flow_step = start[b + 1] - start[b], judged - start[b], 0.0, 0.0
        for j in range(p, p + heads):
            flow += state[j] + t * step[j]
            flow_step += step[j]
            if not shared and step[j] != 0.0:
                left = max(c - state[j] - t * step[j], TINY)
                slope += step[j] * math.log(left)
                bend -= step[j] * step[j] / left
        for j in range(p, p + length):
            if step[j] != 0.0:
                value = max(state[j] + t * step[j], TINY)
                slope -= step[j] * math.log(value)
                bend -= step[j] * step[j] / value
        flow = max(flow, TINY)
        slope += flow_step * math.log(flow)
        bend += flow_step * flow_step / flow
        used += flow
        used_step += flow_step
        p += length
    if shared:
        left = max(c - used, TINY)
        slope += used_step * math.log(left)
        bend -= used_step * used_step / left
    return slope, bend


@kernel
def _bend_at_best(shared, start, judged, best, slack, step):
    """Second derivative of the entropy of flows at the best flows, where the search starts: no logarithm is needed."""
    bend, p, head, used_step = 0.0, 0, 0, 0.0
    for b in range(len(start) - 2, -1, -1):
        if not _has_arcs(start, b, judged):
            continue
        heads, length, flow, flow_step = start[b + 1] - start[b], judged - start[b], 0.0, 0.0
        for j in range(p, p + heads):
            flow += best[j]
            flow_step += step[j]
            if not shared:
                bend -= step[j] * step[j] / max(slack[head], TINY)
                head += 1
        for j in range(p, p + length):
            bend -= step[j] * step[j] / max(best[j], TINY)
        bend += flow_step * flow_step / max(flow, TINY)
        used_step += flow_step
        p += length
    if shared:
        bend -= used_step * used_step / max(slack[0], TINY)
    return bend


@kernel
def _step_length(shared, c, start, judged, state, step, bend, linear, quadratic, gap):
    """The t in (0, 1] that maximises the dual along the step: Newton steps inside a bracket.

    At t = 1 the slope is -quadratic, since there the entropy's gradient balances the scores. Where a variable is about
    to vanish the curvature explodes and Newton's step stalls, so a step that is small against the bracket bisects it.
    """
    if quadratic <= 0.0:
        return 1.0
    low, high = 0.0, 1.0
    t, slope = 1.0, -quadratic
    for _ in range(40):
        t = next_trial(t, low, high, slope, quadratic - bend)
        slope, bend = _slope(shared, c, start, judged, state, step, t)
        slope -= linear + t * quadratic
        low, high, enough = narrow(t, low, high, slope, gap)
        if enough:
            break
    return low


@kernel
def ascend(graph, mirror, shared, normalize, weight, X, squares, W, state, gaps, losses, sleep, rows, skip, learn):
    """Visit the instances in `rows`: note each one's loss and gap, and unless it is below `skip` make its step.

    Instances whose gap is small sleep for the next visits, longer each time; with learn=False nothing moves and
    nothing sleeps, so that gaps and losses are exact. Returns the number of steps made.
    """
    layers, n_layers, state_ptr = graph[:5], graph[4], graph[5]
    X_ptr, X_index, X_value = X
    k = W.shape[1]
    levels, start, order, f = layer_workspace(k, n_layers)
    scores, net = np.empty(k), np.empty(k)
    best, step, slack = np.empty(n_layers * k), np.empty(n_layers * k), np.empty(k)
    sign = -1.0 if mirror else 1.0
    steps = 0
    for i in rows:
        size = state_ptr[i + 1] - state_ptr[i]
        if size == 0 or weight[i] == 0.0:
            continue
        if learn and sleep[i, 0] > 0:
            sleep[i, 0] -= 1
            continue
        score_row(X_ptr, X_index, X_value, W, i, scores)
        judged = arrange(i, layers, mirror, scores, levels, start, order, f)
        c = weight[i]
        if normalize and not shared:
            c /= _count_heads(start, judged)
        flows = state[state_ptr[i] : state_ptr[i + 1]]
        losses[i] = _best_flows(shared, c, f, start, judged, best, slack)
        gaps[i] = _divergence(shared, c, start, judged, flows, best, slack)
        if not learn:
            continue
        if gaps[i] <= skip:
            sleep_longer(sleep, i)
            continue
        sleep[i, 1] = 0
        for j in range(size):
            step[j] = best[j] - flows[j]
        linear, square = _net_flow(start, judged, step, order, f, net)
        bend = _bend_at_best(shared, start, judged, best, slack, step)
        t = _step_length(shared, c, start, judged, flows, step, bend, linear, squares[i] * square, gaps[i])
        for j in range(size):
            flows[j] += t * step[j]
        for r in range(k):
            net[r] *= sign * t
        add_row(X_ptr, X_index, X_value, W, i, net)
        steps += 1
    return steps


@kernel
def _count_heads(start, judged):
    heads = 0
    for b in range(len(start) - 1):
        if start[b + 1] < judged:
            heads += start[b + 1] - start[b]
    return heads


@kernel
def _net_flow(start, judged, step, order, f, net):
    """net = outflow - inflow of the step, by label; returns its product with the scores and its square."""
    net[:] = 0.0
    p = 0
    for b in range(len(start) - 2, -1, -1):
        if _has_arcs(start, b, judged):
            for j in range(start[b], start[b + 1]):
                net[order[j]] += step[p + j - start[b]]
            for j in range(start[b + 1], judged):
                net[order[j]] -= step[p + j - start[b]]
            p += judged - start[b]
    linear, square = 0.0, 0.0
    for j in range(judged):
        linear += f[j] * net[order[j]]
        square += net[order[j]] * net[order[j]]
    return linear, square

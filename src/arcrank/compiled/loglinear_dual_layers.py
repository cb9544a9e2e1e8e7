"""Dual ascent for the log-linear loss on layered graphs, in flows instead of arcs.

The dual of `1/2 ||W||^2 + sum_pieces c log(1 + sum_arcs exp(-margin))` has one variable for each arc:
`max  sum_pieces [-sum_a alpha_a log(alpha_a / c) - slack log(slack / c)] - 1/2 ||W||^2`,
with slack = c - sum_a alpha_a and W = sum_i x_i (outflow_i - inflow_i)'. At given scores the best alpha of a piece is
`c exp(-margin) / (1 + sum exp(-margin))`: rank one within a head layer. Among variables with given flows the rank-one
form has the largest entropy, so for each head layer b only flows are stored: the outflow of its labels, then the inflow
of every label below it. The entropy of flows is concave, and a step towards the best flows with an exact
one-dimensional search never lowers the dual.

State layout: one block per head layer, the lowest layer first, since sums over the layers below grow in that order.
The functions below repeat the walk over blocks: what they do in it differs, and kernels take no functions as arguments.
`shared` says whether all heads share one piece (zero-one) or have a piece each (domination; dominated is its mirror).
The primal-dual gap of an instance is the divergence KL(alpha, best alpha), and these sum to the gap of the problem.
"""

from __future__ import annotations

import math

import numpy as np

from arcrank.compiled.fastmath import exp_array, log_array, math_buffers
from arcrank.compiled.jit import kernel
from arcrank.compiled.layers import arrange, layer_workspace
from arcrank.compiled.loglinear_dual_search import TINY, narrow, next_trial, sleep_longer
from arcrank.compiled.rows import add_row, score_row


@kernel
def state_sizes(ptr, level, rest, n_layers, n_labels, mirror):
    """Return the (n + 1,) pointer to each instance's flows: for each head layer its labels and all labels below."""
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
        for step in range(n_layers):  # from the lowest layer up, or down where the graph is reversed
            b = step if mirror else n_layers - 1 - step
            if below > 0 and size[b] > 0:
                length += size[b] + below
            below += size[b]
        pointer[i + 1] = pointer[i] + length
    return pointer


@kernel
def _has_arcs(start, b, judged):
    """Return whether layer b has labels, and some label is below it: only such layers have flows in the state."""
    return start[b + 1] < judged and start[b + 1] > start[b]


@kernel
def _best_flows(shared, c, f, start, judged, best, slack, below, buffers):
    """Compute the flows of the best alpha at scores f, in state layout, and slack[h] = c - outflow; return the loss."""
    # First logits of heads and softmaxes of tails. Flows follow in a second loop, for the denominator of zero-one is
    # known only when all layers have been seen. `below` holds exp(f - top) of the labels seen so far.
    n_layers = len(start) - 1
    top, total, p = -np.inf, 0.0, 0
    log_all = 0.0
    for b in range(n_layers - 1, -1, -1):
        first, stop = start[b], start[b + 1]
        if _has_arcs(start, b, judged):
            log_below = top + math.log(total)
            for j in range(stop, judged):
                best[p + j - first] = below[j] / total  # shares of T_b: rank one, the same for all heads
            for j in range(first, stop):
                best[p + j - first] = log_below - f[j]
            p += judged - first
        if not 0 < first < stop:
            continue  # the labels of the top layer are nobody's tails
        new = top  # the running maximum of loglinear_layers._log_sums_below
        for j in range(first, stop):
            new = max(new, f[j])
        if new > top and stop < judged:
            factor = math.exp(top - new)
            total *= factor
            for j in range(stop, judged):
                below[j] *= factor
        for j in range(first, stop):
            below[j] = f[j] - new
        exp_array(below[first:stop], stop - first, buffers)
        for j in range(first, stop):
            total += below[j]
        top = new
    if shared:
        log_all = _log_of_all(start, judged, best)
    return _scale_flows(shared, c, log_all, start, judged, best, slack)


@kernel
def _log_of_all(start, judged, best):
    """Return log(1 + sum over heads of exp(log_below - f_h))."""
    top, p = 0.0, 0  # the 1 is exp(0)
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
    """Turn logits of heads into outflows, and softmaxes of tails into inflows; return c times the loss."""
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
                small = math.exp(-abs(z))
                loss += max(z, 0.0) + math.log1p(small)
                best[j] = c * (1.0 if z > 0.0 else small) / (1.0 + small)
                # c - best[j] would lose all digits where the outflow is nearly c, and the gap takes its logarithm.
                slack[head] = c * (small if z > 0.0 else 1.0) / (1.0 + small)
                head += 1
            flow += best[j]
        for j in range(p + heads, p + length):
            best[j] *= flow  # what the heads of the layer send out arrives at the labels below
        p += length
    if shared:
        slack[0] = c * math.exp(-log_all)
    return c * loss


@kernel
def _divergence(shared, c, start, judged, state, best, slack, values, buffers):
    """Return KL(alpha, best alpha) of rank-one flows, the instance's part of the duality gap."""
    # With alpha = out in / F of a block, sum alpha log(alpha / best) splits into the divergence of the outflows plus
    # that of the inflows minus F log(F / best F): O(k) terms for O(arcs) variables.
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
                if left > 0.0:  # 0 log 0 = 0
                    result += left * math.log(left / max(slack[head], TINY))
                head += 1
        for j in range(length):  # 0 log 0 = 0; a ratio below TINY has a state that is smaller still
            values[j] = max(state[p + j] / max(best[p + j], TINY), TINY)
        log_array(values, length, buffers)
        for j in range(length):
            result += state[p + j] * values[j]
        if flow > 0.0:
            result -= flow * math.log(flow / max(best_flow, TINY))
        used += flow
        p += length
    if shared and c > used:
        result += (c - used) * math.log((c - used) / max(slack[0], TINY))
    return max(result, 0.0)  # a divergence is never negative; near the optimum its rounding error may be


@kernel
def _slope(shared, c, start, judged, state, step, t, values, buffers):
    """Return the first and the second derivative in t of the entropy of flows at state + t step."""
    # d/dt of -v log v is -step (log v + 1). The terms without logarithm cancel: outflows and inflows of a block change
    # by the same sum, and the slack by its negative. So does log c.
    slope, curvature, p = 0.0, 0.0, 0
    used, used_step = 0.0, 0.0
    for b in range(len(start) - 2, -1, -1):
        if not _has_arcs(start, b, judged):
            continue
        heads, length, flow, flow_step = start[b + 1] - start[b], judged - start[b], 0.0, 0.0
        for j in range(p, p + heads):
            flow += state[j] + t * step[j]
            flow_step += step[j]
            if not shared and step[j] != 0.0:
                left = max(c - state[j] - t * step[j], TINY)  # rounding may take it below 0 at t near 1
                slope += step[j] * math.log(left)
                curvature -= step[j] * step[j] / left
        for j in range(length):
            values[j] = max(state[p + j] + t * step[p + j], TINY)
        for j in range(length):
            curvature -= step[p + j] * step[p + j] / values[j]
        log_array(values, length, buffers)
        for j in range(length):
            slope -= step[p + j] * values[j]
        # The F log F of the rank-one form, with the opposite sign of the other terms.
        flow = max(flow, TINY)
        slope += flow_step * math.log(flow)
        curvature += flow_step * flow_step / flow
        used += flow
        used_step += flow_step
        p += length
    if shared:
        left = max(c - used, TINY)
        slope += used_step * math.log(left)
        curvature -= used_step * used_step / left
    return slope, curvature


@kernel
def _curvature_at_best(shared, start, judged, best, slack, step):
    """Return the second derivative of the entropy along the step at the best flows."""
    # The search starts there, where the first derivative is known: one loop of divisions saves one of logarithms.
    curvature, p, head, used_step = 0.0, 0, 0, 0.0
    for b in range(len(start) - 2, -1, -1):
        if not _has_arcs(start, b, judged):
            continue
        heads, length, flow, flow_step = start[b + 1] - start[b], judged - start[b], 0.0, 0.0
        for j in range(p, p + heads):
            flow += best[j]
            flow_step += step[j]
            if not shared:
                curvature -= step[j] * step[j] / max(slack[head], TINY)
                head += 1
        for j in range(p, p + length):
            curvature -= step[j] * step[j] / max(best[j], TINY)
        curvature += flow_step * flow_step / max(flow, TINY)
        used_step += flow_step
        p += length
    if shared:
        curvature -= used_step * used_step / max(slack[0], TINY)
    return curvature


@kernel
def _step_length(shared, c, start, judged, state, step, curvature, linear, quadratic, gap, values, buffers):
    """Return the t in [0, 1] that maximises the dual along the step, by Newton steps inside a bracket.

    The dual along the step is `entropy(state + t step) - t linear - t^2 quadratic / 2`.
    """
    if quadratic <= 0.0:  # the step leaves the scores as they are, so the best flows at these scores are the optimum
        return 1.0
    low, high = 0.0, 1.0
    # At t = 1, the best flows for these scores, the entropy's slope equals `linear`.
    t, slope = 1.0, -quadratic
    for _ in range(40):
        t = next_trial(t, low, high, slope, quadratic - curvature)
        slope, curvature = _slope(shared, c, start, judged, state, step, t, values, buffers)
        slope -= linear + t * quadratic
        low, high, enough = narrow(t, low, high, slope, gap)
        if enough:
            break
    return low  # not t: only up to here the slope is known to be positive, and the dual must not fall


@kernel
def ascend(
    graph, mirror, shared, normalize, fixed, weight, X, squares, W, state, gaps, losses, sleep, rows, skip, learn
):
    """Visit the instances in `rows`: write each one's loss and gap, and move its flows unless the gap is below `skip`.

    Instances whose gap is small sleep for the next visits, longer each time; with learn=False nothing moves and
    nothing sleeps, so that gaps and losses are exact. Return the number of steps made. `fixed`: label 0, the cut, has
    the score 0 whatever flows through it.
    """
    layers, n_layers, state_ptr = graph[:5], graph[4], graph[5]
    X_ptr, X_index, X_value = X
    k = W.shape[1]
    levels, start, order, f = layer_workspace(k, n_layers)
    scores, net = np.empty(k), np.empty(k)
    best, step, slack = np.empty(n_layers * k), np.empty(n_layers * k), np.empty(k)
    below, values, buffers = np.empty(k), np.empty(k), math_buffers(k)
    sign = -1.0 if mirror else 1.0  # flows of the reversed graph go from tails to heads
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
        # Loss and gap are those before the step: the best flows that the step needs give them for nothing.
        losses[i] = _best_flows(shared, c, f, start, judged, best, slack, below, buffers)
        gaps[i] = _divergence(shared, c, start, judged, flows, best, slack, values, buffers)
        if not learn:
            continue
        if gaps[i] <= skip:
            sleep_longer(sleep, i)
            continue
        sleep[i, 1] = 0
        for j in range(size):
            step[j] = best[j] - flows[j]
        linear, square = _net_flow(start, judged, step, order, f, net, fixed)
        curvature = _curvature_at_best(shared, start, judged, best, slack, step)
        quadratic = squares[i] * square
        t = _step_length(shared, c, start, judged, flows, step, curvature, linear, quadratic, gaps[i], values, buffers)
        # Flows and W move together, so that W = sum_i x_i (outflow_i - inflow_i)' holds after every visit.
        for j in range(size):
            flows[j] += t * step[j]
        for r in range(k):
            net[r] *= sign * t
        add_row(X_ptr, X_index, X_value, W, i, net)
        steps += 1
    return steps


@kernel
def _count_heads(start, judged):
    """Return the number of labels with a label below: the pieces of domination."""
    heads = 0
    for b in range(len(start) - 1):
        if start[b + 1] < judged:
            heads += start[b + 1] - start[b]
    return heads


@kernel
def _net_flow(start, judged, step, order, f, net, fixed):
    """Set net to outflow - inflow of the step, by label; return its product with the scores and its square.

    That of a fixed cut is 0: it moves nothing, and its score is 0.
    """
    net[:] = 0.0  # labels that are not judged stay 0
    p = 0
    for b in range(len(start) - 2, -1, -1):
        if _has_arcs(start, b, judged):
            for j in range(start[b], start[b + 1]):
                net[order[j]] += step[p + j - start[b]]
            for j in range(start[b + 1], judged):
                net[order[j]] -= step[p + j - start[b]]
            p += judged - start[b]
    if fixed:
        net[0] = 0.0
    linear, square = 0.0, 0.0
    for j in range(judged):
        linear += f[j] * net[order[j]]
        square += net[order[j]] * net[order[j]]
    return linear, square

"""Steps of an instance's flows towards the best ones at its scores, for the log-linear dual on candidates.

`loglinear_dual_block` solves the flows of a head layer exactly, which needs a quadratic term that is a multiple of the
squared flows. That of candidates is `||Z' net||^2`, so here a visit takes a step towards the best flows at the present
scores, with an exact search along it: the entropy of flows is concave, so the step never lowers the dual. The layout of
flows is that of `loglinear_dual_layers`.
"""

from __future__ import annotations

import math

import numpy as np

from arcrank.compiled.fastmath import exp_array, log_array
from arcrank.compiled.jit import kernel
from arcrank.compiled.loglinear_dual_layers import has_arcs
from arcrank.compiled.loglinear_dual_search import TINY, narrow, next_trial


@kernel
def best_flows(shared, c, f, start, judged, best, slack, below, buffers):
    """Compute the flows of the best alpha at scores f, in state layout, and slack[h] = c - outflow; return the loss."""
    # First logits of heads and softmaxes of tails. Flows follow in a second loop, for the denominator of zero-one is
    # known only when all layers have been seen. `below` holds exp(f - top) of the labels seen so far.
    n_layers = len(start) - 1
    top, total, p = -np.inf, 0.0, 0
    log_all = 0.0
    for b in range(n_layers - 1, -1, -1):
        first, stop = start[b], start[b + 1]
        if has_arcs(start, b, judged):
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
        if has_arcs(start, b, judged):
            for j in range(start[b + 1] - start[b]):
                top = max(top, best[p + j])
            p += judged - start[b]
    total, p = math.exp(-top), 0
    for b in range(len(start) - 2, -1, -1):
        if has_arcs(start, b, judged):
            for j in range(start[b + 1] - start[b]):
                total += math.exp(best[p + j] - top)
            p += judged - start[b]
    return top + math.log(total)


@kernel
def _scale_flows(shared, c, log_all, start, judged, best, slack):
    """Turn logits of heads into outflows, and softmaxes of tails into inflows; return c times the loss."""
    loss, p, head = log_all if shared else 0.0, 0, 0
    for b in range(len(start) - 2, -1, -1):
        if not has_arcs(start, b, judged):
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
def divergence(shared, c, start, judged, state, best, slack, values, buffers):
    """Return KL(alpha, best alpha) of rank-one flows, the instance's part of the duality gap."""
    # With alpha = out in / F of a block, sum alpha log(alpha / best) splits into the divergence of the outflows plus
    # that of the inflows minus F log(F / best F): O(k) terms for O(arcs) variables.
    result, p, head, used = 0.0, 0, 0, 0.0
    for b in range(len(start) - 2, -1, -1):
        if not has_arcs(start, b, judged):
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
        if not has_arcs(start, b, judged):
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
def curvature_at_best(shared, start, judged, best, slack, step):
    """Return the second derivative of the entropy along the step at the best flows."""
    # The search starts there, where the first derivative is known: one loop of divisions saves one of logarithms.
    curvature, p, head, used_step = 0.0, 0, 0, 0.0
    for b in range(len(start) - 2, -1, -1):
        if not has_arcs(start, b, judged):
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
def net_flow(start, judged, step, order, f, net, fixed):
    """Set net to outflow - inflow of the step, by label; return its product with the scores and its square.

    That of a fixed cut is 0: it moves nothing, and its score is 0.
    """
    net[:] = 0.0  # labels that are not judged stay 0
    p = 0
    for b in range(len(start) - 2, -1, -1):
        if has_arcs(start, b, judged):
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


@kernel
def step_length(shared, c, start, judged, state, step, curvature, linear, quadratic, gap, values, buffers):
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

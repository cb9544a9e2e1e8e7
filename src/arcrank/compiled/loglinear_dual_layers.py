"""Dual ascent for the log-linear loss on layered graphs, in flows instead of arcs.

The dual of `1/2 ||W||^2 + sum_pieces c log(1 + sum_arcs exp(-margin))` has one variable for each arc:
`max  sum_pieces [-sum_a alpha_a log(alpha_a / c) - slack log(slack / c)] - 1/2 ||W||^2`,
with slack = c - sum_a alpha_a and W = sum_i x_i (outflow_i - inflow_i)'. At given scores the best alpha of a piece is
`c exp(-margin) / (1 + sum exp(-margin))`: rank one within a head layer. Among variables with given flows the rank-one
form has the largest entropy, so for each head layer b only flows are stored: the outflow of its labels, then the inflow
of every label below it. A visit solves the flows of each head layer exactly, one layer after the other
(`loglinear_dual_block`).

State layout: one block per head layer, the lowest layer first, since sums over the layers below grow in that order.
`shared` says whether all heads share one piece (zero-one) or have a piece each (domination; dominated is its mirror).
The gap of an instance is `loss(scores) - entropy(flows) + flows . scores`, and these sum to the gap of the problem. The
entropy changes only with the flows, so it is kept: a visit in which nothing moves takes one exponential per label.
"""

from __future__ import annotations

import math

import numpy as np

from arcrank.compiled.fastmath import exp_array, log_array
from arcrank.compiled.jit import kernel
from arcrank.compiled.layers import arrange, layer_workspace
from arcrank.compiled.loglinear_dual_block import block_workspace, relax_block
from arcrank.compiled.loglinear_dual_search import TINY, sleep_longer
from arcrank.compiled.rows import add_columns, add_row, score_row

_DENSE = 6  # where at least 1/6 of the labels move, a vectorised loop over all of them is faster


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
def has_arcs(start, b, judged):
    """Return whether layer b has labels, and some label is below it: only such layers have flows in the state."""
    return start[b + 1] < judged and start[b + 1] > start[b]


@kernel
def _loss(shared, f, start, judged, work):
    """Return the loss at scores f, in units of c: the sum over head layers b of log(1 + sum_t exp(f_t - f_h))."""
    exps, buffers = work[0], work[9]
    top, total, loss, all_top, all_total = -np.inf, 0.0, 0.0, 0.0, 1.0  # the 1 of the shared piece is exp(0)
    for b in range(len(start) - 2, -1, -1):
        first, stop = start[b], start[b + 1]
        if has_arcs(start, b, judged):
            log_below = top + math.log(total)
            for h in range(first, stop):
                z = log_below - f[h]
                if not shared:
                    loss += max(z, 0.0) + math.log1p(math.exp(-abs(z)))
                elif z <= all_top:
                    all_total += math.exp(z - all_top)
                else:
                    all_total = all_total * math.exp(all_top - z) + 1.0
                    all_top = z
        if not 0 < first < stop:
            continue  # the labels of the top layer are nobody's tails
        new = top
        for j in range(first, stop):
            new = max(new, f[j])
        for j in range(stop - first):
            exps[j] = f[first + j] - new
        exp_array(exps, stop - first, buffers)
        total *= math.exp(top - new)
        for j in range(stop - first):
            total += exps[j]
        top = new
    return all_top + math.log(all_total) if shared else loss


@kernel
def _entropy(shared, c, start, judged, flows, work):
    """Return -sum alpha log(alpha / c) - slack log(slack / c) of the rank-one alpha = out in / F of each layer."""
    logs, buffers = work[0], work[9]
    result, used, p = 0.0, 0.0, 0
    for b in range(len(start) - 2, -1, -1):
        if not has_arcs(start, b, judged):
            continue
        heads, length, flow = start[b + 1] - start[b], judged - start[b], 0.0
        for j in range(heads):
            flow += flows[p + j]
            left = c - flows[p + j]
            if not shared and left > 0.0:  # 0 log 0 = 0
                result -= left * math.log(left / c)
        for j in range(length):
            logs[j] = max(flows[p + j], TINY)
        log_array(logs, length, buffers)
        for j in range(length):
            result -= flows[p + j] * logs[j]
        if flow > 0.0:
            result += flow * math.log(flow) + flow * math.log(c)
        used += flow
        p += length
    if shared and c > used:
        result -= (c - used) * math.log((c - used) / c)
    return result


@kernel
def _product(start, judged, flows, f):
    """Return the sum of flow times margin, and the total flow."""
    result, total, p = 0.0, 0.0, 0
    for b in range(len(start) - 2, -1, -1):
        if has_arcs(start, b, judged):
            for j in range(start[b], start[b + 1]):
                result += flows[p + j - start[b]] * f[j]
                total += flows[p + j - start[b]]
            for j in range(start[b + 1], judged):
                result -= flows[p + j - start[b]] * f[j]
            p += judged - start[b]
    return result, total


@kernel
def _relax(shared, c, q, relax, start, judged, f, cut, flows, total, gap, change, work):
    """Solve the flows of every head layer in turn, and fill in `change` of the net flows."""
    change[:judged] = 0.0
    p = 0
    for b in range(len(start) - 2, -1, -1):
        if has_arcs(start, b, judged):
            first, stop, length = start[b], start[b + 1], judged - start[b]
            own = flows[p : p + length]
            old = 0.0
            for j in range(stop - first):
                old += own[j]
            used = max(total - old, 0.0) if shared else 0.0
            new = relax_block(shared, c, used, q, relax, f, first, stop, judged, cut, own, gap, change, work)
            total += new - old
            p += length


@kernel
def _move_weights(i, X_ptr, X_index, X_value, W, sign, judged, order, change, cut, net, touched):
    """Add x_i times the change of the net flows to W."""
    n = 0
    for j in range(judged):
        if change[j] != 0.0 and j != cut:
            touched[n], net[n] = order[j], sign * change[j]
            n += 1
    if _DENSE * n < W.shape[1]:
        add_columns(X_ptr, X_index, X_value, W, i, touched, net, n)
        return
    net[:] = 0.0
    for j in range(judged):
        if j != cut:
            net[order[j]] = sign * change[j]
    add_row(X_ptr, X_index, X_value, W, i, net)


@kernel
def ascend(
    graph, mirror, shared, normalize, fixed, weight, X, squares, W, state, entropies, gaps, losses, sleep, rows, skip,
    relax, learn,
):  # fmt: skip
    """Visit the instances in `rows`: write each one's loss and gap, and move its flows unless the gap is below `skip`.

    Instances whose gap is small sleep for the next visits, longer each time; with learn=False nothing moves and
    nothing sleeps, so that gaps and losses are exact. `entropies` are those of the flows, NaN where they are not known.
    `relax` is at least 1 and below 2. `fixed`: label 0, the cut, has the score 0 whatever flows through it. Return the
    number of steps made.
    """
    layers, n_layers, state_ptr = graph[:5], graph[4], graph[5]
    X_ptr, X_index, X_value = X
    k = W.shape[1]
    levels, start, order, f = layer_workspace(k, n_layers)
    scores, change, touched = np.empty(k), np.empty(k), np.empty(k, np.int64)
    work = block_workspace(k)
    sign = -1.0 if mirror else 1.0  # flows of the reversed graph go from tails to heads
    steps = 0
    for i in rows:
        if state_ptr[i + 1] == state_ptr[i] or weight[i] == 0.0:
            continue
        if learn and sleep[i, 0] > 0:
            sleep[i, 0] -= 1
            continue
        score_row(X_ptr, X_index, X_value, W, i, scores)
        judged = arrange(i, layers, mirror, scores, levels, start, order, f)
        c = weight[i]
        if normalize and not shared:
            c /= count_heads(start, judged)
        flows = state[state_ptr[i] : state_ptr[i + 1]]
        if np.isnan(entropies[i]):
            entropies[i] = _entropy(shared, c, start, judged, flows, work)
        product, total = _product(start, judged, flows, f)
        losses[i] = c * _loss(shared, f, start, judged, work)
        gaps[i] = max(0.0, losses[i] - entropies[i] + product)
        if not learn:
            continue
        if gaps[i] <= skip:
            sleep_longer(sleep, i)
            continue
        sleep[i, 1] = 0
        cut = -1
        if fixed:
            for j in range(judged):
                if order[j] == 0:
                    cut = j
        _relax(shared, c, squares[i], relax, start, judged, f, cut, flows, total, gaps[i], change, work)
        entropies[i] = _entropy(shared, c, start, judged, flows, work)
        # Flows and W move together, so that W = sum_i x_i (outflow_i - inflow_i)' holds after every visit.
        _move_weights(i, X_ptr, X_index, X_value, W, sign, judged, order, change, cut, scores, touched)
        steps += 1
    return steps


@kernel
def count_heads(start, judged):
    """Return the number of labels with a label below: the pieces of domination."""
    heads = 0
    for b in range(len(start) - 1):
        if start[b + 1] < judged:
            heads += start[b + 1] - start[b]
    return heads

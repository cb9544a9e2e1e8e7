"""Log-linear losses of layered graphs and their flows, without arcs (Dekel et al. 2003, section 3).

Every kernel adds up, for the rows of a block, `scale_i sum_pieces log(1 + sum_arcs exp(-margin))` and writes the flows
`outflow[r] = sum of q over arcs with head r` and `inflow[t] = sum of q over arcs with tail t`, where q is the
derivative of the loss in the arc's negative margin (the paper's q_{t,i,e}, Fig. 3). The gradient in the scores is
inflow - outflow.

Layers stand in log space with a running maximum for each prefix: one global shift would underflow where scores spread
by more than 700. `mirror` turns a graph upside down: dominated is domination of the reversed graph at negated scores.
"""

from __future__ import annotations

import math

import numpy as np

from arcrank.compiled.jit import kernel
from arcrank.compiled.layers import arrange, layer_workspace


@kernel
def _log_sums_below(f, start, log_below):
    """log_below[b] = log sum exp(f) over all layers below b (the design's log T_b); -inf where there are none."""
    top, total = -np.inf, 0.0
    for b in range(len(log_below) - 1, -1, -1):
        log_below[b] = top + math.log(total) if total > 0.0 else -np.inf
        new = top
        for j in range(start[b], start[b + 1]):
            new = max(new, f[j])
        if new == -np.inf:
            continue
        total = total * math.exp(top - new) if total > 0.0 else 0.0
        for j in range(start[b], start[b + 1]):
            total += math.exp(f[j] - new)
        top = new


@kernel
def _add_log(a, b):
    """log(exp(a) + exp(b))."""
    if a == -np.inf:
        return b
    if b == -np.inf:
        return a
    top = max(a, b)
    return top + math.log1p(math.exp(min(a, b) - top))


@kernel
def domination(graph, mirror, scale, normalize, first, scores, outflow, inflow, losses):
    """Head h of layer b costs log(1 + exp(-f_h) T_b). With mirror, outflow and inflow change places."""
    n_layers = graph[4]
    k = scores.shape[1]
    levels, start, order, f = layer_workspace(k, n_layers)
    log_below = np.empty(n_layers)
    for r in range(len(scores)):
        outflow[r], inflow[r], losses[r] = 0.0, 0.0, 0.0
        judged = arrange(first + r, graph, mirror, scores[r], levels, start, order, f)
        _log_sums_below(f, start, log_below)
        heads = 0
        for b in range(n_layers):
            if start[b + 1] < judged:
                heads += start[b + 1] - start[b]
        if heads == 0:
            continue
        weight = scale[first + r] / heads if normalize else scale[first + r]
        passed = -np.inf  # log of sum over layers above of (outflow of the layer) / T_b
        for b in range(n_layers):
            for j in range(start[b], start[b + 1]):  # tails of the layers above
                inflow[r, order[j]] = math.exp(f[j] + passed)
            if start[b + 1] == judged:
                continue
            layer_flow = 0.0
            for j in range(start[b], start[b + 1]):
                z = log_below[b] - f[j]
                tail = math.exp(-abs(z))
                losses[r] += weight * (max(z, 0.0) + math.log1p(tail))
                flow = weight * (1.0 if z > 0.0 else tail) / (1.0 + tail)
                outflow[r, order[j]] = flow
                layer_flow += flow
            if layer_flow > 0.0:
                passed = _add_log(passed, math.log(layer_flow) - log_below[b])


@kernel
def zero_one(graph, mirror, scale, _normalize, first, scores, outflow, inflow, losses):
    """One piece: log(1 + sum_b (sum_{h in b} exp(-f_h)) T_b)."""
    n_layers = graph[4]
    k = scores.shape[1]
    levels, start, order, f = layer_workspace(k, n_layers)
    log_below = np.empty(n_layers)
    for r in range(len(scores)):
        outflow[r], inflow[r], losses[r] = 0.0, 0.0, 0.0
        arrange(first + r, graph, mirror, scores[r], levels, start, order, f)
        _log_sums_below(f, start, log_below)
        log_all = -np.inf  # log of the sum over all arcs
        for b in range(n_layers):
            log_all = _add_log(log_all, _log_sum_of_negated(f, start[b], start[b + 1]) + log_below[b])
        if log_all == -np.inf:
            continue
        loss = _add_log(0.0, log_all)
        losses[r] = scale[first + r] * loss
        log_above = -np.inf  # log sum exp(-f) over the layers above: the design's log U_b
        for b in range(n_layers):
            for j in range(start[b], start[b + 1]):
                inflow[r, order[j]] = scale[first + r] * math.exp(f[j] + log_above - loss)
                outflow[r, order[j]] = scale[first + r] * math.exp(log_below[b] - f[j] - loss)
            log_above = _add_log(log_above, _log_sum_of_negated(f, start[b], start[b + 1]))


@kernel
def _log_sum_of_negated(f, start, stop):
    """log sum exp(-f) over one layer."""
    top = -np.inf
    for j in range(start, stop):
        top = max(top, -f[j])
    if top == -np.inf:
        return top
    total = 0.0
    for j in range(start, stop):
        total += math.exp(-f[j] - top)
    return top + math.log(total)


@kernel
def disagreement(graph, mirror, scale, normalize, first, scores, outflow, inflow, losses):
    """Every arc costs log(1 + exp(-margin)): the one decomposition whose loss needs the arcs, one by one."""
    n_layers = graph[4]
    k = scores.shape[1]
    levels, start, order, f = layer_workspace(k, n_layers)
    for r in range(len(scores)):
        outflow[r], inflow[r], losses[r] = 0.0, 0.0, 0.0
        judged = arrange(first + r, graph, mirror, scores[r], levels, start, order, f)
        arcs = 0
        for b in range(n_layers):
            arcs += (start[b + 1] - start[b]) * (judged - start[b + 1])
        if arcs == 0:
            continue
        weight = scale[first + r] / arcs if normalize else scale[first + r]
        for b in range(n_layers):
            for h in range(start[b], start[b + 1]):
                for t in range(start[b + 1], judged):
                    z = f[t] - f[h]
                    tail = math.exp(-abs(z))
                    losses[r] += weight * (max(z, 0.0) + math.log1p(tail))
                    flow = weight * (1.0 if z > 0.0 else tail) / (1.0 + tail)
                    outflow[r, order[h]] += flow
                    inflow[r, order[t]] += flow

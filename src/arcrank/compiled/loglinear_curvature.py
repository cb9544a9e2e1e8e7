"""The diagonal of the log-linear loss's Hessian in the scores, by which boosted trees scale their steps.

A piece with loss `log(1 + sum_arcs w exp(f_t - f_h))` has a flow q on each arc. With `out` and `in` the sums of q over
the arcs at which label r is head and tail, d/df_r = in - out, and since d exp(f_t - f_h) / df_r is the same term again
up to its sign,

    d^2/df_r^2 = (in + out) - (in - out)^2 ,

which is q (1 - q) for a piece of one arc. Curvatures of pieces add up like their losses. See `loglinear_layers` for the
arguments that are not explained here.
"""

from __future__ import annotations

import math

import numpy as np

from arcrank.compiled.jit import kernel
from arcrank.compiled.layers import arrange, layer_workspace
from arcrank.compiled.loglinear_layers import _add_log, _log_sums_below


@kernel
def domination_curvature(graph, mirror, scale, normalize, first, scores, curvature):
    """Head h of layer b has q (1 - q); tail t below it q p - (q p)^2 with p = exp(f_t) / T_b."""
    n_layers = graph[4]
    k = scores.shape[1]
    levels, start, order, f = layer_workspace(k, n_layers)
    log_below = np.empty(n_layers)
    for r in range(len(scores)):
        curvature[r] = 0.0
        judged = arrange(first + r, graph, mirror, scores[r], levels, start, order, f)
        _log_sums_below(f, start, log_below)
        heads = 0
        for b in range(n_layers):
            if start[b + 1] < judged:
                heads += start[b + 1] - start[b]
        if heads == 0:
            continue
        weight = scale[first + r] / heads if normalize else scale[first + r]
        # As with flows, sums over the heads above are one number for each layer: of q / T_b, and of (q / T_b)^2.
        passed, squares = -np.inf, -np.inf
        for b in range(n_layers):
            for j in range(start[b], start[b + 1]):
                flow = math.exp(f[j] + passed)
                curvature[r, order[j]] = weight * max(0.0, flow - math.exp(2.0 * f[j] + squares))
            if start[b + 1] == judged:
                continue
            layer_flow, layer_squares = 0.0, 0.0
            for j in range(start[b], start[b + 1]):
                small = math.exp(-abs(log_below[b] - f[j]))
                q = (1.0 if log_below[b] > f[j] else small) / (1.0 + small)
                curvature[r, order[j]] += weight * small / (1.0 + small) ** 2
                layer_flow += q
                layer_squares += q * q
            if layer_flow > 0.0:
                passed = _add_log(passed, math.log(layer_flow) - log_below[b])
            if layer_squares > 0.0:
                squares = _add_log(squares, math.log(layer_squares) - 2.0 * log_below[b])


@kernel
def disagreement_curvature(graph, mirror, scale, normalize, first, scores, curvature):
    """Both ends of every arc have q (1 - q), in O(arcs)."""
    n_layers = graph[4]
    k = scores.shape[1]
    levels, start, order, f = layer_workspace(k, n_layers)
    for r in range(len(scores)):
        curvature[r] = 0.0
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
                    small = math.exp(-abs(f[t] - f[h]))
                    both = weight * small / (1.0 + small) ** 2
                    curvature[r, order[h]] += both
                    curvature[r, order[t]] += both


@kernel
def piece_curvature(pieces, scale, normalize, first, scores, curvature):
    """The curvature of explicit pieces, in O(arcs)."""
    row_ptr, arc_ptr, head, tail, weight = pieces
    net = np.zeros(scores.shape[1])  # in - out of the labels of one piece; all 0 between pieces
    for r in range(len(scores)):
        curvature[r] = 0.0
        start, stop = row_ptr[first + r], row_ptr[first + r + 1]
        if start == stop:
            continue
        share = scale[first + r] / (stop - start) if normalize else scale[first + r]
        for p in range(start, stop):
            top = 0.0
            for a in range(arc_ptr[p], arc_ptr[p + 1]):
                top = max(top, scores[r, tail[a]] - scores[r, head[a]])
            total = math.exp(-top)
            for a in range(arc_ptr[p], arc_ptr[p + 1]):
                total += weight[a] * math.exp(scores[r, tail[a]] - scores[r, head[a]] - top)
            loss = top + math.log(total)
            for a in range(arc_ptr[p], arc_ptr[p + 1]):
                flow = weight[a] * math.exp(scores[r, tail[a]] - scores[r, head[a]] - loss)
                curvature[r, head[a]] += share * flow
                curvature[r, tail[a]] += share * flow
                net[head[a]] -= flow
                net[tail[a]] += flow
            for a in range(arc_ptr[p], arc_ptr[p + 1]):
                for end in (head[a], tail[a]):
                    curvature[r, end] = max(0.0, curvature[r, end] - share * net[end] ** 2)
                    net[end] = 0.0  # a label of several arcs is subtracted once

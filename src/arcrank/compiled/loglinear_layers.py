"""Log-linear losses of layered graphs and their flows, without arcs (Dekel et al. 2003, section 3).

Every kernel writes, for each row of a block, the loss `scale_i sum_pieces log(1 + sum_arcs exp(-margin))` and the flows
`outflow[r] = sum of q over arcs with head r` and `inflow[t] = sum of q over arcs with tail t`, where q is the
derivative of the loss with respect to the arc's negative margin (the paper's q_{t,i,e}, Fig. 3). The gradient with
respect to the scores is inflow - outflow.

Sums over layers are kept as logarithms with a running maximum for each prefix: one global shift would underflow where
scores spread by more than 700. `mirror`: see `compiled.layers`. The kernels repeat the loop over rows, as a kernel
takes no functions as arguments.
"""

from __future__ import annotations

import math

import numpy as np

from arcrank.compiled.jit import kernel
from arcrank.compiled.layers import arrange, layer_workspace


@kernel
def _log_sums_below(f, start, log_below):
    """Set log_below[b] to log T_b, T_b = sum of exp(f) over all layers below b; -inf where there are none."""
    top, total = -np.inf, 0.0  # the sum so far is exp(top) * total, with 1 <= total <= the number of its terms
    for b in range(len(log_below) - 1, -1, -1):
        log_below[b] = top + math.log(total) if total > 0.0 else -np.inf
        new = top
        for j in range(start[b], start[b + 1]):
            new = max(new, f[j])
        if new == -np.inf:  # nothing so far: top - new below would be NaN
            continue
        total = total * math.exp(top - new) if total > 0.0 else 0.0
        for j in range(start[b], start[b + 1]):
            total += math.exp(f[j] - new)
        top = new


@kernel
def _add_log(a, b):
    """Return log(exp(a) + exp(b))."""
    # Two infinities of one sign would make NaN below.
    if a == -np.inf:
        return b
    if b == -np.inf:
        return a
    top = max(a, b)
    return top + math.log1p(math.exp(min(a, b) - top))


@kernel
def domination(graph, mirror, scale, normalize, first, scores, outflow, inflow, losses):
    """Charge head h of layer b with log(1 + exp(-f_h) T_b). With mirror, outflow and inflow change places."""
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
        if heads == 0:  # no arcs: no pieces to divide by
            continue
        weight = scale[first + r] / heads if normalize else scale[first + r]
        # A head's flow q goes to its tails in proportion to exp(f_t): tail t gets q exp(f_t) / T_b. Summed over all
        # heads above, that is exp(f_t) times one number for each layer, so tails cost O(k) and not O(arcs).
        passed = -np.inf  # log of the sum over the layers above of (outflow of the layer) / T_b
        for b in range(n_layers):
            # Tails before heads: the layer's own heads, which have no arcs within the layer, are not in `passed` yet.
            for j in range(start[b], start[b + 1]):
                inflow[r, order[j]] = math.exp(f[j] + passed)
            if start[b + 1] == judged:  # nothing is below: these labels are no heads
                continue
            layer_flow = 0.0
            for j in range(start[b], start[b + 1]):
                z = log_below[b] - f[j]
                # log(1 + e^z) and its derivative from e^-|z|, which never overflows.
                small = math.exp(-abs(z))
                losses[r] += weight * (max(z, 0.0) + math.log1p(small))
                flow = weight * (1.0 if z > 0.0 else small) / (1.0 + small)
                outflow[r, order[j]] = flow
                layer_flow += flow
            if layer_flow > 0.0:  # it underflows to 0 where all margins are large
                passed = _add_log(passed, math.log(layer_flow) - log_below[b])


@kernel
def zero_one(graph, mirror, scale, _normalize, first, scores, outflow, inflow, losses):
    """Charge the whole graph, one piece, with log(1 + sum_b (sum_{h in b} exp(-f_h)) T_b)."""
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
        if log_all == -np.inf:  # no arcs
            continue
        loss = _add_log(0.0, log_all)
        losses[r] = scale[first + r] * loss
        # q of an arc is exp(f_t - f_h) / (1 + sum): in the sum over a label's arcs, its own end is a factor. Where
        # there is no layer below or above, the logarithm is -inf and the flow 0.
        log_above = -np.inf  # log U_b, U_b = sum of exp(-f) over the layers above b
        for b in range(n_layers):
            for j in range(start[b], start[b + 1]):
                inflow[r, order[j]] = scale[first + r] * math.exp(f[j] + log_above - loss)
                outflow[r, order[j]] = scale[first + r] * math.exp(log_below[b] - f[j] - loss)
            log_above = _add_log(log_above, _log_sum_of_negated(f, start[b], start[b + 1]))


@kernel
def _log_sum_of_negated(f, start, stop):
    """Return log sum exp(-f) over one layer, f[start:stop]; -inf where it is empty."""
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
    """Charge every arc with log(1 + exp(-margin)), in O(arcs)."""
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
        # The sum of log(1 + exp(f_t - f_h)) over arcs does not factor into sums over labels as a sum of exp does, so
        # this is the one decomposition that must look at every arc.
        for b in range(n_layers):
            for h in range(start[b], start[b + 1]):
                for t in range(start[b + 1], judged):
                    z = f[t] - f[h]
                    small = math.exp(-abs(z))
                    losses[r] += weight * (max(z, 0.0) + math.log1p(small))
                    flow = weight * (1.0 if z > 0.0 else small) / (1.0 + small)
                    outflow[r, order[h]] += flow
                    inflow[r, order[t]] += flow

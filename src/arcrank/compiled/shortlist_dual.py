"""Dual ascent on the arcs between the labels of a shortlist.

`min 1/2 ||W - W0||^2 + sum_pieces c L(piece)` over weights of a given pattern has one dual variable alpha >= 0 for each
arc, and `W = W0 + sum_i x_i (outflow_i - inflow_i)'` on the pattern. A label r sees the instance through the features
of its pattern only, so a change d of its flow moves its score by square_r d, with a square of its own.

L is log(1 + sum_a w exp(-margin)), max(0, 1 - smallest margin) or its square; `sum alpha <= c` but for the square. The
gap of a piece, `c L + (dual of L at alpha) + sum_a alpha margin`, is never negative, and these sum to the gap of the
problem if no label is left out.

arcs : (head, tail, key, weight, alpha): ends are positions among the chosen labels; pieces are runs of arcs
"""

from __future__ import annotations

import math

import numpy as np

from arcrank.compiled.flow_store import is_full, save_flows
from arcrank.compiled.jit import kernel

LOG_LINEAR, HINGE, SQUARED = 0, 1, 2
ZERO_ONE, DOMINATION, DOMINATED, DISAGREEMENT, CUT_DOMINATION = 0, 1, 2, 3, 4
_TINY = 1e-300


@kernel
def _local_levels(i, graph, chosen, n, levels):
    ptr, label, level, rest = graph
    levels[:n] = rest[i]
    s = 0
    for e in range(ptr[i], ptr[i + 1]):
        while s < n and chosen[s] < label[e]:
            s += 1
        if s < n and chosen[s] == label[e]:
            levels[s] = level[e]


@kernel
def _list_arcs(mode, k, chosen, n, levels, arcs, ends):
    """Write the arcs between n chosen labels piece by piece, and where pieces end; return how many of each.

    Chosen labels ascend, so keys come in an order that does not depend on which labels were chosen.
    """
    head, tail, key, weight, _ = arcs
    a = p = 0
    ends[0] = 0
    for centre in range(n):
        for other in range(n):
            h, t = (other, centre) if mode == DOMINATED else (centre, other)
            if 0 <= levels[h] < levels[t]:
                head[a], tail[a], weight[a] = h, t, 1.0
                key[a] = np.int64(chosen[h]) * k + chosen[t]
                a += 1
                if mode == DISAGREEMENT or (mode == CUT_DOMINATION and chosen[h] == 0):
                    p += 1
                    ends[p] = a
        if mode != ZERO_ONE and ends[p] < a:
            p += 1
            ends[p] = a
    if ends[p] < a:
        p += 1
        ends[p] = a
    return a, p


@kernel
def _copy_arcs(i, pieces, chosen, n, arcs, ends):
    """The same for explicit pieces, whose keys are numbers of arcs."""
    row_ptr, arc_ptr, heads, tails, weights = pieces
    head, tail, key, weight, _ = arcs
    first = arc_ptr[row_ptr[i]]
    n_pieces = row_ptr[i + 1] - row_ptr[i]
    for p in range(n_pieces + 1):
        ends[p] = arc_ptr[row_ptr[i] + p] - first
    for a in range(ends[n_pieces]):
        head[a] = np.searchsorted(chosen[:n], heads[first + a])
        tail[a] = np.searchsorted(chosen[:n], tails[first + a])
        key[a], weight[a] = first + a, weights[first + a]
    return ends[n_pieces], n_pieces


@kernel
def _move(a, step, arcs, square, f, change):
    """Add to the variable of an arc."""
    h, t = arcs[0][a], arcs[1][a]
    arcs[4][a] = max(0.0, arcs[4][a] + step)
    f[h] += step * square[h]
    f[t] -= step * square[t]
    change[h] += step
    change[t] -= step


@kernel
def _curvature(a, b, arcs, square):
    """Return the squared length of a step that raises arc a and lowers arc b, if there is one."""
    h, t = arcs[0][a], arcs[1][a]
    if b < 0:
        return square[h] + square[t]
    g, u = arcs[0][b], arcs[1][b]
    # +1 on h and u, -1 on t and g; equal signs on one label make 2
    total = 0.0
    if h != g:
        total += square[h] * (4.0 if h == u else 1.0) + square[g] * (4.0 if g == t else 1.0)
    if t != u:
        total += (0.0 if t == g else square[t]) + (0.0 if u == h else square[u])
    return total


@kernel
def _most_and_least_urgent(first, last, arcs, f):
    """Return the most urgent arc, the least urgent with flow, their urgencies 1 - margin, and sums over the flow."""
    head, tail, alpha = arcs[0], arcs[1], arcs[4]
    up, down, high, low, total, filled = -1, -1, -np.inf, np.inf, 0.0, 0.0
    for a in range(first, last):
        u = 1.0 - f[head[a]] + f[tail[a]]
        if u > high:
            high, up = u, a
        if alpha[a] > 0.0:
            total += alpha[a]
            filled += alpha[a] * u
            if u < low:
                low, down = u, a
    return up, down, high, low, total, filled


@kernel
def _relax_margin(loss, c, first, last, arcs, square, f, change, steps, tol):
    """Move flow between the two most violating of: the most urgent arc, the least urgent one, the slack.

    Return gap and cost before.
    """
    gap = cost = 0.0
    soft = 1.0 / (2.0 * c) if loss == SQUARED else 0.0  # the dual of c u^2 is T^2 / 4c
    for step_number in range(steps):
        up, down, high, low, total, filled = _most_and_least_urgent(first, last, arcs, f)
        if step_number == 0:
            most = max(high, 0.0)
            cost = c * most * (most if loss == SQUARED else 1.0)
            gap = cost - filled + 0.5 * soft * total * total
        slack = soft * total
        up = -1 if slack >= high else up
        down = -1 if slack <= low and (loss == SQUARED or total < c) else down
        top, bottom = max(high, slack), low if down >= 0 else slack
        if top - bottom <= tol or up == down:
            break
        if up >= 0 and down >= 0:
            step = (high - low) / max(_curvature(up, down, arcs, square), _TINY)
            step = min(step, arcs[4][down])
            _move(up, step, arcs, square, f, change)
            _move(down, -step, arcs, square, f, change)
        elif up >= 0:
            step = (high - slack) / (_curvature(up, -1, arcs, square) + soft + _TINY)
            _move(up, min(step, c - total) if loss == HINGE else step, arcs, square, f, change)
        else:
            step = (slack - low) / (_curvature(down, -1, arcs, square) + soft + _TINY)
            _move(down, -min(step, arcs[4][down]), arcs, square, f, change)
    return max(gap, 0.0), cost


@kernel
def _best_step(c, first, last, arcs, f, step):
    """Write the step to the best alpha at scores f, c w exp(-margin) / (1 + sum); return gap, cost and slack."""
    head, tail, _, weight, alpha = arcs
    top = 0.0
    for a in range(first, last):
        top = max(top, f[tail[a]] - f[head[a]])
    total = math.exp(-top)
    for a in range(first, last):
        total += weight[a] * math.exp(f[tail[a]] - f[head[a]] - top)
    loss = top + math.log(total)
    gap, used = c * loss, 0.0
    for a in range(first, last):
        margin = f[head[a]] - f[tail[a]]
        used += alpha[a]
        if alpha[a] > 0.0:
            gap += alpha[a] * (margin + math.log(alpha[a] / (c * weight[a])))
        step[a] = c * weight[a] * math.exp(-margin - loss) - alpha[a]
    slack = max(c - used, 0.0)
    if slack > 0.0:
        gap += slack * math.log(slack / c)
    return max(gap, 0.0), c * loss, slack


@kernel
def _slopes(first, last, arcs, square, f, step, net):
    """Return the linear and the quadratic part of the dual along a step, and that of the slack; net is 0 throughout."""
    head, tail = arcs[0], arcs[1]
    linear = slack_step = quadratic = 0.0
    for a in range(first, last):
        linear += step[a] * (f[head[a]] - f[tail[a]])
        slack_step -= step[a]
        net[head[a]] += step[a]
        net[tail[a]] -= step[a]
    for a in range(first, last):
        for r in (head[a], tail[a]):
            quadratic += square[r] * net[r] * net[r]
            net[r] = 0.0
    return linear, slack_step, quadratic


@kernel
def _step_length(first, last, arcs, step, slack, slack_step, linear, quadratic):
    """Return the t in (0, 1] of the largest dual, by Newton's method on a bracket."""
    weight, alpha = arcs[3], arcs[4]
    low, high, t = 0.0, 1.0, 1.0
    for _ in range(40):
        # As in loglinear_dual_layers._slope: the terms without logarithm cancel.
        slope, curvature = -linear - t * quadratic, quadratic
        for a in range(first, last):
            value = max(alpha[a] + t * step[a], _TINY)
            slope -= step[a] * math.log(value / weight[a])
            curvature += step[a] * step[a] / value
        value = max(slack + t * slack_step, _TINY)
        slope -= slack_step * math.log(value)
        curvature += slack_step * slack_step / value
        if slope >= 0.0:
            if t == 1.0:
                return 1.0
            low = t
        else:
            high = t
        new = t + slope / curvature
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - t) <= 1e-3 * t:  # the dual hardly depends on more digits
            return new
        t = new
    return low


@kernel
def _relax_loglinear(c, first, last, arcs, square, f, change, step, net, steps, quiet):
    """Take some steps to the best alpha at the current scores, of exact length; return gap and cost before."""
    first_gap = first_cost = 0.0
    for number in range(steps):
        gap, cost, slack = _best_step(c, first, last, arcs, f, step)
        if number == 0:
            first_gap, first_cost = gap, cost
        if gap <= quiet:
            break
        linear, slack_step, quadratic = _slopes(first, last, arcs, square, f, step, net)
        t = _step_length(first, last, arcs, step, slack, slack_step, linear, quadratic)
        for a in range(first, last):
            _move(a, t * step[a], arcs, square, f, change)
    return first_gap, first_cost


@kernel
def _relax_pieces(rule, c, n_pieces, ends, arcs, square, f, change, step, net):
    """Relax piece after piece, each at the scores that the last one left; return gap and cost before."""
    loss, _, rounds, steps, tol, _ = rule
    gap = cost = 0.0
    for number in range(rounds):
        seen = 0.0
        for p in range(n_pieces):
            if loss == LOG_LINEAR:
                one = _relax_loglinear(
                    c, ends[p], ends[p + 1], arcs, square, f, change, step, net, steps, 0.1 * tol * c
                )
            else:
                one = _relax_margin(loss, c, ends[p], ends[p + 1], arcs, square, f, change, steps, 0.1 * tol)
            seen += one[0]
            cost += one[1] if number == 0 else 0.0
        gap = seen if number == 0 else gap
        if n_pieces == 1 or seen <= 0.01 * c:
            break
    return gap, cost


@kernel
def _load(i, store, arcs, n_arcs):
    """Read the flows of an instance, whose keys are in the order of the arcs."""
    e, stop = store[0][i], store[0][i] + store[1][i]
    for a in range(n_arcs):
        arcs[4][a] = 0.0
        if e < stop and store[3][e] == arcs[2][a]:
            arcs[4][a] = store[4][e]
            e += 1


@kernel
def _save(i, store, arcs, n_arcs, least, change):
    """Store the flows of an instance; those of at most `least` are withdrawn, so that shortlists stay short."""
    head, tail, key, _, alpha = arcs
    n = 0
    for a in range(n_arcs):
        if alpha[a] > least:
            key[n], alpha[n] = key[a], alpha[a]
            n += 1
        elif alpha[a] > 0.0:
            change[head[a]] -= alpha[a]
            change[tail[a]] += alpha[a]
    save_flows(i, store, key, alpha, n)


@kernel
def _scores(i, n, begin, rows, weight, bias, chosen, place, fixed, f, change):
    data, _, indptr = rows
    width = indptr[i + 1] - indptr[i]
    for s in range(n):
        total = np.float64(bias[chosen[s]]) + fixed[s]
        for e in range(width):
            p = place[begin + s * width + e]
            if p >= 0:
                total += data[indptr[i] + e] * weight[p]
        f[s], change[s] = total, 0.0


@kernel
def _push(i, n, begin, rows, weight, bias, constant, chosen, place, change):
    """Add x_i change' to the weights of the pattern."""
    data, _, indptr = rows
    width = indptr[i + 1] - indptr[i]
    for s in range(n):
        if change[s] == 0.0:
            continue
        bias[chosen[s]] += constant * change[s]
        for e in range(width):
            p = place[begin + s * width + e]
            if p >= 0:
                weight[p] += data[indptr[i] + e] * change[s]


@kernel
def ascend(rule, visits, first, rows, graph, pieces, cost, batch, weights, bias, constant, store, widest, totals):
    """Visit the instances of a batch one after another; return how far the pool of flows lasted.

    rule : (loss, mode, rounds, steps, tol, least share of c that a flow must have to be stored)
    batch : (chosen, counts, starts, place, square, fixed) of `select` and `locate`. Labels were chosen at the weights
        that the batch started with, but scores are those of the current weights: every visit is an exact ascent.
    totals : gap and cost, added up
    """
    chosen, counts, starts, place, square, fixed = batch
    k, width, weight = len(bias), chosen.shape[1], weights[2]
    ends, levels = np.empty(widest + 1, np.int64), np.empty(width, np.int32)
    head, tail, key = np.empty(widest, np.int32), np.empty(widest, np.int32), np.empty(widest, np.int64)
    arcs = head, tail, key, np.ones(widest), np.empty(widest)
    step, f, change, net = np.empty(widest), np.empty(width), np.empty(width), np.zeros(width)
    for v in range(first, len(visits)):
        i, n = visits[v], counts[v]
        if n < 2 or cost[i] <= 0.0:
            continue
        if is_full(store, widest):
            return v
        _scores(i, n, starts[v], rows, weight, bias, chosen[v], place, fixed[v], f, change)
        if len(pieces[0]) > 1:
            n_arcs, n_pieces = _copy_arcs(i, pieces, chosen[v], n, arcs, ends)
        else:
            _local_levels(i, graph, chosen[v], n, levels)
            n_arcs, n_pieces = _list_arcs(rule[1], k, chosen[v], n, levels, arcs, ends)
        _load(i, store, arcs, n_arcs)
        gap, loss = _relax_pieces(rule, cost[i], n_pieces, ends, arcs, square[v], f, change, step, net)
        totals[0] += gap
        totals[1] += loss
        _save(i, store, arcs, n_arcs, rule[5] * cost[i], change)
        _push(i, n, starts[v], rows, weight, bias, constant, chosen[v], place, change)
    return len(visits)

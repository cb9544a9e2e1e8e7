"""Dual ascent for the log-linear loss on explicit pieces: one variable for each arc, linear in arcs.

The problem and the step are those of `loglinear_dual_layers`; here alpha itself is stored, also for callables that put
an arc in several pieces. Arc weights w enter as `alpha_a log(alpha_a / (c w_a))`.
"""

from __future__ import annotations

import math

import numpy as np

from arcrank.compiled.jit import kernel
from arcrank.compiled.loglinear_dual_search import TINY, narrow, next_trial, sleep_longer
from arcrank.compiled.rows import add_row, score_row


@kernel
def _best_piece(c, head, tail, weight, scores, best):
    """Compute the best alpha of a piece, c w exp(-margin) / (1 + sum w exp(-margin)); return its loss and slack."""
    top = 0.0  # the 1 is exp(0)
    for a in range(len(head)):
        top = max(top, scores[tail[a]] - scores[head[a]])
    total = math.exp(-top)
    for a in range(len(head)):
        total += weight[a] * math.exp(scores[tail[a]] - scores[head[a]] - top)
    loss = top + math.log(total)
    for a in range(len(head)):
        best[a] = c * weight[a] * math.exp(scores[tail[a]] - scores[head[a]] - loss)
    return c * loss, c * math.exp(-loss)  # c - sum of best would lose the digits of a small slack


@kernel
def _divergence(c, alpha, best, slack):
    """Return KL(alpha, best) of one piece, slack included: its part of the duality gap."""
    result, used = 0.0, 0.0
    for a in range(len(alpha)):
        used += alpha[a]
        if alpha[a] > 0.0:
            result += alpha[a] * math.log(alpha[a] / max(best[a], TINY))
    left = c - used
    if left > 0.0:  # 0 log 0 = 0, here and above
        result += left * math.log(left / max(slack, TINY))
    return max(result, 0.0)


@kernel
def _slope(c, arc_ptr, weight, alpha, step, t):
    """Return the first and the second derivative in t of the entropy of all pieces of an instance at alpha + t step."""
    # As in loglinear_dual_layers the terms without logarithm cancel: in each piece the slack takes up the step.
    slope, curvature, offset = 0.0, 0.0, arc_ptr[0]
    for p in range(len(arc_ptr) - 1):
        used, used_step = 0.0, 0.0
        for a in range(arc_ptr[p] - offset, arc_ptr[p + 1] - offset):
            used += alpha[a] + t * step[a]
            used_step += step[a]
            if step[a] != 0.0:  # saves the logarithm of arcs that are at their best value
                value = max(alpha[a] + t * step[a], TINY)
                slope -= step[a] * math.log(value / weight[a])
                curvature -= step[a] * step[a] / value
        left = max(c - used, TINY)
        slope += used_step * math.log(left)
        curvature -= used_step * used_step / left
    return slope, curvature


@kernel
def _step_length(c, arc_ptr, weight, alpha, step, linear, quadratic, gap):
    """Return the t in [0, 1] that maximises the dual along the step; see loglinear_dual_layers."""
    if quadratic <= 0.0:  # the step leaves the scores as they are
        return 1.0
    low, high = 0.0, 1.0
    t, slope = 1.0, -quadratic
    _, curvature = _slope(c, arc_ptr, weight, alpha, step, 1.0)
    for _ in range(40):
        t = next_trial(t, low, high, slope, quadratic - curvature)
        slope, curvature = _slope(c, arc_ptr, weight, alpha, step, t)
        slope -= linear + t * quadratic
        low, high, enough = narrow(t, low, high, slope, gap)
        if enough:
            break
    return low


@kernel
def ascend(pieces, normalize, fixed, weight, X, squares, W, state, gaps, losses, sleep, rows, skip, learn):
    """Visit each instance in `rows` once; see loglinear_dual_layers.ascend."""
    row_ptr, arc_ptr, head, tail, arc_weight = pieces
    X_ptr, X_index, X_value = X
    k = W.shape[1]
    longest = 0  # one buffer for all instances: allocating in the loop would cost more than a small step
    for i in range(len(row_ptr) - 1):
        longest = max(longest, arc_ptr[row_ptr[i + 1]] - arc_ptr[row_ptr[i]])
    scores, net = np.empty(k), np.empty(k)
    best, step = np.empty(longest), np.empty(longest)
    steps = 0
    for i in rows:
        n_pieces = row_ptr[i + 1] - row_ptr[i]
        if n_pieces == 0 or weight[i] == 0.0:
            continue
        if learn and sleep[i, 0] > 0:
            sleep[i, 0] -= 1
            continue
        score_row(X_ptr, X_index, X_value, W, i, scores)
        c = weight[i] / n_pieces if normalize else weight[i]
        losses[i], gaps[i] = 0.0, 0.0
        first = arc_ptr[row_ptr[i]]
        for p in range(row_ptr[i], row_ptr[i + 1]):
            here = slice(arc_ptr[p], arc_ptr[p + 1])
            there = best[arc_ptr[p] - first : arc_ptr[p + 1] - first]
            loss, slack = _best_piece(c, head[here], tail[here], arc_weight[here], scores, there)
            losses[i] += loss
            gaps[i] += _divergence(c, state[here], there, slack)
        if not learn:
            continue
        if gaps[i] <= skip:
            sleep_longer(sleep, i)
            continue
        sleep[i, 1] = 0
        # All pieces of an instance move by one t: they share its row of X, and with it the quadratic term.
        arcs = slice(first, arc_ptr[row_ptr[i + 1]])
        net[:] = 0.0
        for a in range(arcs.start, arcs.stop):
            step[a - first] = best[a - first] - state[a]
            net[head[a]] += step[a - first]
            net[tail[a]] -= step[a - first]
        if fixed:
            net[0] = 0.0
        linear, square = 0.0, 0.0
        for r in range(k):
            linear += scores[r] * net[r]
            square += net[r] * net[r]
        ends = arc_ptr[row_ptr[i] : row_ptr[i + 1] + 1]
        t = _step_length(c, ends, arc_weight[arcs], state[arcs], step, linear, squares[i] * square, gaps[i])
        for a in range(arcs.start, arcs.stop):
            state[a] += t * step[a - first]
        for r in range(k):
            net[r] *= t
        add_row(X_ptr, X_index, X_value, W, i, net)
        steps += 1
    return steps

"""Passive-aggressive steps on pieces of explicit arcs, with weights: what `online_margin` does on layers.

A piece of several arcs is solved arc by arc, as in `margin_arcs`, to the accuracy of the numbers. A group of
pieces that are single arcs of one head (or one tail) is solved at once: with s and o the scale and offset of arc a, its
variable is `b_a = [o_a - s_a (f_h - f_t) - s_a q A]_+ / (q s_a^2 + ridge)`, at most `cap`, and
`A = sum_a s_a b_a` is one equation.

loss : HINGE or SQUARED
arcs : (arc_ptr, head, tail) of ArcGraphs, by which losses are counted
pieces : (row_ptr, arc_ptr, head, tail, scale, offset, factor), see `margin_arcs`
groups : adjacent pieces of one arc are solved together where they have the same head (1), the same tail (2), or never
    (0); their other ends must differ
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.jit import kernel
from arcrank.compiled.losses import HINGE, cost_of
from arcrank.compiled.margin_arcs import EXPLICIT, relax_piece
from arcrank.compiled.online import OWN_LOSS, ROUNDS, SKIPPED, move_weights, record, score_document, wrong_arcs
from arcrank.compiled.online_margin import in_single_precision, squared_length

_INNER = 10_000


@kernel
def pieces_pass(loss, setting, rows, indptr, indices, data, arcs, pieces, groups, W, U, counters, sums, curve):
    """Make the steps of the given rows of X in turn; return how many were seen, see `compiled.online`."""
    k = W.shape[1]
    scores, step, touched = np.empty(k), np.empty(k), np.empty(k, np.int64)
    work = piece_workspace(pieces)
    for place in range(len(rows)):
        i = rows[place]
        if not score_document(i, indptr, indices, data, W, scores, sums):
            return place
        square = squared_length(i, indptr, data)
        if piece_step(i, loss, setting, arcs, pieces, groups, square, scores, step, work, counters, sums, curve):
            move_weights(i, indptr, indices, data, step, W, U, counters[ROUNDS] - 1, touched)
    return len(rows)


@kernel
def piece_workspace(pieces):
    """Return the buffers of a step, allocated once per pass: one entry for each arc of the widest document."""
    row_ptr, arc_ptr = pieces[0], pieces[1]
    widest = 1
    for i in range(len(row_ptr) - 1):
        widest = max(widest, arc_ptr[row_ptr[i + 1]] - arc_ptr[row_ptr[i]])
    ids, head, tail = np.empty(widest, np.int64), np.empty(widest, np.int64), np.empty(widest, np.int64)
    active = ids, head, tail, np.empty(widest), np.empty(widest), np.empty(widest)
    return active, np.empty(widest, np.int64), np.empty(widest, np.int64), np.empty(widest)


@kernel
def piece_step(i, loss, setting, arcs, pieces, groups, square, scores, step, work, counters, sums, curve):
    """Record the losses of document i, whose scores are overwritten; set step, and return whether any weight moves."""
    C, relative, margin = setting
    arc_ptr, head, tail = arcs
    n_arcs = arc_ptr[i + 1] - arc_ptr[i]
    if n_arcs == 0:
        counters[SKIPPED] += 1
        return False
    if margin != 1.0:
        scores /= margin
    record(wrong_arcs(i, arc_ptr, head, tail, scores, step), n_arcs, counters, sums, curve)
    active, begin, stop, urgency = work
    n, lost = _measure(i, loss, pieces, groups, scores, begin, stop, urgency)
    sums[OWN_LOSS] += lost
    if lost == 0.0 or square <= 0.0:
        return False
    C = C / (square if relative else 1.0) / margin**2
    step[:] = 0.0
    for g in np.argsort(-urgency[:n], kind="mergesort"):
        if stop[g] - begin[g] > 1 or pieces[1][begin[g] + 1] - pieces[1][begin[g]] == 1:
            _relax_group(begin[g], stop[g], groups == 2, loss, C, square, pieces, scores, step)
        else:
            _relax(begin[g], loss, C, square, pieces, scores, step, active)
    if margin != 1.0:
        step *= margin
    return True


@kernel
def _measure(i, loss, pieces, groups, f, begin, stop, urgency):
    """List the groups of pieces with their largest urgencies; return their number and the loss of all pieces."""
    row_ptr, arc_ptr, head, tail, scale, offset, _ = pieces
    n, lost = 0, 0.0
    for p in range(row_ptr[i], row_ptr[i + 1]):
        top = -np.inf
        for a in range(arc_ptr[p], arc_ptr[p + 1]):
            top = max(top, offset[a] - scale[a] * (f[head[a]] - f[tail[a]]))
        lost += cost_of(loss, top)
        top = in_single_precision(top)
        if groups > 0 and n > 0 and _share_an_end(p, arc_ptr, head if groups == 1 else tail):
            stop[n - 1], urgency[n - 1] = p + 1, max(urgency[n - 1], top)
        else:
            begin[n], stop[n], urgency[n] = p, p + 1, top
            n += 1
    return n, lost


@kernel
def _share_an_end(p, arc_ptr, end):
    """Return whether this piece and the one before it are single arcs with the same end."""
    first = arc_ptr[p]
    return arc_ptr[p + 1] - first == 1 and first - arc_ptr[p - 1] == 1 and end[first] == end[first - 1]


@kernel
def _relax(p, loss, C, q, pieces, f, step, active):
    """Solve one piece of several arcs."""
    rule = EXPLICIT, False, loss, 1.0
    nothing = np.empty(0, np.int64)
    relax_piece(p, rule, pieces, nothing, nothing, C, q, _INNER, 0.0, np.empty((0, 0)), f, step, active, 0)


@kernel
def _relax_group(begin, stop, by_tail, loss, C, q, pieces, f, step):
    """Solve adjacent pieces of one arc with the same head, or with the same tail."""
    _, arc_ptr, head, tail, scale, offset, _ = pieces
    first, last = arc_ptr[begin], arc_ptr[stop]
    ridge, cap = (0.0, C) if loss == HINGE else (0.5 / C, np.inf)
    A, total = _total_of_group(first, last, q, ridge, cap, f, head, tail, scale, offset), 0.0
    # The common end moves once, after all others, so that every arc is seen at the scores before the step.
    common, others, sign = (tail[first], head, -1.0) if by_tail else (head[first], tail, 1.0)
    for a in range(first, last):
        b = _variable_of(a, q, ridge, A, f, head, tail, scale, offset)
        amount = scale[a] * min(cap, max(0.0, b))
        f[others[a]] -= sign * q * amount
        step[others[a]] -= sign * amount
        total += amount
    f[common] += sign * q * total
    step[common] += sign * total


@kernel
def _variable_of(a, q, ridge, A, f, head, tail, scale, offset):
    """Return b_a at the group's total A, without its bounds."""
    s = scale[a]
    return (offset[a] - s * (f[head[a]] - f[tail[a]]) - s * q * A) / (q * s * s + ridge)


@kernel
def _total_of_group(first, last, q, ridge, cap, f, head, tail, scale, offset):
    """Return A with sum_a s_a b_a(A) = A; see `margin_dual_centres.total_of_star`, which has s = 1."""
    A, low, high, width = 0.0, 0.0, np.inf, np.inf
    for _ in range(400):
        total, slope = 0.0, 0.0
        for a in range(first, last):
            s, b = scale[a], _variable_of(a, q, ridge, A, f, head, tail, scale, offset)
            if b >= cap:
                total += s * cap
            elif b > 0.0:
                total += s * b
                slope += s * s * q / (q * s * s + ridge)
        if total > A:
            low = A
        else:
            high = A
        new = A + (total - A) / (1.0 + slope)
        if abs(new - A) <= 1e-14 * new:
            return new
        if not low < new < high or (high < np.inf and high - low > 0.5 * width):
            new = 0.5 * (low + high)
        width = high - low
        if not low < new < high:
            return low
        A = new
    return A

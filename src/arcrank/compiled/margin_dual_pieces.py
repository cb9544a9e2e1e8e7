"""The dual of the Preference Learning Model, arc by arc: any graph, weights and codes, by the steps of `margin_arcs`.

rule, pieces : see `margin_arcs`; the loss may also be WEIGHTED, whose steps are those of `margin_weighted`
codes : (k, s) class codes M and their (k, k) Gram matrix; both empty for the standard basis
store : see `compiled.flow_store`; the key of an arc is its number, or head * k + tail on layered graphs
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.flow_store import is_full, save_flows
from arcrank.compiled.jit import kernel
from arcrank.compiled.layers import sort_layers
from arcrank.compiled.losses import WEIGHTED, cost_of
from arcrank.compiled.margin_arcs import EXPLICIT, IDENTITY, SHARE, add_most_urgent, dual_of, load_arcs, relax_piece
from arcrank.compiled.margin_weighted import costliest_arc, dual_of_weighted, relax_weighted
from arcrank.compiled.rows import add_row, copy_values, score_row


@kernel
def _dual_of(loss, C, active, count):
    """Return the piece's part of the dual, without the norm of W."""
    return dual_of_weighted(C, active[4], active[5], count) if loss == WEIGHTED else dual_of(loss, C, active, count)


@kernel
def _cost_of(p, rule, pieces, start, order, C, f, active, count):
    """Return what the piece costs; the arc that decides it need not be stored, so it takes a search."""
    if rule[2] == WEIGHTED:
        return C * costliest_arc(p, pieces, f)[1]
    top, _ = add_most_urgent(p, rule, pieces, start, order, f, active, count)  # the count without it is kept
    return C * cost_of(rule[2], active[4][top] - active[3][top] * (f[active[1][top]] - f[active[2][top]]))


@kernel
def _relax(p, rule, pieces, start, order, C, q, inner, gram, f, change, active, count):
    if rule[2] == WEIGHTED:
        return relax_weighted(p, pieces, C, q, inner, gram, f, change, active, count)
    return relax_piece(p, rule, pieces, start, order, C, q, inner, SHARE, gram, f, change, active, count)


@kernel
def gap_of_pieces(first, last, rule, pieces, start, order, C, keys, values, stop, f, active):
    """Return the instance's part of the duality gap, `sum_pieces C l(max u) - h(T) - sum_a beta_a u_a`, and cost."""
    gap, cost, e = 0.0, 0.0, 0
    for p in range(first, last):
        count = load_arcs(p, rule, pieces, order, keys, values, e, stop, len(f), active)
        e += count
        own = C * pieces[6][p] if rule[0] == EXPLICIT else C
        gap -= _dual_of(rule[2], own, active, count)
        for j in range(count):
            gap += active[5][j] * active[3][j] * (f[active[1][j]] - f[active[2][j]])
        cost += _cost_of(p, rule, pieces, start, order, own, f, active, count)
    return gap + cost, cost


@kernel
def _visit(i, rule, graph, pieces, C, q, quiet, inner, gram, f, change, store, work):
    """Improve all pieces of instance i; `change` becomes its new minus its old flow, f its new scores."""
    levels, start, order, old_f, active, new_keys, new_values = work
    begin, stop = store[0][i], store[1][i]
    keys, values = store[3][begin : begin + stop], store[4][begin : begin + stop]
    if rule[0] == EXPLICIT:
        first, last = pieces[0][i], pieces[0][i + 1]
    else:
        judged = sort_layers(i, graph, rule[1], levels, start, order)
        first, last = np.int64(0), np.int64(0)
        for b in range(len(start) - 1):
            if start[b] < judged:
                last = start[b]  # labels of the last layer are no heads
        # The whole graph is one piece, if it has any arc.
        last = min(last, 1) if rule[0] == IDENTITY else last
    gap, cost = gap_of_pieces(first, last, rule, pieces, start, order, C, keys, values, stop, f, active)
    if gap <= quiet or first == last:
        return gap, cost, 0.0, False
    copy_values(f, old_f)
    change[:] = 0.0
    # A second walk over the pieces: the gap decides whether anything moves, so all of it is measured before.
    rise, e, out = 0.0, 0, 0
    for p in range(first, last):
        count = load_arcs(p, rule, pieces, order, keys, values, e, stop, len(f), active)
        e += count
        own = C * pieces[6][p] if rule[0] == EXPLICIT else C
        rise -= _dual_of(rule[2], own, active, count)
        count = _relax(p, rule, pieces, start, order, own, q, inner, gram, f, change, active, count)
        rise += _dual_of(rule[2], own, active, count)
        for j in range(count):  # arcs whose weight fell to 0 are not stored any more
            if active[5][j] > 0.0:
                new_keys[out], new_values[out] = active[0][j], active[5][j]
                out += 1
    # The rise of -||W||^2 / 2: scores are linear in the change, so their mean is exact, with codes too.
    for r in range(len(f)):
        rise -= 0.5 * change[r] * (old_f[r] + f[r])
    save_flows(i, store, new_keys, new_values, out)
    return gap, cost, rise, True


@kernel
def _workspace(k, n_layers, widest):
    """Return the buffers of a visit, allocated once per pass."""
    levels, order = np.empty(k, np.int32), np.empty(k, np.int64)
    start = np.zeros(n_layers + 1, np.int64)
    ids, head, tail = np.empty(widest, np.int64), np.empty(widest, np.int64), np.empty(widest, np.int64)
    active = ids, head, tail, np.empty(widest), np.empty(widest), np.empty(widest)
    return levels, start, order, np.empty(k), active, np.empty(widest, np.int64), np.empty(widest)


@kernel
def linear_pass(
    rule, k, graph, pieces, rows, square, cost, visits, first, widest, quiet, inner, codes, fixed, W, store, gaps, costs
):
    """Visit instances until the pool may overflow; return the position reached and the rise of the dual.

    `fixed`: label 0, the cut, has the score 0 whatever flows through it; see `_release`.
    """
    data, indices, indptr = rows
    matrix, gram = codes
    work = _workspace(k, graph[4], widest)
    f, change, embedding = np.empty(k), np.empty(k), np.empty(W.shape[1])
    rise = 0.0
    for v in range(first, len(visits)):
        i = visits[v]
        if is_full(store, widest):
            return v, rise
        score_row(indptr, indices, data, W, i, embedding)
        _label_scores(matrix, embedding, f)
        gaps[i], costs[i], up, moved = _visit(
            i, rule, graph, pieces, cost[i], square[i], quiet, inner, gram, f, change, store, work
        )
        rise += up
        if moved:
            rise += _release(fixed, square[i], change)
            _embed(matrix, change, embedding)
            add_row(indptr, indices, data, W, i, embedding)
    return len(visits), rise


@kernel
def gram_pass(
    rule,
    k,
    graph,
    pieces,
    square,
    cost,
    batch,
    K,
    F,
    cycles,
    widest,
    quiet,
    inner,
    gram,
    fixed,
    store,
    gaps,
    costs,
    coefficients,
):
    """Visit a batch whose kernel matrix is K and whose scores are F, updated in place; return the rise of the dual."""
    work = _workspace(k, graph[4], widest)
    f, change = np.empty(k), np.empty(k)
    rise, at_first = 0.0, 0.0
    for cycle in range(cycles):
        total = 0.0
        for b in range(len(batch)):
            i = batch[b]
            if is_full(store, widest):
                return rise
            copy_values(F[b], f)
            gaps[i], costs[i], up, moved = _visit(
                i, rule, graph, pieces, cost[i], square[i], quiet, inner, gram, f, change, store, work
            )
            rise += up
            total += gaps[i]
            if moved:
                rise += _release(fixed, square[i], change)
                coefficients[b] += change
                # The Gram matrix is symmetric, so gram' change is how a unit of K moves the scores.
                _embed(gram, change, f)
                for j in range(len(batch)):
                    for r in range(k):
                        F[j, r] += K[j, b] * f[r]
        at_first = total if cycle == 0 else at_first
        if total <= 0.1 * at_first:
            break
    return rise


@kernel
def _release(fixed, q, change):
    """Take back what a visit did to the score of a fixed cut; return what the dual gains by it.

    The visit gave the cut the curvature of the other labels. Without it the dual is larger, so it still rises.
    """
    if not fixed:
        return 0.0
    gained = 0.5 * q * change[0] * change[0]
    change[0] = 0.0
    return gained


@kernel
def net_flows(rule, k, pieces, fixed, first, store, flows):
    """Fill (rows, k) flows with outflow minus inflow of the instances from `first` on (eq. 7)."""
    head, tail, scale = pieces[2], pieces[3], pieces[4]
    for r in range(len(flows)):
        flows[r] = 0.0
        start = store[0][first + r]
        for e in range(start, start + store[1][first + r]):
            key, amount = store[3][e], store[4][e]
            if rule[0] == EXPLICIT:
                h, t, amount = np.int64(head[key]), np.int64(tail[key]), amount * scale[key]
            else:
                h, t, amount = key // k, key % k, amount / rule[3]
            flows[r, h] += amount
            flows[r, t] -= amount
        if fixed:
            flows[r, 0] = 0.0


@kernel
def _label_scores(codes, embedding, f):
    """Set f to M h(x), the paper's eq. (3)."""
    if len(codes) == 0:
        copy_values(embedding, f)
        return
    for r in range(len(f)):
        f[r] = 0.0
        for c in range(len(embedding)):
            f[r] += codes[r, c] * embedding[c]


@kernel
def _embed(codes, change, embedding):
    """Set embedding to M' change, or for the Gram matrix of the codes to M M' change."""
    if len(codes) == 0:
        copy_values(change, embedding)
        return
    embedding[:] = 0.0
    for r in range(len(change)):
        if change[r] != 0.0:
            for c in range(len(embedding)):
                embedding[c] += change[r] * codes[r, c]

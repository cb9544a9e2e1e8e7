"""Passes of the online rankers over a stream, one document at a time (Crammer & Singer 2002, Fig. 2).

Arrays that a pass reads: `rows`, the instances in the order in which they are seen; X as CSR; the graphs, see
`LayeredGraphs` and `ArcGraphs`. Arrays that it updates:

W : (d, k) weights, one column per label
U : (d, k), sum over rounds t of (t - 1) times the round's change of W: then W - U/T is the mean of the weights after
    rounds 1..T; or (0, 0) where no mean is wanted
counters : (5,) int64, see `ROUNDS` and its siblings
sums : (5,) float64: the losses 1, 2 and 3 of all rounds, the largest ||x||^2, and the loss that the steps are made for
    where it is another one
curve : (points, 3) float64: the losses' means over the rounds so far, at every STRIDE-th round

A document without arcs is not a round: the losses and the mean of the weights leave it out. Only the perceptron learns
from it. A pass returns how many rows it has seen: fewer than there are where scores are no longer finite.
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.jit import kernel

ROUNDS, SKIPPED, FEWEST_ARCS, STRIDE, POINTS = range(5)
INDICATOR, SIZE, NORMALIZED, PERCEPTRON, AVERAGE_PRECISION = range(5)
LARGEST, OWN_LOSS = 3, 4
"""Places in `sums` after those of the losses 1-3."""
MOST_POINTS = 1 << 16
"""The curve is thinned to every second point when it has this many, so that a stream of any length fits."""
_FEW_HEADS = 64
"""Up to this number of heads, comparing each one with all labels is faster than sorting."""
_DENSE = 6
"""Where at least 1/6 of the labels move, a vectorised loop over all of them is faster than one over those that do."""


@kernel
def mmp_layered(rows, indptr, indices, data, ptr, label, level, rest, n_layers, loss, W, U, counters, sums, curve):
    """Run MMP (Crammer & Singer 2002, Fig. 2) on layered graphs.

    A document costs O(k terms) for scores and update, and O(k heads) or O(k log k) for the counts n_r.
    """
    return _layered_pass(
        rows, indptr, indices, data, ptr, label, level, rest, n_layers, loss, W, U, counters, sums, curve
    )


@kernel
def perceptron(rows, indptr, indices, data, ptr, label, level, rest, n_layers, W, U, counters, sums, curve):
    """Train one binary perceptron per label (section 4.3) on graphs of two layers."""
    return _layered_pass(
        rows, indptr, indices, data, ptr, label, level, rest, n_layers, PERCEPTRON, W, U, counters, sums, curve
    )


@kernel
def _layered_pass(rows, indptr, indices, data, ptr, label, level, rest, n_layers, rule, W, U, counters, sums, curve):
    """Score each instance, record its losses and move the weights by the rule; return the number of instances seen."""
    k = W.shape[1]
    scores, step, touched = np.empty(k), np.empty(k), np.empty(k, np.int64)
    levels, sizes, tree = np.empty(k, np.int32), np.empty(n_layers, np.int64), np.empty(n_layers + 1, np.int64)
    for place in range(len(rows)):
        i = rows[place]
        arcs = read_layers(i, ptr, label, level, rest, levels, sizes)
        before, wrong = counters[ROUNDS], 0
        if arcs == 0:
            counters[SKIPPED] += 1
            if rule != PERCEPTRON:  # there is no order to learn
                continue
        if not score_document(i, indptr, indices, data, W, scores, sums):
            return place
        if arcs > 0:
            # Under every rule the losses are those of the ranking before the update, when the document is still new.
            wrong = wrong_layers(levels, sizes, scores, step, tree)
            record(wrong, arcs, counters, sums, curve)
        moved = wrong > 0
        if rule == PERCEPTRON:  # a document with no label, or with all, is an example of every binary problem too
            moved = _perceptron_step(levels, scores, step)
        elif moved and rule == AVERAGE_PRECISION:
            sums[OWN_LOSS] += precision_layers(levels, scores, step)
        elif moved:
            step /= normalizer(rule, wrong, arcs)
        if moved:
            move_weights(i, indptr, indices, data, step, W, U, before, touched)
    return len(rows)


@kernel
def mmp_arcs(rows, indptr, indices, data, arc_ptr, head, tail, loss, W, U, counters, sums, curve):
    """Run MMP with explicit arcs in place of pairs of labels: O(k terms + arcs) per document."""
    k = W.shape[1]
    scores, step, touched = np.empty(k), np.empty(k), np.empty(k, np.int64)
    for place in range(len(rows)):
        i = rows[place]
        arcs = arc_ptr[i + 1] - arc_ptr[i]
        if arcs == 0:
            counters[SKIPPED] += 1
            continue
        if not score_document(i, indptr, indices, data, W, scores, sums):
            return place
        wrong = wrong_arcs(i, arc_ptr, head, tail, scores, step)
        record(wrong, arcs, counters, sums, curve)
        if wrong and loss == AVERAGE_PRECISION:
            sums[OWN_LOSS] += precision_arcs(i, arc_ptr, head, tail, scores, step)
        elif wrong:
            step /= normalizer(loss, wrong, arcs)
        if wrong:
            move_weights(i, indptr, indices, data, step, W, U, counters[ROUNDS] - 1, touched)
    return len(rows)


@kernel
def _perceptron_step(levels, scores, step):
    """Set step for w_r += x or w_s -= x where the sign of the score is wrong or 0; return whether any weight moves."""
    moved = False
    # A score of 0 counts as wrong on both sides; otherwise weights that start at 0 would never move.
    for r in range(len(step)):
        step[r] = (levels[r] == 0 and scores[r] <= 0.0) - 1.0 * (levels[r] == 1 and scores[r] >= 0.0)
        moved |= step[r] != 0.0
    return moved


@kernel
def normalizer(loss, wrong, arcs):
    """Return the factor c of Fig. 2, which makes the relevant labels' steps sum to the loss."""
    # The n_r of the relevant labels sum to |E|; divided by c they sum to 1, |E| or |E| / arcs: losses 1, 2 and 3.
    if loss == INDICATOR:
        return float(wrong)
    return 1.0 if loss == SIZE else float(arcs)


@kernel
def read_layers(i, ptr, label, level, rest, levels, sizes):
    """Fill in the levels of instance i and the sizes of its layers; return its number of arcs."""
    levels[:] = rest[i]
    sizes[:] = 0
    unlisted = len(levels) - (ptr[i + 1] - ptr[i])
    if unlisted and rest[i] >= 0:
        sizes[rest[i]] = unlisted
    for j in range(ptr[i], ptr[i + 1]):
        levels[label[j]] = level[j]
        if level[j] >= 0:
            sizes[level[j]] += 1
    above, arcs = 0, 0
    for b in range(len(sizes)):
        arcs += above * sizes[b]
        above += sizes[b]
    return arcs


@kernel
def wrong_layers(levels, sizes, scores, step, tree):
    """Return |E|; where it is not 0, set step to each label's wrong arcs as a head less those as a tail."""
    if len(sizes) == 2 and sizes[0] <= _FEW_HEADS:
        return _compare_heads(levels, scores, step)
    return _compare_sorted(levels, scores, step, tree)


@kernel
def _compare_heads(levels, scores, step):
    """Count as `wrong_layers` does on two layers, comparing the heads that have a wrong arc with all tails."""
    k = len(scores)
    lowest, highest = np.inf, -np.inf
    for r in range(k):
        if levels[r] == 0:
            lowest = min(lowest, scores[r])
        elif levels[r] == 1:
            highest = max(highest, scores[r])
    if lowest > highest:  # no wrong arc, the usual case after some training
        return 0
    step[:] = 0.0
    wrong = 0
    for r in range(k):
        if levels[r] == 0 and scores[r] <= highest:
            own, count = scores[r], 0
            for s in range(k):
                if levels[s] == 1 and own <= scores[s]:
                    count += 1
                    step[s] -= 1.0
            step[r] = count
            wrong += count
    return wrong


@kernel
def _compare_sorted(levels, scores, step, tree):
    """Count as `wrong_layers` does, with two walks in order of score and a Fenwick tree over layers: O(k log k)."""
    order = np.argsort(scores)
    step[:] = 0.0
    # Upwards, the labels of better layers that score no more than a label are its wrong arcs as a tail. Downwards in
    # the reversed graph, the same walk finds those as a head.
    _walk(order, scores, levels, -1.0, step, tree)
    flipped = np.where(levels >= 0, np.int32(len(tree) - 2) - levels, np.int32(-1))
    return _walk(order[::-1], scores, flipped, 1.0, step, tree)


@kernel
def _walk(order, scores, levels, sign, step, tree):
    """Add to each label's step sign times the labels of smaller level that come no later; return their total."""
    tree[:] = 0
    total, start = 0, 0
    while start < len(order):
        # Equal scores enter the tree together, before any of them is counted: ties are errors.
        stop = start
        while stop < len(order) and scores[order[stop]] == scores[order[start]]:
            at = levels[order[stop]] + 1  # 0 for labels that are not judged, which never enter
            while 0 < at < len(tree):
                tree[at] += 1
                at += at & -at
            stop += 1
        for j in range(start, stop):
            at, count = levels[order[j]], 0
            while at > 0:
                count += tree[at]
                at -= at & -at
            step[order[j]] += sign * count
            total += count
        start = stop
    return total


@kernel
def wrong_arcs(i, arc_ptr, head, tail, scores, step):
    """Count as `wrong_layers` does, over explicit arcs."""
    step[:] = 0.0
    wrong = 0
    for a in range(arc_ptr[i], arc_ptr[i + 1]):
        if scores[head[a]] <= scores[tail[a]]:
            step[head[a]] += 1.0
            step[tail[a]] -= 1.0
            wrong += 1
    return wrong


@kernel
def precision_layers(levels, scores, step):
    """Set step to that of the loss 1 - average precision, and return this loss; see `_precision_share`."""
    last, n_heads = levels[0], 0
    for r in range(1, len(levels)):
        last = max(last, levels[r])
    for r in range(len(levels)):
        n_heads += 0 <= levels[r] < last
    step[:] = 0.0
    lost = 0.0
    for h in range(len(levels)):
        if 0 <= levels[h] < last:
            wrong, above = 0, 0
            for r in range(len(levels)):
                if scores[r] >= scores[h]:
                    wrong += levels[r] > levels[h]
                    above += 0 <= levels[r] < last
            share = _precision_share(wrong, above, n_heads)
            step[h] += wrong * share
            lost += wrong * share
            if wrong:
                for r in range(len(levels)):
                    if levels[r] > levels[h] and scores[r] >= scores[h]:
                        step[r] -= share
    return lost


@kernel
def precision_arcs(i, arc_ptr, head, tail, scores, step):
    """Do as `precision_layers`, over explicit arcs."""
    k = len(scores)
    is_head, wrong, share = np.zeros(k, np.bool_), np.zeros(k, np.int64), np.zeros(k)
    for a in range(arc_ptr[i], arc_ptr[i + 1]):
        is_head[head[a]] = True
        wrong[head[a]] += scores[head[a]] <= scores[tail[a]]
    heads = np.flatnonzero(is_head)
    lost = 0.0
    for h in heads:
        above = 0
        for other in heads:
            above += scores[other] >= scores[h]
        share[h] = _precision_share(wrong[h], above, len(heads))
        lost += wrong[h] * share[h]
    step[:] = 0.0
    for a in range(arc_ptr[i], arc_ptr[i + 1]):
        if scores[head[a]] <= scores[tail[a]]:
            step[head[a]] += share[head[a]]
            step[tail[a]] -= share[head[a]]
    return lost


@kernel
def _precision_share(wrong, above, n_heads):
    """Return the weight of each wrong arc of a head."""
    # The precision at a relevant label of rank `wrong + above` is above / rank, so it loses wrong / rank. These losses
    # over the number of relevant labels sum to 1 - average precision, as the steps of Fig. 2 sum to the losses 1-3.
    return 1.0 / (n_heads * (wrong + above))


@kernel
def record(wrong, arcs, counters, sums, curve):
    """Count a round, add its losses to the sums, and their means to the curve."""
    counters[ROUNDS] += 1
    counters[FEWEST_ARCS] = min(counters[FEWEST_ARCS], arcs)
    sums[0] += wrong > 0
    sums[1] += wrong
    sums[2] += wrong / arcs
    if counters[ROUNDS] % counters[STRIDE]:
        return
    # A full curve keeps every second point, those at multiples of the doubled stride, so that points stay equidistant.
    if counters[POINTS] == MOST_POINTS:
        for j in range(MOST_POINTS // 2):
            curve[j] = curve[2 * j + 1]
        counters[POINTS] //= 2
        counters[STRIDE] *= 2
        if counters[ROUNDS] % counters[STRIDE]:
            return
    for which in range(3):
        curve[counters[POINTS], which] = sums[which] / counters[ROUNDS]
    counters[POINTS] += 1


@kernel
def score_document(i, indptr, indices, data, W, scores, sums):
    """Compute the scores of all labels for instance i, term by term; return whether they are finite."""
    scores[:] = 0.0
    j, stop = indptr[i], indptr[i + 1]
    while j + 4 <= stop:  # four terms at once, in the same order of additions: a quarter of the traffic to scores
        a, b, c, d = data[j], data[j + 1], data[j + 2], data[j + 3]
        wa, wb, wc, wd = W[indices[j]], W[indices[j + 1]], W[indices[j + 2]], W[indices[j + 3]]
        for r in range(len(scores)):
            scores[r] = (((scores[r] + a * wa[r]) + b * wb[r]) + c * wc[r]) + d * wd[r]
        j += 4
    while j < stop:
        a, wa = data[j], W[indices[j]]
        for r in range(len(scores)):
            scores[r] += a * wa[r]
        j += 1
    square = 0.0
    for at in range(indptr[i], stop):
        square += data[at] * data[at]
    sums[LARGEST] = max(sums[LARGEST], square)
    return np.isfinite(scores.sum())  # inf and NaN survive in the sum: one check for all labels


@kernel
def move_weights(i, indptr, indices, data, step, W, U, before, touched):
    """Add x step' to W for instance i, and `before` times that to U where a mean is wanted; step is overwritten.

    `touched` is a buffer of int64 for each label. With arrays of its own, this function would count references to each
    row of W that it visits.
    """
    n = 0
    for r in range(len(step)):
        touched[n] = r  # overwritten by the next label where this one stays; cheaper than a branch
        n += step[r] != 0.0
    dense = _DENSE * n > len(step)
    if dense:
        _move_all(i, indptr, indices, data, step, W)
    for at in range(n):
        step[at] = step[touched[at]]
    if not dense:
        _move_some(i, indptr, indices, data, step, 1.0, W, touched, n)
    if len(U):
        _move_some(i, indptr, indices, data, step, before, U, touched, n)


@kernel
def _move_all(i, indptr, indices, data, step, W):
    """Add x step' to all labels of W."""
    for j in range(indptr[i], indptr[i + 1]):
        value, weights = data[j], W[indices[j]]
        for r in range(len(step)):
            weights[r] += value * step[r]


@kernel
def _move_some(i, indptr, indices, data, moves, factor, W, touched, n):
    """Add factor times x moves' to the first n labels of `touched`."""
    for j in range(indptr[i], indptr[i + 1]):
        value, weights = data[j], W[indices[j]]
        for at in range(n):
            weights[touched[at]] += value * moves[at] * factor

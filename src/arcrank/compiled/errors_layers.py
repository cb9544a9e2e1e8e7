"""Errors of layered graphs without their arcs: O(k) an instance, disagreement O(k log k) at most.

Every kernel takes the graphs as (ptr, label, level, rest, n_layers), see `LayeredGraphs`, and (n, k) float64 scores;
it returns the fraction of pieces that disagree, for each instance (Dekel et al. 2003, eq. 1). Ties disagree.
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.jit import kernel


@kernel
def _min_max(values, start, stop):
    """Smallest and largest of values[start:stop], in four independent chains: one chain waits for each comparison."""
    a, b, c, d = np.inf, np.inf, np.inf, np.inf
    e, f, g, h = -np.inf, -np.inf, -np.inf, -np.inf
    r = start
    while r + 3 < stop:
        a, b, c, d = min(a, values[r]), min(b, values[r + 1]), min(c, values[r + 2]), min(d, values[r + 3])
        e, f, g, h = max(e, values[r]), max(f, values[r + 1]), max(g, values[r + 2]), max(h, values[r + 3])
        r += 4
    while r < stop:
        a, e = min(a, values[r]), max(e, values[r])
        r += 1
    return min(a, b, c, d), max(e, f, g, h)


@kernel
def _layer_extremes(i, ptr, label, level, rest, scores, low, high):
    """Smallest and largest score of each layer; (inf, -inf) where it is empty.

    Listed labels ascend, so the labels of the rest are the runs between them.
    """
    low[:] = np.inf
    high[:] = -np.inf
    start = 0
    for j in range(ptr[i], ptr[i + 1] + 1):
        stop = label[j] if j < ptr[i + 1] else len(scores)
        if rest[i] >= 0 and start < stop:
            lowest, highest = _min_max(scores, start, stop)
            low[rest[i]] = min(low[rest[i]], lowest)
            high[rest[i]] = max(high[rest[i]], highest)
        start = stop + 1
    for j in range(ptr[i], ptr[i + 1]):
        b = level[j]
        if b >= 0:
            low[b] = min(low[b], scores[label[j]])
            high[b] = max(high[b], scores[label[j]])


@kernel
def _count_at_most(i, ptr, label, scores, threshold):
    """How many labels of the rest score no more than the threshold."""
    count = 0
    for r in range(len(scores)):
        count += scores[r] <= threshold
    for j in range(ptr[i], ptr[i + 1]):
        count -= scores[label[j]] <= threshold
    return count


@kernel
def _count_at_least(i, ptr, label, scores, threshold):
    """How many labels of the rest score no less than the threshold."""
    count = 0
    for r in range(len(scores)):
        count += scores[r] >= threshold
    for j in range(ptr[i], ptr[i + 1]):
        count -= scores[label[j]] >= threshold
    return count


@kernel
def zero_one(ptr, label, level, rest, n_layers, scores):
    """1 where some label scores no more than one of a layer below."""
    n = len(scores)
    low, high = np.empty(n_layers), np.empty(n_layers)
    errors = np.zeros(n)
    for i in range(n):
        _layer_extremes(i, ptr, label, level, rest, scores[i], low, high)
        lowest = np.inf
        above = False  # a judged label above: infinite scores are legal, so inf alone does not tell
        for b in range(n_layers):
            if low[b] > high[b]:
                continue
            if above and lowest <= high[b]:
                errors[i] = 1.0
                break
            lowest = min(lowest, low[b])
            above = True
    return errors


@kernel
def domination(ptr, label, level, rest, n_layers, scores):
    """Fraction of heads that do not score above every label of the layers below."""
    return _centre_errors(ptr, label, level, rest, n_layers, scores, False)


@kernel
def dominated(ptr, label, level, rest, n_layers, scores):
    """Fraction of tails that do not score below every label of the layers above."""
    return _centre_errors(ptr, label, level, rest, n_layers, scores, True)


@kernel
def _centre_errors(ptr, label, level, rest, n_layers, scores, mirror):
    """Fraction of wrong centres: heads against the layers below, or with `mirror` tails against the layers above."""
    n, k = scores.shape
    low, high = np.empty(n_layers), np.empty(n_layers)
    limit, linked = np.empty(n_layers), np.empty(n_layers, np.bool_)
    errors = np.zeros(n)
    for i in range(n):
        _layer_extremes(i, ptr, label, level, rest, scores[i], low, high)
        if mirror:
            _lowest_above(low, high, limit, linked)
        else:
            _highest_below(low, high, limit, linked)
        centres, wrong = 0, 0
        for j in range(ptr[i], ptr[i + 1]):
            b = level[j]
            if b >= 0 and linked[b]:
                centres += 1
                score = scores[i, label[j]]
                wrong += limit[b] <= score if mirror else score <= limit[b]
        if ptr[i + 1] - ptr[i] < k and rest[i] >= 0 and linked[rest[i]]:
            centres += k - (ptr[i + 1] - ptr[i])
            if mirror:
                wrong += _count_at_least(i, ptr, label, scores[i], limit[rest[i]])
            else:
                wrong += _count_at_most(i, ptr, label, scores[i], limit[rest[i]])
        if centres:
            errors[i] = wrong / centres
    return errors


@kernel
def _highest_below(low, high, limit, linked):
    """limit[b] = the largest score of all layers below b; linked[b] = whether they have a label."""
    largest, some = -np.inf, False
    for b in range(len(low) - 1, -1, -1):
        limit[b], linked[b] = largest, some
        largest, some = max(largest, high[b]), some or low[b] <= high[b]


@kernel
def _lowest_above(low, high, limit, linked):
    """limit[b] = the smallest score of all layers above b; linked[b] = whether they have a label."""
    smallest, some = np.inf, False
    for b in range(len(low)):
        limit[b], linked[b] = smallest, some
        smallest, some = min(smallest, low[b]), some or low[b] <= high[b]


@kernel
def disagreement(ptr, label, level, rest, n_layers, scores):
    """Fraction of arcs whose head does not score above their tail."""
    n, k = scores.shape
    levels = np.empty(k, np.int32)
    start = np.empty(n_layers + 1, np.int64)
    place = np.empty(n_layers, np.int64)
    ordered = np.empty(k)
    tree = np.empty(k + 1, np.int64)
    errors = np.zeros(n)
    for i in range(n):
        listed = ptr[i + 1] - ptr[i]
        if listed <= 16:  # a few comparisons of one label with all others are vectorised, and need no sorting
            wrong, arcs = _count_by_listed(i, ptr, label, level, rest, scores[i])
        else:
            levels[:] = rest[i]
            for j in range(ptr[i], ptr[i + 1]):
                levels[label[j]] = level[j]
            judged = _by_layer(levels, scores[i], start, place, ordered)
            arcs = 0
            for b in range(n_layers):
                arcs += (start[b + 1] - start[b]) * (judged - start[b + 1])
            if arcs <= 64 * k:
                wrong = _count_arcs(ordered, start, n_layers, judged)
            else:
                wrong = _count_sorted(ordered, start, n_layers, judged, tree)
        if arcs:
            errors[i] = wrong / arcs
    return errors


@kernel
def _count_by_listed(i, ptr, label, level, rest, scores):
    """Wrong arcs and all arcs: among the listed labels, and between them and the rest."""
    wrong, arcs = 0, 0
    unlisted = len(scores) - (ptr[i + 1] - ptr[i]) if rest[i] >= 0 else 0
    for j in range(ptr[i], ptr[i + 1]):
        b, score = level[j], scores[label[j]]
        if b < 0:
            continue
        if unlisted and b < rest[i]:
            arcs += unlisted
            wrong += _count_at_least(i, ptr, label, scores, score)
        elif unlisted and b > rest[i]:
            arcs += unlisted
            wrong += _count_at_most(i, ptr, label, scores, score)
        for other in range(ptr[i], ptr[i + 1]):
            if level[other] > b:
                arcs += 1
                wrong += score <= scores[label[other]]
    return wrong, arcs


@kernel
def _by_layer(levels, scores, start, place, ordered):
    """Counting sort of the judged scores by layer; layer b is ordered[start[b]:start[b + 1]]. Returns their number."""
    start[:] = 0
    for r in range(len(levels)):
        if levels[r] >= 0:
            start[levels[r] + 1] += 1
    for b in range(len(place)):
        start[b + 1] += start[b]
        place[b] = start[b]
    for r in range(len(levels)):
        b = levels[r]
        if b >= 0:
            ordered[place[b]] = scores[r]
            place[b] += 1
    return start[len(place)]


@kernel
def _count_arcs(ordered, start, n_layers, judged):
    wrong = 0
    for b in range(n_layers):
        tails = ordered[start[b + 1] : judged]
        for h in range(start[b], start[b + 1]):
            head = ordered[h]
            for t in range(len(tails)):
                wrong += head <= tails[t]
    return wrong


@kernel
def _count_sorted(ordered, start, n_layers, judged, tree):
    """Fenwick tree over the distinct scores: for each tail, the heads of layers above that score no more."""
    distinct = np.unique(ordered[:judged])
    tree[:] = 0
    wrong = 0
    for b in range(n_layers):
        for t in range(start[b], start[b + 1]):
            at = np.searchsorted(distinct, ordered[t]) + 1
            while at > 0:
                wrong += tree[at]
                at -= at & -at
        for h in range(start[b], start[b + 1]):
            at = np.searchsorted(distinct, ordered[h]) + 1
            while at <= len(distinct):
                tree[at] += 1
                at += at & -at
    return wrong

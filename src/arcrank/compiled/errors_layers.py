"""Errors of layered graphs without their arcs: O(k) per instance, disagreement O(k log k) at most.

Every kernel takes the graphs as (ptr, label, level, rest, n_layers), see `LayeredGraphs`, and (n, k) float64 scores;
it returns the fraction of wrong pieces of each instance (Dekel et al. 2003, eq. 1). A piece with a tie is wrong.
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.jit import kernel


@kernel
def _min_max(values, start, stop):
    """Return the smallest and the largest of values[start:stop]; (inf, -inf) where it is empty."""
    # A single running minimum waits for each comparison; four independent ones do not. Regrouping is exact here.
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
    # numba compiles min and max of four numbers as further functions
    return min(min(min(a, b), c), d), max(max(max(e, f), g), h)  # noqa: PLW3301


@kernel
def _layer_extremes(i, ptr, label, level, rest, scores, low, high):
    """Fill in the smallest and the largest score of each layer; (inf, -inf) where it is empty."""
    low[:] = np.inf
    high[:] = -np.inf
    # Listed labels ascend, so the unlisted ones are the runs between them: contiguous reads for nearly all labels.
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
        if b >= 0:  # level -1: not judged, the label has no arcs
            low[b] = min(low[b], scores[label[j]])
            high[b] = max(high[b], scores[label[j]])


@kernel
def _count_at_most(i, ptr, label, scores, threshold):
    """Return how many unlisted labels score no more than the threshold."""
    # Counting all labels and taking the listed ones off leaves a loop without branches, which vectorises.
    count = 0
    for r in range(len(scores)):
        count += scores[r] <= threshold
    for j in range(ptr[i], ptr[i + 1]):
        count -= scores[label[j]] <= threshold
    return count


@kernel
def _count_at_least(i, ptr, label, scores, threshold):
    """Return how many unlisted labels score no less than the threshold, by the method of `_count_at_most`."""
    count = 0
    for r in range(len(scores)):
        count += scores[r] >= threshold
    for j in range(ptr[i], ptr[i + 1]):
        count -= scores[label[j]] >= threshold
    return count


@kernel
def zero_one(ptr, label, level, rest, n_layers, scores):
    """Return 1 for each instance in which some label scores no more than one of a layer below, else 0."""
    n = len(scores)
    low, high = np.empty(n_layers), np.empty(n_layers)
    errors = np.zeros(n)
    for i in range(n):
        _layer_extremes(i, ptr, label, level, rest, scores[i], low, high)
        # Some arc into layer b is wrong if and only if the lowest score above it is no more than its highest.
        lowest = np.inf
        above = False  # whether a label is above; infinite scores are legal, so `lowest` alone does not say it
        for b in range(n_layers):
            if low[b] > high[b]:  # an empty layer
                continue
            if above and lowest <= high[b]:
                errors[i] = 1.0
                break
            lowest = min(lowest, low[b])
            above = True
    return errors


@kernel
def domination(ptr, label, level, rest, n_layers, scores):
    """Return the fraction of heads that do not score above every label of the layers below."""
    return _centre_errors(ptr, label, level, rest, n_layers, scores, False)


@kernel
def dominated(ptr, label, level, rest, n_layers, scores):
    """Return the fraction of tails that do not score below every label of the layers above."""
    return _centre_errors(ptr, label, level, rest, n_layers, scores, True)


@kernel
def _centre_errors(ptr, label, level, rest, n_layers, scores, mirror):
    """Return the fraction of wrong centres: heads against layers below; with `mirror`, tails against those above."""
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
        # A piece is wrong where any of its arcs is, that is, where the centre is wrong against the extreme neighbour.
        centres, wrong = 0, 0
        for j in range(ptr[i], ptr[i + 1]):
            b = level[j]
            if b >= 0 and linked[b]:  # a label without arcs is no centre (Dekel et al. 2003, section 2)
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
    """Set limit[b] to the largest score of all layers below b, and linked[b] to whether they have a label."""
    largest, some = -np.inf, False
    for b in range(len(low) - 1, -1, -1):
        limit[b], linked[b] = largest, some
        largest, some = max(largest, high[b]), some or low[b] <= high[b]


@kernel
def _lowest_above(low, high, limit, linked):
    """Set limit[b] to the smallest score of all layers above b, and linked[b] to whether they have a label."""
    smallest, some = np.inf, False
    for b in range(len(low)):
        limit[b], linked[b] = smallest, some
        smallest, some = min(smallest, low[b]), some or low[b] <= high[b]


@kernel
def disagreement(ptr, label, level, rest, n_layers, scores):
    """Return the fraction of arcs whose head does not score above their tail."""
    n, k = scores.shape
    levels = np.empty(k, np.int32)
    start = np.empty(n_layers + 1, np.int64)
    place = np.empty(n_layers, np.int64)
    ordered = np.empty(k)
    tree = np.empty(k + 1, np.int64)
    errors = np.zeros(n)
    for i in range(n):
        listed = ptr[i + 1] - ptr[i]
        if listed <= 16:  # comparing a few labels with all others is vectorised, and needs no sorting
            wrong, arcs = _count_by_listed(i, ptr, label, level, rest, scores[i])
        else:
            levels[:] = rest[i]
            for j in range(ptr[i], ptr[i + 1]):
                levels[label[j]] = level[j]
            judged = _by_layer(levels, scores[i], start, place, ordered)
            arcs = 0
            for b in range(n_layers):
                arcs += (start[b + 1] - start[b]) * (judged - start[b + 1])
            # `arcs` vectorised comparisons against O(k log k) steps of a tree that wait for memory.
            if arcs <= 64 * k:
                wrong = _count_arcs(ordered, start, n_layers, judged)
            else:
                wrong = _count_sorted(ordered, start, n_layers, judged, tree)
        if arcs:
            errors[i] = wrong / arcs
    return errors


@kernel
def _count_by_listed(i, ptr, label, level, rest, scores):
    """Return the number of wrong arcs and of all arcs."""
    # Unlisted labels share a layer, so every arc has a listed end: these two kinds of comparison see each arc once.
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
    """Sort the judged scores by layer, b being ordered[start[b]:start[b + 1]], in O(k); return their number."""
    start[:] = 0
    for r in range(len(levels)):
        if levels[r] >= 0:
            start[levels[r] + 1] += 1
    for b in range(len(place)):
        start[b + 1] += start[b]
        place[b] = start[b]  # advances below, while `start` is still needed
    for r in range(len(levels)):
        b = levels[r]
        if b >= 0:
            ordered[place[b]] = scores[r]
            place[b] += 1
    return start[len(place)]


@kernel
def _count_arcs(ordered, start, n_layers, judged):
    """Return the number of wrong arcs by comparing every head with every tail."""
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
    """Return the number of wrong arcs with a Fenwick tree over the distinct scores."""
    # For each tail, a prefix of the tree counts the labels of layers above that score no more. Equal scores have one
    # position, so ties count as errors.
    distinct = np.unique(ordered[:judged])
    tree[:] = 0
    wrong = 0
    for b in range(n_layers):
        for t in range(start[b], start[b + 1]):
            at = np.searchsorted(distinct, ordered[t]) + 1
            while at > 0:
                wrong += tree[at]
                at -= at & -at
        # The layer joins the tree after its own queries: labels of one layer have no arcs between them.
        for h in range(start[b], start[b + 1]):
            at = np.searchsorted(distinct, ordered[h]) + 1
            while at <= len(distinct):
                tree[at] += 1
                at += at & -at
    return wrong

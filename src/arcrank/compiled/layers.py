"""Sorting the labels of an instance by layer, the first step of every kernel on layered graphs.

graph : (ptr, label, level, rest, n_layers) of LayeredGraphs
mirror : whether to reverse all arcs and negate all scores, which leaves margins as they are: the dominated
    decomposition is the domination of the reversed graph, so that one kernel serves both
start, order : layer b is order[start[b]:start[b + 1]]; the functions return the number of judged labels
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.jit import kernel


@kernel
def layer_workspace(k, n_layers):
    """Return the arrays (levels, start, order, f) that `arrange` fills, for k labels; one set serves all instances."""
    levels, order = np.empty(k, np.int32), np.empty(k, np.int64)
    return levels, np.empty(n_layers + 1, np.int64), order, np.empty(k)


@kernel
def sort_layers(i, graph, mirror, levels, start, order):
    """Sort the judged labels of instance i by layer, ascending within a layer, in O(k)."""
    ptr, label, level, rest, n_layers = graph
    k = len(levels)
    levels[:] = rest[i]
    for j in range(ptr[i], ptr[i + 1]):
        levels[label[j]] = level[j]
    # A counting sort. It is stable, so that the order of additions, and every bit of a sum, follows from the graph.
    start[:] = 0
    for r in range(k):
        if levels[r] >= 0:
            if mirror:
                levels[r] = n_layers - 1 - levels[r]
            start[levels[r] + 1] += 1
    for b in range(n_layers):
        start[b + 1] += start[b]
    for r in range(k):
        b = levels[r]
        if b >= 0:
            order[start[b]] = r
            start[b] += 1
    # Placing the labels moved each start to that of the next layer.
    for b in range(n_layers, 0, -1):
        start[b] = start[b - 1]
    start[0] = 0
    return start[n_layers]


@kernel
def arrange(i, graph, mirror, scores, levels, start, order, f):
    """Sort as `sort_layers` does, and write the scores in that order to f, negated under `mirror`."""
    if is_one_layer_of_two(i, graph):  # label sets, the most common graphs, need no sorting
        return _arrange_two(i, graph, mirror, scores, start, order, f)
    judged = sort_layers(i, graph, mirror, levels, start, order)
    for j in range(judged):
        f[j] = -scores[order[j]] if mirror else scores[order[j]]
    return judged


@kernel
def is_one_layer_of_two(i, graph):
    """Return whether all listed labels are in one layer and all others in another, as with label sets."""
    ptr, _, level, rest, _ = graph
    if rest[i] < 0 or ptr[i] == ptr[i + 1]:  # some labels are not judged, or there is only one layer
        return False
    one = level[ptr[i]]
    for j in range(ptr[i] + 1, ptr[i + 1]):
        if level[j] != one:
            return False
    return one >= 0 and one != rest[i]


@kernel
def _arrange_two(i, graph, mirror, scores, start, order, f):
    """Arrange two layers by copying the runs between listed labels; the same result as by sorting."""
    ptr, label, level, rest, n_layers = graph
    k, first, last = len(scores), ptr[i], ptr[i + 1]
    one, other, sign = level[first], rest[i], 1.0
    if mirror:
        one, other, sign = n_layers - 1 - one, n_layers - 1 - other, -1.0
    # The next free positions of both layers: the higher layer, of the smaller level, comes first.
    listed, free = (0, last - first) if one < other else (k - (last - first), 0)
    before = 0
    for j in range(first, last + 1):
        stop = label[j] if j < last else k
        for r in range(before, stop):
            order[free + r - before], f[free + r - before] = r, sign * scores[r]
        free += stop - before
        before = stop + 1
        if j < last:
            order[listed], f[listed] = stop, sign * scores[stop]
            listed += 1
    size = last - first if one < other else k - (last - first)
    # All other layers are empty: those above both start at 0, those below both at k, those between at `size`.
    for b in range(n_layers + 1):
        start[b] = (size if b > min(one, other) else 0) + (k - size if b > max(one, other) else 0)
    return k

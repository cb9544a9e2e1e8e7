"""The labels that a visit of an instance looks at, among so many that only a shortlist of them can take part.

rows : (data, indices, indptr) of the CSR features, in float32
weights : (ptr, label, weight): the weights of feature j are ptr[j]:ptr[j + 1], their labels ascend
graph : (ptr, label, level, rest) of LayeredGraphs
offset : (ptr, label, value) of fixed parts of the scores, as the votes of neighbours; ptr of length 1 if there are none
store : see `compiled.flow_store`; the key of an arc is head * k + tail
chosen, counts : (visits, width) labels of each visit in ascending order, and how many there are

Weights are only read here, so that threads share the visits of a batch, whatever the number of threads.
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.jit import kernel

_BLOCK = 128


@kernel
def score_document(i, rows, weights, bias, offset, scores):
    """Compute the scores of all labels by streaming the weights of each feature of instance i."""
    data, indices, indptr = rows
    ptr, label, weight = weights
    scores[:] = bias
    for e in range(indptr[i], indptr[i + 1]):
        x, j = data[e], indices[e]
        labels, values = label[ptr[j] : ptr[j + 1]], weight[ptr[j] : ptr[j + 1]]
        for p in range(len(labels)):
            scores[np.uint32(labels[p])] += x * values[p]  # an unsigned index is not tested for being negative
    if len(offset[0]) > 1:
        for e in range(offset[0][i], offset[0][i + 1]):
            scores[offset[1][e]] += offset[2][e]


@kernel
def take_best(scores, taken, sign, floor, best, values, room):
    """Write the labels of largest sign * score above `floor`, best first, unless taken; return how many there are."""
    # An insertion into a short sorted list. Nearly all labels fail the comparison with its last entry, so a block of
    # them is compared at once, in a loop that is vectorised. The comparison is strict, so that the lower of two labels
    # with equal scores comes first.
    n, k = 0, len(scores)
    for start in range(0, k, _BLOCK):
        stop = min(start + _BLOCK, k)
        candidates = 0
        for r in range(start, stop):
            candidates += sign * scores[r] > floor
        if candidates == 0:
            continue
        for r in range(start, stop):
            value = sign * scores[r]
            if value > floor and not taken[r]:
                n = min(n + 1, room)
                at = n - 1
                while at > 0 and values[at - 1] < value:
                    values[at], best[at] = values[at - 1], best[at - 1]
                    at -= 1
                values[at], best[at] = value, r
                if n == room:
                    floor = values[n - 1]
    return n


@kernel
def _take_listed(i, graph, chosen, taken):
    """Take the judged labels of the graph's list; return their number, and on which sides of the others they are."""
    ptr, label, level, rest = graph
    n, above, below = 0, False, False
    for e in range(ptr[i], ptr[i + 1]):
        taken[label[e]] = True
        if level[e] >= 0:
            chosen[n] = label[e]
            n += 1
            above |= level[e] < rest[i]
            below |= level[e] > rest[i]
    return n, above, below


@kernel
def _take_carriers(i, k, store, chosen, taken, n):
    """Take the labels that carry flow: their flow may have to be withdrawn."""
    for e in range(store[0][i], store[0][i] + store[1][i]):
        for r in (store[3][e] // k, store[3][e] % k):
            if not taken[r]:
                taken[r] = True
                chosen[n] = r
                n += 1
    return n


@kernel
def _limits(i, graph, scores):
    """Return the lowest score of the labels above the unlisted ones, and the highest of those below them."""
    ptr, label, level, rest = graph
    low, high = np.float32(np.inf), np.float32(-np.inf)
    for e in range(ptr[i], ptr[i + 1]):
        if 0 <= level[e] < rest[i]:
            low = min(low, scores[label[e]])
        if level[e] > rest[i]:
            high = max(high, scores[label[e]])
    return low, high


@kernel
def _take_near(scores, taken, sign, floor, best, values, room, chosen, n):
    """Take the unlisted labels that violate most."""
    found = take_best(scores, taken, np.float32(sign), np.float32(floor), best, values, room)
    for j in range(found):
        chosen[n] = best[j]
        taken[best[j]] = True
        n += 1
    return n


@kernel
def _take_all(taken, chosen, n):
    """Take every label that is left, for the full working set."""
    for r in range(len(taken)):
        if not taken[r]:
            taken[r] = True
            chosen[n] = r
            n += 1
    return n


@kernel
def select(visits, first, last, rows, graph, weights, bias, offset, store, room, reach, chosen, counts):
    """Choose the labels of the visits first..last: listed ones, carriers of flow, and `room` of the others.

    The others are those nearest to the wrong side, at most `reach` away from the listed labels that they are compared
    with. Where all labels have room, or the list is all that is judged, no score is needed.
    """
    k = len(bias)
    scores, taken = np.empty(k, np.float32), np.zeros(k, np.bool_)
    best, values = np.empty(max(room, 1), np.int64), np.empty(max(room, 1), np.float32)
    for v in range(first, last):
        i = visits[v]
        n, above, below = _take_listed(i, graph, chosen[v], taken)
        if graph[3][i] >= 0 and (above or below):
            n = _take_carriers(i, k, store, chosen[v], taken, n)
            if room >= k:
                n = _take_all(taken, chosen[v], n)
            else:
                score_document(i, rows, weights, bias, offset, scores)
                low, high = _limits(i, graph, scores)
                if above:
                    n = _take_near(scores, taken, 1.0, low - reach, best, values, room, chosen[v], n)
                if below:
                    n = _take_near(scores, taken, -1.0, -high - reach, best, values, room, chosen[v], n)
        for e in range(graph[0][i], graph[0][i + 1]):  # labels that are not judged were taken too
            taken[graph[1][e]] = False
        for j in range(n):
            taken[chosen[v, j]] = False
        counts[v] = n
        chosen[v, :n].sort()


@kernel
def locate(visits, first, last, rows, weights, offset, constant, chosen, counts, starts, place, square, fixed):
    """Find the weights of the chosen labels by binary search: place[starts[v] + s * features + e], or -1.

    `square` is the squared length of the instance in the features of each label, with that of the constant feature,
    and `fixed` the part of the score that does not depend on weights.
    """
    data, indices, indptr = rows
    ptr, label, _ = weights
    for v in range(first, last):
        i, n = visits[v], counts[v]
        width = indptr[i + 1] - indptr[i]
        square[v, :n] = constant
        _find_fixed(i, offset, chosen[v], n, fixed[v])
        for e in range(width):
            x, j = data[indptr[i] + e], indices[indptr[i] + e]
            low, stop = ptr[j], ptr[j + 1]
            for s in range(n):  # both ascend, so that each search starts where the last one ended
                wanted, high = chosen[v, s], stop
                while low < high:
                    middle = (low + high) >> 1
                    if label[middle] < wanted:
                        low = middle + 1
                    else:
                        high = middle
                found = low < stop and label[low] == wanted
                place[starts[v] + s * width + e] = low if found else -1
                if found:
                    square[v, s] += x * x


@kernel
def _find_fixed(i, offset, chosen, n, fixed):
    fixed[:n] = 0.0
    if len(offset[0]) == 1:
        return
    s = 0
    for e in range(offset[0][i], offset[0][i + 1]):  # labels of offsets ascend too
        while s < n and chosen[s] < offset[1][e]:
            s += 1
        if s < n and chosen[s] == offset[1][e]:
            fixed[s] = offset[2][e]

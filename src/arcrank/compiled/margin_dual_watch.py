"""Which labels of an instance a visit looks at: those that carry flow or may soon do so.

Moving only these is an exact ascent in some of the variables, so the dual still rises. Only full visits see the labels
that newly take part, and only they measure the gap exactly.

watch : (label, place, count, starts): the labels that visits between two full ones look at, their positions in the
    order of layers, how many there are (0: every visit is full), and where their layers start
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.flow_store import save_flows
from arcrank.compiled.jit import kernel
from arcrank.compiled.losses import SQUARED
from arcrank.compiled.margin_dual_centres import ARCS, CUT_CENTRES
from arcrank.compiled.rows import copy_values

IDENTITY, HEADS = 0, -1  # modes up to IDENTITY have one flow for each label
_NEAR = 0.2  # labels whose score is at most this far from taking part are watched


@kernel
def load_flows(i, store, keys, values):
    """Copy an instance's stored flows; return their number."""
    begin, count = store[0][i], store[1][i]
    for e in range(count):
        keys[e], values[e] = store[3][begin + e], store[4][begin + e]
    return count


@kernel
def renumber(mode, k, place, n, index, keys, count):
    """Turn keys of positions in the order of layers into keys of places among the n watched ones."""
    for j in range(n):
        index[place[j]] = j
    for e in range(count):
        own = keys[e]
        keys[e] = index[own] if mode <= IDENTITY else index[own // k] * k + index[own % k]


@kernel
def save_watched(i, mode, k, store, place, keys, values, count):
    """Store an instance's flows under keys that do not depend on which labels were watched; changes `keys`."""
    for e in range(count):
        own = keys[e]
        keys[e] = np.int64(place[own]) if mode <= IDENTITY else np.int64(place[own // k]) * k + place[own % k]
    save_flows(i, store, keys, values, count)


@kernel
def _thresholds(rule, start, order, f, lack, limits):
    """Set limits[b] to the score from which a label of layer b may take part."""
    mode, _, loss, target = rule
    reach = target if loss <= SQUARED else 0.0
    high = -np.inf
    for b in range(len(start) - 2, -1, -1):
        for j in range(start[b], start[b + 1]):
            high = max(high, f[j])
        limits[b] = high
    # An arc that is a piece takes part where its margin is below the target, under a smooth loss at any margin. A piece
    # of many tails fills only the highest of them, so those half a target below it wait for a later visit.
    single, together = np.inf, np.inf
    for b in range(len(start) - 1):
        high = limits[b]
        limits[b] = min(single - reach, high, max(together - reach, high - 0.5 * reach)) - lack
        if loss > SQUARED and single < np.inf:
            limits[b] = -np.inf
        for j in range(start[b], start[b + 1]):
            if mode == ARCS or (mode == CUT_CENTRES and order[j] == 0):
                single = min(single, f[j])
            else:
                together = min(together, f[j])


@kernel
def near_labels(rule, k, start, judged, order, f, keys, count, mark, limits, most, near, starts):
    """Write to `near` the positions of the labels that carry flow or may soon do so, and where their layers start.

    Return their number. Where they are more than `most`, only the nearer ones; still, they may be more. `mark` is all 0
    on entry and on return.
    """
    mode = rule[0]
    for e in range(count):
        mark[keys[e] if mode <= IDENTITY else keys[e] % k] = 1.0
    last = len(start) - 2
    while last > 0 and start[last] == judged:
        last -= 1
    lack, n = _NEAR, most + 1
    while n > most and lack > 0.001:
        _thresholds(rule, start, order, f, lack, limits)
        if mode <= IDENTITY:
            _two_thresholds(rule, start[last], judged, f, lack, last, limits)
        n = 0
        for b in range(len(start) - 1):
            starts[b] = n
            for j in range(start[b], start[b + 1]):
                # With one piece per head every head must be there, or its piece would be forgotten.
                if mode <= IDENTITY and b < last:
                    chosen = f[j] <= limits[b]
                else:
                    chosen = b < last or f[j] >= limits[b]
                if chosen or mark[j] > 0.0:
                    near[n] = j
                    n += 1
        starts[len(start) - 1] = n
        lack *= 0.3
    for e in range(count):
        mark[keys[e] if mode <= IDENTITY else keys[e] % k] = 0.0
    return n


@kernel
def _two_thresholds(rule, split, judged, f, lack, last, limits):
    """Set the limits of two layers: heads up to limits[0:last] and tails from limits[last] on take part."""
    low, high = np.inf, -np.inf
    for j in range(split):
        low = min(low, f[j])
    for j in range(split, judged):
        high = max(high, f[j])
    reach = rule[3] if rule[2] <= SQUARED else 0.0
    for b in range(last):
        limits[b] = max(low, high + reach) + lack
    # With one piece per head only the highest tails are filled; see `_thresholds`.
    deepest = high - 0.5 * reach if rule[0] == HEADS else -np.inf
    limits[last] = min(high, max(low - reach, deepest)) - lack


@kernel
def compress(near, n, starts, place, start, order, f):
    """Keep the n labels at `near`, in place, since near[j] >= j."""
    for j in range(n):
        place[j] = near[j]
        order[j], f[j] = order[near[j]], f[near[j]]
    copy_values(starts, start)


@kernel
def note_watched(i, n, order, near, starts, watch):
    """Remember the n labels for the visits until the next full one, unless they are too many."""
    label, place, count, starts_of = watch
    count[i] = 0
    if n <= label.shape[1]:
        count[i] = n
        copy_values(starts, starts_of[i])
        for j in range(n):
            label[i, j], place[i, j] = order[near[j]], near[j]


@kernel
def score_watched(i, rows, W, label, starts, n, sign, start, order, f):
    """Compute the scores of n labels only, and arrange them in their layers."""
    data, indices, indptr = rows
    for j in range(n):
        order[j], f[j] = label[j], 0.0
    for e in range(indptr[i], indptr[i + 1]):
        row, x = W[indices[e]], sign * data[e]
        for j in range(n):
            f[j] += x * row[order[j]]
    copy_values(starts, start)

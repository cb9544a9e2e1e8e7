"""Kernels of the ranking metrics: one pass over the score matrix, with O(k) memory beside it and the output.

Conventions: `scores` is (n, k) float64 in C order without NaN; relevant labels are CSR without explicit zeros or
duplicates (`indptr` int64, `indices` int32); rank(r) = number of labels with score >= r's, so ties count as errors.
A row on which nothing can be ordered wrongly gives NaN (or zero counts), never a number that looks like a success.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arcrank.compiled.jit import kernel
from arcrank.compiled.rows import copy_values

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]

# Columns of `rank_statistics`, over the relevant labels r of a row.
N_RELEVANT = 0  # |Y|
N_IRRELEVANT = 1  # |Y^c|
WRONG_ARCS = 2  # |E|: arcs (r, s) with score(r) <= score(s)
WRONG_HEADS = 3  # labels r with at least one arc in E
WRONG_TOP = 4  # 1 if even the best r has an arc in E
LAST_RANK = 5  # max rank(r)
PRECISION = 6  # mean of |{r': rank(r') <= rank(r)}| / rank(r)
BEST_F1 = 7  # max over c of 2 hits(c) / (c + |Y|), hits(c) = |{r: rank(r) <= c}|
HITS = 8  # hits(cut)
N_STATISTICS = 9

# Columns of `order_counts`, over the judged labels of a row; all count sets of two labels.
ARCS = 0  # positions differ
REVERSED_ARCS = 1  # the better position has the smaller score
TIED_ARCS = 2  # positions differ, scores do not
DISTINCT_SCORES = 3  # scores differ
N_COUNTS = 4


@kernel
def _count_at_most(ascending, size, x):
    """Return how many of the first `size` values are <= x."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _rank_relevant(scores, relevant, ascending, ranks, hits):
    """Fill `ranks` and `hits` (relevant labels with at least that score), worst relevant label first."""
    # Only the relevant scores are sorted; each label is then placed between two of them: O(k log |Y|), not O(k log k).
    size = len(relevant)
    for t in range(size):
        ascending[t] = scores[relevant[t]]
    ascending[:size].sort()
    ranks[: size + 1] = 0
    for label in range(len(scores)):
        if scores[label] >= ascending[0]:  # nearly all labels of a good ranking fail this one comparison
            ranks[_count_at_most(ascending, size, scores[label])] += 1
    # ranks[t] holds the labels between relevant scores t - 1 and t; summed from the top they become rank(t), in place.
    at_least, between = 0, ranks[size]
    for t in range(size - 1, -1, -1):
        at_least += between
        between = ranks[t]
        ranks[t] = at_least
    # Tied relevant labels share the hits of the lowest index, which counts all of them, as their ranks do.
    for t in range(size):
        tied = t > 0 and ascending[t] == ascending[t - 1]
        hits[t] = hits[t - 1] if tied else size - t


@kernel
def _summarise(ranks, hits, size, k, cut, out):
    """Write the statistics of one row with `size` relevant labels of k; see `_rank_relevant` for ranks and hits."""
    out[:] = 0.0
    out[N_RELEVANT], out[N_IRRELEVANT] = size, k - size
    out[LAST_RANK] = ranks[0]
    out[WRONG_TOP] = ranks[size - 1] > hits[size - 1]
    for t in range(size):
        wrong = ranks[t] - hits[t]  # irrelevant labels that score at least as much
        out[WRONG_ARCS] += wrong
        out[WRONG_HEADS] += wrong > 0
        out[PRECISION] += hits[t] / ranks[t] / size
        # From one relevant label to the next hits(c) is constant while c grows, so F1 is largest at one of their ranks.
        out[BEST_F1] = max(out[BEST_F1], 2.0 * hits[t] / (ranks[t] + size))
        out[HITS] += ranks[t] <= cut


@kernel
def rank_statistics(indptr: Ints, indices: Labels, scores: Floats, cut: int) -> Floats:
    """Return (n, N_STATISTICS); rows without arcs (no label relevant, or all) are NaN."""
    n, k = scores.shape
    ascending, ranks, hits = np.empty(k), np.empty(k + 1, np.int64), np.empty(k, np.int64)
    out = np.full((n, N_STATISTICS), np.nan)
    for i in range(n):
        relevant = indices[indptr[i] : indptr[i + 1]]
        if 0 < len(relevant) < k:
            _rank_relevant(scores[i], relevant, ascending, ranks, hits)
            _summarise(ranks, hits, len(relevant), k, cut, out[i])
    return out


@kernel
def rank_histograms(indptr: Ints, indices: Labels, scores: Floats) -> tuple[int, Floats, Floats]:
    """Return rows with arcs, and for each rank the sum of 1 and of 1/|Y| over the relevant labels at that rank."""
    n, k = scores.shape
    ascending, ranks, hits = np.empty(k), np.empty(k + 1, np.int64), np.empty(k, np.int64)
    labels, shares = np.zeros(k), np.zeros(k)
    rows = 0
    for i in range(n):
        relevant = indices[indptr[i] : indptr[i + 1]]
        size = len(relevant)
        if 0 < size < k:
            rows += 1
            _rank_relevant(scores[i], relevant, ascending, ranks, hits)
            for t in range(size):
                labels[ranks[t] - 1] += 1.0
                shares[ranks[t] - 1] += 1.0 / size
    return rows, labels, shares


@kernel
def _merge(keys, order, spare, start, middle, end):
    """Merge two descending runs of `order` into `spare`; return how often a later label moved before an earlier one."""
    left, right, overtaken = start, middle, 0
    for place in range(start, end):
        # >= makes the sort stable, and lets only strictly larger keys count as inversions.
        if left < middle and (right >= end or keys[order[left]] >= keys[order[right]]):
            spare[place] = order[left]
            left += 1
        else:
            spare[place] = order[right]
            right += 1
            overtaken += middle - left  # it moves before all that are left of the first run
    return overtaken


@kernel
def _sort_descending(keys, order, spare):
    """Sort `order` stably by descending key; return the number of inversions, pairs in the wrong order before."""
    # A merge sort from the bottom up, as numpy's does not count inversions.
    size = len(order)
    width, inversions = 1, 0
    while width < size:
        for start in range(0, size, 2 * width):
            middle, end = min(start + width, size), min(start + 2 * width, size)
            inversions += _merge(keys, order, spare, start, middle, end)
        copy_values(spare[:size], order)
        width *= 2
    return inversions


@kernel
def _judged(truth, order):
    """Fill `order` with the labels whose truth is not NaN; return their number."""
    size = 0
    for label in range(len(truth)):
        if not np.isnan(truth[label]):
            order[size] = label
            size += 1
    return size


@kernel
def _run_end(keys, order, start):
    """Return the end of the run of equal keys that begins at `start`."""
    end = start + 1
    while end < len(order) and keys[order[end]] == keys[order[start]]:
        end += 1
    return end


@kernel
def _tied(keys, order):
    """Return how many pairs of places of the sorted `order` have equal keys."""
    count, start = 0, 0
    while start < len(order):
        end = _run_end(keys, order, start)
        count += (end - start) * (end - start - 1) // 2
        start = end
    return count


@kernel
def _tied_in_both(goodness, scores, order):
    """As `_tied`, where `order` is sorted by goodness and, within equal goodness, by score."""
    count, start = 0, 0
    while start < len(order):
        end = _run_end(goodness, order, start)
        count += _tied(scores, order[start:end])
        start = end
    return count


@kernel
def order_counts(positions: Floats, scores: Floats) -> Ints:
    """Return (n, N_COUNTS) for positions (n, k), 1 = best, NaN = not judged: Knight's algorithm (1966)."""
    n, k = scores.shape
    labels, spare = np.empty(k, np.int64), np.empty(k, np.int64)
    out = np.zeros((n, N_COUNTS), np.int64)
    for i in range(n):
        goodness = -positions[i]
        order = labels[: _judged(goodness, labels)]
        # Counts of pairs from three sorts: O(k log k), not O(k^2) comparisons.
        every = len(order) * (len(order) - 1) // 2
        _sort_descending(scores[i], order, spare)
        distinct = every - _tied(scores[i], order)
        _sort_descending(goodness, order, spare)  # stable: scores still descend where goodness is equal
        arcs = every - _tied(goodness, order)
        # Pairs tied in score, less those tied in goodness too, which are no arcs.
        tied_arcs = every - distinct - _tied_in_both(goodness, scores[i], order)
        # From best to worst, an arc is reversed where sorting by score swaps it; ties never swap.
        reversed_arcs = _sort_descending(scores[i], order, spare)
        out[i, ARCS], out[i, DISTINCT_SCORES] = arcs, distinct
        out[i, REVERSED_ARCS], out[i, TIED_ARCS] = reversed_arcs, tied_arcs
    return out


@kernel
def _centred_ranks(keys, order, spare, ranks):
    """Write average ranks minus their mean into `ranks`, by label; return their sum of squares."""
    _sort_descending(keys, order, spare)
    squares, start = 0.0, 0
    while start < len(order):
        end = _run_end(keys, order, start)
        # The mean of the places start..end - 1 less that of all places: a half-integer, so squares add up exactly.
        rank = 0.5 * (start + end - len(order))
        for place in range(start, end):
            ranks[order[place]] = rank
        squares += rank * rank * (end - start)
        start = end
    return squares


@kernel
def rank_correlations(positions: Floats, scores: Floats) -> Floats:
    """Return Spearman's rho of each row's judged labels; NaN where positions or scores are constant."""
    n, k = scores.shape
    labels, spare, left, right = np.empty(k, np.int64), np.empty(k, np.int64), np.empty(k), np.empty(k)
    out = np.full(n, np.nan)
    for i in range(n):
        goodness = -positions[i]
        order = labels[: _judged(goodness, labels)]
        squares = _centred_ranks(goodness, order, spare, left) * _centred_ranks(scores[i], order, spare, right)
        if squares > 0.0:
            product = 0.0
            for label in order:
                product += left[label] * right[label]
            out[i] = product / np.sqrt(squares)
    return out


@kernel
def _gain(grades, keys, order, spare, cut):
    """Return sum over places p < cut of grade / log2(p + 2), equal keys sharing their mean grade."""
    # That is the mean over all orders of the tied labels, so the result does not depend on how ties are broken. A run
    # of ties that crosses the cut has its mean grade at the places before the cut only.
    _sort_descending(keys, order, spare)
    gain, start = 0.0, 0
    while start < min(cut, len(order)):
        end = _run_end(keys, order, start)
        grade, discount = 0.0, 0.0
        for place in range(start, end):
            grade += grades[order[place]]
            if place < cut:
                discount += 1.0 / np.log2(place + 2.0)
        gain += discount * grade / (end - start)
        start = end
    return gain


@kernel
def discounted_gains(grades: Floats, scores: Floats, cut: int) -> Floats:
    """Return each row's NDCG at `cut` over its judged labels; NaN where all grades are equal."""
    n, k = scores.shape
    labels, spare = np.empty(k, np.int64), np.empty(k, np.int64)
    out = np.full(n, np.nan)
    for i in range(n):
        order = labels[: _judged(grades[i], labels)]
        gain = _gain(grades[i], scores[i], order, spare, cut)
        ideal = _gain(grades[i], grades[i], order, spare, cut)
        # The second sort left `order` by grade, so constant grades are one run: no order of them can be wrong.
        if len(order) > 0 and _run_end(grades[i], order, 0) < len(order):
            out[i] = gain / ideal
    return out

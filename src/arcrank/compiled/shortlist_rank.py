"""The best labels of new instances, and their nearest training instances by inverted lists.

lists : (ptr, instance, value): the training instances that have feature j are ptr[j]:ptr[j + 1]
members : (ptr, label): the labels of each training instance
"""

from __future__ import annotations

import numpy as np

from arcrank.compiled.jit import kernel
from arcrank.compiled.shortlist_select import score_document, take_best

_BITS = 7
"""Blocks have 2^7 instances."""


@kernel
def _nearest(i, rows, lists, skip, similarity, marked, best, values):
    """Write the training instances of largest inner product, best first, but for `skip`; return how many there are.

    `similarity` is 0 and `marked` False throughout, on entry and on return: only blocks with an instance that shares a
    feature are looked at again.
    """
    data, indices, indptr = rows
    ptr, instance, value = lists
    for e in range(indptr[i], indptr[i + 1]):
        x, j = data[e], indices[e]
        listed, values_of = instance[ptr[j] : ptr[j + 1]], value[ptr[j] : ptr[j + 1]]
        for p in range(len(listed)):
            d = np.uint32(listed[p])  # an unsigned index is not tested for being negative
            similarity[d] += x * values_of[p]
            marked[d >> _BITS] = True
    if skip >= 0:
        similarity[skip] = 0.0
    n = 0
    for block in range(len(marked)):
        if marked[block]:
            marked[block] = False
            start = block << _BITS
            n = _insert_block(similarity[start : start + (1 << _BITS)], start, best, values, n)
    return n


@kernel
def _insert_block(similarity, start, best, values, n):
    """Insert the instances of a block into the sorted list of n, and forget their similarity.

    Of equal ones the lower number comes first: instances come in ascending order, and the comparison is strict.
    """
    room = len(best)
    floor = values[room - 1] if n == room else np.float32(0.0)
    candidates = 0
    for d in range(len(similarity)):  # this loop is vectorised
        candidates += similarity[d] > floor
    if candidates:
        for d in range(len(similarity)):
            s = similarity[d]
            if s > floor:
                n = min(n + 1, room)
                at = n - 1
                while at > 0 and values[at - 1] < s:
                    values[at], best[at] = values[at - 1], best[at - 1]
                    at -= 1
                values[at], best[at] = s, start + d
                if n == room:
                    floor = values[room - 1]
    similarity[:] = 0.0
    return n


@kernel
def nearest(first, last, rows, lists, n_instances, own, best, values, counts):
    """Find the nearest training instances of rows first..last; row 0 is instance number `own` itself, or -1 if new."""
    similarity, marked = np.zeros(n_instances, np.float32), np.zeros((n_instances >> _BITS) + 1, np.bool_)
    for i in range(first, last):
        counts[i] = _nearest(i, rows, lists, own + i if own >= 0 else -1, similarity, marked, best[i], values[i])


@kernel
def _vote(i, members, share, best, values, counts, scores):
    """Add `share` times the squared similarity to the labels of each neighbour."""
    ptr, label = members
    for n in range(counts[i]):
        amount = np.float32(share) * values[i, n] * values[i, n]
        for e in range(ptr[best[i, n]], ptr[best[i, n] + 1]):
            scores[label[e]] += amount


@kernel
def score_rows(first, last, rows, weights, bias, members, share, neighbours, columns, out):
    """Write the scores of the labels `columns` of rows first..last, (rows, columns)."""
    best, values, counts = neighbours
    scores = np.empty(len(bias), np.float32)
    none = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32)
    for i in range(first, last):
        score_document(i, rows, weights, bias, none, scores)
        _vote(i, members, share, best, values, counts, scores)
        for c in range(len(columns)):
            out[i, c] = scores[columns[c]]


@kernel
def rank_rows(first, last, rows, weights, bias, members, share, neighbours, labels, out):
    """Write the best labels of rows first..last and their scores, (rows, top) each."""
    best, values, counts = neighbours
    top = labels.shape[1]
    scores, taken = np.empty(len(bias), np.float32), np.zeros(len(bias), np.bool_)
    none = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32)
    for i in range(first, last):
        score_document(i, rows, weights, bias, none, scores)
        _vote(i, members, share, best, values, counts, scores)
        take_best(scores, taken, np.float32(1.0), np.float32(-np.inf), labels[i], out[i], top)


@kernel
def rank_listed(first, last, rows, weights, bias, members, share, neighbours, listed, ranks, out):
    """Write the rank and the score of each listed label of rows first..last: the labels that score no less.

    listed : (ptr, label): the labels of row i are ptr[i]:ptr[i + 1]; ranks and out have an entry for each of them
    """
    best, values, counts = neighbours
    ptr, label = listed
    scores = np.empty(len(bias), np.float32)
    none = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32)
    for i in range(first, last):
        score_document(i, rows, weights, bias, none, scores)
        _vote(i, members, share, best, values, counts, scores)
        for e in range(ptr[i], ptr[i + 1]):
            score = scores[label[e]]
            rank = 0
            for r in range(len(scores)):
                rank += scores[r] >= score
            ranks[e], out[e] = rank, score

"""Nearest rows by inner product, with the inverted lists of a block of the pool."""

from __future__ import annotations

import numpy as np

from arcrank.compiled.jit import kernel


@kernel
def update_nearest(indptr, terms, weights, list_ptr, list_rows, list_weights, offset, nearest, similarity, sums):
    """Merge one block of the pool into the nearest rows of each query, (q, k) with the best first, in place.

    Queries are CSR rows, the block is CSC with rows numbered from `offset`. Equal similarities keep the lower row.
    """
    n_queries, k = nearest.shape
    for q in range(n_queries):
        # Only rows that share a term with the query are touched; no matrix of all similarities exists.
        sums[:] = 0.0
        for t in range(indptr[q], indptr[q + 1]):
            term, weight = terms[t], weights[t]
            for e in range(list_ptr[term], list_ptr[term + 1]):
                sums[list_rows[e]] += weight * list_weights[e]
        # Rows come in ascending order, so the strict comparison leaves the lower of two equal rows in place. Rows that
        # share no term count too, with similarity 0.
        worst = similarity[q, k - 1]
        for row in range(len(sums)):
            if sums[row] > worst:
                _insert(nearest[q], similarity[q], np.int64(offset + row), sums[row])
                worst = similarity[q, k - 1]


@kernel
def _insert(nearest, similarity, row, value):
    """Insert a row into the sorted list, dropping the last: O(k), but most rows fail the caller's comparison."""
    at = len(nearest) - 1
    while at > 0 and similarity[at - 1] < value:
        nearest[at] = nearest[at - 1]
        similarity[at] = similarity[at - 1]
        at -= 1
    nearest[at] = row
    similarity[at] = value

"""Scores of one document by support vectors.

A matrix product would group its additions by the size of the block. These loops add in one fixed order, so that results
do not depend on how a stream is cut into blocks.
"""

from __future__ import annotations

from arcrank.compiled.jit import kernel


@kernel
def products(n, indptr, indices, data, x, out):
    """Set out[m] to the inner product of the dense vector x with CSR row m < n."""
    # x is dense, as one row meets all support vectors: looking a term up costs O(1) and not a merge of two lists.
    for m in range(n):
        total = 0.0
        for j in range(indptr[m], indptr[m + 1]):
            total += data[j] * x[indices[j]]
        out[m] = total


@kernel
def expand(values, coefficients, scores):
    """Set scores to values @ coefficients."""
    scores[:] = 0.0
    for m in range(len(values)):
        for r in range(len(scores)):
            scores[r] += values[m] * coefficients[m, r]

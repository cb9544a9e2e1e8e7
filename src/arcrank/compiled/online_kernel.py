"""Scores of one document by support vectors, in one fixed order of additions, so that blocks do not change a bit."""

from __future__ import annotations

from arcrank.compiled.jit import kernel


@kernel
def products(n, indptr, indices, data, x, out):
    """out[m] = the inner product of the dense vector x with CSR row m < n."""
    for m in range(n):
        total = 0.0
        for j in range(indptr[m], indptr[m + 1]):
            total += data[j] * x[indices[j]]
        out[m] = total


@kernel
def expand(values, coefficients, scores):
    """scores = values @ coefficients."""
    scores[:] = 0.0
    for m in range(len(values)):
        for r in range(len(scores)):
            scores[r] += values[m] * coefficients[m, r]

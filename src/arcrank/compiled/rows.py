"""Rows: copies, and products with one row of a CSR matrix.

Labels are the inner loop: rows of W are contiguous and vectorise.
"""

from __future__ import annotations

from arcrank.compiled.jit import kernel


@kernel
def copy_values(source, target):
    """Copy source to the start of target; numba takes 1.5 s to compile `target[:n] = source`, for its error message."""
    for j in range(len(source)):
        target[j] = source[j]


@kernel
def score_row(X_ptr, X_index, X_value, W, i, scores):
    """Set scores to x_i W, for weights W of (d, k)."""
    scores[:] = 0.0
    for j in range(X_ptr[i], X_ptr[i + 1]):
        w, x = W[X_index[j]], X_value[j]
        for r in range(len(scores)):
            scores[r] += x * w[r]


@kernel
def add_row(X_ptr, X_index, X_value, W, i, net):
    """Add x_i' net to W: how a change `net` of an instance's flows changes the weights."""
    for j in range(X_ptr[i], X_ptr[i + 1]):
        w, x = W[X_index[j]], X_value[j]
        for r in range(len(net)):
            w[r] += x * net[r]

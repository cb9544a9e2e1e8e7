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
    j, stop = X_ptr[i], X_ptr[i + 1]
    while j + 4 <= stop:  # four terms at once, in the same order of additions: a quarter of the traffic to scores
        a, b, c, d = X_value[j], X_value[j + 1], X_value[j + 2], X_value[j + 3]
        wa, wb, wc, wd = W[X_index[j]], W[X_index[j + 1]], W[X_index[j + 2]], W[X_index[j + 3]]
        for r in range(len(scores)):
            scores[r] = (((scores[r] + a * wa[r]) + b * wb[r]) + c * wc[r]) + d * wd[r]
        j += 4
    while j < stop:
        a, wa = X_value[j], W[X_index[j]]
        for r in range(len(scores)):
            scores[r] += a * wa[r]
        j += 1


@kernel
def add_row(X_ptr, X_index, X_value, W, i, net):
    """Add x_i' net to W: how a change `net` of an instance's flows changes the weights."""
    for j in range(X_ptr[i], X_ptr[i + 1]):
        w, x = W[X_index[j]], X_value[j]
        for r in range(len(net)):
            w[r] += x * net[r]


@kernel
def add_columns(X_ptr, X_index, X_value, W, i, columns, net, n):
    """Do as `add_row`, for the first n of `columns` and `net`: the other columns of W do not change."""
    for j in range(X_ptr[i], X_ptr[i + 1]):
        w, x = W[X_index[j]], X_value[j]
        for r in range(n):
            w[columns[r]] += x * net[r]

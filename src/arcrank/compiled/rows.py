"""Products with one row of a CSR matrix."""

from __future__ import annotations

from arcrank.compiled.jit import kernel


@kernel
def score_row(X_ptr, X_index, X_value, W, i, scores):
    """Scores = x_i W, for weights W of (d, k)."""
    scores[:] = 0.0
    for j in range(X_ptr[i], X_ptr[i + 1]):
        w, x = W[X_index[j]], X_value[j]
        for r in range(len(scores)):
            scores[r] += x * w[r]


@kernel
def add_row(X_ptr, X_index, X_value, W, i, net):
    """W += x_i' net: the weights that a change of flows makes."""
    for j in range(X_ptr[i], X_ptr[i + 1]):
        w, x = W[X_index[j]], X_value[j]
        for r in range(len(net)):
            w[r] += x * net[r]

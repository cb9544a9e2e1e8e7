"""Errors of explicit pieces: linear in arcs."""

from __future__ import annotations

import numpy as np

from arcrank.compiled.jit import kernel


@kernel
def piece_errors(row_ptr, arc_ptr, head, tail, scores):
    """Fraction of an instance's pieces with an arc whose head does not score above its tail (Dekel et al., eq. 1)."""
    n = len(row_ptr) - 1
    errors = np.zeros(n)
    for i in range(n):
        wrong = 0
        for p in range(row_ptr[i], row_ptr[i + 1]):
            for a in range(arc_ptr[p], arc_ptr[p + 1]):
                if scores[i, head[a]] <= scores[i, tail[a]]:
                    wrong += 1
                    break
        if row_ptr[i + 1] > row_ptr[i]:
            errors[i] = wrong / (row_ptr[i + 1] - row_ptr[i])
    return errors

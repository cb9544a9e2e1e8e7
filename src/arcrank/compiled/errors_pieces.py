"""Errors of explicit pieces: linear in arcs."""

from __future__ import annotations

import numpy as np

from arcrank.compiled.jit import kernel


@kernel
def piece_errors(row_ptr, arc_ptr, head, tail, scores):
    """Return the fraction of each instance's pieces that have a wrong arc (Dekel et al. 2003, eq. 1)."""
    n = len(row_ptr) - 1
    errors = np.zeros(n)
    for i in range(n):
        wrong = 0
        for p in range(row_ptr[i], row_ptr[i + 1]):
            for a in range(arc_ptr[p], arc_ptr[p + 1]):
                if scores[i, head[a]] <= scores[i, tail[a]]:
                    wrong += 1
                    break  # delta is 1 from the first wrong arc on, whatever the others are
        if row_ptr[i + 1] > row_ptr[i]:  # without pieces nothing can be wrong: the error stays 0
            errors[i] = wrong / (row_ptr[i + 1] - row_ptr[i])
    return errors


@kernel
def piece_costs(row_ptr, arc_ptr, head, tail, weight, scores):
    """Return the mean over each instance's pieces of the weight of their heaviest wrong arc, 0 where none is wrong."""
    n = len(row_ptr) - 1
    costs = np.zeros(n)
    for i in range(n):
        for p in range(row_ptr[i], row_ptr[i + 1]):
            heaviest = 0.0
            for a in range(arc_ptr[p], arc_ptr[p + 1]):
                if scores[i, head[a]] <= scores[i, tail[a]]:
                    heaviest = max(heaviest, weight[a])
            costs[i] += heaviest
        if row_ptr[i + 1] > row_ptr[i]:
            costs[i] /= row_ptr[i + 1] - row_ptr[i]
    return costs

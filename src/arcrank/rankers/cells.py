"""Cells of a score matrix, (instance, label), that a probability model is fitted to."""

from __future__ import annotations

import numpy as np

from arcrank._typing import Array, IntArray, Mask

__all__ = ["informative_cells"]

_WIDER = 3  # how many times as many cells a stratum has as the one before it


def informative_cells(
    scores: Array, judged: Mask, relevant: Mask, stratum: int = 12_000
) -> tuple[IntArray, IntArray, Array]:
    """Rows, columns and weights of cells that stand for all judged ones.

    Nearly all labels of an instance are irrelevant and have low scores, and their likelihood hardly depends on how
    scores become probabilities. So irrelevant labels are sorted into strata by score, the highest first and each three
    times as large as the one before; `stratum` cells of each are drawn, and of relevant labels twice as many.
    """
    random = np.random.default_rng(0)
    flat = scores.ravel()
    found, found_weight = _drawn(np.flatnonzero(relevant.ravel()), 2 * stratum, random)
    others = np.flatnonzero((judged & ~relevant).ravel())
    cells, weights, size = [found], [found_weight], stratum
    while len(others):
        if len(others) > size:
            order = np.argpartition(-flat[others], size - 1)
            here, others = others[order[:size]], others[order[size:]]
        else:
            here, others = others, others[:0]
        drawn, weight = _drawn(np.sort(here), stratum, random)
        cells.append(drawn)
        weights.append(weight)
        size *= _WIDER
    rows, columns = np.unravel_index(np.concatenate(cells), scores.shape)
    return rows, columns, np.concatenate(weights)


def _drawn(cells: IntArray, most: int, random: np.random.Generator) -> tuple[IntArray, Array]:
    """At most so many of the cells, and the weight of each."""
    if len(cells) <= most:
        return cells, np.ones(len(cells))
    return random.choice(cells, most, replace=False), np.full(most, len(cells) / most)

"""Cells of a score matrix, (instance, label), that a probability model is fitted to."""

from __future__ import annotations

import numpy as np

from arcrank._typing import Array, IntArray, Mask

__all__ = ["informative_cells"]

_FEW = 50_000  # cells, of which there is no need to leave any out
_PER_RELEVANT = 30


def informative_cells(scores: Array, judged: Mask, relevant: Mask) -> tuple[IntArray, IntArray, Array]:
    """Rows, columns and weights: the relevant labels, the highest others, and a sample of the rest by its weight.

    Nearly all labels of an instance are irrelevant and have low scores, and their likelihood hardly depends on the map.
    """
    others = np.flatnonzero((judged & ~relevant).ravel())
    found = np.flatnonzero(relevant.ravel())
    most = max(_FEW, _PER_RELEVANT * len(found))
    weight = np.ones(len(others))
    if len(others) > most:
        order = np.argpartition(-scores.ravel()[others], most // 2)
        high, low = order[: most // 2], order[most // 2 :]
        drawn = np.random.default_rng(0).choice(low, most // 2, replace=False)
        others = others[np.concatenate([high, drawn])]
        weight = np.concatenate([np.ones(len(high)), np.full(len(drawn), len(low) / len(drawn))])
    rows, columns = np.unravel_index(np.concatenate([found, others]), scores.shape)
    return rows, columns, np.concatenate([np.ones(len(found)), weight])

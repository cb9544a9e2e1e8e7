"""Cells of a score matrix, (instance, label), that a probability model or a threshold is fitted to.

There are as many cells as instances times labels, so all of them are read block by block and few are copied.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from arcrank._typing import Array, IntArray, Mask
from arcrank.graphs.base import row_blocks

__all__ = ["highest_cells", "informative_cells"]

_WIDER = 3  # how many times as many cells a stratum has as the one before it
_BLOCK = 1 << 18


def informative_cells(
    scores: Array, judged: Mask, relevant: Mask, stratum: int = 12_000
) -> tuple[IntArray, IntArray, Array]:
    """Rows, columns and weights of cells that stand for all judged ones.

    Nearly all labels of an instance are irrelevant and have low scores, and their likelihood hardly depends on how
    scores become probabilities. So irrelevant labels are sorted into strata by score, the highest first and each three
    times as large as the one before; `stratum` cells of each are drawn, and of relevant labels twice as many.
    """
    random = np.random.default_rng(0)
    rows, columns = np.nonzero(relevant)
    found, weight = _drawn(len(rows), 2 * stratum, random)
    parts = [(rows[found], columns[found], np.full(len(found), weight))]
    limits = _limits(scores, judged, relevant, stratum)
    counts = np.zeros(len(limits), dtype=np.intp)
    for _, values in _irrelevant(scores, judged, relevant):
        counts += np.bincount(_stratum(values, limits), minlength=len(limits))
    wanted = [_drawn(int(count), stratum, random) for count in counts]
    seen = np.zeros(len(limits), dtype=np.intp)
    for cells, values in _irrelevant(scores, judged, relevant):
        inside = _stratum(values, limits)
        for number, (places, weight) in enumerate(wanted):
            here = np.flatnonzero(inside == number)
            first, last = np.searchsorted(places, [seen[number], seen[number] + len(here)])
            chosen = here[places[first:last] - seen[number]]
            parts.append((cells[0][chosen], cells[1][chosen], np.full(len(chosen), weight)))
            seen[number] += len(here)
    rows, columns, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return rows, columns, weights


def _irrelevant(scores: Array, judged: Mask, relevant: Mask) -> Iterator[tuple[tuple[IntArray, IntArray], Array]]:
    """Rows and columns of judged labels that are not relevant, and their scores, a block of rows at a time."""
    for block in row_blocks(len(scores), scores.shape[1], cells=_BLOCK):
        rows, columns = np.nonzero(judged[block] & ~relevant[block])
        yield (rows + block.start, columns), scores[block][rows, columns]


def _limits(scores: Array, judged: Mask, relevant: Mask, size: int) -> Array:
    """The lowest score of each stratum, highest stratum first."""
    values = np.concatenate([np.empty(0), *(-values for _, values in _irrelevant(scores, judged, relevant))])
    ends, end = [], size
    while end < len(values):
        ends.append(end - 1)
        size *= _WIDER
        end += size
    places = np.array(ends, dtype=np.intp)
    values.partition(places)
    return -np.append(values[places], np.inf)


def _stratum(values: Array, limits: Array) -> IntArray:
    """The number of the first stratum whose limit each value reaches."""
    return np.searchsorted(-limits, -values, side="left")


def _drawn(count: int, most: int, random: np.random.Generator) -> tuple[IntArray, float]:
    """The numbers, ascending, of at most so many of the cells, and the weight of each."""
    if count <= most:
        return np.arange(count), 1.0
    return np.sort(random.choice(count, most, replace=False)), count / most


def highest_cells(scores: Array, judged: Mask, relevant: Mask, most: int) -> tuple[Array, Mask, float]:
    """Scores of judged labels, the highest first, which of them are relevant, and the highest score left out.

    At least those are returned that are among the `most` highest together with all labels of an equal score; -inf is
    the score left out where all are returned.
    """
    kept, found, limit = np.empty(0), np.empty(0, dtype=bool), -np.inf
    for block in row_blocks(len(scores), scores.shape[1], cells=_BLOCK):
        wanted = judged[block] & (scores[block] > limit)
        kept = np.append(kept, scores[block][wanted])
        found = np.append(found, relevant[block][wanted])
        if len(kept) > 2 * most:
            lowest = -float(np.partition(-kept, most)[most])
            above = kept > lowest
            if above.any():
                kept, found, limit = kept[above], found[above], lowest
    order = np.argsort(-kept, kind="stable")
    return kept[order], found[order], limit

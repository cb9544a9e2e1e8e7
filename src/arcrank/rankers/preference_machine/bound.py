"""Theorem 1 of Aiolli & Sperduti (2004): what the margin on the training data says about new instances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array
from arcrank._validation import check_real
from arcrank.decompositions import Decomposition
from arcrank.graphs import ArcGraphs, LayeredGraphs, PreferenceGraphs
from arcrank.graphs.base import FEW_CELLS, row_blocks


@dataclass(frozen=True)
class MarginBound:
    """A bound on the expected cost of a new instance, or the reason why the theorem says nothing.

    value : the bound, infinite where the theorem does not apply; above `most` (the largest cost there is) it is empty.
    margin : the smallest training margin of the scores scaled to ||W|| = 1.
    radius : R, the bound on ||(M_head - M_tail) x||.
    """

    value: float
    margin: float
    radius: float
    most: int
    reason: str = ""

    @property
    def applies(self) -> bool:
        """Whether the theorem says anything about this machine; `reason` explains why not."""
        return not self.reason


@dataclass(frozen=True)
class BoundTerms:
    """What the theorem needs to know about training: n, Q (pieces of an instance), A (arcs of a piece), margin, R."""

    n: int
    most_pieces: int
    most_arcs: int
    margin: float
    radius: float

    def bound(self, delta: float) -> MarginBound:
        """`2QA/n (64 R^2/g^2 log(e n g / 8 R^2) log(32 n / g^2) + log(4/delta))`.

        Logarithms are to base 2, as in the margin bounds that the proof refers to; natural ones would only be smaller.
        """
        check_real("delta", delta, above=0, below=1)
        if not self.n or not self.most_arcs:
            return self._silent("There were no arcs in the training data.")
        if not self.margin > 0.0:
            return self._silent("The training data are not separated: the smallest margin is not above 0.")
        n, squared = self.n, self.radius**2
        inner = np.e * n * self.margin / (8.0 * squared)
        if inner <= 1.0:
            return self._silent("e n margin / (8 R^2) is not above 1: too few instances for this margin.")
        effort = 64.0 * squared / self.margin**2 * np.log2(inner) * np.log2(32.0 * n / self.margin**2)
        value = 2.0 * self.most_pieces * self.most_arcs / n * (effort + np.log2(4.0 / delta))
        return MarginBound(float(value), self.margin, self.radius, self.most_pieces)

    def _silent(self, reason: str) -> MarginBound:
        return MarginBound(np.inf, self.margin, self.radius, self.most_pieces, reason)


def smallest_margin(graphs: PreferenceGraphs, scores: Array) -> float:
    """The smallest margin of all arcs; infinite where there are none."""
    if isinstance(graphs, LayeredGraphs):
        blocks = row_blocks(*graphs.shape, FEW_CELLS)
        return min((_smallest_layered(graphs.levels(block), scores[block]) for block in blocks), default=np.inf)
    assert isinstance(graphs, ArcGraphs)
    rows = graphs.rows()
    return float((scores[rows, graphs.head] - scores[rows, graphs.tail]).min(initial=np.inf))


def _smallest_layered(levels: NDArray[np.int32], scores: Array) -> float:
    lowest, smallest = np.full(len(scores), np.inf), np.inf
    for level in range(int(levels.max(initial=-1)) + 1):
        here = levels == level
        highest = np.where(here, scores, -np.inf).max(axis=1)
        smallest = min(smallest, float((lowest - highest).min(initial=np.inf)))
        lowest = np.minimum(lowest, np.where(here, scores, np.inf).min(axis=1))
    return smallest


def most_arcs_of_a_piece(graphs: PreferenceGraphs, decomposition: Decomposition) -> int:
    """A of the theorem."""
    name = decomposition.layered
    if name == "disagreement":
        return int(graphs.n_arcs > 0)
    if name == "zero-one":
        return int(graphs.arc_counts().max(initial=0))
    blocks = row_blocks(*graphs.shape, FEW_CELLS)
    if name is not None and isinstance(graphs, LayeredGraphs):
        return max((_most_ends(graphs.levels(block), name == "dominated") for block in blocks), default=0)
    pieces = (decomposition.pieces(graphs[block].to_arcs(), block.start) for block in blocks)
    return max((int(np.diff(part.arc_ptr).max(initial=0)) for part in pieces), default=0)


def _most_ends(levels: NDArray[np.int32], mirror: bool) -> int:
    """The most tails of a head: labels below the top layer; or the most heads of a tail: those above the last one."""
    judged = levels >= 0
    top = np.where(judged, levels, np.iinfo(np.int32).max).min(axis=1, keepdims=True)
    edge = levels.max(axis=1, keepdims=True) if mirror else top
    return int((judged & (levels != edge)).sum(axis=1).max(initial=0))

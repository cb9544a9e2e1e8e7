"""Pieces that can be support vectors of the exact solution, for the bound LOO <= |V|/N (Aiolli & Sperduti 2004)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array
from arcrank.decompositions import CUT_DOMINATION, DISAGREEMENT, Decomposition
from arcrank.graphs import LayeredGraphs, PreferenceGraphs
from arcrank.graphs.base import FEW_CELLS, row_blocks
from arcrank.losses.margin import MarginLoss
from arcrank.metrics.generalized import generalized_error
from arcrank.solvers.margin_pieces import piece_counts, single_arcs, without_weightless

__all__ = ["count_pieces_within", "last_charged_margin", "widest_code_distance"]


def last_charged_margin(loss: MarginLoss) -> float:
    """Return the margin above which an arc cannot carry flow: infinite for losses that never vanish.

    >>> from arcrank.losses.margin import get_margin_loss
    >>> [last_charged_margin(get_margin_loss(name)) for name in ("hinge", "logistic")]
    [1.0, inf]
    """
    return loss.target if float(loss.value(loss.target)) == 0.0 else np.inf


def widest_code_distance(codes: Array | None) -> float:
    """Return the largest `||M_r - M_s||` of two labels: an arc's example z is at most this times as long as x.

    >>> widest_code_distance(np.array([[3.0], [0.0], [-1.0]]))
    4.0
    """
    if codes is None:  # the standard basis
        return float(np.sqrt(2.0))
    gram = codes @ codes.T
    squares = np.diagonal(gram)
    return float(np.sqrt((squares[:, None] + squares - 2.0 * gram).max(initial=0.0)))


def count_pieces_within(
    graphs: PreferenceGraphs,
    score: Callable[[slice], Array],
    limit: Array,
    decomposition: Decomposition,
    *,
    single: bool,
) -> int:
    """Return how many pieces have an arc whose margin is at most its instance's `limit`, (n,).

    `score` returns the scores of a block of rows, (rows, k); with `single`, every arc of a piece is a piece.
    """
    count = 0
    for block in row_blocks(*graphs.shape, FEW_CELLS):
        part, scores = graphs[block], score(block)
        if decomposition.layered is not None and isinstance(part, LayeredGraphs) and part.n_layers <= 2:
            count += _count_layered(part, scores, limit[block], DISAGREEMENT if single else decomposition)
        elif isinstance(part, LayeredGraphs) and (single or decomposition is DISAGREEMENT):
            count += sum(_count_layered(two, scores, limit[block], DISAGREEMENT) for two in _by_layer_of_head(part))
        elif decomposition is CUT_DOMINATION and isinstance(part, LayeredGraphs) and not single:
            count += _count_heads(part.levels(), scores, limit[block])
        else:
            count += _count_explicit(part, scores, limit[block], decomposition, block.start, single)
    return count


def _count_layered(graphs: LayeredGraphs, scores: Array, limit: Array, decomposition: Decomposition) -> int:
    """Count the pieces that are wrong when the labels of the lower layer score more by the limit."""
    assert decomposition.layered is not None
    raised = np.where(graphs.levels() == 1, scores + limit[:, None], scores)
    shares = generalized_error(graphs, raised, decomposition, reduce="none")
    return int(np.rint(shares * piece_counts(graphs, decomposition.layered)).sum())


def _by_layer_of_head(graphs: LayeredGraphs) -> Iterator[LayeredGraphs]:
    """Divide the arcs into graphs of two layers: a layer, and all labels below it."""
    levels = graphs.levels()
    for level in range(graphs.n_layers - 1):
        yield LayeredGraphs.from_levels(np.where(levels < level, -1, (levels > level).astype(np.int32)))


def _count_heads(levels: NDArray[np.int32], scores: Array, limit: Array) -> int:
    """Count the heads whose margin over the highest label below is within the limit, and so the arcs of the cut."""
    count = 0
    for level in range(int(levels.max(initial=-1))):
        highest = np.where(levels > level, scores, -np.inf).max(axis=1)
        has_tails = np.isfinite(highest)[:, None]
        within = (levels == level) & has_tails & (scores - highest[:, None] <= limit[:, None])
        count += int(within[:, 1:].sum())  # label 0 is the cut
    below_cut = (levels > levels[:, :1]) & (levels[:, :1] >= 0)
    return count + int((below_cut & (scores[:, :1] - scores <= limit[:, None])).sum())


def _count_explicit(
    graphs: PreferenceGraphs, scores: Array, limit: Array, decomposition: Decomposition, start: int, single: bool
) -> int:
    pieces = decomposition.pieces(graphs.to_arcs(), start)
    pieces = without_weightless(single_arcs(pieces) if single else pieces)
    if not len(pieces.head):
        return 0
    rows = np.repeat(np.arange(len(graphs)), np.diff(pieces.arc_ptr[pieces.row_ptr]))
    slack = scores[rows, pieces.head] - scores[rows, pieces.tail] - limit[rows]
    return int((np.minimum.reduceat(slack, pieces.arc_ptr[:-1]) <= 0.0).sum())

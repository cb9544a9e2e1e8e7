"""What solvers of the Preference Learning Model ask about pieces: how many, how large, how heavy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array
from arcrank.decompositions import Pieces
from arcrank.graphs import LayeredGraphs
from arcrank.graphs.base import row_blocks
from arcrank.losses.margin import Logistic, MarginLoss


def single_arcs(parts: Pieces) -> Pieces:
    """Every arc of every piece as a separate piece."""
    return Pieces(parts.arc_ptr[parts.row_ptr], np.arange(len(parts.head) + 1), parts.head, parts.tail, parts.weight)


def without_weightless(parts: Pieces) -> Pieces:
    """Arcs of weight 0 cost nothing; neither do pieces of nothing else."""
    kept = parts.weight > 0
    if kept.all():
        return parts
    lengths = np.add.reduceat(kept, parts.arc_ptr[:-1]).astype(np.int64)
    row_of = np.repeat(np.arange(len(parts.row_ptr) - 1), np.diff(parts.row_ptr))
    pieces_of = np.bincount(row_of[lengths > 0], minlength=len(parts.row_ptr) - 1)
    pointers = [np.concatenate([[0], np.cumsum(part)]) for part in (pieces_of, lengths[lengths > 0])]
    return Pieces(pointers[0], pointers[1], parts.head[kept], parts.tail[kept], parts.weight[kept])


def piece_factors(parts: Pieces, loss: MarginLoss) -> Array:
    """What multiplies the C of each piece: 1, but the weight of its arcs for the logistic loss."""
    if not isinstance(loss, Logistic) or not len(parts.weight):
        return np.ones(len(parts.arc_ptr) - 1)
    return np.minimum.reduceat(parts.weight, parts.arc_ptr[:-1])


def has_mixed_weights(parts: Pieces) -> bool:
    """Whether the arcs of some piece have different weights."""
    if not len(parts.weight):
        return False
    first = parts.arc_ptr[:-1]
    return bool((np.minimum.reduceat(parts.weight, first) != np.maximum.reduceat(parts.weight, first)).any())


def piece_counts(graphs: LayeredGraphs, name: str) -> NDArray[np.int64]:
    """(n,) number of pieces of layered graphs."""
    arcs = graphs.arc_counts()
    if name == "disagreement":
        return arcs
    if name == "zero-one":
        return (arcs > 0).astype(np.int64)
    counts = [_centres(graphs.levels(block), name) for block in row_blocks(*graphs.shape)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *counts])


def _centres(levels: NDArray[np.int32], name: str) -> NDArray[np.int64]:
    """Heads (or tails) of each row: judged labels that are not in its last (or first) layer.

    Under "cut-domination" each arc of label 0, the cut, counts instead of this label.
    """
    judged = levels >= 0
    if name == "cut-domination":
        below_cut = ((levels > levels[:, :1]) & judged[:, :1]).sum(axis=1)
        others = levels[:, 1:]
        heads = (others >= 0) & (others < levels.max(axis=1, keepdims=True))
        return heads.sum(axis=1) + below_cut
    if name == "dominated":
        edge = np.where(judged, levels, np.iinfo(np.int32).max).min(axis=1, keepdims=True)
    else:
        edge = levels.max(axis=1, keepdims=True)
    return (judged & (levels != edge)).sum(axis=1)


def most_layers(graphs: LayeredGraphs) -> int:
    """The largest number of layers of an instance."""
    if graphs.n_layers <= 2:
        return graphs.n_layers
    most = 0
    for block in row_blocks(*graphs.shape):
        ordered = np.sort(graphs.levels(block), axis=1)
        steps = (ordered[:, 1:] != ordered[:, :-1]) & (ordered[:, :-1] >= 0)
        most = max(most, int(steps.sum(axis=1).max(initial=0)) + 1)
    return most

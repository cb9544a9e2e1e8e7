"""Flows at zero scores: what the first iteration of boosting sees (Dekel et al. 2003, Fig. 3 with f = 0).

Every margin is zero, so a piece puts `w / (1 + sum w)` on each of its arcs, `1 / (1 + number of arcs)` without
weights, divided by the instance's number of pieces. The outflow of a label sums this over the arcs it heads, the
inflow over those it ends. Layered graphs need only the sizes of their layers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from arcrank._typing import Array
from arcrank.decompositions import Decomposition, Pieces
from arcrank.graphs import LayeredGraphs, PreferenceGraphs

__all__ = ["FlowsOf", "zero_flows"]

FlowsOf = Callable[[slice], tuple[Any, Any]]
"""From a block of rows to its inflow and outflow, each (rows, k), dense or CSR."""


def zero_flows(graphs: PreferenceGraphs, decomposition: Decomposition) -> FlowsOf:
    """Return the function that gives the flows of a block of rows."""
    if isinstance(graphs, LayeredGraphs) and decomposition.layered in _LAYERED:
        flows = _LAYERED[decomposition.layered]
        return lambda rows: flows(_layers(graphs.levels(rows)))
    # A callable may depend on the row's number, so the pieces are cut once, from all rows.
    inflow, outflow = _piece_flows(decomposition.pieces(graphs.to_arcs()), graphs.shape)
    return lambda rows: (inflow[rows], outflow[rows])


def _piece_flows(pieces: Pieces, shape: tuple[int, int]) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    n_pieces = np.diff(pieces.row_ptr)
    row_of_piece = np.repeat(np.arange(shape[0]), n_pieces)
    piece = np.repeat(np.arange(len(row_of_piece)), np.diff(pieces.arc_ptr))
    total = np.bincount(piece, weights=pieces.weight, minlength=len(row_of_piece))
    row = row_of_piece[piece]
    flow = pieces.weight / (1.0 + total[piece]) / n_pieces[row]
    inflow = sparse.csr_matrix((flow, (row, pieces.tail)), shape=shape)
    outflow = sparse.csr_matrix((flow, (row, pieces.head)), shape=shape)
    return inflow, outflow


class _Layers(NamedTuple):
    """Layers of a block of rows; labels that were not judged lie in the last one, whose size counts as zero."""

    level: NDArray[np.int64]
    """(rows, k): layer of each label."""
    size: Array
    """(rows, layers)"""
    below: Array
    """(rows, layers): number of labels in the layers below."""
    above: Array


def _layers(levels: NDArray[np.int32]) -> _Layers:
    n, n_layers = len(levels), int(levels.max(initial=0)) + 2
    # Labels that were not judged get a separate layer at the end, of size zero, so that no arc reaches them.
    level = np.where(levels < 0, n_layers - 1, levels).astype(np.int64)
    cells = np.arange(n)[:, None] * n_layers + level
    size = np.bincount(cells.ravel(), minlength=n * n_layers).reshape(n, n_layers).astype(np.float64)
    size[:, -1] = 0.0
    upto = np.cumsum(size, axis=1)
    above, below = upto - size, upto[:, -1:] - upto
    above[:, -1] = 0.0
    return _Layers(level, size, below, above)


def _per_label(layers: _Layers, inflow: Array, outflow: Array, pieces: Array) -> tuple[Array, Array]:
    """Spread flows of layers over their labels, divided by the number of pieces of the row."""
    divisor = np.maximum(pieces, 1.0)[:, None]
    inflow[:, -1] = outflow[:, -1] = 0.0
    take = np.take_along_axis
    return take(inflow / divisor, layers.level, axis=1), take(outflow / divisor, layers.level, axis=1)


def _domination(layers: _Layers) -> tuple[Array, Array]:
    heads = np.where(layers.below > 0, layers.size, 0.0)
    share = heads / (1.0 + layers.below)
    inflow = np.cumsum(share, axis=1) - share
    return _per_label(layers, inflow, layers.below / (1.0 + layers.below), heads.sum(axis=1))


def _dominated(layers: _Layers) -> tuple[Array, Array]:
    tails = np.where(layers.above > 0, layers.size, 0.0)
    share = tails / (1.0 + layers.above)
    upto = np.cumsum(share, axis=1)
    return _per_label(layers, layers.above / (1.0 + layers.above), upto[:, -1:] - upto, tails.sum(axis=1))


def _zero_one(layers: _Layers) -> tuple[Array, Array]:
    arcs = (layers.size * layers.below).sum(axis=1, keepdims=True)
    one = np.ones(len(layers.size))
    return _per_label(layers, layers.above / (1.0 + arcs), layers.below / (1.0 + arcs), one)


def _disagreement(layers: _Layers) -> tuple[Array, Array]:
    arcs = (layers.size * layers.below).sum(axis=1)
    return _per_label(layers, layers.above / 2.0, layers.below / 2.0, arcs)


_LAYERED = {
    "domination": _domination,
    "dominated": _dominated,
    "zero-one": _zero_one,
    "disagreement": _disagreement,
}

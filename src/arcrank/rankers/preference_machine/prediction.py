"""PLM prediction: the label set whose preference graph costs least, `H(x) = argmin_y L(V(x, y))`.

Swapping a label of the set for a higher-ranked one outside never costs more, so the best set of any size is a cut of
the ranking: only the k - 1 proper cuts are compared. Equal costs are resolved by the larger gap, then the smaller set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array, IntArray
from arcrank.decompositions import Decomposition
from arcrank.graphs import LayeredGraphs
from arcrank.graphs.base import row_blocks

if TYPE_CHECKING:
    from arcrank.losses.margin import MarginLoss


def best_cuts(
    scores: Array,
    order: IntArray,
    decomposition: Decomposition,
    loss: MarginLoss,
    *,
    aggregate: str,
    normalize: bool,
) -> IntArray:
    """(n,) sizes of the predicted sets, given (n, k) scores and the columns in descending order of score."""
    n, k = scores.shape
    if k < 2:
        return np.ones(n, dtype=np.intp)
    ordered = np.take_along_axis(scores, order, axis=1)
    gaps = ordered[:, :-1] - ordered[:, 1:]
    sizes = np.empty(n, dtype=np.intp)
    for block in row_blocks(n, k * k):
        if decomposition.layered is None:
            one = (
                _cost_of_cut(scores[block], order[block], cut, decomposition, loss, aggregate) for cut in range(1, k)
            )
            costs = np.stack([cost / count if normalize else cost for cost, count in one], axis=1)
        else:
            costs = _costs(ordered[block], decomposition.layered, loss, aggregate, normalize)
        least = costs.min(axis=1, keepdims=True)
        equal = costs <= least + 1e-12 * np.abs(least)
        sizes[block] = np.where(equal, gaps[block], -np.inf).argmax(axis=1) + 1
    return sizes


def _costs(ordered: Array, decomposition: str, loss: MarginLoss, aggregate: str, normalize: bool) -> Array:
    """(n, k - 1) costs of the cuts after 1, 2, ..., k - 1 labels."""
    k = ordered.shape[1]
    size = np.arange(1, k)
    name = decomposition if aggregate == "max" else "disagreement"
    pairs = loss.value(ordered[:, :, None] - ordered[:, None, :])
    if name in ("domination", "disagreement"):
        pairs = np.cumsum(pairs, axis=1)  # [:, h, t]: heads 0..h against tail t, the highest where h = t - 1
    if name in ("dominated", "disagreement"):
        pairs = np.cumsum(pairs[:, :, ::-1], axis=2)[:, :, ::-1]  # [:, h, t]: against tails t..k - 1
    costs = pairs[:, size - 1, size]
    if not normalize:
        return costs
    pieces = {"zero-one": np.ones(k - 1), "domination": size, "dominated": k - size, "disagreement": size * (k - size)}
    return costs / pieces[decomposition]


def _cost_of_cut(
    scores: Array, order: IntArray, cut: int, decomposition: Decomposition, loss: MarginLoss, aggregate: str
) -> tuple[Array, NDArray[np.int64]]:
    """(n,) costs of one cut under any decomposition, its arcs written out, and the numbers of its pieces."""
    levels = np.ones(scores.shape, dtype=np.int64)
    np.put_along_axis(levels, order[:, :cut], 0, axis=1)
    pieces = decomposition.pieces(LayeredGraphs.from_levels(levels).to_arcs())
    pieces_of = np.diff(pieces.row_ptr)
    row_of = np.repeat(np.arange(len(scores)), pieces_of)
    rows = np.repeat(row_of, np.diff(pieces.arc_ptr))
    charges = pieces.weight * loss.value(scores[rows, pieces.head] - scores[rows, pieces.tail])
    fold = np.maximum if aggregate == "max" else np.add
    of_pieces = fold.reduceat(charges, pieces.arc_ptr[:-1]) if len(charges) else np.zeros(0)
    costs = np.bincount(row_of, weights=of_pieces, minlength=len(scores)).astype(np.float64)
    return costs, np.maximum(1, pieces_of)

"""The smallest margin of an instance's arcs (Crammer & Singer 2002, Figure 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array
from arcrank.graphs import LayeredGraphs, PreferenceGraphs
from arcrank.graphs.base import row_blocks

__all__ = ["smallest_margins"]


def smallest_margins(graphs: PreferenceGraphs, scores: Array) -> Array:
    """Return the minimum over arcs of score(head) - score(tail), (n,); NaN where there is no arc.

    >>> smallest_margins(LayeredGraphs.from_label_sets([[1, 1, 0], [0, 0, 0]]), np.array([[3.0, 1.0, 2.0]] * 2))
    array([-1., nan])
    """
    margins = np.full(len(graphs), np.inf)
    if isinstance(graphs, LayeredGraphs):
        for rows in row_blocks(*graphs.shape):
            margins[rows] = _of_layers(graphs.levels(rows), scores[rows], graphs.n_layers)
    else:
        arcs = graphs.to_arcs()
        rows_of_arcs = arcs.rows()
        np.minimum.at(margins, rows_of_arcs, scores[rows_of_arcs, arcs.head] - scores[rows_of_arcs, arcs.tail])
    return np.where(graphs.arc_counts() > 0, margins, np.nan)


def _of_layers(levels: NDArray[np.int32], scores: Array, n_layers: int) -> Array:
    """The lowest score of the layers above less the highest of each layer."""
    margins, lowest = np.full(len(scores), np.inf), np.full(len(scores), np.inf)
    for b in range(n_layers):
        inside = levels == b
        margins = np.minimum(margins, lowest - np.max(scores, axis=1, where=inside, initial=-np.inf))
        lowest = np.minimum(lowest, np.min(scores, axis=1, where=inside, initial=np.inf))
    return margins

"""What the weight of an arc means to a ranker: a shift of its margin, or a number of votes."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcrank._typing import Array
from arcrank.errors import ParameterError
from arcrank.graphs import ArcGraphs, PreferenceGraphs
from arcrank.graphs.votes import counted_arcs

__all__ = ["ARC_WEIGHTS", "check_arc_weights", "count_arcs"]

ARC_WEIGHTS = ("margin", "count")


def check_arc_weights(arc_weights: Any) -> None:
    """Refuse what is not one of the two meanings."""
    if arc_weights not in ARC_WEIGHTS:
        raise ParameterError(f"arc_weights must be 'margin' or 'count', got {arc_weights!r}.")


def count_arcs(
    arc_weights: str, X: Any, graphs: PreferenceGraphs, weight: Array
) -> tuple[Any, PreferenceGraphs, Array]:
    """The problem in which the weights of arcs are weights of instances; the same one where arcs have no weight.

    An instance is repeated for each distinct weight of its arcs: once, where each case was voted on once.
    """
    if arc_weights != "count" or not isinstance(graphs, ArcGraphs) or graphs.weight is None:
        return X, graphs, weight
    rows, plain, counts = counted_arcs(graphs)
    same = len(rows) == len(graphs) and np.array_equal(rows, np.arange(len(graphs)))
    return X if same else X[rows], plain, weight[rows] * counts

"""Costs of mistakes as weights of arcs (Aiolli & Sperduti 2004, section 5: "classification with costs")."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arcrank._typing import Array
from arcrank.errors import InputError
from arcrank.graphs.arcs import ArcGraphs
from arcrank.graphs.base import PreferenceGraphs
from arcrank.graphs.build import as_graphs
from arcrank.graphs.hierarchy import Hierarchy

__all__ = ["from_costs"]


def from_costs(y: Any, costs: ArrayLike | Hierarchy, *, labels: Any = None) -> ArcGraphs:
    """Build graphs whose arcs weigh what it costs to rank their labels the wrong way round.

    A machine charges a piece with the largest `w L(margin)` of its arcs, so that mistakes of high cost are avoided
    first. Arcs that cost nothing are left out. All arcs are written out, since each has a weight of its own: one for
    each relevant and each other label of an instance, or, of costs for each instance, one for every two labels.

    Parameters
    ----------
    y : anything that `as_graphs` takes, or None
        The preferences. None for costs of each instance, which say everything.
    costs : (k, k) matrix, (n, k) matrix or Hierarchy
        With y, `costs[a, b]` is the cost of label b where a would be right: the weight of the arc from a to b, in the
        order of the labels of y. Without y, `costs[i, b]` is the cost of label b for instance i: a label of lower cost
        is preferred to one of higher cost, and the arc weighs the difference; NaN is a label that was not judged.
        With a Hierarchy, y holds the label sets of `Hierarchy.leaf_graphs`, and a leaf costs its distance in the tree.
    labels : sequence, optional
        The names of the labels in the order of `costs`; by default those that `as_graphs(y)` finds.

    Examples
    --------
    >>> graphs = from_costs(["cat", "dog"], [[0, 1, 5], [1, 0, 5], [5, 5, 0]], labels=["cat", "dog", "car"])
    >>> [graphs.labels[ends].tolist() for ends in graphs.arcs(0)]
    [['cat', 'cat'], ['dog', 'car']]
    >>> graphs.weight.tolist()
    [1.0, 5.0, 1.0, 5.0]

    Costs of each instance, and costs by the distance in a tree:

    >>> from_costs(None, [[0.0, 1.5, 4.0]]).weight.tolist()
    [1.5, 4.0, 2.5]
    >>> from arcrank.graphs import Hierarchy
    >>> tree = Hierarchy({"pets": None, "cat": "pets", "dog": "pets", "car": None})
    >>> from_costs([["cat"]], tree).weight.tolist()
    [2.0, 2.0, 3.0]
    """
    if isinstance(costs, Hierarchy):
        return _weighted(as_graphs(costs.leaf_sets(y), kind="sets", labels=costs.leaves), costs.leaf_costs())
    matrix = _check_costs(costs)
    if y is None:
        return _from_instance_costs(matrix, labels)
    graphs = as_graphs(y) if labels is None else as_graphs(y, labels=labels)
    k = graphs.n_labels
    if matrix.shape != (k, k):
        raise InputError(
            f"costs must be a square matrix over the {k} labels of y, got shape {matrix.shape}. Where y lacks some "
            "labels, pass labels=, all names in the order of costs; costs of each instance need y=None."
        )
    if np.isnan(matrix).any():
        raise InputError("costs between labels hold NaN; give a number of at least 0 for every two labels.")
    return _weighted(graphs, matrix)


def _weighted(graphs: PreferenceGraphs, costs: Array) -> ArcGraphs:
    arcs = graphs.to_arcs()
    weight = costs[arcs.head, arcs.tail]
    if arcs.weight is not None:
        weight = weight * arcs.weight
    kept = np.flatnonzero(weight > 0)
    arc_ptr = np.searchsorted(kept, arcs.arc_ptr)
    return ArcGraphs(arc_ptr, arcs.head[kept], arcs.tail[kept], weight[kept], arcs.n_labels, arcs.labels)


def _from_instance_costs(costs: Array, labels: Any) -> ArcGraphs:
    arcs, weights = [], []
    for row in costs:
        excess = row[None, :] - row[:, None]  # of the column over the row; NaN is not above 0
        heads, tails = np.nonzero(excess > 0)
        arcs.append(list(zip(heads.tolist(), tails.tolist(), strict=True)))
        weights.append(excess[heads, tails])
    flat = np.concatenate([np.zeros(0), *weights])
    return ArcGraphs.from_arcs(arcs, costs.shape[1], flat, labels=labels)


def _check_costs(costs: ArrayLike) -> Array:
    try:
        matrix = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.zeros(0)
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise InputError("costs must be a matrix of numbers: (labels, labels) with y, (instances, labels) without.")
    if np.isinf(matrix).any() or (matrix < 0).any():
        row, column = np.argwhere(np.isinf(matrix) | (matrix < 0))[0]
        raise InputError(f"costs[{row}, {column}] is {matrix[row, column]}; costs must be finite and at least 0.")
    return matrix

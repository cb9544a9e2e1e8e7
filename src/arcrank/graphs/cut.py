"""The cut label: a virtual label between the labels that apply to an instance and those that do not.

Calibrated label ranking (Fürnkranz, Hüllermeier, Loza Mencía & Brinker 2008): relevant > CUT > irrelevant. A label set
becomes a graph of three layers, so every loss, decomposition and solver learns where the ranking ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import IntArray
from arcrank.errors import InputError
from arcrank.graphs.align import align_labels
from arcrank.graphs.arcs import ArcGraphs
from arcrank.graphs.base import PreferenceGraphs, label_array
from arcrank.graphs.layers import LayeredGraphs

__all__ = ["CUT", "insert_cut", "mentions_cut", "plain_labels", "without_cut"]


class _Cut:
    """A class of one object, so that no name of a user's label equals it."""

    def __new__(cls) -> _Cut:
        return CUT if "CUT" in globals() else super().__new__(cls)

    def __reduce__(self) -> str:
        return "CUT"  # copied and unpickled by reference

    def __repr__(self) -> str:
        return "CUT"


CUT = _Cut()
"""The cut label, for arcs and layers: `("a", CUT)` says that a applies to an instance, `(CUT, "b")` that b does not."""


def mentions_cut(graphs: PreferenceGraphs) -> bool:
    """Whether CUT is one of the labels."""
    return graphs.labels is not None and any(name is CUT for name in graphs.labels.tolist())


def plain_labels(graphs: PreferenceGraphs) -> NDArray[Any]:
    """The labels without CUT, as names or as numbers from 0."""
    if graphs.labels is None:
        return np.arange(graphs.n_labels)
    if not mentions_cut(graphs):
        return graphs.labels
    return label_array([name for name in graphs.labels.tolist() if name is not CUT])


def insert_cut(graphs: PreferenceGraphs, cut_level: int | None = None, *, as_sets: bool = True) -> PreferenceGraphs:
    """The same graphs over one more label, CUT, which comes first.

    Graphs that mention CUT stay as they are but for the order of their labels. In layered graphs it becomes a layer of
    its own, below the layer `cut_level`; None is the top layer of label sets. An empty label set has CUT above all
    labels. With as_sets=False two layers are not taken for label sets: CUT or `cut_level` has to be given.

    Examples
    --------
    >>> from arcrank.graphs import as_graphs
    >>> graphs = insert_cut(as_graphs([["tea"], []], labels=["milk", "tea"]))
    >>> graphs.labels.tolist(), graphs.levels().tolist()
    ([CUT, 'milk', 'tea'], [[1, 2, 0], [1, 2, 2]])
    """
    if mentions_cut(graphs):
        assert graphs.labels is not None
        return align_labels(graphs, label_array([CUT, *plain_labels(graphs).tolist()]))
    if not isinstance(graphs, LayeredGraphs) or (cut_level is None and not (as_sets and graphs.n_layers <= 2)):
        raise InputError(
            "cut_label=True needs to know which labels are above the cut, and these preferences do not say so. Mention "
            "arcrank.CUT in arcs or layers, such as ('a', CUT) and (CUT, 'b'), or give layered graphs and cut_level, "
            "the number of the last layer above the cut (0 = the top layer)."
        )
    return _insert_layer(graphs, 0 if cut_level is None else cut_level)


def _insert_layer(graphs: LayeredGraphs, last_above: int) -> LayeredGraphs:
    """Levels beyond `last_above` move down by one; CUT is listed first in every row, in the level that is now free."""
    n = len(graphs)
    level, rest = (values + (values > last_above) for values in (graphs.level, graphs.rest))
    starts = graphs.ptr[:-1]
    return LayeredGraphs(
        graphs.ptr + np.arange(n + 1),
        np.insert(graphs.label + 1, starts, 0),
        np.insert(level, starts, last_above + 1),
        rest,
        graphs.n_labels + 1,
        label_array([CUT, *plain_labels(graphs).tolist()]),
    )


def without_cut(graphs: PreferenceGraphs) -> PreferenceGraphs:
    """The same graphs without CUT and its arcs; graphs that do not mention it are returned as they are.

    Examples
    --------
    >>> from arcrank.graphs import as_graphs
    >>> without_cut(as_graphs([[("tea", CUT), (CUT, "milk"), ("tea", "milk")]]))
    ArcGraphs(1 instances, 2 labels, 1 arcs)
    """
    if not mentions_cut(graphs):
        return graphs
    graphs, names = insert_cut(graphs), plain_labels(graphs)
    if isinstance(graphs, LayeredGraphs):
        return _without_first(graphs, names)
    arcs = graphs.to_arcs()
    kept = np.flatnonzero((arcs.head != 0) & (arcs.tail != 0))
    ptr = np.concatenate([[0], np.cumsum(np.bincount(arcs.rows()[kept], minlength=len(arcs)))])
    weight = None if arcs.weight is None else arcs.weight[kept]
    return ArcGraphs(ptr, arcs.head[kept] - 1, arcs.tail[kept] - 1, weight, len(names), names)


def _without_first(graphs: LayeredGraphs, names: NDArray[Any]) -> LayeredGraphs:
    rows = np.repeat(np.arange(len(graphs)), np.diff(graphs.ptr))
    kept = graphs.label != 0
    ptr = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=len(graphs)))])
    free = _free_levels(graphs)
    level, rest = graphs.level - (graphs.level > free[rows]), graphs.rest - (graphs.rest > free)
    return LayeredGraphs(ptr, graphs.label[kept] - 1, level[kept], rest, len(names), names)


def _free_levels(graphs: LayeredGraphs) -> IntArray:
    """The level of CUT in each row, which is free without it; a number beyond all levels where others share it."""
    rows = np.repeat(np.arange(len(graphs)), np.diff(graphs.ptr))
    level = graphs.rest.copy()
    level[rows[graphs.label == 0]] = graphs.level[graphs.label == 0]
    listed_too = np.bincount(rows[(graphs.label != 0) & (graphs.level == level[rows])], minlength=len(graphs)) > 0
    unlisted = np.bincount(rows[graphs.label != 0], minlength=len(graphs)) < graphs.n_labels - 1
    shared = listed_too | (unlisted & (graphs.rest == level)) | (level < 0)
    return np.where(shared, graphs.n_layers, level)

"""The labels at the top of each preference graph: what a graph says first of its instance."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank._typing import IntArray
from arcrank.graphs.arcs import ArcGraphs
from arcrank.graphs.base import PreferenceGraphs
from arcrank.graphs.layers import LayeredGraphs

__all__ = ["top_labels"]


def top_labels(graphs: PreferenceGraphs) -> sp.csr_matrix:
    """The (n, k) boolean CSR matrix of the labels that are preferred to others and that no other is preferred to.

    For label sets these are the relevant labels, for layers and rankings the top layer. Labels of level 0 are at the
    top even where nothing is below them, so that a full label set is not an empty one. A row is also empty where all
    arcs lie on cycles.

    >>> from arcrank.graphs import as_graphs
    >>> top_labels(as_graphs([["a", "b"], ["c"], ["a", "b", "c"]])).toarray().astype(int).tolist()
    [[1, 1, 0], [0, 0, 1], [1, 1, 1]]
    >>> top_labels(as_graphs([[("a", "b"), ("b", "c")]])).toarray().astype(int).tolist()
    [[1, 0, 0]]
    """
    if isinstance(graphs, LayeredGraphs):
        return _top_layers(graphs)
    return _sources(graphs if isinstance(graphs, ArcGraphs) else graphs.to_arcs())


def _sources(arcs: ArcGraphs) -> sp.csr_matrix:
    """Labels that are heads and no tails. Of equal cells (instance, label) the ends that are tails sort last."""
    cells = arcs.rows() * arcs.n_labels
    ends = np.sort(np.concatenate([2 * (cells + arcs.head), 2 * (cells + arcs.tail) + 1]))
    last = np.append(ends[1:] >> 1 != ends[:-1] >> 1, True)[: len(ends)]
    top = ends[last & (ends % 2 == 0)] >> 1
    return _matrix(top // arcs.n_labels, top % arcs.n_labels, arcs.shape)


def _top_layers(graphs: LayeredGraphs) -> sp.csr_matrix:
    n, k = graphs.shape
    listed = np.diff(graphs.ptr)
    rows = np.repeat(np.arange(n), listed)
    judged = graphs.level >= 0
    has_rest = (listed < k) & (graphs.rest >= 0)
    best = np.where(has_rest, graphs.rest, np.iinfo(np.int32).max)
    worst = np.where(has_rest, graphs.rest, -1)
    np.minimum.at(best, rows[judged], graphs.level[judged])
    np.maximum.at(worst, rows[judged], graphs.level[judged])
    has_top = (best < worst) | (best == 0)
    at = has_top[rows] & (graphs.level == best[rows])
    unlisted = np.flatnonzero(has_top & has_rest & (graphs.rest == best))
    more_rows, more_labels = _unlisted_labels(graphs, unlisted)
    return _matrix(np.concatenate([rows[at], more_rows]), np.concatenate([graphs.label[at], more_labels]), (n, k))


def _unlisted_labels(graphs: LayeredGraphs, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Row and label of the labels that the given rows do not list: most of them, where the top layer is the largest."""
    if not rows.size:
        return rows, rows
    part = graphs[rows]
    absent = np.ones(part.shape, dtype=bool)
    absent[np.repeat(np.arange(len(part)), np.diff(part.ptr)), part.label] = False
    which, labels = np.nonzero(absent)
    return rows[which], labels


def _matrix(rows: NDArray[np.integer], labels: NDArray[np.integer], shape: tuple[int, int]) -> sp.csr_matrix:
    return sp.csr_matrix((np.ones(len(rows), dtype=bool), (rows, labels)), shape=shape)

"""How the margin of two labels tells which one is above: a logistic slope on a sample of the arcs."""

from __future__ import annotations

import numpy as np

from arcrank._typing import Array, IntArray
from arcrank.graphs import LayeredGraphs, PreferenceGraphs
from arcrank.rankers.monotone_logistic import likeliest_slope, sigmoid

__all__ = ["levels_at", "slope_of_margins"]

_PARTNERS = 5
_MOST_ARCS = 200_000


def slope_of_margins(scores: Array, graphs: PreferenceGraphs) -> float:
    """The slope b of the likeliest P(head above tail) = 1 / (1 + exp(-b margin)); the first label of graphs is CUT.

    It is positive also where margins say nothing, so that probabilities follow the order of the scores.
    """
    margins = _sampled_margins(scores, graphs)
    spread = float(np.abs(margins).mean()) if len(margins) else 0.0
    if not spread:
        return 1.0
    margins /= spread
    target = (len(margins) + 1) / (len(margins) + 2)  # Platt's, so that perfect margins have a finite slope
    return likeliest_slope(lambda slope: float(((sigmoid(slope * margins) - target) * margins).mean())) / spread


def _sampled_margins(scores: Array, graphs: PreferenceGraphs) -> Array:
    rows, head, tail = _sampled_arcs(graphs)
    kept = (head > 0) & (tail > 0)
    rows, head, tail = rows[kept], head[kept] - 1, tail[kept] - 1
    if len(rows) > _MOST_ARCS:
        drawn = np.random.default_rng(0).choice(len(rows), _MOST_ARCS, replace=False)
        rows, head, tail = rows[drawn], head[drawn], tail[drawn]
    margins: Array = scores[rows, head] - scores[rows, tail]
    return margins


def _sampled_arcs(graphs: PreferenceGraphs) -> tuple[IntArray, IntArray, IntArray]:
    """Rows, heads and tails of arcs: all explicit ones, or those of listed labels with a few labels drawn for each."""
    if not isinstance(graphs, LayeredGraphs):
        arcs = graphs.to_arcs()
        return arcs.rows(), arcs.head, arcs.tail
    listed = np.repeat(np.arange(len(graphs)), np.diff(graphs.ptr))
    rows = np.repeat(listed, _PARTNERS)
    label, level = np.repeat(graphs.label, _PARTNERS), np.repeat(graphs.level, _PARTNERS)
    partner = np.random.default_rng(0).integers(1, graphs.n_labels, len(rows)).astype(np.int32)
    other = levels_at(graphs, rows, partner)
    valid = (level >= 0) & (other >= 0) & (level != other)
    first = level < other
    head, tail = np.where(first, label, partner), np.where(first, partner, label)
    return rows[valid], head[valid], tail[valid]


def levels_at(graphs: LayeredGraphs, rows: IntArray, label: IntArray) -> IntArray:
    """The levels of some labels, looked up among the listed ones, which ascend by row and label."""
    listed = np.repeat(np.arange(len(graphs), dtype=np.int64), np.diff(graphs.ptr)) * graphs.n_labels + graphs.label
    wanted = rows.astype(np.int64) * graphs.n_labels + label
    at = np.minimum(np.searchsorted(listed, wanted), len(listed) - 1)
    levels: IntArray = np.where(listed[at] == wanted, graphs.level[at], graphs.rest[rows])
    return levels

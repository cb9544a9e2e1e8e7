"""Graphs over the labels of a model: labels are matched by name, never by position."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import IntArray, Mask
from arcrank.errors import InputError
from arcrank.graphs.arcs import ArcGraphs
from arcrank.graphs.base import PreferenceGraphs, label_array, row_blocks, shorten
from arcrank.graphs.layers import LayeredGraphs

__all__ = ["align_labels"]

_UNKNOWN = -1


def align_labels(graphs: PreferenceGraphs, names: Any) -> PreferenceGraphs:
    """Bring graphs to the labels `names`, in that order.

    Labels of the graphs that are not among `names` are left out where no instance says anything about them, and
    refused elsewhere. Labels that the graphs lack are irrelevant for the instances that are label sets, as made from
    single labels, label sets and indicators: they rank below the relevant ones. For all other instances they are not
    judged. Graphs without names fit only labels that are numbered from 0.

    Parameters
    ----------
    graphs : PreferenceGraphs
        Graphs of n instances.
    names : sequence of names
        Usually `labels_` of a fitted ranker.

    Examples
    --------
    >>> from arcrank.graphs import as_graphs
    >>> graphs = as_graphs(["tea", "milk"])
    >>> align_labels(graphs, ["tea", "water", "milk"]).levels().tolist()
    [[0, 1, 1], [1, 1, 0]]
    >>> align_labels(graphs, ["tea", "water"])
    Traceback (most recent call last):
    ...
    arcrank.errors.InputError: Instance 1 judges the label 'milk', which is not among the 2 labels ('tea', 'water'). ...
    """
    names = label_array(names)
    wanted = names.tolist()
    if graphs.labels is None:
        return _check_unnamed(graphs, wanted)
    given = graphs.labels.tolist()
    if given == wanted:
        return graphs
    number = {name: j for j, name in enumerate(wanted)}
    columns = np.array([number.get(name, _UNKNOWN) for name in given], dtype=np.int32)
    if isinstance(graphs, LayeredGraphs):
        return _align_layers(graphs, columns, names)
    return _align_arcs(graphs.to_arcs(), columns, names)


def _check_unnamed(graphs: PreferenceGraphs, wanted: list[Any]) -> PreferenceGraphs:
    if graphs.n_labels != len(wanted):
        raise InputError(
            f"The graphs have {graphs.n_labels} labels without names, where {len(wanted)} are expected "
            f"({shorten(wanted)}). Name the labels of the graphs, so that they can be matched: "
            "graphs.with_labels([...])."
        )
    if wanted != list(range(len(wanted))):
        raise InputError(
            f"The labels of the graphs have no names, so it is unknown which of them is {wanted[0]!r}. If they are "
            f"{shorten(wanted)} in this order, pass graphs.with_labels(ranker.labels_)."
        )
    return graphs


def _align_arcs(graphs: ArcGraphs, columns: IntArray, names: NDArray[Any]) -> ArcGraphs:
    for ends in (graphs.head, graphs.tail):
        _refuse_unknown(graphs, columns, graphs.rows(), ends, names)
    head, tail = columns[graphs.head], columns[graphs.tail]
    return ArcGraphs(graphs.arc_ptr, head, tail, graphs.weight, len(names), names)


def _align_layers(graphs: LayeredGraphs, columns: IntArray, names: NDArray[Any]) -> LayeredGraphs:
    is_permutation = len(columns) == len(names) and (columns != _UNKNOWN).all()
    open_rows = np.zeros(len(graphs), dtype=bool) if is_permutation else _open_rows(graphs)
    rows, label, level = _listed(graphs, open_rows)
    judged = level >= 0
    _refuse_unknown(graphs, columns, rows[judged], label[judged], names)
    kept = columns[label] != _UNKNOWN
    rows, column, level = rows[kept], columns[label[kept]], level[kept]
    order = np.lexsort((column, rows))
    ptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(graphs)))])
    rest = np.where(open_rows, -1, graphs.rest)
    return LayeredGraphs(ptr, column[order], level[order], rest, len(names), names)


def _open_rows(graphs: LayeredGraphs) -> Mask:
    """Instances in which labels beyond those of the graphs do not share the level of the labels not listed.

    They do in label sets, whose relevant labels are listed and whose rest is irrelevant, and where the rest is not
    judged.
    """
    rows = np.repeat(np.arange(len(graphs)), np.diff(graphs.ptr))
    is_set = (graphs.rest == 1) & (np.bincount(rows, weights=graphs.level != 0, minlength=len(graphs)) == 0)
    return (graphs.rest >= 0) & ~is_set


def _listed(graphs: LayeredGraphs, written_out: Mask) -> tuple[IntArray, IntArray, IntArray]:
    """Rows, labels and levels of the listed labels; in the rows to be written out, of all that are judged."""
    rows = np.repeat(np.arange(len(graphs)), np.diff(graphs.ptr))
    short = ~written_out[rows]
    parts: list[tuple[IntArray, IntArray, IntArray]] = [(rows[short], graphs.label[short], graphs.level[short])]
    chosen = np.flatnonzero(written_out)
    for block in row_blocks(len(chosen), graphs.n_labels):
        levels = graphs.levels(chosen[block])
        row, column = np.nonzero(levels >= 0)
        parts.append((chosen[block][row], column, levels[row, column]))
    listed_rows, label, level = (np.concatenate([part[j] for part in parts]) for j in range(3))
    return listed_rows, label, level


def _refuse_unknown(
    graphs: PreferenceGraphs, columns: IntArray, rows: IntArray, label: IntArray, names: NDArray[Any]
) -> None:
    unknown = np.flatnonzero(columns[label] == _UNKNOWN)
    if not unknown.size:
        return
    assert graphs.labels is not None
    given, wanted = graphs.labels.tolist(), names.tolist()
    first = label[unknown[0]]
    more = [given[j] for j in np.unique(label[unknown]) if j != first]
    others = f"; unknown are also {shorten(more)}" if more else ""
    remedy = "Leave such labels out, or learn from graphs over all labels: as_graphs(y, labels=[...])."
    if wanted == list(range(len(wanted))):
        remedy = "If the columns are in the same order, drop the names by graphs.with_labels(None)."
    raise InputError(
        f"Instance {rows[unknown[0]]} judges the label {given[first]!r}, which is not among the {len(wanted)} "
        f"labels ({shorten(wanted)}){others}. {remedy}"
    )

"""Supervision that comes in blocks: one kind for all of them, and labels that may grow."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank.errors import InputError
from arcrank.graphs import PreferenceGraphs, as_graphs
from arcrank.graphs.align import align_labels
from arcrank.graphs.base import label_array, shorten
from arcrank.graphs.cut import CUT, mentions_cut, plain_labels
from arcrank.graphs.kinds import check_later, detect_kind, unwrap

__all__ = ["first_graphs", "next_graphs"]

_NAMED = ("single", "sets", "layers", "arcs")


def first_graphs(y: Any, labels: Any) -> tuple[PreferenceGraphs, str, NDArray[Any]]:
    """Graphs, kind and label names of the first block."""
    if isinstance(y, PreferenceGraphs):
        graphs, kind = as_graphs(y, labels=labels), "graphs"
    else:
        kind = detect_kind(unwrap(y))
        graphs = as_graphs(y, kind=kind, labels=labels)
    return graphs, kind, plain_labels(graphs)


def next_graphs(
    y: Any, kind: str, known: NDArray[Any], labels: Any, *, cut: bool = False
) -> tuple[PreferenceGraphs, NDArray[Any]]:
    """Graphs of a later block, and all label names: the known ones first, in their order.

    With `cut`, CUT is a label of the graphs even if no instance of this block mentions it; names never list it.
    """
    if isinstance(y, PreferenceGraphs):
        names = _extended_by_graphs(y, known)
        return align_labels(y, [*names.tolist(), CUT] if mentions_cut(y) else names), names
    if kind == "graphs":
        raise InputError(
            f"The first call was given graphs, this one {type(y).__name__}; give graphs over the same labels, e.g. "
            "by as_graphs(y, labels=ranker.labels_)."
        )
    check_later(y, kind, known)
    y = unwrap(y)
    if kind in _NAMED:
        names = _extended(known, _unknown(known, labels) if labels is not None else _new_names(y, kind, known))
    else:
        names = known
        if labels is not None and list(labels) != known.tolist():
            raise InputError("The columns of y were fixed by the first call; pass the same labels=, or none.")
    return as_graphs(y, kind=kind, labels=[*names.tolist(), CUT] if cut else names), names


def _extended_by_graphs(graphs: PreferenceGraphs, known: NDArray[Any]) -> NDArray[Any]:
    """The known names, and then those of the graphs that are new."""
    if graphs.labels is None:
        return known
    new = _unknown(known, graphs.labels)
    if new and isinstance(new[0], str) != isinstance(known.tolist()[0], str):
        raise InputError(
            f"The labels of this ranker are {shorten(known.tolist())}, and the graphs name {shorten(new)}; give graphs "
            "over the labels of the ranker: as_graphs(y, labels=ranker.labels_)."
        )
    return _extended(known, new)


def _new_names(y: Any, kind: str, known: NDArray[Any]) -> list[Any]:
    """The names in y that are not known, sorted."""
    try:
        new = set(_unknown(known, _names(y, kind)))
    except TypeError:  # something in y is not a list, or not a label: as_graphs says which
        return []
    try:
        return sorted(new)
    except TypeError:
        raise InputError(f"New labels of different types cannot be sorted: {new}; pass labels=.") from None


def _names(y: Any, kind: str) -> Any:
    if kind == "single":
        return np.unique(np.asarray(y)) if not isinstance(y, list) else y
    flat = chain.from_iterable(y)
    return flat if kind == "sets" else chain.from_iterable(flat)


def _unknown(known: NDArray[Any], names: Any) -> list[Any]:
    seen = set(known.tolist())
    plain = (name.item() if isinstance(name, np.generic) else name for name in names)
    return [name for name in plain if name not in seen and name is not CUT]


def _extended(known: NDArray[Any], new: list[Any]) -> NDArray[Any]:
    return label_array([*known.tolist(), *new]) if new else known

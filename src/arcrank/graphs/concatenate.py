"""Graphs of several sets of instances, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank.errors import InputError
from arcrank.graphs.arcs import ArcGraphs
from arcrank.graphs.base import PreferenceGraphs, same_labels
from arcrank.graphs.layers import LayeredGraphs


def concatenate(parts: Sequence[PreferenceGraphs]) -> PreferenceGraphs:
    """Stack graphs over the same labels. Where kinds mix, layered parts are written out as arcs.

    Examples
    --------
    >>> from arcrank.graphs import ArcGraphs, LayeredGraphs
    >>> a = LayeredGraphs.from_single_labels([0], 3)
    >>> b = ArcGraphs.from_arcs([[(2, 1)]], 3)
    >>> concatenate([a, a, b])
    ArcGraphs(3 instances, 3 labels, 5 arcs)
    """
    parts = list(parts)
    if not parts:
        raise InputError("There is nothing to concatenate; give at least one set of graphs.")
    first = parts[0]
    for part in parts:
        if part.n_labels != first.n_labels or not same_labels(part.labels, first.labels):
            raise InputError(f"Graphs over different labels cannot be concatenated: {first!r} and {part!r}.")
    layered = [part for part in parts if isinstance(part, LayeredGraphs)]
    if len(layered) == len(parts):
        return _concatenate_layered(layered)
    return _concatenate_arcs([part.to_arcs() for part in parts])


def _concatenate_layered(parts: list[LayeredGraphs]) -> LayeredGraphs:
    label, level, rest = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("label", "level", "rest")
    )
    ptr = _stack_pointers([part.ptr for part in parts])
    return LayeredGraphs(ptr, label, level, rest, parts[0].n_labels, parts[0].labels)


def _concatenate_arcs(parts: list[ArcGraphs]) -> ArcGraphs:
    head, tail = (np.concatenate([getattr(part, name) for part in parts]) for name in ("head", "tail"))
    weight = None
    if any(part.weight is not None for part in parts):
        ones = [np.ones(len(part.head)) if part.weight is None else part.weight for part in parts]
        weight = np.concatenate(ones)
    ptr = _stack_pointers([part.arc_ptr for part in parts])
    return ArcGraphs(ptr, head, tail, weight, parts[0].n_labels, parts[0].labels)


def _stack_pointers(pointers: list[NDArray[np.int64]]) -> NDArray[Any]:
    lengths = np.concatenate([np.diff(pointer) for pointer in pointers])
    return np.concatenate([[0], np.cumsum(lengths)])

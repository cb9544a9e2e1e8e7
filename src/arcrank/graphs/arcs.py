"""Explicit preference graphs: every arc is stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array, IntArray
from arcrank._validation import check_int
from arcrank.errors import GraphError, InputError, ParameterError
from arcrank.graphs.base import PreferenceGraphs, check_labels, gather_rows, name_of

Conflicts = Literal["error", "keep"]


class ArcGraphs(PreferenceGraphs):
    """Preference graphs with explicit arcs: sparse, contradictory and cyclic ones too.

    Build one with `from_arcs`, which checks the rules; the constructor trusts its arrays.

    Attributes
    ----------
    arc_ptr : (n + 1,) int64
        The arcs of instance i are arc_ptr[i]:arc_ptr[i + 1].
    head, tail : (arcs,) int32
        Label `head` should rank above label `tail`.
    weight : (arcs,) float64 of at least 0, or None
        None where all are 1; losses use it, errors do not.

    Examples
    --------
    >>> g = ArcGraphs.from_arcs([[(0, 1), (1, 2), (2, 0)], []], n_labels=3)
    >>> g
    ArcGraphs(2 instances, 3 labels, 3 arcs)
    >>> g.arcs(0)
    (array([0, 1, 2], dtype=int32), array([1, 2, 0], dtype=int32))
    """

    def __init__(
        self,
        arc_ptr: IntArray,
        head: IntArray,
        tail: IntArray,
        weight: Array | None,
        n_labels: int,
        labels: NDArray[Any] | None = None,
    ) -> None:
        self.arc_ptr = np.ascontiguousarray(arc_ptr, dtype=np.int64)
        self.head = np.ascontiguousarray(head, dtype=np.int32)
        self.tail = np.ascontiguousarray(tail, dtype=np.int32)
        self.weight = None if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
        self.n_labels = n_labels
        self.labels = labels

    @classmethod
    def from_arcs(
        cls,
        arcs: Sequence[Iterable[tuple[int, int]]],
        n_labels: int,
        weights: Sequence[Iterable[float]] | NDArray[np.floating[Any]] | None = None,
        *,
        labels: Any = None,
        conflicts: Conflicts = "error",
    ) -> ArcGraphs:
        """Build graphs from an iterable of (head, tail) label numbers for each instance.

        Parameters
        ----------
        arcs : iterable of iterables of (head, tail)
            The arcs of each instance.
        n_labels : int
            The number of labels.
        weights : nested lists or flat array, optional
            One number for each arc, in the same nesting as `arcs` or as one flat array.
        conflicts : "error" or "keep"
            "error" refuses an arc together with its own reverse (the papers' simple graphs); "keep" allows it, since
            people contradict themselves. Longer cycles are always legal.
        """
        n_labels = check_int("n_labels", n_labels, at_least=1, error=GraphError)
        names = check_labels(labels, n_labels)
        arc_ptr, ends = _flatten(arcs)
        head, tail = ends[:, 0], ends[:, 1]
        _check_range(arc_ptr, ends, n_labels)
        _check_simple(arc_ptr, head, tail, n_labels, names, conflicts)
        return cls(arc_ptr, head, tail, _flat_weights(weights, arc_ptr), n_labels, names)

    def __len__(self) -> int:
        return len(self.arc_ptr) - 1

    def take(self, rows: IntArray) -> Self:
        """The graphs of the given instances, in that order."""
        arc_ptr, at = gather_rows(self.arc_ptr, rows)
        weight = None if self.weight is None else self.weight[at]
        return type(self)(arc_ptr, self.head[at], self.tail[at], weight, self.n_labels, self.labels)

    def arc_counts(self) -> NDArray[np.int64]:
        """The number of arcs of each instance."""
        return np.diff(self.arc_ptr)

    def arcs(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Heads and tails of one instance's arcs; heads[j] should rank above tails[j]."""
        at = slice(self.arc_ptr[row], self.arc_ptr[row + 1])
        return self.head[at], self.tail[at]

    def to_arcs(self) -> ArcGraphs:
        """The same graphs with every arc written out: O(arcs) memory."""
        return self

    def rows(self) -> NDArray[np.int64]:
        """The instance of each arc."""
        return np.repeat(np.arange(len(self)), self.arc_counts())

    def _same_content(self, other: ArcGraphs) -> bool:
        return all(np.array_equal(a, b) for a, b in zip(self._sorted(), other._sorted(), strict=True))

    def _sorted(self) -> tuple[NDArray[Any], ...]:
        """Content in one order: as sets of arcs, graphs do not depend on the order of their arcs."""
        order = np.lexsort((self.tail, self.head, self.rows()))
        weight = np.ones(len(self.head)) if self.weight is None else self.weight
        return self.arc_ptr, self.head[order], self.tail[order], weight[order]

    def _describe(self) -> str:
        return f"{len(self.head):,} {'weighted ' if self.weight is not None else ''}arcs"


def _flatten(arcs: Sequence[Iterable[tuple[int, int]]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Arcs of all instances as a pointer and an (arcs, 2) array."""
    lists = [list(one) for one in arcs]
    arc_ptr = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum([len(one) for one in lists], out=arc_ptr[1:])
    if arc_ptr[-1] == 0:
        return arc_ptr, np.empty((0, 2), dtype=np.int64)
    try:
        ends = np.array(list(chain.from_iterable(lists)))
    except ValueError:  # arcs of different lengths
        ends = np.empty(0)
    if ends.ndim != 2 or ends.shape[1] != 2:
        raise _not_an_arc(lists)
    if ends.dtype.kind not in "iu":
        raise GraphError(
            f"Arcs must be pairs of label numbers, got values of type {ends.dtype}; "
            "for arcs between label names use as_graphs(arcs)."
        )
    return arc_ptr, ends.astype(np.int64)


def _not_an_arc(lists: list[list[Any]]) -> GraphError:
    for row, one in enumerate(lists):
        for arc in one:
            if isinstance(arc, str) or not hasattr(arc, "__len__") or len(arc) != 2:
                return GraphError(f"Instance {row} has the arc {arc!r}; an arc is two labels, (head, tail).")
    return GraphError("Arcs must be given as (head, tail) for each instance.")


def _check_range(arc_ptr: NDArray[np.int64], ends: NDArray[np.int64], n_labels: int) -> None:
    bad = np.flatnonzero(((ends < 0) | (ends >= n_labels)).any(axis=1))
    if bad.size:
        raise GraphError(
            f"Instance {_row_of(bad[0], arc_ptr)} has the arc {tuple(ends[bad[0]].tolist())}; "
            f"labels are numbered 0..{n_labels - 1}."
        )


def _check_simple(
    arc_ptr: NDArray[np.int64],
    head: NDArray[np.int64],
    tail: NDArray[np.int64],
    n_labels: int,
    names: NDArray[Any] | None,
    conflicts: Conflicts,
) -> None:
    if conflicts not in ("error", "keep"):
        raise ParameterError(f"conflicts must be 'error' or 'keep', got {conflicts!r}.")

    def complain(arc: int, what: str, remedy: str) -> None:
        ends = f"{name_of(int(head[arc]), names)} -> {name_of(int(tail[arc]), names)}"
        raise GraphError(f"Instance {_row_of(arc, arc_ptr)} has {what} {ends}; {remedy}")

    loops = np.flatnonzero(head == tail)
    if loops.size:
        complain(loops[0], "the self-loop", "a label cannot rank above itself: leave that arc out.")
    rows = np.repeat(np.arange(len(arc_ptr) - 1), np.diff(arc_ptr))
    key = (rows * n_labels + head) * n_labels + tail
    order = np.argsort(key, kind="stable")
    twice = order[1:][key[order][1:] == key[order][:-1]]
    if twice.size:
        complain(twice.min(), "twice the arc", "give it once; for votes repeat the instance, or pass a sample_weight.")
    if conflicts == "error":
        reverse = (rows * n_labels + tail) * n_labels + head
        both = np.flatnonzero(np.isin(reverse, key))
        if both.size:
            remedy = "drop one of the two, or allow contradictions by as_graphs(y, conflicts='keep')."
            complain(both[0], "together with its reverse the arc", remedy)


def _flat_weights(weights: Any, arc_ptr: NDArray[np.int64]) -> Array | None:
    if weights is None:
        return None
    if not isinstance(weights, np.ndarray) or weights.dtype == object:
        lists = [[one] if np.isscalar(one) else list(one) for one in weights]
        nested = [len(one) for one in lists] == np.diff(arc_ptr).tolist()
        if not nested and not all(np.isscalar(one) for one in weights):
            raise InputError("weights must have one number for each arc, in the same nesting as arcs.")
        weights = np.array(list(chain.from_iterable(lists)))
    flat = np.asarray(weights, dtype=np.float64).reshape(-1)
    if len(flat) != arc_ptr[-1]:
        raise InputError(f"Got {len(flat)} arc weights for {arc_ptr[-1]} arcs; give one weight for each arc.")
    bad = np.flatnonzero(~(np.isfinite(flat) & (flat >= 0)))
    if bad.size:
        raise InputError(
            f"Instance {_row_of(bad[0], arc_ptr)} has an arc of weight {flat[bad[0]]}; "
            "weights must be finite and at least 0. To reverse a preference, swap head and tail."
        )
    return flat


def _row_of(arc: Any, arc_ptr: NDArray[np.int64]) -> int:
    return int(np.searchsorted(arc_ptr, arc, side="right")) - 1

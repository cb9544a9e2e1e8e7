"""Preference graphs over candidates: every instance has its own number of labels.

Kernels take rows of equal width. So instances of similar size are put together in buckets, whose width is at most twice
the number of candidates of each: a loss or an error of all instances is a sum over buckets, and no matrix has as many
columns as the longest instance has candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array, IntArray
from arcrank.errors import InputError
from arcrank.graphs.arcs import ArcGraphs
from arcrank.graphs.base import PreferenceGraphs, gather_rows, row_blocks
from arcrank.graphs.layers import LayeredGraphs

__all__ = ["Bucket", "CandidateGraphs"]

_SQUARE = 1000  # candidates of an instance whose (m, m) comparisons are made at once


@dataclass(frozen=True)
class Bucket:
    """Instances of similar size, with graphs over as many labels as the largest of them has candidates.

    rows : (b,) the numbers of the instances
    starts, counts : (b,) the first candidate of each, and their number
    """

    rows: NDArray[np.int64]
    graphs: PreferenceGraphs
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]

    def gather(self, values: Array, filler: float = 0.0) -> Array:
        """Values of all candidates as a (b, width) matrix, with `filler` beyond an instance's candidates."""
        matrix = np.full(self.graphs.shape, filler)
        inside, at = self._places()
        matrix[inside] = values[at]
        return matrix

    def scatter(self, matrix: Array, values: Array) -> None:
        """Write a (b, width) matrix to the values of all candidates."""
        inside, at = self._places()
        values[at] = matrix[inside]

    def _places(self) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        inside = np.arange(self.graphs.n_labels) < self.counts[:, None]
        # In the order of the mask: the candidates of an instance are consecutive.
        ends = np.cumsum(self.counts)
        return inside, np.arange(ends[-1] if len(ends) else 0) + np.repeat(
            self.starts - ends + self.counts, self.counts
        )


class CandidateGraphs(PreferenceGraphs):
    """Preference graphs over the candidates of each instance: label j of instance i is its j-th candidate.

    `CandidateSets.graphs(y)` makes them of grades or of other graphs, and every error of `arcrank.metrics` takes them
    with one score for each candidate. Stored are the level of each candidate, or the arcs.

    Attributes
    ----------
    ptr : (n + 1,) int64
        The candidates of instance i are ptr[i]:ptr[i + 1].
    graphs : LayeredGraphs or ArcGraphs
        The same graphs over as many labels as the longest instance has candidates; layered ones list every candidate.

    Examples
    --------
    >>> graphs = CandidateGraphs.from_grades([2, 0, 1, 1, 5], [0, 3, 5])
    >>> graphs
    CandidateGraphs(2 instances, 5 candidates, 4 arcs)
    >>> graphs.arcs(1)
    (array([1], dtype=int32), array([0], dtype=int32))
    """

    def __init__(self, graphs: PreferenceGraphs, ptr: IntArray) -> None:
        self.ptr = np.ascontiguousarray(ptr, dtype=np.int64)
        self.n_labels = int(self.counts().max(initial=1))
        self.labels = None
        self.graphs = self._checked(graphs)

    @classmethod
    def from_grades(cls, grades: Any, ptr: IntArray) -> CandidateGraphs:
        """From one grade for each candidate, the higher the better: layers within each instance."""
        return cls.from_levels(_levels_in_rows(-np.asarray(grades, dtype=np.float64), np.asarray(ptr)), ptr)

    @classmethod
    def from_levels(cls, levels: Any, ptr: IntArray) -> CandidateGraphs:
        """From one level for each candidate: 0 = top layer, -1 = not judged."""
        ptr = np.asarray(ptr, dtype=np.int64)
        return cls(_listed(np.asarray(levels), ptr), ptr)

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def counts(self) -> NDArray[np.int64]:
        """The number of candidates of each instance."""
        return np.diff(self.ptr)

    def rows(self) -> NDArray[np.int64]:
        """The instance of each candidate."""
        return np.repeat(np.arange(len(self)), self.counts())

    @property
    def level(self) -> NDArray[np.int32] | None:
        """The level of each candidate, -1 = not judged; None where arcs are given."""
        return self.graphs.level if isinstance(self.graphs, LayeredGraphs) else None

    def take(self, rows: IntArray) -> Self:
        """The graphs of the given instances, in that order."""
        ptr, _ = gather_rows(self.ptr, rows)
        return type(self)(self.graphs.take(rows), ptr)

    def arc_counts(self) -> NDArray[np.int64]:
        """The number of arcs of each instance."""
        return self.graphs.arc_counts()

    def arcs(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Heads and tails of one instance's arcs, as positions within the instance."""
        if isinstance(self.graphs, ArcGraphs):
            return self.graphs.arcs(row)
        assert self.level is not None
        level = self.level[self.ptr[row] : self.ptr[row + 1]]
        if len(level) <= _SQUARE:
            head, tail = np.nonzero((level[:, None] >= 0) & (level[:, None] < level[None, :]))
            return head.astype(np.int32), tail.astype(np.int32)
        heads = np.flatnonzero((level >= 0) & (level < level.max()))
        tails = [np.flatnonzero(level > level[h]) for h in heads]
        found = np.repeat(heads, [len(one) for one in tails]), np.concatenate([np.empty(0, np.int64), *tails])
        return found[0].astype(np.int32), found[1].astype(np.int32)

    def to_arcs(self) -> ArcGraphs:
        """Every arc written out, over as many labels as the longest instance has candidates: O(arcs) memory."""
        if isinstance(self.graphs, ArcGraphs):
            return self.graphs
        parts = [self.arcs(row) for row in range(len(self))]
        arc_ptr = np.concatenate([[0], np.cumsum([len(head) for head, _ in parts], dtype=np.int64)])
        empty = [np.empty(0, dtype=np.int32)]
        head, tail = (np.concatenate(empty + [part[end] for part in parts]) for end in (0, 1))
        return ArcGraphs(arc_ptr, head, tail, None, self.n_labels)

    def buckets(self, cells: int = 1 << 20) -> Iterator[Bucket]:
        """The instances that have arcs, in buckets of at most about `cells` cells."""
        counts = self.counts()
        rows = np.flatnonzero(self.arc_counts() > 0)
        classes = np.ceil(np.log2(np.maximum(counts[rows], 2)))
        for one in np.unique(classes):
            alike = rows[classes == one]
            for block in row_blocks(len(alike), int(counts[alike].max()), cells):
                chosen = alike[block]
                width = int(counts[chosen].max())
                yield Bucket(chosen, _over(self.graphs.take(chosen), width), self.ptr[chosen], counts[chosen])

    def _checked(self, graphs: PreferenceGraphs) -> PreferenceGraphs:
        """Graphs over the candidates only, or an InputError."""
        if len(graphs) != len(self):
            raise InputError(f"X has {len(self)} instances and y has {len(graphs)}; give one graph for each instance.")
        if graphs.n_labels < self.n_labels and len(self.ptr) > 1:
            raise InputError(
                f"An instance has {self.n_labels} candidates, but the graphs are over {graphs.n_labels} labels only."
            )
        if isinstance(graphs, LayeredGraphs):
            return self._checked_layers(graphs)
        arcs = graphs.to_arcs()
        self._refuse_beyond(np.repeat(np.arange(len(self)), arcs.arc_counts()), np.maximum(arcs.head, arcs.tail))
        return ArcGraphs(arcs.arc_ptr, arcs.head, arcs.tail, arcs.weight, self.n_labels)

    def _checked_layers(self, graphs: LayeredGraphs) -> LayeredGraphs:
        counts, rows = self.counts(), np.repeat(np.arange(len(graphs)), np.diff(graphs.ptr))
        joined = graphs.arc_counts() > 0
        # In a row with arcs every judged label has one: to a label of another layer.
        listed = (graphs.level >= 0) & joined[rows]
        self._refuse_beyond(rows[listed], graphs.label[listed])
        unlisted = graphs.n_labels - np.diff(graphs.ptr)  # more than there are candidates without a listed level
        inside = np.bincount(rows[graphs.label < counts[rows]], minlength=len(graphs))
        beyond = joined & (graphs.rest >= 0) & (unlisted > counts - inside)
        self._refuse_beyond(np.flatnonzero(beyond), np.full(np.count_nonzero(beyond), graphs.n_labels - 1))
        levels = np.repeat(graphs.rest, counts)
        kept = graphs.label < counts[rows]
        levels[self.ptr[rows[kept]] + graphs.label[kept]] = graphs.level[kept]
        return _listed(levels, self.ptr)

    def _refuse_beyond(self, rows: IntArray, labels: IntArray) -> None:
        bad = np.flatnonzero(labels >= self.counts()[rows])
        if bad.size:
            row, count = rows[bad[0]], self.counts()[rows[bad[0]]]
            raise InputError(f"Instance {row} has {count} candidates, but an arc names candidate {labels[bad[0]]}.")

    def _same_content(self, other: CandidateGraphs) -> bool:
        return np.array_equal(self.ptr, other.ptr) and self.graphs == other.graphs

    def __repr__(self) -> str:
        return f"CandidateGraphs({len(self):,} instances, {self.ptr[-1]:,} candidates, {self._describe()})"

    def _describe(self) -> str:
        return f"{self.n_arcs:,} arcs"


def _listed(levels: IntArray, ptr: IntArray) -> LayeredGraphs:
    """Layered graphs that list the level of each candidate; nothing else is judged."""
    counts = np.diff(ptr)
    position = np.arange(len(levels)) - np.repeat(ptr[:-1], counts)
    return LayeredGraphs(ptr, position, levels, np.full(len(counts), -1), int(counts.max(initial=1)))


def _levels_in_rows(values: Array, ptr: IntArray) -> NDArray[np.int32]:
    """Number each instance's distinct values 0, 1, 2, ... from the smallest; NaN becomes -1."""
    row = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    order = np.lexsort((values, row))  # NaN goes last
    ordered, of = values[order], row[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = of[1:] != of[:-1]
    steps = np.zeros(len(order), dtype=np.int64)
    steps[1:] = (ordered[1:] != ordered[:-1]) & ~first[1:]
    total = np.cumsum(steps)
    levels = np.empty(len(order), dtype=np.int32)
    levels[order] = total - np.repeat(total[first], np.diff(np.append(np.flatnonzero(first), len(order))))
    levels[np.isnan(values)] = -1
    return levels


def _over(graphs: PreferenceGraphs, n_labels: int) -> PreferenceGraphs:
    """The same graphs over fewer labels, those beyond having no arcs."""
    if isinstance(graphs, LayeredGraphs):
        return LayeredGraphs(graphs.ptr, graphs.label, graphs.level, graphs.rest, n_labels)
    arcs = graphs.to_arcs()
    return ArcGraphs(arcs.arc_ptr, arcs.head, arcs.tail, arcs.weight, n_labels)

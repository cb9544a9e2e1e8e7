"""Layered preference graphs: a level for each label, and never an arc in memory."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcrank._typing import Array, IntArray, Mask
from arcrank._validation import check_int
from arcrank.errors import GraphError, InputError, ParameterError
from arcrank.graphs.arcs import ArcGraphs
from arcrank.graphs.base import PreferenceGraphs, check_labels, gather_rows, row_blocks
from arcrank.graphs.dense import check_indicator, check_matrix, dense_levels, list_exceptions

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class LayeredGraphs(PreferenceGraphs):
    """Preference graphs in which every label of a layer ranks above every label of the layers below it.

    Level 0 is the top layer; -1 means that the label was not judged for this instance and has no arcs. Stored are the
    exceptions from each row's most common level, so that a multilabel set costs O(relevant labels).

    Attributes
    ----------
    ptr : (n + 1,) int64
        The listed labels of instance i are ptr[i]:ptr[i + 1].
    label, level : (listed,) int32
        Labels ascend within a row.
    rest : (n,) int32
        The level of every label that is not listed.

    Examples
    --------
    >>> g = LayeredGraphs.from_levels([[0, 1, 1], [2, 0, -1]])
    >>> g
    LayeredGraphs(2 instances, 3 labels, 3 layers, 3 arcs)
    >>> g.arcs(1)
    (array([1], dtype=int32), array([0], dtype=int32))
    """

    def __init__(
        self,
        ptr: IntArray,
        label: IntArray,
        level: IntArray,
        rest: IntArray,
        n_labels: int,
        labels: NDArray[Any] | None = None,
    ) -> None:
        self.ptr = np.ascontiguousarray(ptr, dtype=np.int64)
        self.label = np.ascontiguousarray(label, dtype=np.int32)
        self.level = np.ascontiguousarray(level, dtype=np.int32)
        self.rest = np.ascontiguousarray(rest, dtype=np.int32)
        self.n_labels = n_labels
        self.labels = labels

    @classmethod
    def from_levels(cls, levels: ArrayLike, *, labels: Any = None) -> LayeredGraphs:
        """From an (n, k) matrix of integers: 0 = top layer, -1 = not judged.

        Only the order of levels counts. Numbers stay as given, unless one of them is k or more: then all are
        renumbered in their order.
        """
        matrix = check_matrix(levels, "levels")
        if matrix.dtype.kind == "f" and not np.array_equal(matrix, np.floor(matrix)):
            raise InputError("levels must be whole numbers; for other values use LayeredGraphs.from_distances.")
        if matrix.size and matrix.min() < -1:
            row, column = np.argwhere(matrix < -1)[0]
            raise InputError(
                f"Instance {row} has level {matrix[row, column]:g} for label {column}; "
                "levels are 0 (top layer), 1, 2, ... or -1 (not judged)."
            )
        if matrix.size and matrix.max() >= matrix.shape[1]:
            values, numbers = np.unique(matrix, return_inverse=True)
            matrix = numbers.reshape(matrix.shape) - (values[0] == -1)
        return cls._from_dense(matrix.astype(np.int32), labels)

    @classmethod
    def from_single_labels(cls, y: ArrayLike, n_labels: int, *, labels: Any = None) -> LayeredGraphs:
        """From one right label number for each instance: it ranks above all others."""
        n_labels = check_int("n_labels", n_labels, at_least=1, error=GraphError)
        codes = np.asarray(y)
        if codes.ndim != 1 or (codes.dtype.kind not in "iu" and codes.size):
            raise InputError(
                f"Single labels must be a 1-D array of label numbers, got {codes.dtype} of shape {codes.shape}; "
                "for label names use as_graphs(y)."
            )
        bad = np.flatnonzero((codes < 0) | (codes >= n_labels))
        if bad.size:
            raise InputError(f"Instance {bad[0]} has label {codes[bad[0]]}; labels are numbered 0..{n_labels - 1}.")
        n = len(codes)
        names = check_labels(labels, n_labels)
        top, rest = np.zeros(n, dtype=np.int32), np.ones(n, dtype=np.int32)
        return cls(np.arange(n + 1), codes, top, rest, n_labels, names)

    @classmethod
    def from_label_sets(cls, Y: Any, *, labels: Any = None) -> LayeredGraphs:
        """From an (n, k) indicator, dense or sparse: relevant labels rank above all others."""
        indicator = check_indicator(Y)
        n, k = indicator.shape
        names = check_labels(labels, k)
        top, rest = np.zeros(indicator.nnz, dtype=np.int32), np.ones(n, dtype=np.int32)
        return cls(indicator.indptr, indicator.indices, top, rest, k, names)

    @overload
    @classmethod
    def from_rankings(cls, R: ArrayLike, *, labels: Any = None, arcs: Literal["all"] = "all") -> LayeredGraphs: ...

    @overload
    @classmethod
    def from_rankings(cls, R: ArrayLike, *, labels: Any = None, arcs: Literal["adjacent"]) -> ArcGraphs: ...

    @classmethod
    def from_rankings(
        cls, R: ArrayLike, *, labels: Any = None, arcs: Literal["all", "adjacent"] = "all"
    ) -> LayeredGraphs | ArcGraphs:
        """From an (n, k) matrix of rank positions: 1 = best, ties allowed, NaN = not judged.

        arcs="adjacent" gives ArcGraphs with arcs between neighbouring ranks only.
        """
        if arcs not in ("all", "adjacent"):
            raise ParameterError(f"arcs must be 'all' or 'adjacent', got {arcs!r}.")
        matrix = check_matrix(R, "ranks")
        bad = np.argwhere(matrix < 1)
        if bad.size:
            row, column = bad[0]
            raise InputError(
                f"Instance {row} has rank {matrix[row, column]:g} for label {column}; "
                "ranks are positions, 1 = best, and NaN = not judged."
            )
        graphs = cls.from_distances(matrix, labels=labels)
        return graphs if arcs == "all" else _adjacent_arcs(graphs)

    @classmethod
    def from_distances(cls, D: ArrayLike, *, n_layers: int | None = None, labels: Any = None) -> LayeredGraphs:
        """From an (n, k) matrix of distances of each label from correct (any semi-metric), NaN = not judged.

        The layers of an instance are the distinct distances that occur for it, nearest first; with `n_layers`,
        all layers beyond are collapsed into the last one.
        """
        if n_layers is not None:
            check_int("n_layers", n_layers, at_least=1, also="None")
        matrix = check_matrix(D, "distances")
        if matrix.size and np.nanmin(matrix, initial=0) < 0:
            row, column = np.argwhere(matrix < 0)[0]
            raise InputError(
                f"Instance {row} has distance {matrix[row, column]:g} for label {column}; "
                "distances are at least 0, and NaN = not judged."
            )
        levels = _levels_of(matrix)
        if n_layers is not None:
            np.minimum(levels, n_layers - 1, out=levels)
        return cls._from_dense(levels, labels)

    @classmethod
    def from_grades(cls, G: ArrayLike, *, labels: Any = None) -> LayeredGraphs:
        """From an (n, k) matrix of grades, any real numbers: higher = better, NaN = not judged.

        Examples
        --------
        >>> LayeredGraphs.from_grades([[5, 3, 5], [1, float("nan"), 4]]).levels().tolist()
        [[0, 1, 0], [1, -1, 0]]
        """
        matrix = check_matrix(G, "grades").astype(np.float64)
        if np.isinf(matrix).any():
            row, column = np.argwhere(np.isinf(matrix))[0]
            raise InputError(
                f"Instance {row} has grade {matrix[row, column]:g} for label {column}; "
                "grades are finite numbers, and NaN = not judged."
            )
        return cls.from_order(-matrix, labels=labels)

    @classmethod
    def from_order(cls, values: Array, *, labels: Any = None) -> LayeredGraphs:
        """From an (n, k) matrix of numbers that have been checked: the smaller the better, NaN = not judged."""
        return cls._from_dense(_levels_of(values), labels)

    @classmethod
    def _from_dense(cls, levels: NDArray[np.int32], labels: Any = None) -> LayeredGraphs:
        k = check_int("n_labels", levels.shape[1], at_least=1, error=GraphError)
        return cls(*list_exceptions(levels), k, check_labels(labels, k))

    def __len__(self) -> int:
        return len(self.rest)

    def take(self, rows: IntArray) -> Self:
        """The graphs of the given instances, in that order."""
        ptr, at = gather_rows(self.ptr, rows)
        return type(self)(ptr, self.label[at], self.level[at], self.rest[rows], self.n_labels, self.labels)

    def levels(self, rows: Any = None) -> NDArray[np.int32]:
        """The (n, k) matrix of levels, -1 = not judged; O(n k) memory, so ask for blocks of rows."""
        part = self if rows is None else self[rows]
        dense = np.repeat(part.rest[:, None], self.n_labels, axis=1)
        dense[np.repeat(np.arange(len(part)), np.diff(part.ptr)), part.label] = part.level
        return dense

    @property
    def n_layers(self) -> int:
        """One more than the largest level that occurs."""
        largest = max(self.level.max(initial=-1), self._used_rest().max(initial=-1))
        return int(largest) + 1

    def _used_rest(self) -> NDArray[np.int32]:
        """The level of the labels that are not listed, -1 where every label is listed."""
        return np.where(np.diff(self.ptr) < self.n_labels, self.rest, -1)

    def arc_counts(self) -> NDArray[np.int64]:
        """The number of arcs of each instance."""
        return self._arc_counts

    @cached_property
    def _arc_counts(self) -> NDArray[np.int64]:
        """With s_b labels in layer b and s in all: (s^2 - sum_b s_b^2) / 2."""
        n, n_layers = len(self), max(1, self.n_layers)
        unlisted = self.n_labels - np.diff(self.ptr)
        rest = np.flatnonzero((self.rest >= 0) & (unlisted > 0))
        judged = self.level >= 0
        listed = (np.repeat(np.arange(n), np.diff(self.ptr)) * n_layers + self.level)[judged]
        keys = np.concatenate([listed, rest * n_layers + self.rest[rest]])
        amount = np.concatenate([np.ones(len(listed)), unlisted[rest]])
        cells, position = np.unique(keys, return_inverse=True)
        sizes = np.bincount(position, weights=amount, minlength=len(cells))
        total = np.bincount(cells // n_layers, weights=sizes, minlength=n)
        squares = np.bincount(cells // n_layers, weights=sizes**2, minlength=n)
        return ((total**2 - squares) / 2).astype(np.int64)

    def arcs(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Heads and tails of one instance's arcs; heads[j] should rank above tails[j]."""
        level = self.levels([row])[0]
        head, tail = np.nonzero((level[:, None] >= 0) & (level[:, None] < level[None, :]))
        return head.astype(np.int32), tail.astype(np.int32)

    def to_arcs(self) -> ArcGraphs:
        """The same graphs with every arc written out: O(arcs) memory."""
        parts = [self.arcs(row) for row in range(len(self))]
        arc_ptr = np.zeros(len(self) + 1, dtype=np.int64)
        np.cumsum([len(head) for head, _ in parts], out=arc_ptr[1:])
        empty = [np.empty(0, dtype=np.int32)]
        head = np.concatenate(empty + [head for head, _ in parts])
        tail = np.concatenate(empty + [tail for _, tail in parts])
        return ArcGraphs(arc_ptr, head, tail, None, self.n_labels, self.labels)

    def to_indicator(self) -> csr_matrix:
        """The (n, k) boolean CSR matrix of relevant labels (the top layer) of two-layer graphs."""
        from scipy.sparse import csr_matrix, vstack  # ranking a document does without

        if self.n_layers > 2:
            raise GraphError(
                f"These graphs have {self.n_layers} layers; only graphs of at most two layers are label sets."
            )
        if (self.rest == 1).all() and (self.level == 0).all():
            data = np.ones(len(self.label), dtype=bool)
            return csr_matrix((data, self.label, self.ptr), shape=self.shape)
        blocks = [csr_matrix(self._relevant(block)) for block in row_blocks(*self.shape)]
        return vstack(blocks, format="csr") if blocks else csr_matrix(self.shape, dtype=bool)

    def _relevant(self, rows: slice) -> Mask:
        levels = self.levels(rows)
        if (levels < 0).any():
            row, column = np.argwhere(levels < 0)[0]
            raise GraphError(
                f"Label {column} of instance {row + rows.start} was not judged, so these graphs are not label sets."
            )
        return levels == 0

    def _same_content(self, other: LayeredGraphs) -> bool:
        blocks = row_blocks(*self.shape)
        return all(np.array_equal(self.levels(block), other.levels(block)) for block in blocks)

    def _describe(self) -> str:
        return f"{self.n_layers} layers, {self.n_arcs:,} arcs"


def _levels_of(values: NDArray[Any]) -> NDArray[np.int32]:
    """Number each row's distinct values from the smallest, a block of rows at a time."""
    levels = np.empty(values.shape, dtype=np.int32)
    for block in row_blocks(*values.shape):
        levels[block] = dense_levels(values[block])
    return levels


def _adjacent_arcs(graphs: LayeredGraphs) -> ArcGraphs:
    """Arcs from each label to those of the next layer only."""
    arcs = graphs.to_arcs()
    levels = graphs.levels()
    rows = arcs.rows()
    near = levels[rows, arcs.tail] == levels[rows, arcs.head] + 1
    arc_ptr = np.zeros(len(graphs) + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows[near], minlength=len(graphs)), out=arc_ptr[1:])
    return type(arcs)(arc_ptr, arcs.head[near], arcs.tail[near], None, arcs.n_labels, arcs.labels)

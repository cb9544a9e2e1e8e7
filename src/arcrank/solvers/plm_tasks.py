"""The dual of the Preference Learning Model as kernels see it: which pieces there are, and which kernel solves them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank.compiled import plm_arcs, plm_layers
from arcrank.decompositions import DISAGREEMENT, Decomposition, Pieces
from arcrank.errors import ParameterError
from arcrank.graphs import LayeredGraphs, PreferenceGraphs
from arcrank.graphs.base import gather_rows, row_blocks
from arcrank.losses.margin import Logistic, MarginLoss

Array = NDArray[np.float64]
INNER_STEPS, ROUNDS = 50, 3  # of one visit: steps of a piece arc by arc, rounds over the exactly solved pieces


@dataclass
class FlowStore:
    """The non-zero dual variables of n instances in one pool: those of i at start[i]:start[i] + count[i]."""

    start: NDArray[np.int64]
    count: NDArray[np.int64]
    room: NDArray[np.int64]
    key: NDArray[np.int64]
    value: Array
    used: NDArray[np.int64]

    @classmethod
    def empty(cls, n: int, widest: int) -> FlowStore:
        size = 4 * n + 16 * widest
        start, count, room = np.zeros((3, n), dtype=np.int64)
        return cls(start, count, room, np.empty(size, dtype=np.int64), np.empty(size), np.zeros(1, dtype=np.int64))

    def arrays(self) -> tuple[NDArray[Any], ...]:
        return self.start, self.count, self.room, self.key, self.value, self.used

    def repack(self, widest: int) -> None:
        """Close the holes that moved entries left, and make room for more."""
        live = int(self.count.sum())
        start = np.concatenate([[0], np.cumsum(self.count)[:-1]]).astype(np.int64)
        at = np.arange(live) + np.repeat(self.start - start, self.count)
        size = 2 * live + 16 * widest
        key, value = np.empty(size, dtype=np.int64), np.empty(size)
        key[:live], value[:live] = self.key[at], self.value[at]
        self.start, self.room, self.key, self.value = start, self.count.copy(), key, value
        self.used[0] = live

    def scaled(self, factor: Array, widest: int) -> FlowStore:
        """A copy with the variables of each instance multiplied."""
        parts = (self.start, self.count.copy(), self.room, self.key, self.value, self.used.copy())
        copy = FlowStore(*parts)
        copy.repack(widest)
        live = int(copy.used[0])
        copy.value[:live] *= np.repeat(factor, copy.count)
        return copy


class Task(ABC):
    """All that a solver needs to know about graphs, decomposition, loss and codes.

    Attributes
    ----------
    cost : (n,) C of every piece of an instance
    pieces_of : (n,) number of pieces of an instance
    widest : the largest number of dual variables that an instance can have
    """

    shape: tuple[int, int]
    cost: Array
    pieces_of: NDArray[np.int64]
    widest: int
    codes: Array | None

    @abstractmethod
    def linear_pass(
        self,
        rows: Any,
        square: Array,
        visits: Any,
        first: int,
        quiet: float,
        W: Array,
        store: FlowStore,
        gaps: Array,
        costs: Array,
    ) -> tuple[int, float]: ...

    @abstractmethod
    def gram_pass(
        self, square: Array, batch: Any, K: Array, F: Array, cycles: int, quiet: float, store: FlowStore, gaps: Array,
        costs: Array, coefficients: Array,
    ) -> float: ...  # fmt: skip

    @abstractmethod
    def net_flows(self, block: slice, store: FlowStore) -> Array:
        """(rows, k) outflow minus inflow."""

    @abstractmethod
    def support(self, store: FlowStore) -> int:
        """How many pieces carry flow: the paper's support vectors."""

    @property
    def n_embedded(self) -> int:
        """Columns of W."""
        return self.shape[1] if self.codes is None else self.codes.shape[1]

    def embed(self, flows: Array) -> Array:
        return flows if self.codes is None else flows @ self.codes


@dataclass
class LayeredTask(Task):
    """Layered graphs under the standard basis, pieces of which all heads are joined to all tails: solved in flows."""

    shape: tuple[int, int]
    graph: tuple[Any, ...]
    rule: tuple[int, bool, int, float]
    cost: Array
    pieces_of: NDArray[np.int64]
    widest: int
    codes: None = None

    def linear_pass(self, rows, square, visits, first, quiet, W, store, gaps, costs):  # type: ignore[no-untyped-def]
        fixed = (self.rule, self.graph, rows, square, self.cost, visits, first, self.widest, quiet, ROUNDS)
        return plm_layers.linear_pass(*fixed, W, store.arrays(), gaps, costs)

    def gram_pass(self, square, batch, K, F, cycles, quiet, store, gaps, costs, coefficients):  # type: ignore[no-untyped-def]
        fixed = (self.rule, self.graph, square, self.cost, batch, K, F, cycles, self.widest, quiet, ROUNDS)
        return plm_layers.gram_pass(*fixed, store.arrays(), gaps, costs, coefficients)

    def net_flows(self, block: slice, store: FlowStore) -> Array:
        flows = np.empty((block.stop - block.start, self.shape[1]))
        plm_layers.net_flows(self.rule, self.graph, block.start, store.arrays(), flows)
        return flows

    def support(self, store: FlowStore) -> int:
        if self.rule[0] == plm_layers.IDENTITY:
            return int((store.count > 0).sum())
        keys, rows = _entries(store)
        return len(keys) if self.rule[0] == plm_layers.ARCS else _distinct(rows, keys // self.shape[1])


@dataclass
class ArcTask(Task):
    """Everything else: one variable for each arc, of which only those that carry weight are stored."""

    shape: tuple[int, int]
    graph: tuple[Any, ...]
    pieces: tuple[Any, ...]
    rule: tuple[int, bool, int, float]
    cost: Array
    pieces_of: NDArray[np.int64]
    widest: int
    codes: Array | None = None
    _kernel_codes: tuple[Array, Array] = field(init=False)

    def __post_init__(self) -> None:
        matrix = np.empty((0, 0)) if self.codes is None else self.codes
        self._kernel_codes = (matrix, matrix @ matrix.T)

    def linear_pass(self, rows, square, visits, first, quiet, W, store, gaps, costs):  # type: ignore[no-untyped-def]
        fixed = (self.rule, self.shape[1], self.graph, self.pieces, rows, square, self.cost, visits, first, self.widest)
        return plm_arcs.linear_pass(*fixed, quiet, INNER_STEPS, self._kernel_codes, W, store.arrays(), gaps, costs)

    def gram_pass(self, square, batch, K, F, cycles, quiet, store, gaps, costs, coefficients):  # type: ignore[no-untyped-def]
        fixed = (self.rule, self.shape[1], self.graph, self.pieces, square, self.cost, batch, K, F, cycles, self.widest)
        return plm_arcs.gram_pass(
            *fixed, quiet, INNER_STEPS, self._kernel_codes[1], store.arrays(), gaps, costs, coefficients
        )

    def net_flows(self, block: slice, store: FlowStore) -> Array:
        flows = np.empty((block.stop - block.start, self.shape[1]))
        plm_arcs.net_flows(self.rule, self.shape[1], self.pieces, block.start, store.arrays(), flows)
        return flows

    def support(self, store: FlowStore) -> int:
        mode, mirror = self.rule[:2]
        if mode == plm_arcs.IDENTITY:
            return int((store.count > 0).sum())
        keys, rows = _entries(store)
        if mode == plm_arcs.EXPLICIT:
            return _distinct(rows, np.searchsorted(self.pieces[1], keys, side="right"))
        k = self.shape[1]
        return _distinct(rows, keys % k if mirror else keys // k)


def make_task(
    graphs: PreferenceGraphs,
    decomposition: Decomposition,
    loss: MarginLoss,
    cost: Array,
    *,
    codes: Array | None = None,
    aggregate: str = "max",
    normalize: bool = False,
) -> Task:
    """Choose how to solve.

    cost : (n,) C times the weight of each instance.
    aggregate : "sum" charges every arc of a piece; it is the disagreement decomposition of the pieces.
    normalize : divide an instance's pieces by their number.
    """
    layered = isinstance(graphs, LayeredGraphs) and decomposition.name in _LAYERED
    if not layered:
        return _explicit_task(graphs, decomposition, loss, cost, codes, aggregate, normalize)
    assert isinstance(graphs, LayeredGraphs)
    pieces_of = piece_counts(graphs, decomposition.name)
    cost = cost / np.maximum(1, pieces_of) if normalize else cost
    cut = DISAGREEMENT if aggregate == "sum" else decomposition
    mode, mirror = _LAYERED[cut.name]
    graph = graphs.ptr, graphs.label, graphs.level, graphs.rest, max(1, graphs.n_layers)
    rule = mode, mirror, loss.code, loss.target
    pieces_of = piece_counts(graphs, cut.name)
    most_arcs = int(graphs.arc_counts().max(initial=1))
    two_layers = mode != plm_layers.IDENTITY or most_layers(graphs) <= 2
    if codes is None and two_layers:
        widest = graphs.n_labels if mode == plm_layers.IDENTITY else most_arcs
        return LayeredTask(graphs.shape, graph, rule, cost, pieces_of, max(1, widest))
    if mode == plm_layers.ARCS:
        return _explicit_task(graphs, cut, loss, cost, codes, "max", False)
    return ArcTask(graphs.shape, graph, _no_pieces(), rule, cost, pieces_of, max(1, most_arcs), codes)


_LAYERED = {  # mode, and whether the kernel sees the graph upside down
    "zero-one": (plm_layers.IDENTITY, False),
    "disagreement": (plm_layers.ARCS, False),
    "domination": (plm_layers.CENTRES, False),
    "dominated": (plm_layers.CENTRES, True),
}


def _explicit_task(
    graphs: PreferenceGraphs,
    decomposition: Decomposition,
    loss: MarginLoss,
    cost: Array,
    codes: Array | None,
    aggregate: str,
    normalize: bool,
) -> ArcTask:
    parts = decomposition.pieces(graphs.to_arcs())
    pieces_of = np.diff(parts.row_ptr)
    cost = cost / np.maximum(1, pieces_of) if normalize else cost
    parts = _without_weightless(_single_arcs(parts) if aggregate == "sum" else parts)
    scale, offset = loss.arc_terms(parts.weight)
    pieces = parts.row_ptr, parts.arc_ptr, parts.head, parts.tail, scale, offset, _factors(parts, loss)
    pieces_of = np.diff(parts.row_ptr)
    arcs_of = parts.arc_ptr[parts.row_ptr[1:]] - parts.arc_ptr[parts.row_ptr[:-1]]
    rule = plm_arcs.EXPLICIT, False, loss.code, loss.target
    empty = np.zeros(0, dtype=np.int32)
    graph = np.zeros(0, dtype=np.int64), empty, empty, empty, 1
    return ArcTask(graphs.shape, graph, pieces, rule, cost, pieces_of, int(arcs_of.max(initial=1)), codes)


def _no_pieces() -> tuple[Any, ...]:
    ends, numbers = np.zeros(0, dtype=np.int32), np.zeros(0)
    pointer = np.zeros(1, dtype=np.int64)
    return pointer, pointer, ends, ends, numbers, numbers, numbers


def _single_arcs(parts: Pieces) -> Pieces:
    """Every arc of every piece as a piece of its own."""
    return Pieces(parts.arc_ptr[parts.row_ptr], np.arange(len(parts.head) + 1), parts.head, parts.tail, parts.weight)


def _without_weightless(parts: Pieces) -> Pieces:
    """Arcs of weight 0 cost nothing; neither do pieces of nothing else."""
    kept = parts.weight > 0
    if kept.all():
        return parts
    lengths = np.add.reduceat(kept, parts.arc_ptr[:-1]).astype(np.int64)
    row_of = np.repeat(np.arange(len(parts.row_ptr) - 1), np.diff(parts.row_ptr))
    pieces_of = np.bincount(row_of[lengths > 0], minlength=len(parts.row_ptr) - 1)
    pointers = [np.concatenate([[0], np.cumsum(part)]) for part in (pieces_of, lengths[lengths > 0])]
    return Pieces(pointers[0], pointers[1], parts.head[kept], parts.tail[kept], parts.weight[kept])


def _factors(parts: Pieces, loss: MarginLoss) -> Array:
    """What multiplies the C of each piece: 1, but the weight of its arcs for the logistic loss."""
    if not isinstance(loss, Logistic) or not len(parts.weight):
        return np.ones(len(parts.arc_ptr) - 1)
    lowest = np.minimum.reduceat(parts.weight, parts.arc_ptr[:-1])
    if (lowest != np.maximum.reduceat(parts.weight, parts.arc_ptr[:-1])).any():
        raise ParameterError(
            "The logistic loss takes no arcs of different weights within one piece: the largest of w L(margin) has no "
            "closed dual. Use aggregate='sum', decomposition='disagreement' or another loss."
        )
    return lowest


def piece_counts(graphs: LayeredGraphs, name: str) -> NDArray[np.int64]:
    """(n,) number of pieces of layered graphs."""
    arcs = graphs.arc_counts()
    if name == "disagreement":
        return arcs
    if name == "zero-one":
        return (arcs > 0).astype(np.int64)
    counts = [_centres(graphs.levels(block), name == "dominated") for block in row_blocks(*graphs.shape)]
    return np.concatenate([np.zeros(0, dtype=np.int64), *counts])


def _centres(levels: NDArray[np.int32], mirror: bool) -> NDArray[np.int64]:
    """Heads (or tails) of each row: judged labels that are not in its last (or first) layer."""
    judged = levels >= 0
    if mirror:
        edge = np.where(judged, levels, np.iinfo(np.int32).max).min(axis=1, keepdims=True)
    else:
        edge = levels.max(axis=1, keepdims=True)
    return (judged & (levels != edge)).sum(axis=1)


def most_layers(graphs: LayeredGraphs) -> int:
    """The largest number of layers of an instance."""
    if graphs.n_layers <= 2:
        return graphs.n_layers
    most = 0
    for block in row_blocks(*graphs.shape):
        ordered = np.sort(graphs.levels(block), axis=1)
        steps = (ordered[:, 1:] != ordered[:, :-1]) & (ordered[:, :-1] >= 0)
        most = max(most, int(steps.sum(axis=1).max(initial=0)) + 1)
    return most


def _entries(store: FlowStore) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Key and instance of every stored variable, instance by instance."""
    rows = np.flatnonzero(store.count)
    _, at = gather_rows(np.concatenate([[0], np.cumsum(store.count)]), rows)
    at = at + np.repeat(store.start - (np.cumsum(store.count) - store.count), store.count)
    return store.key[at], np.repeat(np.arange(len(store.count)), store.count)


def _distinct(rows: NDArray[np.int64], groups: NDArray[np.int64]) -> int:
    """The number of different (row, group); equal ones stand together."""
    if not len(rows):
        return 0
    return 1 + int(((rows[1:] != rows[:-1]) | (groups[1:] != groups[:-1])).sum())

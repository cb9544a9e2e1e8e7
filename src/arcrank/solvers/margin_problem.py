"""The dual of the Preference Learning Model as kernels see it: which pieces there are, and which kernel solves them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array
from arcrank.compiled import margin_arcs, margin_dual_layers, margin_dual_pieces
from arcrank.compiled.losses import LN2, SQUARED, WEIGHTED
from arcrank.decompositions import DISAGREEMENT, Decomposition
from arcrank.graphs import LayeredGraphs, PreferenceGraphs
from arcrank.losses.margin import Logistic, MarginLoss
from arcrank.solvers.flow_store import FlowStore
from arcrank.solvers.margin_pieces import (
    has_mixed_weights,
    most_layers,
    piece_counts,
    piece_factors,
    single_arcs,
    without_weightless,
)

WATCHED = 20, 8  # a visit may confine itself to so many labels of an instance, or to one in so many
INNER_STEPS, ROUNDS = 50, 3  # of one visit: steps of a piece arc by arc, rounds over the exactly solved pieces


class MarginProblem(ABC):
    """All that a solver needs to know about graphs, decomposition, loss and codes.

    Attributes
    ----------
    cost : (n,) C of every piece of an instance
    pieces_of : (n,) number of pieces of an instance
    widest : the largest number of dual variables that an instance can have
    exact_visits : whether a visit solves all flows of an instance; only such problems use `relax` and `lag`
    relax : factor of the steps of the next passes, from 1 to 2
    lag : see `compiled.margin_dual_constant`
    """

    shape: tuple[int, int]
    cost: Array
    pieces_of: NDArray[np.int64]
    widest: int
    codes: Array | None
    exact_visits = False
    relax = 1.0
    lag: tuple[float, Array, Array, Array]

    def begin(self) -> None:  # noqa: B027
        """Prepare for the first pass over a store."""

    @abstractmethod
    def linear_pass(
        self,
        rows: Any,
        square: Array,
        visits: Any,
        first: int,
        full: bool,
        quiet: float,
        W: Array,
        store: FlowStore,
        gaps: Array,
        costs: Array,
    ) -> tuple[int, float]:
        """Visit instances from `first` on, and return the position reached and the rise of the dual."""

    @abstractmethod
    def gram_pass(
        self, square: Array, batch: Any, K: Array, F: Array, cycles: int, quiet: float, store: FlowStore, gaps: Array,
        costs: Array, coefficients: Array,
    ) -> float:  # fmt: skip
        """Visit a batch with kernel values K and scores F, and return the rise of the dual."""

    @abstractmethod
    def net_flows(self, block: slice, store: FlowStore) -> Array:
        """(rows, k) outflow minus inflow."""

    @property
    def n_embedded(self) -> int:
        """Columns of W."""
        return self.shape[1] if self.codes is None else self.codes.shape[1]

    def embed(self, flows: Array) -> Array:
        """Flows of the labels as flows of the columns of W: multiplied by the codes, if there are any."""
        return flows if self.codes is None else flows @ self.codes


@dataclass
class LayeredProblem(MarginProblem):
    """Layered graphs under the standard basis, pieces of which all heads are joined to all tails: solved in flows."""

    shape: tuple[int, int]
    graph: tuple[Any, ...]
    rule: tuple[int, bool, int, float]
    cost: Array
    pieces_of: NDArray[np.int64]
    widest: int
    codes: None = None
    _watch: tuple[Any, ...] = field(init=False)

    def __post_init__(self) -> None:
        n, k = self.shape
        small = np.int16 if k <= np.iinfo(np.int16).max else np.int32
        label, place = np.zeros((2, n, max(WATCHED[0], k // WATCHED[1])), dtype=small)
        nothing = np.zeros(0)
        self.lag = 0.0, nothing, nothing, nothing
        self.exact_visits = self.rule[0] <= margin_dual_layers.IDENTITY
        self._watch = label, place, np.zeros(n, dtype=np.int32), np.zeros((n, self.graph[4] + 1), dtype=np.int32)

    @property
    def _parts(self) -> tuple[bool | None, bool | None]:
        mode = self.rule[0]
        return True if mode == margin_dual_layers.HEADS else None, True if mode > margin_dual_layers.IDENTITY else None

    def begin(self) -> None:
        """Forget which labels were watched: their flows were those of another store."""
        self._watch[2][:] = 0

    def linear_pass(self, rows, square, visits, first, full, quiet, W, store, gaps, costs):  # type: ignore[no-untyped-def]
        """As `MarginProblem.linear_pass`, on layers."""
        fixed = self.rule, self.graph, rows, square, self.cost, visits, first, full, self.widest, self.relax
        state = W, self.lag, store.arrays(), self._watch
        return margin_dual_layers.linear_pass(*fixed, quiet, ROUNDS, *state, gaps, costs, *self._parts)

    def gram_pass(self, square, batch, K, F, cycles, quiet, store, gaps, costs, coefficients):  # type: ignore[no-untyped-def]
        """As `MarginProblem.gram_pass`, on layers."""
        fixed = (self.rule, self.graph, square, self.cost, batch, K, F, cycles, self.widest, quiet, ROUNDS)
        return margin_dual_layers.gram_pass(*fixed, store.arrays(), gaps, costs, coefficients, *self._parts)

    def net_flows(self, block: slice, store: FlowStore) -> Array:
        """Outflow minus inflow of the labels for a block of instances, (rows, k)."""
        flows = np.empty((block.stop - block.start, self.shape[1]))
        margin_dual_layers.net_flows(self.rule, self.graph, block.start, store.arrays(), flows)
        return flows


@dataclass
class PieceProblem(MarginProblem):
    """Everything else: one variable for each arc, of which only those that carry weight are stored."""

    shape: tuple[int, int]
    graph: tuple[Any, ...]
    pieces: tuple[Any, ...]
    rule: tuple[int, bool, int, float]
    cost: Array
    pieces_of: NDArray[np.int64]
    widest: int
    codes: Array | None = None
    constant_cut: bool = False
    _kernel_codes: tuple[Array, Array] = field(init=False)

    def __post_init__(self) -> None:
        matrix = np.empty((0, 0)) if self.codes is None else self.codes
        self._kernel_codes = (matrix, matrix @ matrix.T)

    def linear_pass(self, rows, square, visits, first, _full, quiet, W, store, gaps, costs):  # type: ignore[no-untyped-def]
        """As `MarginProblem.linear_pass`, on explicit pieces."""
        fixed = (self.rule, self.shape[1], self.graph, self.pieces, rows, square, self.cost, visits, first, self.widest)
        return margin_dual_pieces.linear_pass(
            *fixed, quiet, INNER_STEPS, self._kernel_codes, self.constant_cut, W, store.arrays(), gaps, costs
        )

    def gram_pass(self, square, batch, K, F, cycles, quiet, store, gaps, costs, coefficients):  # type: ignore[no-untyped-def]
        """As `MarginProblem.gram_pass`, on explicit pieces."""
        fixed = (self.rule, self.shape[1], self.graph, self.pieces, square, self.cost, batch, K, F, cycles, self.widest)
        gram = self._kernel_codes[1]
        return margin_dual_pieces.gram_pass(
            *fixed, quiet, INNER_STEPS, gram, self.constant_cut, store.arrays(), gaps, costs, coefficients
        )

    def net_flows(self, block: slice, store: FlowStore) -> Array:
        """Outflow minus inflow of the labels for a block of instances, (rows, k)."""
        flows = np.empty((block.stop - block.start, self.shape[1]))
        fixed = self.rule, self.shape[1], self.pieces, self.constant_cut
        margin_dual_pieces.net_flows(*fixed, block.start, store.arrays(), flows)
        return flows


def make_problem(
    graphs: PreferenceGraphs,
    decomposition: Decomposition,
    loss: MarginLoss,
    cost: Array,
    *,
    codes: Array | None = None,
    aggregate: str = "max",
    normalize: bool = False,
) -> MarginProblem:
    """Choose how to solve.

    cost : (n,) C times the weight of each instance.
    aggregate : "sum" charges every arc of a piece; it is the disagreement decomposition of the pieces.
    normalize : divide an instance's pieces by their number.
    """
    if decomposition.layered is None or not isinstance(graphs, LayeredGraphs):
        return _explicit_task(graphs, decomposition, loss, cost, codes, aggregate, normalize)
    pieces_of = piece_counts(graphs, decomposition.layered)
    cost = cost / np.maximum(1, pieces_of) if normalize else cost
    cut = DISAGREEMENT if aggregate == "sum" else decomposition
    assert cut.layered is not None
    mode, mirror = _LAYERED[cut.layered]
    graph = graphs.ptr, graphs.label, graphs.level, graphs.rest, max(1, graphs.n_layers)
    rule = mode, mirror, loss.code, loss.target
    pieces_of = piece_counts(graphs, cut.layered)
    most_arcs = int(graphs.arc_counts().max(initial=1))
    two_layers = most_layers(graphs) <= 2
    if codes is None and (two_layers or mode != margin_dual_layers.IDENTITY):
        if two_layers and mode == margin_dual_layers.CENTRES and loss.code <= SQUARED:
            rule = margin_dual_layers.HEADS, *rule[1:]
        widest = graphs.n_labels if rule[0] <= margin_dual_layers.IDENTITY else most_arcs
        return LayeredProblem(graphs.shape, graph, rule, cost, pieces_of, max(1, widest))
    if mode in (margin_dual_layers.ARCS, margin_dual_layers.CUT_CENTRES):
        return _explicit_task(graphs, cut, loss, cost, codes, "max", False)
    return PieceProblem(graphs.shape, graph, _no_pieces(), rule, cost, pieces_of, max(1, most_arcs), codes)


_LAYERED = {  # mode, and whether the kernel sees the graph upside down
    "zero-one": (margin_dual_layers.IDENTITY, False),
    "disagreement": (margin_dual_layers.ARCS, False),
    "domination": (margin_dual_layers.CENTRES, False),
    "dominated": (margin_dual_layers.CENTRES, True),
    "cut-domination": (margin_dual_layers.CUT_CENTRES, False),
}


def _explicit_task(
    graphs: PreferenceGraphs,
    decomposition: Decomposition,
    loss: MarginLoss,
    cost: Array,
    codes: Array | None,
    aggregate: str,
    normalize: bool,
) -> PieceProblem:
    parts = decomposition.pieces(graphs.to_arcs())
    pieces_of = np.diff(parts.row_ptr)
    cost = cost / np.maximum(1, pieces_of) if normalize else cost
    parts = without_weightless(single_arcs(parts) if aggregate == "sum" else parts)
    scale, offset = loss.arc_terms(parts.weight)
    mixed = isinstance(loss, Logistic) and has_mixed_weights(parts)
    factor = piece_factors(parts, loss)
    if mixed:  # the weights of the arcs take the place of their offsets, and losses are in natural units
        offset, factor = parts.weight, np.full_like(factor, 1.0 / LN2)
    pieces = parts.row_ptr, parts.arc_ptr, parts.head, parts.tail, scale, offset, factor
    pieces_of = np.diff(parts.row_ptr)
    arcs_of = parts.arc_ptr[parts.row_ptr[1:]] - parts.arc_ptr[parts.row_ptr[:-1]]
    rule = margin_arcs.EXPLICIT, False, WEIGHTED if mixed else loss.code, loss.target
    empty = np.zeros(0, dtype=np.int32)
    graph = np.zeros(0, dtype=np.int64), empty, empty, empty, 1
    # With codes, the code of the cut is 0, and so is its score.
    constant_cut = decomposition.constant_cut and codes is None and aggregate == "max"
    widest = int(arcs_of.max(initial=1))
    return PieceProblem(graphs.shape, graph, pieces, rule, cost, pieces_of, widest, codes, constant_cut)


def _no_pieces() -> tuple[Any, ...]:
    ends, numbers = np.zeros(0, dtype=np.int32), np.zeros(0)
    pointer = np.zeros(1, dtype=np.int64)
    return pointer, pointer, ends, ends, numbers, numbers, numbers

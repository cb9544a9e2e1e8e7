"""The dual of the Preference Learning Model on candidates; the passes are those of `margin_dual.LinearDual`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._features import squared_lengths
from arcrank._typing import Array
from arcrank.compiled import candidate_margin, margin_arcs
from arcrank.decompositions import DISAGREEMENT, Decomposition
from arcrank.graphs import CandidateGraphs, LayeredGraphs
from arcrank.losses.margin import MarginLoss
from arcrank.solvers.candidate_dual import depths
from arcrank.solvers.design import csr_triple
from arcrank.solvers.flow_store import FlowStore
from arcrank.solvers.margin_dual import LinearDual, Solution
from arcrank.solvers.margin_pieces import piece_factors, single_arcs, without_weightless
from arcrank.solvers.margin_problem import INNER_STEPS

__all__ = ["CandidateMachine", "CandidatePieces", "candidate_pieces", "make_candidate_problem"]

_LAYERED = {  # mode, and whether the kernel sees the graph upside down
    "zero-one": (margin_arcs.IDENTITY, False),
    "domination": (margin_arcs.CENTRES, False),
    "dominated": (margin_arcs.CENTRES, True),
}


@dataclass
class CandidatePieces:
    """Pieces as kernels see them: layers, or arcs that are written out.

    rule, pieces : see `compiled.margin_arcs`
    graph, depth : layers of all candidates, and how many layers each instance has
    """

    rule: tuple[int, bool, int, float]
    graph: tuple[Any, ...]
    depth: NDArray[Any]
    pieces: tuple[Any, ...]
    pieces_of: NDArray[np.int64]
    arcs_of: NDArray[np.int64]


def candidate_pieces(
    graphs: CandidateGraphs,
    decomposition: Decomposition,
    loss: MarginLoss,
    *,
    single: bool = False,
    margin: float = 1.0,
) -> CandidatePieces:
    """Cut graphs into pieces of loss `L(smallest margin / margin)`; with `single`, every arc of a piece is one."""
    layers, target = graphs.graphs, loss.target * margin
    if isinstance(layers, LayeredGraphs) and decomposition.layered in _LAYERED and not single:
        mode, mirror = _LAYERED[decomposition.layered]
        graph = graphs.ptr, layers.label, layers.level, layers.rest, max(1, layers.n_layers)
        counts, depth = _piece_counts(graphs, decomposition.layered), depths(graphs)
        rule = mode, mirror, loss.code, target
        return CandidatePieces(rule, graph, depth, _no_pieces(), counts, graphs.arc_counts())
    parts = decomposition.pieces(graphs.to_arcs())
    parts = without_weightless(single_arcs(parts) if single or decomposition is DISAGREEMENT else parts)
    scale, offset = loss.arc_terms(parts.weight)
    pieces = parts.row_ptr, parts.arc_ptr, parts.head, parts.tail, scale / margin, offset, piece_factors(parts, loss)
    rule = margin_arcs.EXPLICIT, False, loss.code, target
    empty = np.zeros(0, dtype=np.int32)
    graph = graphs.ptr, empty, empty, empty, 1
    arcs_of = parts.arc_ptr[parts.row_ptr[1:]] - parts.arc_ptr[parts.row_ptr[:-1]]
    depth = np.ones(len(graphs), dtype=np.int64)
    return CandidatePieces(rule, graph, depth, pieces, np.diff(parts.row_ptr), arcs_of)


def _piece_counts(graphs: CandidateGraphs, name: str) -> NDArray[np.int64]:
    """(n,) number of pieces of layered graphs."""
    if name == "zero-one":
        return (graphs.arc_counts() > 0).astype(np.int64)
    rows, level = graphs.rows(), graphs.level
    assert level is not None
    edge = np.full(len(graphs), -1 if name == "domination" else np.iinfo(np.int32).max, dtype=np.int64)
    judged = level >= 0
    (np.maximum if name == "domination" else np.minimum).at(edge, rows[judged], level[judged])
    return np.bincount(rows[judged & (level != edge[rows])], minlength=len(graphs))


def _no_pieces() -> tuple[Any, ...]:
    ends, numbers, pointer = np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(1, dtype=np.int64)
    return pointer, pointer, ends, ends, numbers, numbers, numbers


@dataclass
class CandidateProblem:
    """What `LinearDual` asks of a problem; steps have their own length, and no weights lag behind."""

    parts: CandidatePieces
    cost: Array
    pieces_of: NDArray[np.int64]
    widest: int
    exact_visits = False
    relax = 1.0
    lag: tuple[float, Array, Array, Array] | None = None

    def begin(self) -> None:
        """Nothing is watched."""

    def linear_pass(self, rows, _square, visits, first, _full, quiet, w, store, gaps, costs):  # type: ignore[no-untyped-def]
        """Visit instances from `first` on, and return the position reached and the rise of the dual."""
        own = self.parts
        fixed = own.rule, own.graph, own.depth, own.pieces, rows, self.cost, visits, first, self.widest
        return candidate_margin.machine_pass(*fixed, quiet, INNER_STEPS, w, store.arrays(), gaps, costs)


def make_candidate_problem(
    graphs: CandidateGraphs,
    decomposition: Decomposition,
    loss: MarginLoss,
    cost: Array,
    *,
    aggregate: str = "max",
    normalize: bool = False,
) -> CandidateProblem:
    """See `margin_problem.make_problem`."""
    parts = candidate_pieces(graphs, decomposition, loss, single=aggregate == "sum")
    whole = parts if aggregate == "max" else candidate_pieces(graphs, decomposition, loss)
    cost = cost / np.maximum(1, whole.pieces_of) if normalize else cost
    # An instance stores the arcs that carry weight, of each piece no more than the kernel takes.
    widest = np.minimum(parts.arcs_of, candidate_margin.MOST_ARCS * parts.pieces_of).max(initial=1)
    return CandidateProblem(parts, cost, parts.pieces_of, int(widest))


class CandidateMachine(LinearDual):
    """A linear machine on joint features of candidates, (candidates, d)."""

    def __init__(
        self,
        features: Any,
        ptr: NDArray[np.int64],
        problem: CandidateProblem,
        *,
        shrinking: bool = True,
        n_jobs: int = 1,
    ) -> None:
        self._rows = csr_triple(features)
        self._features, self._ptr = features, ptr
        lengths = squared_lengths(features)
        self._square = np.full(len(ptr) - 1, 1e-30)
        np.maximum.at(self._square, np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)), lengths)
        self._problem = problem  # type: ignore[assignment]
        self.live = np.flatnonzero((problem.pieces_of > 0) & (problem.cost > 0))
        self._shrinking, self._n_jobs = shrinking, n_jobs
        self._constant, self._curvature = 0.0, self._square
        self.gaps, self.costs = np.zeros(len(ptr) - 1), np.zeros(len(ptr) - 1)

    def start(self, store: FlowStore | None = None) -> Solution:
        """From given dual variables, or from 0."""
        n, d = len(self._ptr) - 1, self._features.shape[1]
        problem: Any = self._problem
        if store is None:
            primal = float((problem.cost * problem.pieces_of).sum())
            return Solution(FlowStore.empty(n, problem.widest), np.zeros(d), primal, 0.0)
        net, parts = np.empty(self._ptr[-1]), problem.parts
        candidate_margin.sum_flows(parts.rule, parts.pieces, self._ptr, store.arrays(), net)
        solution = Solution(store, np.asarray(self._features.T @ net))
        self.measure(solution)
        return solution

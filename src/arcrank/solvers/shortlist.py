"""Weights of a sparse pattern, fitted by dual ascent on shortlists of labels: for tens of thousands of labels and more.

`min 1/2 ||W - W0||^2 + C sum_i sum_{pieces of D(G_i)} L(piece)` over the weights of a pattern, with the prior W0. A
visit of an instance scores all labels by streaming the weights of its features, chooses the labels that can matter, and
solves its part of the dual on these. All state is plain arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank._typing import Array
from arcrank.compiled import shortlist_dual as dual
from arcrank.compiled.shortlist_select import locate, select
from arcrank.decompositions import Decomposition
from arcrank.graphs import ArcGraphs, LayeredGraphs, PreferenceGraphs
from arcrank.solvers.flow_store import FlowStore
from arcrank.solvers.history import History
from arcrank.solvers.shortlist_arrays import SparseWeights, csr_rows, share

__all__ = [
    "LOSSES",
    "NO_OFFSETS",
    "Ascent",
    "full_pattern",
    "listed_labels",
]

LOSSES = {"log-linear": dual.LOG_LINEAR, "hinge": dual.HINGE, "squared-hinge": dual.SQUARED}
NO_OFFSETS = np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32)
_REACH = {"log-linear": 6.0, "hinge": 1.0, "squared-hinge": 1.0}
"""How far below the labels that should be above it a label may score and still be in the shortlist; e^-6 = 0.0025."""
_MODES = {
    "zero-one": dual.ZERO_ONE,
    "domination": dual.DOMINATION,
    "dominated": dual.DOMINATED,
    "disagreement": dual.DISAGREEMENT,
    "cut-domination": dual.CUT_DOMINATION,
}
_BATCH = 64  # visits whose labels are chosen at the same weights; the result must not depend on the number of threads
_ROUNDS, _STEPS, _MARGIN_STEPS = 3, 4, 50
_LEAST_FLOW = 1e-3


def full_pattern(n_features: int, n_labels: int) -> SparseWeights:
    """A weight for every feature and label, all 0."""
    ptr = np.arange(n_features + 1, dtype=np.int64) * n_labels
    label = np.tile(np.arange(n_labels, dtype=np.int32), n_features)
    return SparseWeights(ptr, label, np.zeros(len(label), np.float32))


def listed_labels(graphs: PreferenceGraphs) -> tuple[Any, Any]:
    """Two (n, k) sparse indicators: the labels that are above others, and those that have weights for the instance.

    Labels that are only below others have weights where they are listed, unless they are the unlisted rest's equals.
    """
    if isinstance(graphs, LayeredGraphs):
        rows = np.repeat(np.arange(len(graphs)), np.diff(graphs.ptr))
        rest = graphs.rest[rows]
        lowest = np.full(len(graphs), -1, np.int32)
        np.maximum.at(lowest, rows, graphs.level)
        lowest = np.where(np.diff(graphs.ptr) < graphs.n_labels, np.maximum(lowest, graphs.rest), lowest)
        above = (graphs.level >= 0) & (graphs.level < lowest[rows])
        judged = (graphs.level >= 0) & ((graphs.level != rest) | above)
        return _indicator(graphs, rows[above], graphs.label[above]), _indicator(
            graphs, rows[judged], graphs.label[judged]
        )
    arcs = graphs.to_arcs()
    both = np.concatenate([arcs.head, arcs.tail])
    return _indicator(graphs, arcs.rows(), arcs.head), _indicator(graphs, np.tile(arcs.rows(), 2), both)


def _indicator(graphs: PreferenceGraphs, rows: Any, labels: Any) -> Any:
    found = sp.csr_matrix((np.ones(len(rows), np.float32), (rows, labels)), shape=graphs.shape)
    found.sum_duplicates()
    found.data[:] = 1.0
    return found


@dataclass
class Ascent:
    """The fit of one data set: what is constant, and the state that a pass changes.

    Attributes
    ----------
    weights, bias : SparseWeights and (k,) float32
        The current weights, changed in place.
    store : FlowStore
        The dual variables: at first `flows`, whose part of the weights and the bias they must make, or none.
    """

    X: Any
    graphs: PreferenceGraphs
    decomposition: Decomposition
    loss: str
    cost: Array
    weights: SparseWeights
    bias: NDArray[np.float32]
    room: int
    constant: float = 1.0
    offset: tuple[Any, Any, Any] = NO_OFFSETS
    n_jobs: int = 1
    flows: FlowStore | None = None
    gap: float = field(default=float("inf"), init=False)

    def __post_init__(self) -> None:
        self._rows = csr_rows(self.X)
        self._features = np.diff(self._rows[2])
        layered = isinstance(self.graphs, LayeredGraphs) and self.decomposition.layered is not None
        self._graph, self._pieces = self._layers() if layered else self._explicit()
        self._listed = np.diff(self._graph[0])
        self._mode = _MODES[str(self.decomposition.layered)] if layered else dual.ZERO_ONE
        self.store = FlowStore.empty(len(self.graphs), 1024) if self.flows is None else self.flows

    def _layers(self) -> tuple[Any, Any]:
        graphs = self.graphs
        assert isinstance(graphs, LayeredGraphs)
        nothing = np.zeros(0, np.int32)
        pieces = np.zeros(1, np.int64), np.zeros(1, np.int64), nothing, nothing, np.zeros(0)
        return (graphs.ptr, graphs.label, graphs.level, graphs.rest), pieces

    def _explicit(self) -> tuple[Any, Any]:
        """Pieces of arcs that are written out: the labels of an instance's arcs are listed, no others are judged."""
        arcs: ArcGraphs = self.graphs.to_arcs()
        pieces = self.decomposition.pieces(arcs)
        _, listed = listed_labels(arcs)
        listed.sort_indices()
        level, rest = np.zeros(listed.nnz, np.int32), np.full(len(arcs), -1, np.int32)
        graph = listed.indptr.astype(np.int64), listed.indices.astype(np.int32), level, rest
        return graph, (pieces.row_ptr, pieces.arc_ptr, pieces.head, pieces.tail, pieces.weight)

    def solve(self, *, tol: float, max_iter: int, random: Any, history: History) -> None:
        """Make passes until the estimated relative gap is at most `tol`; the history's callback may stop."""
        for _ in range(max_iter):
            gap, loss = self.pass_over(random, tol)
            self.gap = gap / loss if loss > 0 else 0.0
            if history.add(loss=loss, gap=self.gap) or self.gap <= tol:
                return

    def pass_over(self, random: Any, tol: float) -> tuple[float, float]:
        """Visit all instances once in random order; return the gap and the loss met on the way."""
        totals = np.zeros(2)
        with ThreadPoolExecutor(self.n_jobs) as threads:
            for visits in _batches(random.permutation(len(self.graphs))):
                self._visit(visits, tol, totals, threads)
        return float(totals[0]), float(totals[1])

    def _visit(self, visits: NDArray[np.int64], tol: float, totals: Array, threads: ThreadPoolExecutor) -> None:
        k, n = len(self.bias), len(visits)
        width = min(k, int((self._listed[visits] + 2 * self.store.count[visits]).max()) + 2 * min(self.room, k))
        chosen, counts = np.empty((n, width), np.int32), np.empty(n, np.int64)
        store, reach = self.store.arrays(), _REACH[self.loss]
        share(
            n,
            self.n_jobs,
            threads,
            lambda a, b: select(
                visits,
                a,
                b,
                self._rows,
                self._graph,
                tuple(self.weights),
                self.bias,
                self.offset,
                store,
                self.room,
                reach,
                chosen,
                counts,
            ),
        )
        starts = np.concatenate([[0], np.cumsum(counts * self._features[visits])])
        place, square, fixed = np.empty(starts[-1], np.int64), np.empty((n, width)), np.empty((n, width))
        batch = chosen, counts, starts, place, square, fixed
        rows, constant = self._rows, self.constant
        share(
            n,
            self.n_jobs,
            threads,
            lambda a, b: locate(visits, a, b, rows, tuple(self.weights), self.offset, constant, *batch),
        )
        self._ascend(visits, batch, tol, totals)

    def _ascend(self, visits: NDArray[np.int64], batch: Any, tol: float, totals: Array) -> None:
        loss = LOSSES[self.loss]
        steps = _STEPS if loss == dual.LOG_LINEAR else _MARGIN_STEPS
        least = 0.0 if self.room >= len(self.bias) else _LEAST_FLOW
        rule = loss, self._mode, _ROUNDS, steps, float(tol), least
        widest, first = self._widest(visits, batch[1]), 0
        while first < len(visits):
            first = dual.ascend(
                rule,
                visits,
                first,
                self._rows,
                self._graph,
                self._pieces,
                self.cost,
                batch,
                tuple(self.weights),
                self.bias,
                self.constant,
                self.store.arrays(),
                widest,
                totals,
            )
            if first < len(visits):
                self.store.repack(widest)

    def _widest(self, visits: NDArray[np.int64], counts: NDArray[np.int64]) -> int:
        """The most arcs that an instance of the batch can have."""
        row_ptr, arc_ptr = self._pieces[:2]
        if len(row_ptr) > 1:
            return int((arc_ptr[row_ptr[visits + 1]] - arc_ptr[row_ptr[visits]]).max()) + 1
        others = counts - self._listed[visits]  # unlisted labels share a layer: no arcs among them
        return int((counts * counts - np.maximum(others, 0) ** 2).max()) // 2 + counts.max() + 1


def _batches(order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    return (order[start : start + _BATCH] for start in range(0, len(order), _BATCH))

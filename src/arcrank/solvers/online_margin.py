"""Passive-aggressive steps on the pieces of preference graphs: which kernel makes them.

Nothing here imports numba before the first pass, so a trained ranker scores without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcrank._typing import Array, IntArray
from arcrank.decompositions import CUT_DOMINATED, CUT_DOMINATION, DISAGREEMENT, DOMINATION, Decomposition, Pieces
from arcrank.graphs import ArcGraphs, LayeredGraphs, PreferenceGraphs
from arcrank.losses.margin import MarginLoss
from arcrank.solvers.margin_pieces import most_layers, single_arcs, without_weightless
from arcrank.solvers.online import Progress, Prototypes, check_seen, csr_arrays

__all__ = ["MarginSteps", "Stepper"]

Stepper = Callable[[int, float, Array, Array, Progress], bool]
"""From (row, ||x||^2, scores, step) to whether weights move; it records the losses, and fills in the step."""
_MODES = {  # of compiled.margin_dual_layers, which must not be imported here, and whether graphs are reversed
    "zero-one": (0, False),
    "domination": (1, False),
    "dominated": (1, True),
    "disagreement": (2, False),
    "cut-domination": (3, False),
    "cut-dominated": (3, True),
}

_GROUPS: dict[Decomposition, int] = {DISAGREEMENT: 1, CUT_DOMINATION: 1, CUT_DOMINATED: 2}
"""By which end `compiled.online_pieces` takes single arcs together: their heads, or their tails."""


@dataclass(frozen=True)
class MarginSteps:
    """Steps that minimise `||W' - W||^2 / 2 + C L(m / margin)` for the smallest margin m of each piece in turn.

    With `relative`, C is divided by the squared length of each document.
    """

    decomposition: Decomposition
    loss: MarginLoss
    C: float
    relative: bool = False
    margin: float = 1.0

    def learn(self, model: Prototypes, X: Any, graphs: PreferenceGraphs, rows: IntArray, progress: Progress) -> None:
        """See the rows of X, CSR (n, d), in the given order."""
        from arcrank.compiled.online_margin import layered_pass
        from arcrank.compiled.online_pieces import pieces_pass

        progress.reserve(len(rows))
        model.forget_mean()
        out: list[Any] = [model.weights, model.late, progress.counters, progress.sums, progress.curve]
        if self.on_layers(graphs):
            given: list[Any] = [self._rule(), self._setting, rows, *csr_arrays(X), _layers(graphs)]
            check_seen(layered_pass(*given, *out), rows)
            return
        given = [self.loss.code, self._setting, rows, *csr_arrays(X), *self._arcs(graphs)]
        check_seen(pieces_pass(*given, *out), rows)

    def stepper(self, graphs: PreferenceGraphs) -> Stepper:
        """The step of one document at given scores, which the kernels of features need."""
        from arcrank.compiled import online_margin, online_pieces

        setting, loss = self._setting, self.loss.code
        if self.on_layers(graphs):
            rule, graph = self._rule(), _layers(graphs)
            work = online_margin.workspace(graphs.n_labels, graph[4])
            return lambda i, square, scores, step, progress: online_margin.layered_step(
                i, rule, setting, graph, square, scores, step, work, *_arrays(progress)
            )
        arcs, pieces, groups = self._arcs(graphs)
        work = online_pieces.piece_workspace(pieces)
        return lambda i, square, scores, step, progress: online_pieces.piece_step(
            i, loss, setting, arcs, pieces, groups, square, scores, step, work, *_arrays(progress)
        )

    def on_layers(self, graphs: PreferenceGraphs) -> bool:
        """Whether no arc has to be written out; as one piece, graphs of more than two layers do not allow that."""
        if not isinstance(graphs, LayeredGraphs) or self.decomposition.layered is None:
            return False
        return self.decomposition.layered != "zero-one" or most_layers(graphs) <= 2

    @property
    def _setting(self) -> tuple[float, bool, float]:
        return float(self.C), bool(self.relative), float(self.margin)

    def _rule(self) -> tuple[int, bool, int, float]:
        assert self.decomposition.layered is not None
        return *_MODES[self.decomposition.layered], self.loss.code, 1.0

    def _arcs(self, graphs: PreferenceGraphs) -> tuple[Any, Any, int]:
        """Arcs, pieces, and by which end adjacent single arcs are solved together."""
        arcs = graphs.to_arcs()
        parts = without_weightless(self._pieces(arcs))
        scale, offset = self.loss.arc_terms(parts.weight)
        factor = np.ones(len(parts.arc_ptr) - 1)
        pieces = parts.row_ptr, parts.arc_ptr, parts.head, parts.tail, scale, offset, factor
        return (arcs.arc_ptr, arcs.head, arcs.tail), pieces, _GROUPS.get(self.decomposition, 0)

    def _pieces(self, arcs: ArcGraphs) -> Pieces:
        """Pieces in an order in which the arcs of a head are adjacent."""
        if self.decomposition is DISAGREEMENT:
            return single_arcs(DOMINATION.pieces(arcs))
        return self.decomposition.pieces(arcs)


def _layers(graphs: PreferenceGraphs) -> tuple[Any, ...]:
    assert isinstance(graphs, LayeredGraphs)
    return graphs.ptr, graphs.label, graphs.level, graphs.rest, max(1, graphs.n_layers)


def _arrays(progress: Progress) -> tuple[Any, Any, Any]:
    return progress.counters, progress.sums, progress.curve

"""Passes of online rankers over candidates.

Nothing here imports numba before the first pass, so a trained ranker scores without it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank._features import squared_lengths
from arcrank._typing import Array, IntArray
from arcrank.errors import GraphError
from arcrank.graphs import ArcGraphs, CandidateGraphs, LayeredGraphs
from arcrank.solvers.design import csr_triple
from arcrank.solvers.online import PERCEPTRON, Progress, Prototypes, check_seen
from arcrank.solvers.online_margin import MarginSteps

__all__ = ["learn_by_margins", "learn_by_rule", "spreads"]


def learn_by_rule(
    model: Prototypes, rule: int, features: Any, graphs: CandidateGraphs, rows: IntArray, progress: Progress
) -> None:
    """See instances in the given order by the rule of MMP or of the perceptron; features are (candidates, d)."""
    from arcrank.compiled.candidate_online import perceptron_pass

    if rule == PERCEPTRON and (not isinstance(graphs.graphs, LayeredGraphs) or graphs.graphs.n_layers > 2):
        raise GraphError(f"PerceptronRanker needs label sets, got {graphs!r}; use MMPRanker for other preferences.")
    graph, depth, arcs = _graph_arrays(graphs)
    given = rows, graphs.ptr, graph, depth, arcs, csr_triple(features), spreads(features, graphs.ptr), rule
    check_seen(perceptron_pass(*given, *_state(model, progress, len(rows))), rows)


def learn_by_margins(
    model: Prototypes, steps: MarginSteps, features: Any, graphs: CandidateGraphs, rows: IntArray, progress: Progress
) -> None:
    """See instances in the given order by passive-aggressive steps."""
    from arcrank.compiled.candidate_online import margin_pass
    from arcrank.solvers.candidate_machine import candidate_pieces

    parts = candidate_pieces(graphs, steps.decomposition, steps.loss, margin=steps.margin)
    graph, depth, arcs = _graph_arrays(graphs)
    if not len(arcs[0]):  # layers also where the pieces are written out: the losses of a round are read from them
        depth = np.maximum(depth, parts.depth)
    setting = float(steps.C), bool(steps.relative)
    square = spreads(features, graphs.ptr)
    given = parts.rule, setting, rows, graphs.ptr, graph, depth, parts.pieces, arcs, csr_triple(features), square
    check_seen(margin_pass(*given, *_state(model, progress, len(rows))), rows)


def _state(model: Prototypes, progress: Progress, n: int) -> tuple[Any, ...]:
    progress.reserve(n)
    model.forget_mean()
    weights = model.weights.reshape(-1), model.late.reshape(-1)
    return *weights, progress.counters, progress.sums, progress.curve


def _graph_arrays(graphs: CandidateGraphs) -> tuple[tuple[Any, ...], NDArray[np.int64], tuple[Any, ...]]:
    """Layers and their number for each instance, and arcs; those that are not given are empty."""
    ends, pointer = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
    layers = graphs.graphs
    if isinstance(layers, LayeredGraphs):
        depth = np.zeros(len(graphs), dtype=np.int64)
        np.maximum.at(depth, graphs.rows(), layers.level + 1)
        graph = layers.ptr, layers.label, layers.level, layers.rest, max(2, layers.n_layers)
        return graph, depth, (pointer, ends, ends)
    assert isinstance(layers, ArcGraphs)
    depth = np.ones(len(graphs), dtype=np.int64)
    return (graphs.ptr, ends, ends, ends, 2), depth, (layers.arc_ptr, layers.head, layers.tail)


def spreads(features: Any, ptr: NDArray[np.int64]) -> Array:
    """`mean ||z - mean z||^2` over the candidates of each instance: what ||x||^2 is to labels that share x.

    A head and a tail of labels that share x differ by 2 ||x||^2, and two candidates by twice this number on average.
    """
    counts = np.maximum(1, np.diff(ptr))
    n, rows = len(counts), np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    member = sp.csr_matrix((1.0 / counts[rows], (rows, np.arange(len(rows)))), shape=(n, len(rows)))
    means = member @ features
    of_mean = squared_lengths(means)
    spread: Array = np.maximum(0.0, member @ squared_lengths(features) - of_mean)
    # What rounding leaves of candidates that are all equal is nothing.
    return np.where(spread > 1e-12 * of_mean, spread, 0.0)

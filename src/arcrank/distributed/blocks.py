"""A partition that is ready to be learnt from, and the sums that the primal solvers ask of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from arcrank._typing import Array
from arcrank.decompositions import Decomposition
from arcrank.distributed.partitions import Partitions, Sums
from arcrank.distributed.raw import DataSummary, RawPartition, matrix_of, weights_of
from arcrank.errors import InputError
from arcrank.graphs import ArcGraphs, CandidateGraphs, LayeredGraphs, PreferenceGraphs, as_graphs
from arcrank.graphs.align import align_labels
from arcrank.graphs.cut import insert_cut
from arcrank.graphs.unseen import seen_on_top
from arcrank.losses import LogLinearLoss
from arcrank.losses.candidates import CandidateLoss
from arcrank.rankers.base import add_intercept
from arcrank.rankers.candidates import CandidateSets, add_cut_candidate, candidate_graphs_with_cut
from arcrank.rankers.thresholds import set_sizes
from arcrank.solvers.design import CandidateDesign, LabelDesign
from arcrank.solvers.flow_sums import FlowProblem
from arcrank.solvers.loglinear_boosting import BoostingSums, CandidateSums, LabelSums
from arcrank.solvers.loglinear_dual import count_flows
from arcrank.solvers.products import row_products

__all__ = ["Block", "BlockPlan", "SummedBoosting", "SummedFlows", "in_common_columns", "prepare"]


@dataclass(frozen=True)
class BlockPlan:
    """How partitions become blocks: what they have in common, and parameters of the ranker."""

    data: DataSummary
    decomposition: Decomposition
    normalize: bool
    constant: float | None
    cut: bool
    cut_level: int | None
    loss: Any = None


@dataclass
class Block:
    """Instances with the constant feature, graphs over the labels of all partitions, and weights without C."""

    index: int
    X: Any
    graphs: PreferenceGraphs
    weight: Array
    plan: BlockPlan

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is computed from the rest: it is computed again where the block arrives."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def design(self) -> LabelDesign | CandidateDesign:
        """The base ranking functions."""
        if isinstance(self.X, CandidateSets):
            return CandidateDesign(self.X.features)
        return LabelDesign(self.X, self.graphs.n_labels)

    @cached_property
    def boosting(self) -> BoostingSums:
        """The sums that Figure 3 needs."""
        plan = self.plan
        if isinstance(self.graphs, CandidateGraphs):
            options = {"normalize": plan.normalize}
            return CandidateSums(self.X.features, self.graphs, plan.decomposition, self.weight, **options)
        assert isinstance(self.design, LabelDesign)
        return LabelSums(self.design, self._make_loss(self.weight), self.graphs.arc_counts() > 0)

    def problem(self, cost: float) -> FlowProblem:
        """The problem of L-BFGS, with C in the weights of the instances."""
        found = self.__dict__.get("_problem")
        if found is None or found[0] != cost:
            found = self.__dict__["_problem"] = cost, FlowProblem(self.design, self._make_loss(cost * self.weight))
        problem: FlowProblem = found[1]
        return problem

    def _make_loss(self, weight: Array) -> Any:
        bind = self.plan.loss or partial(LogLinearLoss, normalize=self.plan.normalize)
        if isinstance(self.graphs, CandidateGraphs):
            return CandidateLoss(self.graphs, self.plan.decomposition, weight, bind)
        return bind(self.graphs, self.plan.decomposition, weight)

    def features(self) -> Any:
        """Return the features without the constant one."""
        return self.X[:, : self.plan.data.n_features]


def prepare(raw: RawPartition, index: int, plan: BlockPlan) -> Block:
    """Make the block of a partition; the result depends on nothing else, so it can be made again anywhere."""
    if isinstance(raw.X, CandidateSets):
        return _prepare_candidates(raw, index, plan)
    X = in_common_columns(matrix_of(raw), raw.names, plan.data)
    X = X if plan.constant is None else add_intercept(X, plan.constant)
    return Block(index, X, _graphs(raw, plan), weights_of(raw.weight, len(raw)), plan)


def _prepare_candidates(raw: RawPartition, index: int, plan: BlockPlan) -> Block:
    sets, y = raw.X, raw.y
    if sets.shape[1] < plan.data.n_features:
        sets = CandidateSets(_widened(sp.csr_matrix(sets.features), plan.data.n_features), sets.ptr)
    graphs = candidate_graphs_with_cut(y, sets, plan.cut_level) if plan.cut else sets.graphs(y)
    if plan.cut:
        sets = add_cut_candidate(sets, constant=plan.constant is not None)
    return Block(index, sets, graphs, weights_of(raw.weight, len(raw)), plan)


def in_common_columns(X: Any, names: list[str] | None, data: DataSummary) -> Any:
    """Return the features of a partition in the columns that all partitions have."""
    if data.names is None or names is None:
        is_dense = not sp.issparse(X) and X.shape[1] == data.n_features
        return X if is_dense else _widened(sp.csr_matrix(X), data.n_features)
    places = {name: j for j, name in enumerate(data.names)}
    X = sp.csr_matrix(X)
    columns = np.array([places[name] for name in names], dtype=np.int32)[X.indices]
    moved = sp.csr_matrix((X.data.copy(), columns, X.indptr), shape=(X.shape[0], data.n_features))  # mapped: read-only
    moved.sort_indices()
    return moved


def _widened(X: sp.csr_matrix, width: int) -> sp.csr_matrix:
    """A matrix of this width, with indices of one type; those of a mapped shard have two."""
    return sp.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], width))


def _graphs(raw: RawPartition, plan: BlockPlan) -> PreferenceGraphs:
    kind, labels = plan.data.kind, plan.data.labels
    try:
        if kind == "graphs":
            graphs = raw.y if labels is None else align_labels(raw.y, labels)
        else:
            graphs = as_graphs(raw.y, kind=kind, labels=labels)
        if len(graphs) != len(raw):
            raise InputError(f"X has {len(raw)} instances and y has {len(graphs)}; give one entry for each instance.")
        return insert_cut(graphs, plan.cut_level, as_sets=kind != "layers") if plan.cut else graphs
    except InputError as error:
        raise type(error)(f"{raw.source}: {error}") from error


def block_facts(block: Block) -> dict[str, Any]:
    """Return what the client reports of a block: arcs, labels on top, dual variables."""
    is_matrix = not isinstance(block.X, CandidateSets)
    explicit = isinstance(block.graphs, ArcGraphs)
    return {
        "arcs": block.graphs.n_arcs,
        "seen": seen_on_top(block.graphs) if is_matrix else None,
        "flows": count_flows(block.graphs, block.plan.decomposition) if is_matrix else 0,
        "explicit": explicit,
        "layered": not explicit,
    }


def gradient_sums(block: Block, W: Array, cost: float) -> Sums:
    """Return the loss of a block, and `X'(outflow - inflow)`."""
    return block.problem(cost).flow_sums(W)


def boosting_sums(block: Block, W: Array) -> Sums:
    """Return the loss of a block, W+ and W- of Fig. 3 (Dekel et al. 2003)."""
    return block.boosting.sums(W)


def block_rho(block: Block) -> float:
    """Return the largest sum of |pi| of an arc of a block."""
    return block.boosting.rho


class SummedBoosting:
    """Figure 3's sums over partitions."""

    def __init__(self, partitions: Partitions) -> None:
        self._partitions = partitions
        self.rho = max(partitions.map(block_rho))

    def sums(self, W: Array) -> tuple[float, Array, Array]:
        """The loss, W+ and W-."""
        value, plus, minus = self._partitions.sum(boosting_sums, W)
        return value, plus, minus


class SummedFlows:
    """The problem of L-BFGS, summed over partitions: the solver on the client is that of one machine."""

    def __init__(self, partitions: Partitions, weight_shape: tuple[int, ...], cost: float) -> None:
        self.weight_shape = weight_shape
        self._partitions = partitions
        self._cost = cost

    def flow_sums(self, W: Array) -> tuple[float, Array]:
        """The loss at the weights, and `X'(outflow - inflow)`."""
        value, sums = self._partitions.sum(gradient_sums, W, self._cost)
        return value, sums


def sampled_scores(block: Block, coef: Array, intercept: Array, offsets: list[int], step: int) -> tuple[Array, Any]:
    """Return scores of every `step`-th instance of the whole data, and the sizes of their label sets."""
    first = -offsets[block.index] % step
    assert isinstance(block.graphs, LayeredGraphs)
    X = block.features()[first::step]
    return row_products(X, coef.T) + intercept, set_sizes(block.graphs)[first::step]

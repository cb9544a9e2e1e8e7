"""A partition that is ready to be learnt from, and the sums that the primal solvers ask of it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from arcrank._typing import Array, Mask
from arcrank.decompositions import Decomposition
from arcrank.distributed.partitions import Partitions, Sums
from arcrank.distributed.raw import DataSummary, RawPartition, matrix_of, weights_of
from arcrank.errors import InputError
from arcrank.graphs import ArcGraphs, LayeredGraphs, PreferenceGraphs, as_graphs
from arcrank.graphs.align import align_labels
from arcrank.graphs.cut import insert_cut
from arcrank.graphs.unseen import seen_on_top
from arcrank.losses import LogLinearLoss
from arcrank.rankers.base import add_intercept
from arcrank.rankers.candidates import (
    CandidateDesign,
    CandidateSets,
    add_cut_candidate,
    candidate_graphs,
    candidate_graphs_with_cut,
)
from arcrank.rankers.thresholds import set_sizes
from arcrank.solvers.design import LabelDesign
from arcrank.solvers.loglinear_dual import count_flows
from arcrank.solvers.products import row_products

__all__ = ["Block", "BlockPlan", "SummedFlows", "in_common_columns", "prepare"]


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
            return CandidateDesign(self.X, self.graphs.n_labels)
        return LabelDesign(self.X, self.graphs.n_labels)

    @cached_property
    def parts(self) -> tuple[Any, Any]:
        """The positive and the negative part of the base functions, for boosting."""
        return self.design.split()

    def loss(self, cost: float) -> Any:
        """The loss with C in the weights of the instances."""
        found = self.__dict__.get("_loss")
        if found is None or found[0] != cost:
            found = self.__dict__["_loss"] = cost, self._make_loss(cost * self.weight)
        return found[1]

    def _make_loss(self, weight: Array) -> Any:
        if self.plan.loss is not None:
            return self.plan.loss(self.graphs, self.plan.decomposition, weight)
        return LogLinearLoss(self.graphs, self.plan.decomposition, weight, normalize=self.plan.normalize)

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
    graphs = candidate_graphs_with_cut(y, sets, plan.cut_level) if plan.cut else candidate_graphs(y, sets)
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
    """Return what the client reports of a block: arcs, labels on top, dual variables, the largest 1-norm."""
    is_matrix = not isinstance(block.X, CandidateSets)
    explicit = isinstance(block.graphs, ArcGraphs)
    return {
        "arcs": block.graphs.n_arcs,
        "seen": seen_on_top(block.graphs) if is_matrix else None,
        "flows": count_flows(block.graphs, block.plan.decomposition) if is_matrix else 0,
        "explicit": explicit,
        "norm": block.design.largest_norm(_with_arcs(block)),
        "layered": not explicit,
    }


def _with_arcs(block: Block) -> Mask:
    return block.graphs.arc_counts() > 0


def gradient_sums(block: Block, W: Array, cost: float) -> Sums:
    """Return the loss of a block, and `X'(outflow - inflow)`."""
    value, outflow, inflow = block.loss(cost).flows(block.design.scores(W))
    return value, block.design.transposed(outflow - inflow)


def boosting_sums(block: Block, W: Array, cost: float) -> Sums:
    """Return the loss of a block, W- and W+ of Fig. 3 (Dekel et al. 2003)."""
    value, outflow, inflow = block.loss(cost).flows(block.design.scores(W))
    positive, negative = block.parts
    plus, minus = positive.transposed(inflow), positive.transposed(outflow)
    if negative is not None:
        plus += negative.transposed(outflow)
        minus += negative.transposed(inflow)
    return value, minus, plus


class SummedFlows:
    """Sums over partitions in the place of both the design and the loss of a primal solver.

    A solver asks for `transposed(flows(scores(W)))`. Here `flows` returns what is already multiplied by X' and summed,
    and the other two return their argument, so that the solvers on the client stay those of one machine.
    """

    def __init__(
        self, partitions: Partitions, weight_shape: tuple[int, ...], cost: float, *, norm: float, boosting: bool
    ) -> None:
        self.weight_shape = weight_shape
        self._partitions = partitions
        self._cost = cost
        self._norm = norm
        self._boosting = boosting

    def scores(self, W: Array) -> Array:
        """The weights themselves."""
        return W

    def transposed(self, flow: Array) -> Array:
        """Sums that are transposed already."""
        return flow

    def split(self) -> tuple[SummedFlows, None]:
        """The signs of features have been seen to in the partitions."""
        return self, None

    def largest_norm(self, rows: Mask) -> float:  # noqa: ARG002 - the rows are in the partitions
        """The largest 1-norm of an instance with arcs."""
        return self._norm

    def flows(self, W: Array) -> tuple[float, Array, Array]:
        """The loss and two arrays whose difference is X'(outflow - inflow); for boosting W- and W+."""
        if self._boosting:
            value, minus, plus = self._partitions.sum(boosting_sums, W, self._cost)
            return value, minus, plus
        value, difference = self._partitions.sum(gradient_sums, W, self._cost)
        return value, difference, np.zeros(1)

    def value(self, W: Array) -> float:
        """The loss alone."""
        return self.flows(W)[0]


def sampled_scores(block: Block, coef: Array, intercept: Array, offsets: list[int], step: int) -> tuple[Array, Any]:
    """Return scores of every `step`-th instance of the whole data, and the sizes of their label sets."""
    first = -offsets[block.index] % step
    assert isinstance(block.graphs, LayeredGraphs)
    X = block.features()[first::step]
    return row_products(X, coef.T) + intercept, set_sizes(block.graphs)[first::step]

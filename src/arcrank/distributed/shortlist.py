"""Rankers of very many labels on a Dask cluster.

Partitions share the pattern of the weights and the prior W0, which come from sums over their documents, and each makes
a pass over its own documents in every round, as in `dual`: `W = W0 + sum_p V_p`. A partition's V_p is a vector of the
weights of the pattern, then of the constant feature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from arcrank._typing import Array
from arcrank.distributed.base import DaskEstimator
from arcrank.distributed.blocks import Block, BlockPlan, prepare
from arcrank.distributed.cluster import ClusterPartitions
from arcrank.distributed.dual import DualRound, ascend_sums, drop_flows
from arcrank.distributed.fitting import check_facts, learn_data, n_columns, offsets_of
from arcrank.distributed.partitions import Sums
from arcrank.distributed.raw import DataSummary
from arcrank.errors import InputError
from arcrank.graphs.unseen import seen_on_top
from arcrank.rankers.shortlist.neighbours import Neighbours
from arcrank.rankers.shortlist.pattern import centroid_sums, rare_features, scaled_centroids, with_features
from arcrank.rankers.shortlist.ranker import ShortlistRanker
from arcrank.solvers.history import History
from arcrank.solvers.shortlist import NO_OFFSETS, Ascent, listed_labels
from arcrank.solvers.shortlist_arrays import SparseWeights, csr_rows

__all__ = ["DaskShortlistRanker"]

_TRIES = 3
"""Rounds after the last one in which partitions that lost their flows learn again."""


@dataclass(frozen=True)
class ShortlistPlan(BlockPlan):
    """What the dual of a partition depends on besides its documents; `loss` is a name."""

    room: int = 16
    square: float = 0.0
    """That of the constant feature."""
    n_partitions: int = 1
    neighbours: int = 0
    share: float = 0.0


@dataclass
class ShortlistBlock(Block):
    """A block with the pattern and the prior that all partitions share, and the votes for its documents."""

    start: SparseWeights = None  # type: ignore[assignment]
    offset: Any = NO_OFFSETS


class ShortlistFlows:
    """A `LocalDual` on shortlists; X was multiplied by the square root of the number of partitions."""

    def __init__(self, block: ShortlistBlock, X: sp.csr_matrix, cost: float) -> None:
        plan, k = block.plan, block.graphs.n_labels
        assert isinstance(plan, ShortlistPlan)
        self._start, self._scale = block.start, float(np.sqrt(plan.n_partitions))
        common = X, block.graphs, plan.decomposition, plan.loss, cost * block.weight, block.start
        constant = plan.n_partitions * plan.square
        self._ascent = Ascent(*common, np.zeros(k, np.float32), plan.room, constant, block.offset)
        self.shape = (len(block.start.weight) + k,)
        self.gaps, self.losses = np.zeros(1), np.zeros(1)

    def ascend(self, W: Array, random: np.random.RandomState, skip: float) -> None:
        """As `LocalDual.ascend`; `skip` is the relative gap that is not worth a step."""
        m = len(self._start.weight)
        weight = (self._start.weight / self._scale + W[:m]).astype(np.float32)
        # The constant is not in X, so its weights enter scores as they are.
        bias = (self._scale * W[m:]).astype(np.float32)
        before = weight.copy(), bias.copy()
        self._ascent.weights, self._ascent.bias = self._start._replace(weight=weight), bias
        self.gaps[0], self.losses[0] = self._ascent.pass_over(random, skip)
        W[:m] += weight - before[0]
        W[m:] += (bias - before[1]) / self._scale

    def measure(self, W: Array) -> None:
        """As `LocalDual.measure`; the gap of all labels is not known, so the estimate of the last pass stays."""


def shortlist_facts(block: Block) -> dict[str, Any]:
    """Return what the client reports of a block."""
    return {"arcs": block.graphs.n_arcs, "seen": seen_on_top(block.graphs), "sparse": sp.issparse(block.X)}


def count_features(block: Block) -> Sums:
    """Return how many documents have each feature, (d,)."""
    return (np.bincount(block.X.indices, minlength=block.X.shape[1]),)


def sum_centroids(block: Block, kept: NDArray[np.bool_]) -> tuple[Any, Any]:
    """Return the `centroid_sums` of a block."""
    return centroid_sums(with_features(block.X, kept), *listed_labels(block.graphs))


def add_centroids(parts: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Add the sums of some partitions; a pattern that is not larger is that of the sums."""
    sums = sum((one for one, _ in parts[1:]), start=parts[0][0])
    if all(larger is None for _, larger in parts):
        return sums, None
    patterns = [_ones_like(one) if larger is None else larger for one, larger in parts]
    return sums, sum(patterns[1:], start=patterns[0])


def _ones_like(matrix: Any) -> Any:
    return sp.csr_matrix((np.ones_like(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)


def make_lists(block: Block, frequency: NDArray[np.int64]) -> list[tuple[int, Neighbours]]:
    """Return the inverted lists of a block, with its number."""
    above, _ = listed_labels(block.graphs)
    members = above[:, 1:] if block.plan.cut else above
    return [(block.index, Neighbours.of(block.X, members, frequency))]


def join_lists(parts: Sequence[list[tuple[int, Neighbours]]]) -> list[tuple[int, Neighbours]]:
    """Return the lists of some partitions."""
    return [one for part in parts for one in part]


def complete(
    block: Block, index: int, kept: Any, start: SparseWeights, near: Neighbours, offsets: list[int]
) -> ShortlistBlock:
    """Return a block with everything that its dual needs; its documents are numbered from offsets[index] on."""
    plan = block.plan
    assert isinstance(plan, ShortlistPlan)
    votes: Any = NO_OFFSETS
    if plan.neighbours:
        found = near.find(csr_rows(block.X), plan.neighbours, own=offsets[index])
        votes = near.votes(found, plan.share, block.graphs.n_labels - plan.cut, int(plan.cut))
    common = block.index, with_features(block.X, kept), block.graphs, block.weight, plan
    return ShortlistBlock(*common, start, votes)


def len_of(block: ShortlistBlock) -> int:
    """Return the number of documents."""
    return len(block.weight)


class DaskShortlistRanker(DaskEstimator, ShortlistRanker):
    """`ShortlistRanker` fitted on the partitions of a Dask cluster.

    In each of `max_iter` rounds every partition makes a pass over its documents, with steps that are safe to be added
    (CoCoA+, Ma et al. 2015). The optimum is that of one machine, but after the same number of passes the weights of
    more partitions are further from it, and nearer to the prior: `benchmarks/distributed_shortlist.py` measures what it
    costs in accuracy. The training documents that vote as neighbours are gathered at the client, and so are the
    weights; `neighbours=0` keeps the documents at the workers.

    Parameters
    ----------
    loss, decomposition, C, prior, pattern, working_set, max_df, fit_intercept, neighbours, neighbours_weight, prune,
    tol, max_iter, cut_label, cut_level, set_measure, warm_start, callback, random_state, n_jobs, verbose
        As in `ShortlistRanker`. There is no warm start, and each task uses one thread. Calibrate `to_local()`.
    client : distributed.Client, str or None
        The client, the address of a scheduler, or None for the default client of this process.
    timeout : float
        Seconds that may pass without a task being finished, before a `ClusterError` is raised.

    Attributes
    ----------
    labels_, weights_, intercept_, cut_weights_, neighbours_, history_, duality_gap_, n_iter_
        As in `ShortlistRanker`; `neighbours_` numbers the documents of all partitions in their order.
    n_instances_ : int
        The number of instances of all partitions.

    Examples
    --------
    >>> import dask, scipy.sparse as sp
    >>> from distributed import Client
    >>> from arcrank.distributed import DaskShortlistRanker
    >>> X, y = sp.csr_matrix([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), [{"tea"}, {"milk"}, {"tea", "milk"}]
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
    ...     blocks = [dask.delayed((X[:2], y[:2])), dask.delayed((X[2:], y[2:]))]
    ...     ranker = DaskShortlistRanker(random_state=0, client=client).fit(blocks)
    >>> ranker.to_local().rank(X[:2], top=1).tolist()
    [['tea'], ['milk']]
    """

    _local_class = ShortlistRanker

    def __init__(
        self,
        loss: str = "log-linear",
        decomposition: Any = "domination",
        C: float | None = None,
        prior: float | None = None,
        *,
        pattern: str = "documents",
        working_set: int | None = 16,
        max_df: float = 1 / 9,
        fit_intercept: float = 0.3,
        neighbours: int = 30,
        neighbours_weight: float = 12.0,
        prune: float = 0.1,
        tol: float = 1e-3,
        max_iter: int = 2,
        cut_label: bool = False,
        cut_level: int | None = None,
        set_measure: str | None = "micro_f1",
        warm_start: bool = False,
        callback: Any = None,
        random_state: Any = None,
        n_jobs: int = 1,
        verbose: int = 0,
        client: Any = None,
        timeout: float = 300.0,
    ) -> None:
        super().__init__(
            loss,
            decomposition,
            C,
            prior,
            pattern=pattern,
            working_set=working_set,
            max_df=max_df,
            fit_intercept=fit_intercept,
            neighbours=neighbours,
            neighbours_weight=neighbours_weight,
            prune=prune,
            tol=tol,
            max_iter=max_iter,
            cut_label=cut_label,
            cut_level=cut_level,
            set_measure=set_measure,
            warm_start=warm_start,
            callback=callback,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.client = client
        self.timeout = timeout

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        super().check_parameters()
        self._refuse_changed({"warm_start": False})

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a Dask collection, delayed blocks of (X, y) or (X, y, weight), or a folder of shards.

        X : dask.bag of objects as in JSON lines, list of delayed blocks with sparse features, or the path of a folder
            with a file for each partition
        """
        self.check_parameters()
        raw, data = self._load(X, y, sample_weight)
        if data.kind == "candidates":
            raise InputError("DaskShortlistRanker ranks labels, got candidates; use DaskLogLinearRanker for them.")
        blocks = raw.derive(prepare, self._plan(data), keep=data.kept)
        del raw
        facts = blocks.map(shortlist_facts)
        if not all(one["sparse"] for one in facts):
            self._check_features(np.zeros((1, 1)), reset=False)  # says why dense features are refused
        learn_data(self, data, facts)
        check_facts(self, data, facts)
        self._learn(blocks, data)
        self.n_instances_ = data.n
        return self

    def _plan(self, data: DataSummary) -> ShortlistPlan:
        cut = bool(self.cut_label)
        k = n_columns(data, cut=cut)
        return ShortlistPlan(
            *(data, self._pieces(), False, None, cut, self.cut_level, self.loss),
            room=k if self.working_set is None else int(self.working_set),
            square=float(self.fit_intercept) ** 2,
            n_partitions=len(data.kept),
            neighbours=int(self.neighbours),
            share=float(self.neighbours_weight),
        )

    def _learn(self, blocks: ClusterPartitions, data: DataSummary) -> None:
        k = n_columns(data, cut=bool(self.cut_label))
        (frequency,) = blocks.sum(count_features)
        kept = rare_features(frequency, data.n, float(self.max_df), k)
        sums, larger = blocks.reduce(sum_centroids, add_centroids, kept)
        start = scaled_centroids(sums.tocsr(), larger, self._setting(1), full=self.pattern == "full")
        self.neighbours_ = self._gather_lists(blocks, frequency, data.n_features)
        shared = [blocks.cluster.keep(value) for value in (kept, start, self.neighbours_)]
        ready = blocks.derive(complete, *shared, offsets_of(data), keep=range(len(blocks)))
        blocks.futures.clear()  # workers need not hold both; Dask makes the first again where it needs them
        ready.map(len_of)  # partitions get their workers as soon as they are computed, before there are flows
        W = self._rounds(ready, np.zeros(len(start.weight) + k))
        m = len(start.weight)
        self._keep(start._replace(weight=(start.weight + W[:m]).astype(np.float32)), W[m:].astype(np.float32))

    def _gather_lists(self, blocks: ClusterPartitions, frequency: Any, n_features: int) -> Neighbours:
        if not self.neighbours:
            return Neighbours.nothing(n_features)
        parts = sorted(blocks.reduce(make_lists, join_lists, frequency), key=lambda one: one[0])
        lists: Neighbours = parts[0][1]
        for _, more in parts[1:]:
            lists = lists.extended(more)
        return lists

    def _rounds(self, blocks: ClusterPartitions, W: Array) -> Array:
        """Let partitions ascend; partitions that lost their flows with a worker learn in the next round."""
        seed = int(check_random_state(self.random_state).randint(2**31))
        job = DualRound(blocks.cluster.run, ShortlistFlows, self._setting(0), len(blocks), seed, skip=float(self.tol))
        history, tries, lost = History(self.callback, self.max_iter, self.verbose), _TRIES, 0
        try:
            while len(history.entries) < self.max_iter or (lost and tries):
                tries -= len(history.entries) >= self.max_iter
                W, loss, gap, lost = blocks.sum(ascend_sums, W, job)
                job = replace(job, number=job.number + 1)
                self.duality_gap_ = np.inf if lost else gap / loss if loss > 0 else 0.0
                if history.add(loss=loss, gap=self.duality_gap_) or self.duality_gap_ <= self.tol:
                    break
        finally:
            history.close()
            blocks.cluster.everywhere(drop_flows, blocks.cluster.run)
        self.history_, self.n_iter_ = history.entries, len(history.entries)
        return W

"""Preference machines on a Dask cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from arcrank._features import squared_lengths
from arcrank._typing import Array
from arcrank.decompositions import DISAGREEMENT, Decomposition
from arcrank.distributed.base import DaskEstimator
from arcrank.distributed.blocks import Block, BlockPlan, prepare
from arcrank.distributed.cluster import ClusterPartitions
from arcrank.distributed.dual import DualRound, drop_flows, fit_dual, flows_of
from arcrank.distributed.fitting import check_facts, learn_data, n_columns, offsets_of
from arcrank.distributed.raw import DataSummary
from arcrank.errors import InputError, ParameterError
from arcrank.graphs.base import row_blocks
from arcrank.graphs.unseen import seen_on_top
from arcrank.rankers.preference_machine.bound import BoundTerms, most_arcs_of_a_piece, smallest_margin
from arcrank.rankers.preference_machine.codes import check_codes, learns_codes
from arcrank.rankers.preference_machine.fitting import warn_unconverged
from arcrank.rankers.preference_machine.leave_one_out import (
    count_pieces_within,
    last_charged_margin,
    widest_code_distance,
)
from arcrank.rankers.preference_machine.machine import PreferenceMachine
from arcrank.rankers.scale import scale_of_sums
from arcrank.solvers.flow_store import FlowStore
from arcrank.solvers.history import History
from arcrank.solvers.loglinear_dual import DualState
from arcrank.solvers.margin_dual import LinearDual, Solution
from arcrank.solvers.margin_problem import MarginProblem, make_problem

__all__ = ["DaskPreferenceMachine"]


@dataclass(frozen=True)
class MarginPlan(BlockPlan):
    """What the margins of a partition are charged by; `loss` is a `MarginLoss`."""

    aggregate: str = "max"
    codes: Array | None = None

    def problem(self, block: Block, cost: float) -> MarginProblem:
        """Return the dual problem of a block with costs of C times the weights of its instances."""
        options: dict[str, Any] = {"codes": self.codes, "aggregate": self.aggregate, "normalize": self.normalize}
        return make_problem(block.graphs, self.decomposition, self.loss, cost * block.weight, **options)

    @property
    def charged(self) -> Decomposition:
        """The decomposition whose pieces are charged: single arcs where they are summed."""
        return self.decomposition if self.aggregate == "max" else DISAGREEMENT


class MarginFlows:
    """A `LocalDual` of a preference machine."""

    def __init__(self, block: Block, X: sp.csr_matrix, cost: float) -> None:
        assert isinstance(block.plan, MarginPlan)
        problem = block.plan.problem(block, cost)
        self._dual = LinearDual(X, problem)
        self._store = FlowStore.empty(X.shape[0], problem.widest)
        self.shape = X.shape[1], problem.n_embedded
        self.gaps, self.losses = self._dual.gaps, self._dual.costs

    def ascend(self, W: Array, random: np.random.RandomState, skip: float) -> None:
        """As `LocalDual.ascend`."""
        self._dual.visit(Solution(self._store, W), random.permutation(self._dual.live), True, skip)

    def measure(self, W: Array) -> None:
        """As `LocalDual.measure`."""
        self._dual.measure(Solution(self._store, W))

    def carriers(self) -> Any:
        """Return the instances that carry flow."""
        return np.flatnonzero(self._store.count)


def margin_facts(block: Block) -> dict[str, Any]:
    """Return what the client reports of a block, and the terms of Theorem 1 that need no weights."""
    plan = block.plan
    assert isinstance(plan, MarginPlan)
    problem = plan.problem(block, 1.0)
    return {
        "arcs": block.graphs.n_arcs,
        "seen": seen_on_top(block.graphs),
        "weighted_pieces": float(problem.cost @ problem.pieces_of),
        "pieces": int(problem.pieces_of.sum()),
        "most_pieces": int(problem.pieces_of.max(initial=0)),
        "most_arcs": most_arcs_of_a_piece(block.graphs, plan.charged),
        "radius": float(_lengths(block).max(initial=0.0)),
    }


def _lengths(block: Block) -> Array:
    X = sp.csr_matrix(block.X)
    return np.sqrt(squared_lengths(X))


def margin_report(block: Block, W: Array, distance: float, job: DualRound) -> tuple[float, int, Any]:
    """Return the smallest margin, how many pieces may be support vectors, and the instances that carry flow.

    Where flows were lost after the last round, these are the instances that the loss charges.
    """
    plan = block.plan
    assert isinstance(plan, MarginPlan)
    X, weights = sp.csr_matrix(block.X), W if plan.codes is None else W @ plan.codes.T

    def score(rows: Any) -> Array:
        return np.asarray(X[rows] @ weights)

    margins = (smallest_margin(block.graphs[rows], score(rows)) for rows in row_blocks(*block.graphs.shape))
    limit = last_charged_margin(plan.loss) + distance * widest_code_distance(plan.codes) * _lengths(block)
    single = plan.aggregate == "sum"
    within = count_pieces_within(block.graphs, score, limit, plan.decomposition, single=single)
    local = flows_of(block, job)
    with local.lock:
        assert isinstance(local.dual, MarginFlows)
        if local.number != job.number:
            local.measure(W)
            return min(margins, default=np.inf), within, np.flatnonzero(local.dual.losses > 0)
        return min(margins, default=np.inf), within, local.dual.carriers()


class DaskPreferenceMachine(DaskEstimator, PreferenceMachine):
    """`PreferenceMachine` with a linear kernel, fitted on the partitions of a Dask cluster.

    Instances are visited in another order than on one machine, so the result is another one with a duality gap of at
    most `tol`. A partition that was lost with its worker is computed again from its source, and its dual variables
    start again from 0.

    Parameters
    ----------
    decomposition, loss, kernel, C, codes, code_length, fit_intercept, intercept, aggregate, normalize, beta, gamma,
    degree, coef0, landmarks, prediction, cut_label, cut_level, set_measure, calibration_folds, label_correlations, tol,
    max_iter, shrinking, cache_mb, warm_start, callback, random_state, n_jobs, verbose
        As in `PreferenceMachine`. The kernel is "linear", and codes are not learnt. With cut_label,
        `calibration_folds` must be 0, and no label correlations are learnt: calibrate `to_local()` on data that fit
        into memory. There is no warm start, and
        each task uses one thread.
    client : distributed.Client, str or None
        The client, the address of a scheduler, or None for the default client of this process.
    timeout : float
        Seconds that may pass without a task being finished, before a `ClusterError` is raised.

    Attributes
    ----------
    coef_, intercept_, embedding_, C_, labels_, support_, duality_gap_, objective_, leave_one_out_bound_, history_,
    n_iter_
        As in `PreferenceMachine`; `support_` numbers the instances of all partitions in their order.
    n_instances_ : int
        The number of instances of all partitions.

    Examples
    --------
    >>> import numpy as np, dask
    >>> from distributed import Client
    >>> from arcrank.distributed import DaskPreferenceMachine
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
    ...     blocks = [dask.delayed((np.eye(2), ["tea", "milk"])), dask.delayed((np.ones((1, 2)), ["tea"]))]
    ...     machine = DaskPreferenceMachine(C=10, client=client).fit(blocks)
    >>> machine.to_local().rank([[2.0, 0.0]]).tolist()
    [['tea', 'milk']]
    """

    _local_class = PreferenceMachine

    def __init__(
        self,
        decomposition: Any = "identity",
        loss: Any = "hinge",
        kernel: Any = "linear",
        C: float | str = "scale",
        codes: Any = None,
        *,
        code_length: int = 50,
        fit_intercept: bool = True,
        intercept: str = "scaled",
        aggregate: str = "max",
        normalize: bool = False,
        beta: float = 1.0,
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        landmarks: int | None = None,
        prediction: str = "auto",
        cut_label: bool = False,
        cut_level: int | None = None,
        set_measure: str | None = "micro_f1",
        calibration_folds: int = 3,
        label_correlations: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        shrinking: bool = True,
        cache_mb: float = 500,
        warm_start: bool = False,
        callback: Any = None,
        random_state: Any = None,
        n_jobs: int = 1,
        verbose: int = 0,
        client: Any = None,
        timeout: float = 300.0,
    ) -> None:
        super().__init__(
            decomposition,
            loss,
            kernel,
            C,
            codes,
            code_length=code_length,
            fit_intercept=fit_intercept,
            intercept=intercept,
            aggregate=aggregate,
            normalize=normalize,
            beta=beta,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            landmarks=landmarks,
            prediction=prediction,
            cut_label=cut_label,
            cut_level=cut_level,
            set_measure=set_measure,
            calibration_folds=calibration_folds,
            label_correlations=label_correlations,
            tol=tol,
            max_iter=max_iter,
            shrinking=shrinking,
            cache_mb=cache_mb,
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
        self._refuse_folds()
        self._refuse_changed({"kernel": "linear", "warm_start": False})
        if learns_codes(self.codes):
            raise ParameterError("DaskPreferenceMachine does not learn codes; use PreferenceMachine(codes='learn').")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a Dask collection, delayed blocks of (X, y) or (X, y, weight), or a folder of shards.

        X : dask.array or dask.dataframe (then y is one too, with the same partitions), dask.bag of objects as in JSON
            lines, list of delayed blocks, or the path of a folder with a file for each partition
        """
        self.check_parameters()
        raw, data = self._load(X, y, sample_weight)
        if data.kind == "candidates":
            raise InputError("DaskPreferenceMachine ranks labels, got candidates; use DaskLogLinearRanker for them.")
        scale, k = scale_of_sums(data.scale, data.n_features), n_columns(data, cut=bool(self.cut_label))
        constant = scale.constant(self.intercept, with_cut=bool(self.cut_label)) if self.fit_intercept else None
        blocks = raw.derive(prepare, self._plan(data, constant, k), keep=data.kept)
        del raw
        facts = blocks.map(margin_facts)
        learn_data(self, data, facts)
        check_facts(self, data, facts)
        self.C_ = scale.cost(self.C, self._factor(), k, sum(one["weighted_pieces"] for one in facts))
        self._learn(blocks, data, constant, facts)
        self.n_instances_ = data.n
        return self

    def _plan(self, data: DataSummary, constant: float | None, k: int) -> MarginPlan:
        cut = bool(self.cut_label)
        codes = check_codes(self.codes, k, with_cut=cut)
        common = data, self._pieces(), self.normalize, constant, cut, self.cut_level, self._loss()
        return MarginPlan(*common, aggregate=self.aggregate, codes=codes)

    def _learn(
        self, blocks: ClusterPartitions, data: DataSummary, constant: float | None, facts: list[dict[str, Any]]
    ) -> None:
        codes = check_codes(self.codes, n_columns(data, cut=bool(self.cut_label)), with_cut=bool(self.cut_label))
        columns = n_columns(data, cut=bool(self.cut_label)) if codes is None else codes.shape[1]
        history = History(self.callback, self.max_iter, self.verbose)
        shape = data.n_features + (constant is not None), columns
        try:
            state, job = fit_dual(self, blocks, MarginFlows, shape, data.n, history)
            parts = blocks.map(margin_report, state.W, _distance(state), job)
        finally:
            history.close()
            blocks.cluster.everywhere(drop_flows, blocks.cluster.run)
        self.history_, self.n_iter_ = history.entries, len(history.entries)
        self.duality_gap_, self.objective_ = state.relative_gap, state.primal
        self._keep_weights(state.W, codes, data.n_features, constant or 0.0)
        self._note_bounds(parts, facts, data, codes, float(np.vdot(state.W, state.W)))
        if not state.converged and self.n_iter_ >= self.max_iter:
            warn_unconverged(self, state.relative_gap)

    def _keep_weights(self, W: Array, codes: Array | None, n_features: int, constant: float) -> None:
        self.__dict__.pop("embedding_", None)
        self._set_weights(W if codes is None else W @ codes.T, n_features, constant)
        if codes is not None:
            self.embedding_ = W[:n_features].T

    def _note_bounds(
        self, parts: list[Any], facts: list[dict[str, Any]], data: DataSummary, codes: Array | None, square: float
    ) -> None:
        smallest, within, carriers = zip(*parts, strict=True)
        self.support_ = np.concatenate([first + one for first, one in zip(offsets_of(data), carriers, strict=True)])
        self.leave_one_out_bound_ = sum(within) / max(1, sum(one["pieces"] for one in facts))
        longest = 1.0 if codes is None else float(np.sqrt((codes**2).sum(axis=1).max()))
        self._bound_terms = BoundTerms(
            n=data.n,
            most_pieces=max(one["most_pieces"] for one in facts),
            most_arcs=max(one["most_arcs"] for one in facts),
            margin=min(smallest) / np.sqrt(square) if square > 0 else 0.0,
            radius=2.0 * longest * max(one["radius"] for one in facts),
        )


def _distance(state: DualState) -> float:
    """Return a bound on the distance of the weights from the optimal ones."""
    solution = Solution(FlowStore.empty(0, 1), state.W, state.primal, state.primal - state.gap)
    return solution.distance

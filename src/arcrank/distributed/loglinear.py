"""Log-linear label ranking on a Dask cluster."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from arcrank.distributed.base import DaskEstimator
from arcrank.distributed.blocks import BlockPlan, SummedBoosting, SummedFlows, block_facts, prepare, sampled_scores
from arcrank.distributed.cluster import ClusterPartitions
from arcrank.distributed.dual import LogLinearFlows, drop_flows, fit_dual
from arcrank.distributed.fitting import check_facts, learn_data, n_columns, offsets_of
from arcrank.distributed.raw import DataSummary
from arcrank.rankers.base import Sizes
from arcrank.rankers.loglinear import LogLinearRanker
from arcrank.rankers.scale import scale_of_sums
from arcrank.rankers.thresholds import MOST_CELLS, thresholds_of
from arcrank.solvers.lbfgs import PrimalState, solve_lbfgs
from arcrank.solvers.loglinear_boosting import solve_boosting

__all__ = ["DaskLogLinearRanker"]


class DaskLogLinearRanker(DaskEstimator, LogLinearRanker):
    """`LogLinearRanker` fitted on the partitions of a Dask cluster; predictions are made in this process.

    "boosting" and "lbfgs" give the result of one machine up to rounding. "dual" visits instances in another order, so
    its result is another one with a duality gap of at most `tol`. A partition that was lost with its worker is computed
    again from its source.

    Parameters
    ----------
    decomposition, solver, C, normalize, arc_weights, label_features, loss, fit_intercept, intercept, smoothing,
    virtual, tol, max_iter, cut_label, cut_level, set_measure, calibration_folds, label_correlations, warm_start,
    callback, random_state, n_jobs, verbose
        As in `LogLinearRanker`. With cut_label, `calibration_folds` must be 0, and no label correlations are learnt:
        calibrate `to_local()` on data that fit into memory. There is no warm start, arcs are not counted as votes,
        labels have no features, and each task uses one thread.
    client : distributed.Client, str or None
        The client, the address of a scheduler, or None for the default client of this process.
    timeout : float
        Seconds that may pass without a task being finished, before a `ClusterError` is raised.

    Attributes
    ----------
    coef_, intercept_, C_, labels_, duality_gap_, history_, n_iter_, solver_, thresholds_
        As in `LogLinearRanker`.
    n_instances_ : int
        The number of instances of all partitions.

    Examples
    --------
    >>> import numpy as np, dask
    >>> from distributed import Client
    >>> from arcrank.distributed import DaskLogLinearRanker
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
    ...     blocks = [dask.delayed((np.eye(2), ["tea", "milk"])), dask.delayed((np.ones((1, 2)), ["tea"]))]
    ...     ranker = DaskLogLinearRanker(C=10, client=client).fit(blocks)
    >>> ranker.to_local().rank([[2.0, 0.0]]).tolist()
    [['tea', 'milk']]
    """

    _local_class = LogLinearRanker

    def __init__(
        self,
        decomposition: Any = "domination",
        solver: str = "auto",
        C: float | str = "scale",
        *,
        normalize: bool = True,
        arc_weights: str = "margin",
        label_features: Any = None,
        loss: Any = None,
        fit_intercept: bool = True,
        intercept: str = "scaled",
        smoothing: float = 0.1,
        virtual: float = 0.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        cut_label: bool = False,
        cut_level: int | None = None,
        set_measure: str | None = "micro_f1",
        calibration_folds: int = 3,
        label_correlations: bool = True,
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
            solver,
            C,
            normalize=normalize,
            arc_weights=arc_weights,
            label_features=label_features,
            loss=loss,
            fit_intercept=fit_intercept,
            intercept=intercept,
            smoothing=smoothing,
            virtual=virtual,
            tol=tol,
            max_iter=max_iter,
            cut_label=cut_label,
            cut_level=cut_level,
            set_measure=set_measure,
            calibration_folds=calibration_folds,
            label_correlations=label_correlations,
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
        self._refuse_changed({"warm_start": False, "arc_weights": "margin", "label_features": None})

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a Dask collection, delayed blocks of (X, y) or (X, y, weight), or a folder of shards.

        X : dask.array or dask.dataframe (then y is one too, with the same partitions), dask.bag of objects as in JSON
            lines, list of delayed blocks, or the path of a folder with a file for each partition
        """
        self.check_parameters()
        self.__dict__.pop("thresholds_", None)
        raw, data = self._load(X, y, sample_weight)
        self._set_scale(scale_of_sums(data.scale, data.n_features), n_columns(data, cut=bool(self.cut_label)))
        blocks = raw.derive(prepare, self._plan(data), keep=data.kept)
        del raw
        self._learn(blocks, data)
        self.n_instances_ = data.n
        return self

    def _plan(self, data: DataSummary) -> BlockPlan:
        is_candidates = data.kind == "candidates"
        if is_candidates:
            self._constant = 1.0
        constant = self._constant if self.fit_intercept else None
        cut = bool(self.cut_label)
        return BlockPlan(
            data,
            self._cut() if is_candidates else self._pieces(),
            self.normalize,
            constant,
            cut,
            self.cut_level,
            self.loss,
        )

    def _learn(self, blocks: ClusterPartitions, data: DataSummary) -> None:
        facts = blocks.map(block_facts)
        learn_data(self, data, facts)
        n_labels = n_columns(data, cut=bool(self.cut_label))
        sizes = Sizes(data.n, data.n_features, n_labels, sum(one["flows"] for one in facts))
        sizes = sizes._replace(explicit=any(one["explicit"] for one in facts))
        by_default = data.kind == "candidates" and self.solver == "auto"
        self.solver_ = "lbfgs" if by_default else self._choose_solver(sizes)
        check_facts(self, data, facts)
        width = data.n_features + self._has_constant(data)
        shape = (width,) if data.kind == "candidates" else (width, n_labels)
        if self.solver_ == "dual":
            self._solve_dual(blocks, shape, data)
        else:
            self._solve_primal(blocks, shape)
        if not self.cut_label and data.kind in ("sets", "indicator") and all(one["layered"] for one in facts):
            self._learn_thresholds(blocks, data)

    def _has_constant(self, data: DataSummary) -> bool:
        return bool(self.fit_intercept and (data.kind != "candidates" or self.cut_label))

    def _solve_dual(self, blocks: ClusterPartitions, shape: Any, data: DataSummary) -> None:
        history = self._history()
        try:
            state, _ = fit_dual(self, blocks, LogLinearFlows, shape, data.n, history)
        finally:
            blocks.cluster.everywhere(drop_flows, blocks.cluster.run)
        self._finish(state, history, data.n_features)

    def _solve_primal(self, blocks: ClusterPartitions, shape: Any) -> None:
        state, history = PrimalState(np.zeros(shape)), self._history()
        options: dict[str, Any] = {"max_iter": self.max_iter, "history": history}
        try:
            if self.solver_ == "boosting":
                steps: dict[str, Any] = {"smoothing": self.smoothing, "virtual": self.virtual, "tol": self.tol / 1000}
                solve_boosting(SummedBoosting(blocks), state, **steps, **options)
            else:
                solve_lbfgs(SummedFlows(blocks, shape, self.C_), state, tol=self.tol, **options)
        finally:
            self._finish(state, history, self.n_features_in_)

    def _learn_thresholds(self, blocks: ClusterPartitions, data: DataSummary) -> None:
        step = 1 + data.n * len(self.coef_) // MOST_CELLS
        parts = blocks.map(sampled_scores, self.coef_, self.intercept_, offsets_of(data), step)
        scores, sizes = (np.concatenate(part) for part in zip(*parts, strict=True))
        self.thresholds_ = thresholds_of(scores, sizes)

"""RankBoost on a Dask cluster."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from arcrank.bipartite.base import UNLABELLED, check_relevance
from arcrank.bipartite.rankboost import RankBoost
from arcrank.distributed.base import DaskEstimator
from arcrank.distributed.boosting import boost_partitions, grade_partition, summarise_grades
from arcrank.distributed.cluster import Cluster
from arcrank.distributed.raw import merge_grades
from arcrank.distributed.sources import as_sources
from arcrank.errors import ParameterError

__all__ = ["DaskRankBoost"]


class DaskRankBoost(DaskEstimator, RankBoost):
    """`RankBoost` fitted on the partitions of a Dask cluster: the stumps of one machine, up to rounding.

    In each round the partitions add up the weights of the rows between two thresholds, and the client chooses the
    threshold. With thresholds="all" a sum has an element for each different value of a feature; where values are many,
    pass a number of thresholds.

    Parameters
    ----------
    n_rounds, thresholds, early_stopping, validation_fraction, patience, random_state
        As in `RankBoost`. For early stopping give `fit` a `validation` pair; nothing is held out.
    client : distributed.Client, str or None
        The client, the address of a scheduler, or None for the default client of this process.
    timeout : float
        Seconds that may pass without a task being finished, before a `ClusterError` is raised.

    Attributes
    ----------
    stumps_, loss_curve_, bounds_, feature_importances_, validation_curve_, n_rounds_, n_features_in_
        As in `RankBoost`.
    n_instances_ : int
        The number of instances of all partitions.

    Examples
    --------
    >>> import numpy as np, dask
    >>> from distributed import Client
    >>> from arcrank.distributed import DaskRankBoost
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
    ...     blocks = [dask.delayed((np.array([[0.0, 3.0], [1.0, 2.0]]), [0, 1]))]
    ...     blocks += [dask.delayed((np.array([[2.0, 2.0], [3.0, 0.0]]), [0, 1]))]
    ...     ranker = DaskRankBoost(n_rounds=5, client=client).fit(blocks)
    >>> ranker.to_local().decision_function([[0.0, 3.0], [3.0, 0.0]]).round(2)
    array([0. , 1.4])
    """

    _local_class = RankBoost

    def __init__(
        self,
        n_rounds: int = 100,
        *,
        thresholds: str | int = "all",
        early_stopping: bool = False,
        validation_fraction: float = 0.2,
        patience: int = 10,
        random_state: Any = None,
        client: Any = None,
        timeout: float = 300.0,
    ) -> None:
        super().__init__(
            n_rounds,
            thresholds=thresholds,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            patience=patience,
            random_state=random_state,
        )
        self.client = client
        self.timeout = timeout

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        super().check_parameters()
        if self.early_stopping:
            raise ParameterError(
                "early_stopping=True holds out instances of one process; pass fit a pair validation=(X, y) instead."
            )

    def fit(self, X: Any, y: Any = None, validation: tuple[Any, Any] | None = None) -> Self:
        """Learn from a Dask collection, delayed blocks of (X, y), or a folder of files.

        X : dask.array or dask.dataframe (then y is one too, with the same partitions), list of delayed blocks, or the
            path of a folder with a file for each partition, labelled "relevant" and "irrelevant"
        validation : pair (X, y) in the memory of this process, on whose AUC it stops early
        """
        self.check_parameters()
        raw = Cluster(self.client, self.timeout).load(as_sources(X, y, relevance=True))
        data, levels, counts = merge_grades(raw.map(summarise_grades))
        check_relevance(levels, graded=True)
        self.n_features_in_ = data.n_features
        self.__dict__.pop("feature_names_in_", None)
        if data.names is not None:
            self.feature_names_in_ = np.array(data.names, dtype=object)
        known = levels != UNLABELLED
        blocks = raw.derive(grade_partition, data, levels[known], keep=data.kept)
        del raw
        _, held_out = self._held_out(None, levels, validation)
        self._take(boost_partitions(blocks, counts[known], self._n_thresholds()), 1.0, held_out)
        self.n_instances_ = data.n
        return self

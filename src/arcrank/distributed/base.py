"""What the rankers on Dask share: the client, clones and pickles without it, and the plain ranker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arcrank.errors import ParameterError

if TYPE_CHECKING:
    from arcrank.distributed.cluster import ClusterPartitions
    from arcrank.distributed.raw import DataSummary

__all__ = ["DaskEstimator"]

_OWN = ("client", "timeout")


class DaskEstimator:
    """A mixin before the plain estimator, whose parameters it has besides `client` and `timeout`."""

    client: Any
    timeout: float
    _local_class: type

    def to_local(self) -> Any:
        """Return the plain ranker of the same parameters, fitted if this one is; it needs no Dask."""
        params = self._plain_params()
        local = self._local_class(**params)
        fitted = {key: value for key, value in self.__dict__.items() if key not in (*params, *_OWN, "n_instances_")}
        local.__dict__.update(fitted)
        return local

    def _load(self, X: Any, y: Any, sample_weight: Any) -> tuple[ClusterPartitions, DataSummary]:
        """Return the partitions as they were given, and what they have in common."""
        from arcrank.distributed.cluster import Cluster
        from arcrank.distributed.raw import merge_summaries, summarise
        from arcrank.distributed.sources import as_sources

        raw = Cluster(self.client, self.timeout).load(as_sources(X, y, sample_weight))
        return raw, merge_summaries(raw.map(summarise))

    def _refuse_folds(self) -> None:
        if self.cut_label and self.calibration_folds:  # type: ignore[attr-defined]
            raise ParameterError(
                "Calibration needs all instances in one process; pass calibration_folds=0, and calibrate "
                "ranker.to_local() on data that fit into memory."
            )

    def _refuse_changed(self, only: dict[str, Any]) -> None:
        """Refuse parameters that have no meaning on a cluster, unless they have these values."""
        for name, value in only.items():
            given = getattr(self, name)
            if given is not value and given != value:
                plain = self._local_class.__name__
                raise ParameterError(f"{name}={given!r:.60} is for {plain} only; leave it out.")

    def _plain_params(self) -> dict[str, Any]:
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        return {name: value for name, value in params.items() if name not in _OWN}

    def __sklearn_clone__(self) -> Any:
        """Share the client, which cannot be copied."""
        from sklearn.base import clone

        plain = clone(self._local_class(**self._plain_params()))
        copy: Any = type(self)
        return copy(**plain.get_params(deep=False), client=self.client, timeout=self.timeout)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the client out: a copy in another process uses the default one there."""
        state: Any = super().__getstate__()
        return {**state, "client": self.client if isinstance(self.client, str) else None}

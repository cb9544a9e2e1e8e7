"""What the rankers on Dask share: the client, clones and pickles without it, and the plain ranker."""

from __future__ import annotations

from typing import Any

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

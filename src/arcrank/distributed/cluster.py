"""The engine on Dask: a coarse task for each partition in every round, and bounded waiting.

A round sends the weights to all workers once, runs one task for each partition where it is stored, adds the results as
a tree and fetches the sum. Partitions are results of tasks, so Dask computes those of a lost worker again from their
source. A round that was disturbed is repeated from the client: it depends on nothing but the partitions and the values
sent with it. Whatever the cluster does, a call ends: with its result, or with a `ClusterError` after the time limit.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from arcrank._validation import check_real
from arcrank.distributed.partitions import Sums, add_sums
from arcrank.errors import ClusterError, ParameterError

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["Cluster", "ClusterPartitions", "find_client"]

_SLICE = 1.0
"""Seconds between two looks at a cluster that has not finished a round."""
_SILENCE = 30.0
"""Seconds without an answer after which a scheduler counts as lost."""
_NO_WORKERS = 45.0
"""Seconds without any worker after which nobody is expected to start one."""
_FAN_IN = 4
_MISSING = 'arcrank.distributed needs Dask: install it by pip install "arcrank[dask]".'


def find_client(client: Any) -> Client:
    """Return the client itself, one for a scheduler's address, or for None the default client of this process."""
    try:
        from distributed import Client, get_client
    except ImportError as error:
        raise ParameterError(_MISSING) from error
    if isinstance(client, Client):
        return client
    if client is None:
        try:
            return get_client()
        except ValueError:
            raise ParameterError(
                "There is no Dask client; start one, client = distributed.Client(), or pass client= with the address "
                "of a scheduler."
            ) from None
    if not isinstance(client, str):
        raise ParameterError(f"client must be None, a distributed.Client or an address; got {client!r}.")
    try:
        return Client(client, timeout="20s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {client} ({error}). Start one with `dask scheduler`, or correct the address."
        ) from error


class Cluster:
    """A client with a time limit: `timeout` seconds may pass without any task being finished."""

    def __init__(self, client: Any, timeout: float) -> None:
        self.timeout = check_real("timeout", timeout, above=0)
        self.client = find_client(client)
        self.run = secrets.token_hex(6)
        self._rounds = 0
        self._homes: list[str] = []

    def load(self, sources: Sequence[Any]) -> ClusterPartitions:
        """Return partitions of delayed values; each is computed on one worker, and stays there."""
        from dask import delayed
        from dask.delayed import Delayed

        homes = self._spread(len(sources))
        delayed_sources = [one if isinstance(one, Delayed) else delayed(one) for one in sources]
        futures = [
            self.client.compute(one, workers=[home], allow_other_workers=True)
            for one, home in zip(delayed_sources, homes, strict=True)
        ]
        return ClusterPartitions(self, futures, homes)

    def submit(self, name: str, function: Callable[..., Any], *args: Any, home: str | None = None) -> Future:
        """Submit one task under a key of its own, preferably to run at home."""
        self._rounds += 1
        where = {} if home is None else {"workers": [home], "allow_other_workers": True}
        return self.client.submit(function, *args, key=(f"arcrank-{name}", self.run, self._rounds), pure=False, **where)

    def attempt(self, start: Callable[[], list[Future]], n_results: int) -> list[Any]:
        """Start tasks, wait for them and return the last `n_results` results; start again where the cluster failed."""
        watch = _Watch(self)
        while True:
            try:
                futures = start()
                self._wait(futures, futures[-n_results:], watch)
                return self._gather(futures[-n_results:])
            except _TaskError as error:
                _reraise(error.args[0])
            except _LOST as error:
                watch.check(0, error)
                time.sleep(0.2)

    def everywhere(self, function: Callable[..., Any], *args: Any) -> None:
        """Call a function at all workers, without insisting on those that do not answer."""
        with suppress(*_LOST):
            self._bounded(self.client.run(function, *args, on_error="ignore", asynchronous=True), 5.0)

    def broadcast(self, values: Sequence[Any]) -> list[Any]:
        """Return futures of large values that every worker has, and small values as they are."""
        return [self._replicate(value) if getattr(value, "nbytes", 0) > 1024 else value for value in values]

    def _replicate(self, value: Any) -> Future:
        scatter = self.client.scatter([value], broadcast=True, hash=False, direct=True, asynchronous=True)
        return self._bounded(scatter, min(self.timeout, 60.0))[0]

    def _gather(self, futures: list[Future]) -> list[Any]:
        return self._bounded(self.client.gather(futures, direct=True, asynchronous=True), self.timeout)

    def _wait(self, futures: list[Future], results: list[Future], watch: _Watch) -> None:
        from distributed import wait

        while not all(future.done() for future in results):
            try:
                wait(results, timeout=_SLICE)
            except TimeoutError:
                watch.check(sum(future.done() for future in futures))
        failed = next((future for future in results if future.status == "error"), None)
        if failed is not None:
            raise _TaskError(failed.exception(timeout=min(self.timeout, 60.0)))

    def _bounded(self, call: Coroutine[Any, Any, Any], seconds: float) -> Any:
        """Run a call on the client's event loop, for at most so many seconds."""
        loop = self.client.loop.asyncio_loop
        running = asyncio.run_coroutine_threadsafe(asyncio.wait_for(call, seconds), loop)
        return running.result(seconds + 5.0)

    def answers(self) -> bool:
        """Return whether the scheduler answers within a few seconds."""
        try:
            self._bounded(self.client.scheduler.identity(n_workers=0), 5.0)
        except _LOST:
            return False
        return True

    def n_workers(self) -> int:
        """Return the number of workers that the scheduler last reported."""
        return len(self._workers())

    def _workers(self) -> list[str]:
        return sorted(self._bounded(self.client.scheduler.identity(n_workers=-1), 10.0)["workers"])

    def _spread(self, n: int) -> list[str]:
        """Return a worker for each of n partitions; neighbours share one, so that their sums are added there."""
        watch = _Watch(self)
        while True:
            try:
                workers = self._workers()
            except _LOST as error:
                watch.check(0, error)
                continue
            if workers:
                return [workers[i * len(workers) // n] for i in range(n)]
            watch.check(0)
            time.sleep(0.2)


class ClusterPartitions:
    """Partitions as futures on a cluster; an implementation of `Partitions`."""

    def __init__(self, cluster: Cluster, futures: list[Future], homes: list[str]) -> None:
        self.cluster = cluster
        self.futures = futures
        self.homes = homes

    def __len__(self) -> int:
        return len(self.futures)

    def map(self, function: Callable[..., Any], *broadcast: Any) -> list[Any]:
        """Return the result for each partition, in order; for small results only."""
        return self.cluster.attempt(lambda: self._start(function, broadcast), len(self))

    def sum(self, function: Callable[..., Sums], *broadcast: Any) -> Sums:
        """Return the sum over partitions: first of those at one worker, then as a tree."""
        sums: Sums = self.cluster.attempt(lambda: self._start_sum(function, broadcast), 1)[0]
        return sums

    def derive(self, function: Callable[..., Any], *broadcast: Any, keep: Sequence[int]) -> ClusterPartitions:
        """Return new partitions `function(partition, index, *broadcast)`, only of those listed in `keep`.

        They are recomputed from the old ones, and these from their source, where a worker is lost. Values must
        therefore be small enough to be part of the tasks.
        """
        parts = [(self.futures[old], self.homes[old]) for old in keep]
        futures = [
            self.cluster.submit("partition", function, future, index, *broadcast, home=home)
            for index, (future, home) in enumerate(parts)
        ]
        return ClusterPartitions(self.cluster, futures, [home for _, home in parts])

    def _start(self, function: Callable[..., Any], broadcast: Sequence[Any]) -> list[Future]:
        if any(future.cancelled() for future in self.futures) and self.cluster.answers():
            raise ClusterError(
                "The Dask cluster has lost partitions that it cannot compute again. Give data that workers can read "
                "again, such as files or delayed blocks, instead of values that were scattered."
            )
        sent, name = self.cluster.broadcast(broadcast), function.__name__.strip("_")
        return [
            self.cluster.submit(name, function, future, *sent, home=home)
            for future, home in zip(self.futures, self.homes, strict=True)
        ]

    def _start_sum(self, function: Callable[..., Sums], broadcast: Sequence[Any]) -> list[Future]:
        futures = self._start(function, broadcast)
        level = self._add_groups(futures, _runs(self.homes))
        while len(level) > 1:
            added = self._add_groups(level, [slice(i, i + _FAN_IN) for i in range(0, len(level), _FAN_IN)])
            futures, level = futures + level, added
        return [*futures, level[0]]

    def _add_groups(self, futures: list[Future], groups: list[slice]) -> list[Future]:
        parts = [futures[group] for group in groups]
        return [part[0] if len(part) == 1 else self.cluster.submit("add", add_sums, part) for part in parts]


class _TaskError(Exception):
    """A task raised the exception that is the argument; a retry would raise it again."""


def _reraise(error: BaseException) -> None:
    if type(error).__name__ == "KilledWorker":
        raise ClusterError(
            f"Several workers of the Dask cluster died at the same task ({error}). Give workers more memory, or make "
            "partitions smaller."
        ) from error
    raise error


class _Watch:
    """The time since something was last seen to go on, and what to say when that is too long ago."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._done = 0
        self._moved = self._heard = self._staffed = time.monotonic()

    def check(self, done: int, cause: BaseException | None = None) -> None:
        """Raise a `ClusterError` where the cluster is lost; `done` tasks of the round are finished."""
        now = time.monotonic()
        if done > self._done:
            self._done, self._moved = done, now
        if self._cluster.answers():
            self._heard = now = time.monotonic()
            self._look_for_workers(now)
        where = self._cluster.client.scheduler.address
        if now - self._heard > _SILENCE or now - self._moved > self._cluster.timeout:
            self._refuse(now, where, cause)
        if now - self._staffed > _NO_WORKERS:
            raise ClusterError(
                f"The Dask scheduler at {where} has had no worker for {_NO_WORKERS:.0f} seconds. Start workers, "
                f"`dask worker {where}`, and fit again."
            ) from cause

    def _look_for_workers(self, now: float) -> None:
        try:
            staffed = self._cluster.n_workers() > 0
        except _LOST:
            return
        if staffed:
            self._staffed = now

    def _refuse(self, now: float, where: str, cause: BaseException | None) -> None:
        if now - self._heard > _SILENCE:
            raise ClusterError(
                f"The Dask scheduler at {where} has not answered for {now - self._heard:.0f} seconds. Check that it "
                "runs, and fit again."
            ) from cause
        raise ClusterError(
            f"No task of the Dask cluster at {where} was finished for {now - self._moved:.0f} seconds. Check its "
            "workers; if a partition takes longer than that, raise timeout or make partitions smaller."
        ) from cause


def _runs(homes: Sequence[str]) -> list[slice]:
    """Return slices of neighbours with the same home.

    >>> _runs(["a", "a", "b"])
    [slice(0, 2, None), slice(2, 3, None)]
    """
    starts = [i for i, home in enumerate(homes) if i == 0 or home != homes[i - 1]]
    return [slice(a, b) for a, b in zip(starts, [*starts[1:], len(homes)], strict=True)]


# Dask's own error of a lost connection is an OSError; so are those of sockets.
_LOST = (CancelledError, asyncio.CancelledError, OSError, TimeoutError, asyncio.TimeoutError)

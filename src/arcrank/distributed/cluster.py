"""The engine on Dask: a coarse task for each partition in every round, and bounded waiting.

A round sends the weights to all workers once, runs one task for each partition where it is stored, adds the results as
a tree, whose root is the client, and fetches the sums. Partitions are results of tasks, so Dask computes those of a
lost worker again from their source. A round that was disturbed is repeated from the client: it depends on nothing but
the partitions and the values sent with it. Whatever the cluster does, a call ends: with its result, or with a
`ClusterError` after the time limit.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

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
_DIRECT = 10.0
"""Seconds in which a worker that was not lost has sent its result."""
_FAN_IN = 4
_LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"
_MISSING = 'arcrank.distributed needs Dask: install it by pip install "arcrank[dask]".'


def find_client(client: Any) -> Client:
    """Return the client itself, one for a scheduler's address, or for None the default client of this process."""
    try:
        from distributed import Client, get_client
    except ImportError as error:
        raise ParameterError(_MISSING) from error
    if isinstance(client, Client):
        if client.scheduler is None:
            raise ClusterError("The connection of this Dask client is closed; pass another client.")
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
        _knock(client)
        return Client(client, timeout="20s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {client} ({error}). Start one with `dask scheduler`, or correct the address."
        ) from error


def _knock(address: str) -> None:
    """Raise an OSError at once where nobody listens: Dask would try again for a long time."""
    place = urlsplit(address if "://" in address else f"tcp://{address}")
    if place.hostname and place.port:
        socket.create_connection((place.hostname, place.port), timeout=20.0).close()


class Cluster:
    """A client with a time limit: `timeout` seconds may pass without any task being finished."""

    def __init__(self, client: Any, timeout: float) -> None:
        self.timeout = check_real("timeout", timeout, above=0)
        self.client = find_client(client)
        self.address = str(self._scheduler.address)
        self.run = secrets.token_hex(6)
        self._tasks = 0

    @property
    def _scheduler(self) -> Any:
        if self.client.scheduler is None:  # the client has given up trying to connect again
            raise OSError("the connection to the Dask scheduler is closed")
        return self.client.scheduler

    def load(self, sources: Sequence[Any]) -> ClusterPartitions:
        """Return partitions of delayed values; each is computed on one worker, and stays there."""
        from dask import delayed
        from dask.delayed import Delayed

        delayed_sources = [one if isinstance(one, Delayed) else delayed(one) for one in sources]
        return ClusterPartitions(self, [self.client.compute(one) for one in delayed_sources])

    def submit(self, name: str, function: Callable[..., Any], *args: Any, worker: str = "") -> Future:
        """Submit one task under a key of its own, if wanted to one worker.

        Dask does not reconsider a task that was prescribed to a worker that died (not even with allow_other_workers),
        so whoever prescribes one passes it to `attempt`, which looks after it.
        """
        self._tasks += 1
        key, workers = (f"arcrank-{name}", self.run, self._tasks), [worker] if worker else None
        return self.client.submit(function, *args, key=key, pure=False, workers=workers)

    def attempt(self, start: Callable[[], tuple[list[Future], list[Future]]], homes: list[str]) -> list[Any]:
        """Start tasks, wait for them and return the results that are wanted; start again where the cluster failed.

        `start` returns all futures, whose progress is watched, and those of the results. `homes` are the workers that
        tasks were prescribed to. The loss of one is a failure; the list is then cleared.
        """
        watch = _Watch(self, homes)
        while True:
            try:
                futures, results = start()
                self._wait(futures, results, watch)
                return self._gather(results)
            except _TaskError as error:
                _reraise(error.args[0])
            except _LOST as error:
                homes.clear()
                watch.check(0, error)
                time.sleep(0.2)

    def everywhere(self, function: Callable[..., Any], *args: Any) -> None:
        """Call a function at all workers, without insisting on those that do not answer."""
        with suppress(*_LOST):
            self._bounded(self.client.run(function, *args, on_error="ignore", asynchronous=True), 5.0)

    def broadcast(self, values: Sequence[Any], home: str = "") -> list[Any]:
        """Return futures of large values, and small values as they are.

        A value goes to one worker, and every other one that needs it fetches it once. It goes directly to the worker
        `home`, whose loss `attempt` watches: a value that was scattered to a worker that dies is waited for without
        end. Without such a worker it is the argument of a task that returns it, which Dask can compute again.
        """
        return [self._send(value, home) if getattr(value, "nbytes", 0) > 1024 else value for value in values]

    def keep(self, value: Any) -> Future:
        """Return a future of a value that many tasks need; workers that lost it compute it again from the task."""
        return self._send(value, "")

    def _send(self, value: Any, home: str) -> Future:
        from dask import config

        if home:
            sending = self.client.scatter(value, workers=[home], direct=True, hash=False, asynchronous=True)
            with suppress(*_LOST):
                future: Future = self._bounded(sending, min(self.timeout, _DIRECT))
                return future
        with config.set({_LARGE_GRAPH: "1TiB"}):  # weights are sent once, as the warning wants it
            return self.submit("weights", _same, value)

    def _gather(self, futures: list[Future]) -> list[Any]:
        """Fetch results from the workers; by way of the scheduler, which knows who is lost, where that takes long."""
        try:
            return self._bounded(
                self.client.gather(futures, direct=True, asynchronous=True), min(self.timeout, _DIRECT)
            )
        except _LOST:
            return self._bounded(self.client.gather(futures, direct=False, asynchronous=True), self.timeout)

    def _wait(self, futures: list[Future], results: list[Future], watch: _Watch) -> None:
        from distributed import wait

        while not all(future.done() for future in results):
            try:
                with self.client.as_current():  # else it would wait for the default client, if there is one
                    wait(results, timeout=_SLICE)
            except TimeoutError:
                watch.check(sum(future.done() for future in futures))
                watch.check_homes()
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
            self._bounded(self._scheduler.identity(n_workers=0), 5.0)
        except _LOST:
            return False
        return True

    def workers(self) -> list[str]:
        """Return the addresses of the workers that the scheduler knows."""
        return list(self._bounded(self._scheduler.identity(n_workers=-1), 10.0)["workers"])

    def holders(self, futures: Sequence[Future]) -> list[str]:
        """Return the worker of each future, "" where it is not known."""
        try:
            found = self._bounded(self._scheduler.who_has(keys=[future.key for future in futures]), 10.0)
        except _LOST:
            return [""] * len(futures)
        return [next(iter(found.get(future.key) or [""])) for future in futures]


class ClusterPartitions:
    """Partitions as futures on a cluster; an implementation of `Partitions`."""

    def __init__(self, cluster: Cluster, futures: list[Future]) -> None:
        self.cluster = cluster
        self.futures = futures
        self._homes: list[str] = []

    def __len__(self) -> int:
        return len(self.futures)

    def map(self, function: Callable[..., Any], *broadcast: Any) -> list[Any]:
        """Return the result for each partition, in order; for small results only."""
        return self.cluster.attempt(lambda: self._start(function, broadcast), self._homes)

    def sum(self, function: Callable[..., Sums], *broadcast: Any) -> Sums:
        """Return the sum over partitions: first of those at one worker, then as a tree."""
        sums: Sums = self.reduce(function, add_sums, *broadcast)
        return sums

    def reduce(self, function: Callable[..., Any], merge: Callable[[Sequence[Any]], Any], *broadcast: Any) -> Any:
        """Return the results of all partitions, merged as a tree; `merge` takes some results and returns one.

        The root of the tree is the client: a task for the last few results would cost a round trip, and no fewer bytes.
        """
        parts = self.cluster.attempt(lambda: self._start_tree(function, merge, broadcast), self._homes)
        return merge(parts) if len(parts) > 1 else parts[0]

    def derive(self, function: Callable[..., Any], *broadcast: Any, keep: Sequence[int]) -> ClusterPartitions:
        """Return new partitions `function(partition, index, *broadcast)`, only of those listed in `keep`.

        They are recomputed from the old ones, and these from their source, where a worker is lost. Values must
        therefore be small enough to be part of the tasks.
        """
        futures = [
            self.cluster.submit("partition", function, self.futures[old], index, *broadcast)
            for index, old in enumerate(keep)
        ]
        return ClusterPartitions(self.cluster, futures)

    def _start(self, function: Callable[..., Any], broadcast: Sequence[Any]) -> tuple[list[Future], list[Future]]:
        if any(future.cancelled() for future in self.futures) and self.cluster.answers():
            raise ClusterError(
                "The Dask cluster has lost partitions that it cannot compute again. Give data that workers can read "
                "again, such as files or delayed blocks, instead of values that were scattered."
            )
        self._settle()
        sent, name = self.cluster.broadcast(broadcast, self._homes[0]), function.__name__.strip("_")
        futures = [
            self.cluster.submit(name, function, future, *sent, worker=home)
            for future, home in zip(self.futures, self._homes, strict=True)
        ]
        return futures, futures

    def _start_tree(
        self, function: Callable[..., Any], merge: Callable[..., Any], broadcast: Sequence[Any]
    ) -> tuple[list[Future], list[Future]]:
        futures = self._start(function, broadcast)[0]
        level = self._merge_groups(merge, futures, self._neighbours())
        while len(level) > _FAN_IN:
            groups = [list(range(i, min(i + _FAN_IN, len(level)))) for i in range(0, len(level), _FAN_IN)]
            futures, level = futures + level, self._merge_groups(merge, level, groups)
        return futures + level, level

    def _settle(self) -> None:
        """Choose a worker for each partition as soon as all are computed, and again where a worker was lost.

        Tasks of small partitions would else go from worker to worker: Dask takes an idle worker where moving the data
        takes little time, and so copies partitions to all workers, away from their dual variables.
        """
        if self._homes and "" not in self._homes:
            return
        computed = all(future.status == "finished" for future in self.futures)
        self._homes[:] = (
            spread(self.cluster.holders(self.futures), self.cluster.workers()) if computed else [""] * len(self)
        )

    def _neighbours(self) -> list[list[int]]:
        """Return groups of partitions at one worker: their results are added there."""
        homes: dict[str, list[int]] = {}
        for index, home in enumerate(self._homes):
            homes.setdefault(home, []).append(index)
        return list(homes.values())

    def _merge_groups(self, merge: Callable[..., Any], futures: list[Future], groups: list[list[int]]) -> list[Future]:
        parts = [[futures[index] for index in group] for group in groups]
        return [part[0] if len(part) == 1 else self.cluster.submit("add", merge, part) for part in parts]


def spread(holders: Sequence[str], workers: Sequence[str]) -> list[str]:
    """Return a worker for each partition: the one that has it, but none has more than its share.

    >>> spread(["a", "a", "a", "lost"], ["a", "b"])
    ['a', 'a', 'b', 'b']
    """
    most = -(-len(holders) // max(1, len(workers)))
    load = dict.fromkeys(workers, 0)
    homes = [""] * len(holders)
    for index, holder in enumerate(holders):
        if load.get(holder, most) < most:
            homes[index] = holder
            load[holder] += 1
    for index in [index for index, home in enumerate(homes) if not home and workers]:
        homes[index] = min(workers, key=load.__getitem__)
        load[homes[index]] += 1
    return homes


def _same(value: Any) -> Any:
    return value


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

    def __init__(self, cluster: Cluster, homes: list[str]) -> None:
        self._cluster, self._homes = cluster, homes
        self._done = 0
        self._moved = self._heard = self._staffed = time.monotonic()
        self.workers: list[str] | None = None

    def check(self, done: int, cause: BaseException | None = None) -> None:
        """Raise a `ClusterError` where the cluster is lost; `done` tasks of the round are finished."""
        now = time.monotonic()
        if done > self._done:
            self._done, self._moved = done, now
        if self._cluster.answers():
            self._heard = now = time.monotonic()
            self._look_for_workers(now)
        where = self._cluster.address
        if now - self._heard > _SILENCE or now - self._moved > self._cluster.timeout:
            self._refuse(now, where, cause)
        if now - self._staffed > _NO_WORKERS:
            raise ClusterError(
                f"The Dask scheduler at {where} has had no worker for {_NO_WORKERS:.0f} seconds. Start workers, "
                f"`dask worker {where}`, and fit again."
            ) from cause

    def _look_for_workers(self, now: float) -> None:
        try:
            self.workers = self._cluster.workers()
        except _LOST:
            return
        if self.workers:
            self._staffed = now

    def check_homes(self) -> None:
        """Raise an OSError where a worker that tasks were prescribed to is lost: they would wait without end."""
        gone = [] if self.workers is None else [one for one in self._homes if one and one not in self.workers]
        if gone:
            raise OSError(f"the worker at {gone[0]} is lost")

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


# Dask's own error of a lost connection is an OSError; so are those of sockets.
_LOST = (CancelledError, asyncio.CancelledError, OSError, TimeoutError, asyncio.TimeoutError)

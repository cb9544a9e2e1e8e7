"""One worker process against two on generated documents: seconds, overhead and bytes per iteration.

    python -m benchmarks.distributed_speed [DOCUMENTS]

By default 200,000 documents with the shape of `benchmarks.outofcore`, in two partitions. Three rounds over the same
partitions are timed: an iteration of the solver; a round that sends the weights and returns sums of zeros; and a round
that sends and returns a number. The last is Dask's overhead, the second less the last is transfer, and the first less
the second is computation. Bytes are those of the loopback device, less what it carries in as long a pause: other
programs that use it disturb them. With other programs on the same cores only the seconds of CPU mean something.
"""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import numpy as np

from arcrank.distributed import DaskLogLinearRanker
from arcrank.distributed.cluster import ClusterPartitions
from benchmarks.outofcore import TERMS, TOPICS, documents
from benchmarks.timing import report
from distributed import Client, LocalCluster

_ITERATIONS = 6
_ROUNDS = 15


def block(n: int, seed: int) -> tuple[Any, Any]:
    X, Y = documents(n, seed)
    return X, Y


def cpu(dask_worker: Any) -> float:  # noqa: ARG001 - Client.run passes it
    return time.process_time()


def carried() -> int:
    """Bytes that the loopback device has carried."""
    line = next(line for line in Path("/proc/net/dev").read_text().splitlines() if line.strip().startswith("lo:"))
    return int(line.split(":")[1].split()[0])


def send_nothing(_: Any, value: float) -> tuple[float]:
    return (value,)


def send_zeros(_: Any, W: Any, n_sums: int) -> tuple[Any, ...]:
    return 0.0, *(np.zeros_like(W) for _ in range(n_sums))


def median_of(act: Callable[[], Any]) -> tuple[float, float]:
    """Median seconds and bytes of a round, without what the device carries in a pause."""
    seconds, moved = [], []
    for _ in range(_ROUNDS):
        start, before = time.perf_counter(), carried()
        act()
        seconds.append(time.perf_counter() - start)
        moved.append(carried() - before)
    before = carried()
    time.sleep(1.0)
    pause = (carried() - before) * float(np.median(seconds))
    return float(np.median(seconds)), float(np.median(moved)) - pause


def rounds_of(blocks: ClusterPartitions, solver: str) -> dict[str, float]:
    W, n_sums = np.zeros((TERMS + 1, TOPICS)), 2 if solver == "boosting" else 1
    blocks.sum(send_zeros, W, n_sums)
    overhead, _ = median_of(lambda: blocks.sum(send_nothing, 1.0))
    both, moved = median_of(lambda: blocks.sum(send_zeros, W, n_sums))
    return {"overhead": overhead, "transfer": both - overhead, "bytes": moved, "sums": n_sums}


class Measured(DaskLogLinearRanker):
    """Measures its partitions after the fit, while they are on the workers."""

    _local_class = DaskLogLinearRanker

    def _learn(self, blocks: ClusterPartitions, data: Any) -> None:
        super()._learn(blocks, data)
        self.rounds = rounds_of(blocks, self.solver)


def measure(n: int, workers: int, solver: str) -> dict[str, float]:
    quiet: dict[str, Any] = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with LocalCluster(n_workers=workers, threads_per_worker=1, **quiet) as cluster, Client(cluster) as client:
        parts = [dask.delayed(block)(n // 2, seed) for seed in range(2)]
        times, before = [], []

        def note(_: Any) -> None:
            if not times:
                before.append(sum(client.run(cpu).values()))
            times.append(time.perf_counter())
            if len(times) == _ITERATIONS + 1:
                before.append(sum(client.run(cpu).values()))

        ranker = Measured(solver=solver, max_iter=_ITERATIONS + 1, tol=1e-12, callback=note, client=client).fit(parts)
    found = {"seconds": float(np.median(np.diff(times))), "cpu": (before[1] - before[0]) / _ITERATIONS, **ranker.rounds}
    found["compute"] = found["seconds"] - found["overhead"] - found["transfer"]
    size = 8 * (TERMS + 1) * TOPICS
    found["ratio"] = found["bytes"] / (workers * (1 + found["sums"]) * size)
    print(
        f"{solver}, {workers} worker(s), {n:,} documents: {found['seconds']:.2f} s per iteration = computation "
        f"{found['compute']:.2f} + transfer {found['transfer']:.3f} + overhead {found['overhead']:.3f} s; "
        f"{found['cpu']:.2f} s of CPU in all workers; {found['bytes'] / 1e6:.1f} MB moved, {found['ratio']:.2f} times "
        f"the weights to and the sums from each worker ({size / 1e6:.1f} MB each)",
        flush=True,
    )
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    amount = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    for name in ("boosting", "lbfgs"):
        one, two = (measure(amount, count, name) for count in (1, 2))
        report(f"{name}: two workers, times the speed", one["seconds"] / two["seconds"], 1.6, at_least=True)
        report(f"{name}: overhead, ms", 1000 * two["overhead"], 30.0)
        report(f"{name}: bytes over weights out and sums in", two["ratio"], 1.1)

"""One worker process against two on generated documents: seconds, overhead and bytes per iteration.

    python -m benchmarks.distributed_speed [DOCUMENTS]

By default 200,000 documents with the shape of `benchmarks.outofcore`, in two partitions. Compute is the largest time of
a partition's task within its worker; transfer is the bytes that the workers sent and received. With other programs on
the same cores only the seconds of CPU mean something.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import dask
import numpy as np

from arcrank.distributed import DaskLogLinearRanker
from benchmarks.outofcore import TERMS, TOPICS, documents
from distributed import Client, LocalCluster

_ITERATIONS = 10


def block(n: int, seed: int) -> tuple[Any, Any]:
    X, Y = documents(n, seed)
    return X, Y


def cpu(dask_worker: Any) -> float:  # noqa: ARG001 - Client.run passes it
    return time.process_time()


def measure(n: int, workers: int, solver: str) -> None:
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        parts = [dask.delayed(block)(n // 2, seed) for seed in range(2)]
        times: list[float] = []
        before: list[float] = []

        def note(_: Any) -> None:
            if not times:
                before.append(sum(client.run(cpu).values()))
            times.append(time.perf_counter())

        ranker = DaskLogLinearRanker(solver=solver, max_iter=_ITERATIONS, tol=1e-12, callback=note, client=client)
        ranker.fit(parts)
        seconds = float(np.median(np.diff(times)))
        used = (sum(client.run(cpu).values()) - before[0]) / (len(times) - 1)
        size = 8 * (TERMS + 1) * TOPICS
        print(
            f"{solver}, {workers} worker(s), {n:,} documents: {seconds:.2f} s per iteration, {used:.2f} s of CPU in "
            f"all workers; weights {size / 1e6:.1f} MB",
            flush=True,
        )


if __name__ == "__main__":
    amount = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    for name in ("boosting", "lbfgs"):
        for count in (1, 2):
            measure(amount, count, name)

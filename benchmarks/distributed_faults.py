"""kill -9 of a worker at a random moment 20 times, SIGSTOP of a worker for 30 s, and the loss of the scheduler.

    python -m benchmarks.distributed_faults [TIMES]

Boosting, L-BFGS and RankBoost must end with the result of one machine to 1e-6, the two duals with a gap of at most tol.
"""

from __future__ import annotations

import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import dask
import numpy as np
import scipy.sparse as sp

from arcrank import LogLinearRanker, PreferenceMachine, RankBoost
from arcrank.distributed import DaskLogLinearRanker, DaskPreferenceMachine, DaskRankBoost
from arcrank.errors import ClusterError
from distributed import Client, LocalCluster

_TOL = 1e-3
_LEARNERS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "boosting": (LogLinearRanker, DaskLogLinearRanker, {"solver": "boosting", "max_iter": 60, "tol": 1e-9}),
    "lbfgs": (LogLinearRanker, DaskLogLinearRanker, {"solver": "lbfgs", "tol": 1e-6}),
    "dual": (LogLinearRanker, DaskLogLinearRanker, {"solver": "dual", "tol": _TOL, "random_state": 0}),
    "rankboost": (RankBoost, DaskRankBoost, {"n_rounds": 60}),
    "machine": (
        PreferenceMachine,
        DaskPreferenceMachine,
        {"decomposition": "disagreement", "tol": _TOL, "random_state": 0},
    ),
}


def problem() -> tuple[Any, list[set[str]]]:
    X = sp.random(3000, 200, 0.1, format="csr", random_state=0)
    scores = X @ np.random.RandomState(0).randn(200, 20)
    return X, [{f"l{j}" for j in np.flatnonzero(row > 1.0)} for row in scores]


def during(fit: Callable[[Any], Any], act: Callable[[], None]) -> tuple[Any, float]:
    """Fit, and act at a random moment after the first iteration."""
    started = threading.Event()

    def later() -> None:
        started.wait(120)
        time.sleep(random.random() * 0.5)
        act()

    thread = threading.Thread(target=later)
    thread.start()
    start = time.perf_counter()
    found = fit(lambda _: started.set())
    seconds = time.perf_counter() - start
    thread.join()
    return found, seconds


def workers(signals: Callable[[int], None], name: str) -> tuple[bool, float]:
    X, y = problem()
    plain, learner, settings = _LEARNERS[name]
    y = [int("l0" in labels) for labels in y] if name == "rankboost" else y
    blocks = [dask.delayed((X[a : a + 600], y[a : a + 600])) for a in range(0, 3000, 600)]
    local = plain(**settings).fit(X, y)
    quiet: dict[str, Any] = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}

    def fit(note: Callable[[Any], None]) -> Any:
        if name != "rankboost":
            return learner(**settings, callback=note, client=client).fit(blocks)
        note(None)  # it has no callback: the signal comes at the beginning of the fit
        return learner(**settings, client=client).fit(blocks)

    with LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as cluster, Client(cluster) as client:
        victim = random.choice(list(client.run(os.getpid).values()))
        found, seconds = during(fit, lambda: signals(victim))
    same = is_same(found, local, name)
    print(f"{name}: {'same result' if same else 'ANOTHER RESULT'} after {seconds:.1f} s", flush=True)
    return same, seconds


def is_same(found: Any, local: Any, name: str) -> bool:
    if name in ("dual", "machine"):
        return bool(found.duality_gap_ <= _TOL)
    if name == "rankboost":
        return bool(np.abs(np.array(found.stumps_) - np.array(local.stumps_)).max() <= 1e-6)
    return bool(np.abs(found.coef_ - local.coef_).max() <= 1e-6)


def kill(process: int) -> None:
    os.kill(process, signal.SIGKILL)


def stop(process: int) -> None:
    os.kill(process, signal.SIGSTOP)
    time.sleep(30)
    os.kill(process, signal.SIGCONT)


def scheduler_loss() -> None:
    X, y = problem()
    port = "28786"
    parts = [("scheduler", "--port", port, "--dashboard-address", ":0"), ("worker", f"tcp://127.0.0.1:{port}")]
    running = [subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_" + a[0], *a[1:]]) for a in parts]
    try:
        time.sleep(5)
        with Client(f"tcp://127.0.0.1:{port}") as client:
            ranker = DaskLogLinearRanker(solver="boosting", max_iter=10**6, tol=1e-15, client=client)
            start = time.perf_counter()
            try:
                during(lambda note: ranker.set_params(callback=note).fit([dask.delayed((X, y))]), running[0].kill)
            except ClusterError as error:
                print(f"scheduler lost: {time.perf_counter() - start:.0f} s, {error}", flush=True)
    finally:
        for one in running:
            one.kill()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    ended = [workers(kill, list(_LEARNERS)[turn % len(_LEARNERS)]) for turn in range(times)]
    right, longest = sum(same for same, _ in ended), max(seconds for _, seconds in ended)
    print(
        f"{len(ended)} workers killed: {right} times the same result; the longest fit took {longest:.0f} s", flush=True
    )
    workers(stop, "lbfgs")
    scheduler_loss()

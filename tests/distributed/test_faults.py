"""Workers are killed while a ranker is fitted; benchmarks/distributed_faults.py does it more often."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from itertools import pairwise

import dask
import numpy as np
import pytest

from arcrank import LogLinearRanker
from arcrank.distributed import DaskLogLinearRanker
from arcrank.distributed.cluster import Cluster
from arcrank.errors import ClusterError
from distributed import Client


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["lbfgs", "dual"])
def test_a_killed_worker_does_not_change_the_result(fresh_client, problem, solver):
    X, y = problem
    cuts = [0, 0, 10, 150, 290, 300]
    blocks = [dask.delayed((X[a:b], y[a:b])) for a, b in pairwise(cuts)]
    settings = {
        "solver": solver,
        "random_state": 0,
        "max_iter": 1000 if solver == "dual" else 60,
        "tol": 1e-3 if solver == "dual" else 1e-6,
    }
    local = LogLinearRanker(**settings).fit(X, y)
    victim = random.choice(list(fresh_client.run(os.getpid).values()))
    started = threading.Event()

    def kill() -> None:
        started.wait(20)
        time.sleep(random.random() * 0.3)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    found = DaskLogLinearRanker(**settings, client=fresh_client, callback=lambda _: started.set()).fit(blocks)
    killer.join()
    if solver == "dual":
        assert found.duality_gap_ <= 1e-3
    else:
        np.testing.assert_allclose(found.coef_, local.coef_, atol=1e-6)


def test_a_round_without_progress_ends_at_the_time_limit(client):
    partitions = Cluster(client, 2.0).load([dask.delayed(7)])
    started = time.monotonic()
    with pytest.raises(ClusterError, match="No task of the Dask cluster at .* was finished for"):
        partitions.map(sleep_long)
    assert time.monotonic() - started < 15


def sleep_long(_):
    time.sleep(6)


def test_no_scheduler_at_an_address_is_an_error():
    with pytest.raises(ClusterError, match="No Dask scheduler answers at tcp://127.0.0.1:1 "):
        Cluster("tcp://127.0.0.1:1", 5.0)


def test_a_closed_client_is_an_error():
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as closed:
        cluster = Cluster(closed, 5.0)
    with pytest.raises(ClusterError, match="connection of this Dask client is closed"):
        Cluster(closed, 5.0)
    assert not cluster.answers()
    assert cluster.address.startswith("inproc://")


@pytest.mark.slow
def test_errors_of_tasks_are_raised_at_once(client):
    partitions = Cluster(client, 60.0).load([dask.delayed(7)])
    with pytest.raises(FileNotFoundError):
        partitions.map(fail)


def fail(_):
    raise FileNotFoundError("of a task, not of the cluster")

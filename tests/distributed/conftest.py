"""A cluster of two workers for all tests, and a small problem."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
import scipy.sparse as sp

from distributed import Client, LocalCluster


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Dask leaves sockets and event loops to the garbage collector where workers die; these are not our warnings."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))


@contextmanager
def two_workers(*, processes: bool = True) -> Iterator[Client]:
    """Two workers in processes of their own, or in threads of this one, where coverage sees their tasks."""
    quiet = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL, "processes": processes}
    with LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="session", params=["threads", pytest.param("processes", marks=pytest.mark.slow)])
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    """A cluster that all tests share; its workers are threads, and processes in the slow run."""
    with two_workers(processes=request.param == "processes") as client:
        yield client


@pytest.fixture
def fresh_client() -> Iterator[Client]:
    """A cluster whose workers may be killed."""
    with two_workers() as client:
        yield client


@pytest.fixture(scope="session")
def problem() -> tuple[Any, list[set[str]]]:
    """300 sparse instances with label sets over 7 labels; a few sets are empty."""
    X = sp.random(300, 40, 0.2, format="csr", random_state=0)
    W = np.random.RandomState(0).randn(40, 7)
    return X, [{f"l{j}" for j in np.flatnonzero(row > 0.8)} for row in X @ W]


CUTS = {1: [0, 300], 2: [0, 80, 300], 5: [0, 0, 10, 150, 290, 300]}
"""Where partitions of the problem begin and end: one, two uneven ones, and five of which one is empty."""


def blocks_of(X: Any, y: Any, cuts: list[int]) -> list[Any]:
    """Delayed blocks of consecutive instances."""
    return [dask.delayed((X[a:b], y[a:b])) for a, b in pairwise(cuts)]

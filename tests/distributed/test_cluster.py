"""Rounds of tasks on a cluster: sums as a tree, whose root is the client."""

from __future__ import annotations

import dask
import numpy as np
import pytest

from arcrank.distributed.cluster import Cluster, ClusterPartitions


def number_and_square(partition, scale):
    return 1, scale * np.array([partition, partition**2])


@pytest.mark.parametrize("n", [1, 2, 4, 5, 17])
@pytest.mark.parametrize("apart", [False, True])
def test_sums_of_any_number_of_partitions(client, n, apart, monkeypatch):
    if apart:  # as with a worker for each partition: more parts than the client adds itself
        monkeypatch.setattr(ClusterPartitions, "_neighbours", lambda self: [[i] for i in range(len(self))])
    partitions = Cluster(client, 60.0).load([dask.delayed(i) for i in range(n)])
    count, sums = partitions.sum(number_and_square, 2.0)
    assert count == n
    assert sums.tolist() == [2.0 * sum(range(n)), 2.0 * sum(i * i for i in range(n))]

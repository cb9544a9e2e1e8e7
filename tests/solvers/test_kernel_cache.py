from __future__ import annotations

import numpy as np
import pytest

from arcrank.errors import InputError
from arcrank.solvers.kernel_cache import KernelRows

X = np.random.default_rng(0).normal(size=(200, 5))
K = X @ X.T


def counted():
    asked = []

    def compute(rows):
        asked.append(rows.copy())
        return X[rows] @ X.T

    return compute, asked


def test_rows_are_right_whatever_the_bound():
    rng = np.random.default_rng(1)
    for megabytes in (1e-6, 0.01, 10):
        cache = KernelRows(counted()[0], np.diagonal(K), megabytes)
        for _ in range(50):
            wanted = rng.choice(200, 30, replace=False)
            np.testing.assert_allclose(cache.rows(wanted), K[wanted], atol=1e-12)


def test_memory_stays_within_the_bound_and_old_rows_go_first():
    compute, asked = counted()
    cache = KernelRows(compute, np.diagonal(K), megabytes=20 * 200 * 8 / 2**20)
    assert cache._slots.shape == (20, 200)
    cache.rows(np.arange(10))
    cache.rows(np.arange(10, 20))
    cache.rows(np.arange(10))
    cache.rows(np.arange(20, 30))  # in place of 10..19
    cache.rows(np.arange(10))
    assert len(asked) == 3
    cache.rows(np.arange(10, 12))
    assert cache.computed == 32


def test_everything_is_computed_once_where_it_fits():
    cache = KernelRows(counted()[0], np.diagonal(K), megabytes=10)
    for start in (0, 50, 0, 100):
        cache.rows(np.arange(start, start + 100))
    assert cache.computed == 200


def test_nan_is_refused():
    cache = KernelRows(lambda rows: np.full((len(rows), 200), np.nan), np.ones(200), 1)
    with pytest.raises(InputError, match="instance 7 is NaN"):
        cache.rows(np.array([7]))

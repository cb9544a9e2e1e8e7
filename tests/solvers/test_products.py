"""Products whose rows do not depend on each other."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from arcrank.solvers.products import row_products


def in_order(X, W):
    """Each entry summed in the order of the features, in plain Python."""
    out = np.zeros((len(X), W.shape[1]))
    for i, row in enumerate(X.tolist()):
        for r, column in enumerate(W.T.tolist()):
            total = 0.0
            for x, w in zip(row, column, strict=True):
                total += x * w
            out[i, r] = total
    return out


@given(st.integers(0, 9), st.integers(0, 40), st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_every_entry_is_summed_in_the_order_of_the_features(n, d, k, seed):
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(n, d)), rng.normal(size=(d, k))
    X[rng.random(X.shape) < 0.3] = 0.0
    expected = in_order(X, W)
    for rows in (X, np.asfortranarray(X), sp.csr_matrix(X)):
        for weights in (W, np.asfortranarray(W)):
            assert np.array_equal(row_products(rows, weights), expected)


@pytest.mark.processors
@pytest.mark.parametrize("shape", [(70, 300, 300), (33, 7, 1), (40, 33, 2500), (1100, 5, 3)])
def test_a_row_alone_and_a_row_among_others_give_the_same_bits(shape):
    n, d, k = shape
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(n, d)), rng.normal(size=(d, k))
    whole, shuffled = row_products(X, W), rng.permutation(n)
    assert np.array_equal(row_products(X[shuffled], W), whole[shuffled])
    for i in range(0, n, 7):
        assert np.array_equal(row_products(X[i : i + 1], W)[0], whole[i])

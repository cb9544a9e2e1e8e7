"""Rocchio's prototypes against their definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from arcrank.solvers.prototypes import rocchio_weights


def mean(rows, width):
    return rows.mean(axis=0) if len(rows) else np.zeros(width)


@st.composite
def data(draw):
    n, d, k = draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    X = draw(hnp.arrays(np.float64, (n, d), elements=st.floats(-5, 5, width=16)))
    return X, draw(hnp.arrays(np.bool_, (n, k)))


@given(data())
def test_weights_are_the_definition(sample):
    X, Y = sample
    expected = [np.maximum(16 * mean(X[on], X.shape[1]) - 4 * mean(X[~on], X.shape[1]), 0) for on in Y.T]
    np.testing.assert_allclose(rocchio_weights(X, Y), expected, atol=1e-12)
    np.testing.assert_allclose(rocchio_weights(sparse.csr_matrix(X), sparse.csr_matrix(Y)), expected, atol=1e-12)


def test_pull_and_push_are_parameters():
    weights = rocchio_weights([[1.0, 0.0], [1.0, 2.0]], [[1], [0]], beta=2, gamma=1)
    assert weights.tolist() == [[1.0, 0.0]]


def test_unit_norm_leaves_zero_prototypes():
    weights = rocchio_weights([[3.0, 4.0], [0.0, 0.0]], [[1, 0], [0, 0]], unit_norm=True)
    np.testing.assert_allclose(weights, [[0.6, 0.8], [0.0, 0.0]])

"""Sums of flows by blocks of rows, against SciPy's products of the whole."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank.decompositions import get_decomposition
from arcrank.graphs import as_graphs
from arcrank.losses import LogLinearLoss
from arcrank.solvers import flow_sums
from arcrank.solvers.design import LabelDesign
from arcrank.solvers.flow_sums import FlowProblem, RowBlocks
from arcrank.solvers.loglinear_boosting import LabelSums

N, D, K = 37, 11, 6


@pytest.fixture(params=["domination", "dominated", "zero-one", "disagreement"])
def problem(request, monkeypatch):
    """Sparse features of either sign, the loss of label sets, and weights; blocks have seven rows."""
    monkeypatch.setattr(flow_sums, "_CELLS", 7 * K)
    random = np.random.default_rng(0)
    X = sp.csr_matrix(random.normal(size=(N, D)) * (random.random((N, D)) < 0.4))
    graphs = as_graphs(random.random((N, K)) < 0.3)
    loss = LogLinearLoss(graphs, get_decomposition(request.param), random.random(N))
    return X, loss, random.normal(size=(D, K))


def test_l_bfgs_gets_the_sums_of_all_rows(problem):
    X, loss, W = problem
    found, sums = FlowProblem(LabelDesign(X, K), loss).flow_sums(W)
    value, outflow, inflow = loss.flows(X @ W)
    assert found == pytest.approx(value, rel=1e-14)
    assert np.array_equal(sums, X.T @ (outflow - inflow))


def test_boosting_gets_the_sums_of_all_rows(problem):
    X, loss, W = problem
    rows = np.ones(N, dtype=bool)
    found, plus, minus = LabelSums(LabelDesign(X, K), loss, rows).sums(W)
    value, outflow, inflow = loss.flows(X @ W)
    up, down = X.maximum(0), -X.minimum(0)
    assert found == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(plus, up.T @ inflow + down.T @ outflow, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(minus, up.T @ outflow + down.T @ inflow, rtol=1e-13, atol=1e-15)


def test_threads_and_dense_features_need_all_rows_at_once(problem):
    X, loss, _ = problem
    assert RowBlocks.of(LabelDesign(X, K), loss) is not None
    assert RowBlocks.of(LabelDesign(X, K, 2), loss) is None
    assert RowBlocks.of(LabelDesign(X.toarray(), K), loss) is None

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank.solvers.design import CandidateDesign, LabelDesign

RNG = np.random.default_rng(0)
X = np.where(RNG.random((7, 5)) < 0.5, RNG.normal(size=(7, 5)), 0.0)
FLOW = RNG.random((7, 3))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_products_of_label_features(make, n_jobs):
    features = LabelDesign(make(X), 3, n_jobs)
    W = RNG.normal(size=features.weight_shape)
    np.testing.assert_allclose(features.scores(W), X @ W)
    np.testing.assert_allclose(features.transposed(FLOW), X.T @ FLOW)
    few = np.where(np.arange(21).reshape(7, 3) == 4, FLOW, 0.0)  # mostly zero: the sparse product
    np.testing.assert_allclose(features.transposed(few), X.T @ few)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_parts_are_non_negative_and_differ_by_the_whole(make):
    positive, negative = LabelDesign(make(X), 3).split()
    a, b = (sp.csr_matrix(part.X).toarray() for part in (positive, negative))
    assert min(a.min(), b.min()) >= 0
    np.testing.assert_allclose(a - b, X)
    assert LabelDesign(make(abs(X)), 3).split()[1] is None


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_norms_look_at_the_given_rows_only(make):
    rows = np.arange(7) < 3
    assert LabelDesign(make(X), 3).largest_norm(rows) == pytest.approx(abs(X[:3]).sum(axis=1).max())
    assert LabelDesign(make(X), 3).largest_norm(np.zeros(7, dtype=bool)) == 0


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
def test_products_of_candidates(make):
    features = CandidateDesign(make(X))
    w, flow = RNG.normal(size=features.weight_shape), RNG.random(7)
    np.testing.assert_allclose(features.scores(w), X @ w)
    np.testing.assert_allclose(features.transposed(flow), X.T @ flow)

"""Joint features that are never stored behave as the stored ones."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank import CandidateSets, LogLinearRanker, PreferenceMachine
from arcrank.errors import InputError, ParameterError
from arcrank.rankers.candidate_ranker import candidate_scale


def sets_of(make_x, make_z, seed=0):
    rng = np.random.default_rng(seed)
    X, Z = rng.normal(size=(15, 3)) * (rng.random((15, 3)) < 0.7), rng.normal(size=(6, 2))
    Z[0, 0] = 0.0
    candidates = [rng.permutation(6)[: rng.integers(0, 7)] for _ in range(15)]
    return CandidateSets.from_outer(make_x(X), make_z(Z), candidates), X, Z, candidates


@pytest.mark.parametrize("make_x", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("make_z", [np.asarray, sp.csr_matrix])
def test_products_are_those_of_the_stored_features(make_x, make_z):
    sets, X, Z, candidates = sets_of(make_x, make_z)
    expected = np.array([np.kron(X[i], Z[j]) for i, own in enumerate(candidates) for j in own])
    stored = sets.stored()
    np.testing.assert_allclose(sp.csr_matrix(stored.features).toarray(), expected)
    assert stored.stored() is stored
    rng = np.random.default_rng(1)
    w, flow = rng.normal(size=6), rng.normal(size=len(expected))
    np.testing.assert_allclose(sets.features @ w, expected @ w)
    np.testing.assert_allclose(sets.features.products(w), expected @ w)
    np.testing.assert_allclose(sets.features.T @ flow, expected.T @ flow)
    part = sets[[4, 2, 4]]
    again = np.vstack([expected[sets.ptr[i] : sets.ptr[i + 1]] for i in (4, 2, 4)])
    np.testing.assert_allclose(part.features @ w, again @ w)
    weight = rng.random(15)
    assert candidate_scale(sets, weight) == pytest.approx(candidate_scale(stored, weight))


def test_rankers_learn_the_same():
    sets, X, Z, _ = sets_of(np.asarray, sp.csr_matrix)
    grades = np.random.default_rng(2).integers(0, 3, sets.ptr[-1])
    never = LogLinearRanker(C=1.0, tol=1e-10).fit(sets, grades)
    stored = LogLinearRanker(C=1.0, tol=1e-10).fit(sets.stored(), grades)
    assert never.solver_ == "lbfgs"
    np.testing.assert_allclose(never.coef_, stored.coef_, atol=1e-5)
    np.testing.assert_allclose(never.score_labels(sets), stored.score_labels(sets.stored()), atol=1e-5)
    row = int(np.flatnonzero(sets.counts() > 1)[0])
    why, scores = never.explain(sets[[row]], 0, 1), never.score_labels(sets[[row]])
    assert why.margin == pytest.approx(scores[0] - scores[1])
    with_cut = LogLinearRanker(C=1.0, cut_label=True).fit(sets, grades)
    assert with_cut.score_labels(sets).shape == grades.shape
    with pytest.raises(ParameterError, match=r"pass sets.stored\(\)"):
        LogLinearRanker(solver="dual").fit(sets, grades)
    with pytest.raises(ParameterError, match=r"pass sets.stored\(\)"):
        PreferenceMachine().fit(sets, grades)
    with pytest.raises(InputError, match="NaN"):
        LogLinearRanker().fit(CandidateSets.from_outer(X * np.nan, Z), np.zeros(90))


def test_memory_is_that_of_the_parts():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(400, 50)), rng.normal(size=(100, 20))
    grades = rng.integers(0, 2, 40_000)
    tracemalloc.start()
    LogLinearRanker(C=1e-3, tol=9.0, max_iter=3).fit(CandidateSets.from_outer(X, Z), grades)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40_000 * 1000 * 8 / 10  # stored features would take 320 MB


def test_wrong_candidates_are_named():
    X, Z = np.ones((2, 3)), np.ones((4, 2))
    with pytest.raises(InputError, match="2 instances and candidates has 1"):
        CandidateSets.from_outer(X, Z, [[0]])
    with pytest.raises(InputError, match=r"row 4 of Z; it has the rows 0\.\.3"):
        CandidateSets.from_outer(X, Z, [[0], [4]])
    with pytest.raises(InputError, match="same length"):
        CandidateSets.from_callable(["a"], [["b", "cc"]], lambda _, one: np.ones(len(one)))
    with pytest.raises(InputError, match="give one each"):
        CandidateSets.from_callable(["a"], [], lambda _, one: np.ones(len(one)))

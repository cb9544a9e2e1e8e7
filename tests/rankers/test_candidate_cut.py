"""A cut between the candidates of an instance."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from arcrank import CandidateSets, LogLinearRanker, load, save
from arcrank.graphs import LayeredGraphs
from arcrank.rankers.candidates import add_cut_candidate, candidate_graphs_with_cut


def random_sets(seed=0, n=30, most=5):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0 if n > 3 else 1, most + 1, n)
    ptr = np.concatenate([[0], np.cumsum(counts)])
    Z = rng.normal(size=(ptr[-1], 3))
    grades = np.clip(np.round(Z[:, 0] + rng.normal(scale=0.3, size=len(Z)) + 0.5), 0, 2).astype(int)
    return CandidateSets(Z, ptr), grades


@given(st.integers(0, 1000), st.booleans(), st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_cut_is_the_first_candidate_of_each_instance(seed, constant, sparse):
    sets, _ = random_sets(seed, n=6)
    given_ = CandidateSets(sp.csr_matrix(sets.features), sets.ptr) if sparse else sets
    with_cut = add_cut_candidate(given_, constant=constant)
    assert len(with_cut) == len(sets)
    for one, other in zip(with_cut, sets, strict=True):
        dense = sp.csr_matrix(one).toarray()
        assert not dense[0].any()
        expected = np.hstack([other, np.ones((len(other), 1))]) if constant else other
        np.testing.assert_array_equal(dense[1:], expected)


@given(st.integers(0, 1000), st.sampled_from([None, 1, 2]))
@settings(max_examples=30, deadline=None)
def test_grades_of_at_least_the_level_are_above_the_cut(seed, level):
    sets, grades = random_sets(seed, n=6)
    graphs = candidate_graphs_with_cut(grades, sets, level)
    for row in range(len(sets)):
        own = grades[sets.ptr[row] : sets.ptr[row + 1]]
        cut, *found = graphs.level[graphs.ptr[row] : graphs.ptr[row + 1]]
        assert ((np.array(found) < cut) == (own >= (1 if level is None else level))).all()
        assert [a < b for a in found for b in found] == [a > b for a in own for b in own]


def test_scores_are_those_of_an_explicit_candidate():
    sets, grades = random_sets()
    given_ = {"C": 2.0, "tol": 1e-8}
    ranker = LogLinearRanker(cut_label=True, **given_).fit(sets, grades)
    plain = add_cut_candidate(sets, constant=True)
    expected = LogLinearRanker(**given_).fit(plain, candidate_graphs_with_cut(grades, sets, None)).score_labels(plain)
    scores = ranker.score_labels(sets)
    np.testing.assert_allclose(scores, np.delete(expected, plain.ptr[:-1]), atol=1e-4)
    assert ((scores > 0) == (grades > 0)).mean() > 0.85  # the cut is at 0
    assert ranker.intercept_[0] != 0


def test_graphs_over_candidates_take_a_level():
    sets = CandidateSets(np.array([[1.0], [0.0], [2.0], [-1.0]]), [0, 2, 4])
    graphs = LayeredGraphs.from_levels([[0, 1], [0, 1]])
    scores = LogLinearRanker(C=100, cut_label=True).fit(sets, graphs).score_labels(sets)
    assert (scores > 0).tolist() == [True, False, True, False]


@pytest.mark.parametrize("solver", ["lbfgs", "dual", "boosting"])
def test_models_are_stored(tmp_path, solver):
    sets, grades = random_sets()
    ranker = LogLinearRanker(cut_label=True, solver=solver, max_iter=200).fit(sets, grades)
    save(ranker, tmp_path / "m.arcrank")
    np.testing.assert_array_equal(load(tmp_path / "m.arcrank").score_labels(sets), ranker.score_labels(sets))

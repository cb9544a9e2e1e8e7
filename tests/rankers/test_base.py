from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from arcrank import LogLinearRanker
from arcrank.rankers.base import add_intercept, rank_matrix
from arcrank.rankers.linear import top_columns

SCORES = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 4), st.integers(1, 30)), elements=st.sampled_from([-1.0, 0.0, 0.5, 2.0])
)


@given(SCORES, st.integers(1, 35))
def test_the_top_is_the_start_of_the_whole_order(scores, top):
    whole = top_columns(scores, None)
    assert np.array_equal(top_columns(scores, top), whole[:, :top])
    for row, order in zip(scores, whole, strict=True):
        assert order.tolist() == sorted(range(len(row)), key=lambda r: (-row[r], r))


@given(SCORES)
def test_a_rank_is_the_number_of_labels_that_score_no_less(scores):
    for row, ranks in zip(scores, rank_matrix(scores), strict=True):
        assert ranks.tolist() == [sum(other >= score for other in row) for score in row]


def fitted(scores):
    """A ranker whose scores of one instance are given."""
    ranker = LogLinearRanker()
    ranker.coef_, ranker.intercept_ = np.zeros((len(scores), 1)), np.array(scores, dtype=float)
    ranker.labels_, ranker.n_features_in_, ranker._kind = np.array(list("abcdef"[: len(scores)])), 1, "sets"
    return ranker


@pytest.mark.parametrize(("scores", "expected"), [([5, 4, 0, 0], ["a", "b"]), ([0, 9, 0], ["b"]), ([1], ["a"])])
def test_sets_are_cut_where_the_loss_is_smallest(scores, expected):
    assert fitted(scores).predict([[1.0]]) == [expected]


def test_scores_are_always_two_dimensional():
    assert fitted([1]).score_labels([[1.0], [2.0]]).shape == (2, 1)
    assert fitted([1, 2]).rank([[1.0]], top=9).tolist() == [["b", "a"]]


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 4), (50, 90)])
def test_an_intercept_is_a_last_column(shape):
    X = sp.random(*shape, density=0.3, random_state=0, format="csr")
    found = add_intercept(X, 2.5)
    assert found.has_canonical_format
    np.testing.assert_array_equal(found.toarray(), add_intercept(X.toarray(), 2.5))
    np.testing.assert_array_equal(found.toarray()[:, -1], np.full(shape[0], 2.5))

"""Weightings: values by hand, a pure-Python oracle, bad counts, scikit-learn's own checks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from arcrank.errors import InputError, ParameterError
from arcrank.text import LogCounts, PivotedLength, SignedTfIdf, TfIdf
from tests.estimator_checks import parametrize_with_checks

WEIGHTINGS = [LogCounts(), TfIdf(), TfIdf(sublinear=True, smooth=False, norm="l1"), PivotedLength()]
COUNTS = hnp.arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.integers(0, 9))


@parametrize_with_checks([*WEIGHTINGS, SignedTfIdf()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def pivoted(X, slope):
    """Crammer & Singer 2002, section 4.2, with loops."""
    n, d = X.shape
    rows_with = [sum(X[i, j] > 0 for i in range(n)) for j in range(d)]
    unique = [sum(X[i, j] > 0 for j in range(d)) for i in range(n)]
    mean_unique = sum(unique) / n
    result = np.zeros((n, d))
    for i in range(n):
        for j in range(d):
            if X[i, j] > 0:
                tf = (1 + math.log(X[i, j])) / (1 + math.log(X[i].sum() / unique[i]))
                length = 1 - slope + slope * unique[i] / mean_unique
                result[i, j] = tf / length * math.log(n / rows_with[j])
    return result


@given(COUNTS, st.floats(0, 1))
def test_pivoted_length_is_the_papers(X, slope):
    result = PivotedLength(slope=slope).fit_transform(X)
    np.testing.assert_allclose(result.toarray(), pivoted(X, slope), rtol=1e-12, atol=1e-12)
    assert result.dtype == np.float64
    assert result.has_sorted_indices


def test_pivoted_length_by_hand():
    weights = PivotedLength().fit([[1, 2, 0], [0, 1, 0], [0, 1, 3]])
    assert weights.mean_terms_ == pytest.approx(5 / 3)
    np.testing.assert_allclose(weights.idf_, [math.log(3), 0, math.log(3)])
    expected = math.log(3) * (1 + math.log(3)) / (1 + math.log(2)) / (0.7 + 0.3 * 2 / (5 / 3))
    assert weights.transform([[1, 0, 3]]).toarray()[0, 2] == pytest.approx(expected)


def test_a_term_unseen_in_fit_counts_as_seen_once():
    assert PivotedLength().fit([[1, 0], [1, 0]]).idf_.tolist() == pytest.approx([0.0, math.log(2)])


def test_log_counts_by_hand():
    result = LogCounts().fit_transform(np.array([[1, 0, 2], [0, 0, 0], [10, 1, 0]]))
    expected = [[1, 0, 1 + math.log(2)], [0, 0, 0], [1 + math.log(10), 1, 0]]
    np.testing.assert_allclose(result.toarray(), expected)


def test_weighted_counts_below_one_keep_their_value():
    assert LogCounts().fit_transform([[0.25, 1.0]]).toarray().tolist() == [[0.25, 1.0]]


@given(COUNTS, st.booleans(), st.sampled_from(["l2", "l1", None]))
def test_tf_idf_agrees_with_scikit_learn(X, sublinear, norm):
    result = TfIdf(sublinear=sublinear, norm=norm).fit_transform(X).toarray()
    expected = TfidfTransformer(sublinear_tf=sublinear, norm=norm).fit_transform(X).toarray()
    np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_tf_idf_without_smoothing_by_hand():
    result = TfIdf(smooth=False, norm=None).fit_transform([[3, 1], [0, 1]])
    np.testing.assert_allclose(result.toarray(), [[3 * math.log(2), 0], [0, 0]])
    assert result.nnz == 1


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_empty_rows_stay_empty_and_the_input_stays_as_it_was(weighting):
    X = sparse.csr_matrix(np.array([[0, 2.0], [0, 0], [1, 1]]))
    before = X.copy()
    result = weighting.fit(X).transform(X)
    assert result.format == "csr"
    assert result[1].nnz == 0
    assert np.isfinite(result.data).all()
    assert (before != X).nnz == 0


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_a_corpus_of_empty_rows(weighting):
    assert weighting.fit_transform(sparse.csr_matrix((3, 2))).nnz == 0


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize(("value", "name"), [(-1.0, "-1"), (np.nan, "NaN"), (np.inf, "inf")])
@pytest.mark.parametrize("container", [np.array, sparse.csr_matrix])
def test_bad_counts_name_their_row(weighting, value, name, container):
    X = np.ones((4, 3))
    X[2, 1] = value
    with pytest.raises(InputError, match=f"row 2, column 1 of X holds {name}"):
        weighting.fit(container(X))


@pytest.mark.parametrize("bad", [PivotedLength(slope=1.5), PivotedLength(slope=-0.1), TfIdf(norm="max")])
def test_bad_parameters(bad):
    with pytest.raises(ParameterError, match=r"slope|norm"):
        bad.fit([[1.0]])


def test_names_pass_through():
    assert PivotedLength().fit([[1, 2]]).get_feature_names_out(["a", "b"]).tolist() == ["a", "b"]


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.floats(-9, 9)))
def test_signed_weights_are_those_of_counts_with_any_sign(X):
    for options in ({"norm": None}, {"norm": "l1"}, {"norm": "l2"}, {"norm": "l2", "sublinear": True}):
        found = SignedTfIdf(**options).fit_transform(X).toarray()
        idf = np.log((1 + len(X)) / (1 + (X != 0).sum(axis=0))) + 1
        values = X.copy()
        if "sublinear" in options:
            above = X >= 1
            values[above] = 1 + np.log(X[above])
        values *= idf
        if options["norm"]:
            order = 1 if options["norm"] == "l1" else 2
            length = np.linalg.norm(values, order, axis=1, keepdims=True)
            values = np.divide(values, length, out=np.zeros_like(values), where=length > 0)
        np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-12)


def test_signed_weights_equal_those_of_counts_for_counts():
    X = np.random.default_rng(0).poisson(0.7, size=(30, 8))
    for options in ({}, {"sublinear": True, "smooth": False, "norm": "l1"}):
        a, b = (kind(**options).fit_transform(X) for kind in (SignedTfIdf, TfIdf))
        assert (a != b).nnz == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_signed_weights_refuse_what_is_not_finite(bad):
    with pytest.raises(InputError, match=r"row 0, column 1 of X holds (nan|NaN|inf); features must be finite"):
        SignedTfIdf().fit([[1.0, bad]])

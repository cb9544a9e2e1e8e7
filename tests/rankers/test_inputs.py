"""Every estimator takes every form of a feature matrix, and names what it cannot take."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from arcrank import (
    LogLinearRanker,
    MMPRanker,
    PerceptronRanker,
    PreferenceMachine,
    RankBoost,
    RocchioRanker,
    SemiSupervisedLogistic,
    SemiSupervisedRankBoost,
    TransductiveSVM,
)
from arcrank.errors import InputError

RANDOM = np.random.default_rng(3)
X = np.where(RANDOM.random((40, 7)) < 0.5, 0.0, RANDOM.normal(size=(40, 7)))
SINGLE = RANDOM.integers(0, 3, size=40)
RELEVANCE = np.where(np.arange(40) < 20, np.arange(40) % 2, -1)
LABEL_RANKERS = [
    LogLinearRanker(solver="lbfgs"),
    LogLinearRanker(solver="dual", random_state=0),
    LogLinearRanker(solver="boosting", max_iter=20),
    PreferenceMachine(random_state=0),
    PreferenceMachine(kernel="rbf", random_state=0),
    PreferenceMachine(kernel="polynomial", degree=2, random_state=0),
    PreferenceMachine(kernel="cosine", random_state=0),
    MMPRanker(),
    MMPRanker(average=True),
    MMPRanker(kernel="rbf"),
    MMPRanker(kernel="poly", average=True),
    PerceptronRanker(),
    RocchioRanker(),
]
INSTANCE_RANKERS = [
    RankBoost(n_rounds=10),
    SemiSupervisedRankBoost(n_rounds=10),
    SemiSupervisedRankBoost(features="latent", n_components=3),
    SemiSupervisedLogistic(),
    TransductiveSVM(),
]
ESTIMATORS = LABEL_RANKERS + INSTANCE_RANKERS


def supervision(estimator):
    return RELEVANCE if estimator in INSTANCE_RANKERS else SINGLE


def scores(estimator, X):
    return estimator.score_labels(X) if hasattr(estimator, "score_labels") else estimator.decision_function(X)


def with_duplicates(X):
    """The same matrix with every value given in two parts, which are exact, in the wrong order."""
    whole = sp.coo_matrix(X)
    rows, columns = np.concatenate([whole.row] * 2)[::-1], np.concatenate([whole.col] * 2)[::-1]
    data = np.concatenate([whole.data / 4, 3 * whole.data / 4])[::-1]
    order = np.argsort(rows, kind="stable")
    ptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(X)))])
    return sp.csr_matrix((data[order], columns[order], ptr), shape=X.shape)


def unsorted(X):
    matrix = sp.csr_matrix(X)
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        matrix.indices[start:stop] = matrix.indices[start:stop][::-1].copy()
        matrix.data[start:stop] = matrix.data[start:stop][::-1].copy()
    matrix.has_sorted_indices = False
    return matrix


def wide_indices(X):
    matrix = sp.csr_matrix(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def read_only(X):
    if not sp.issparse(X):
        X = X.copy()
        X.setflags(write=False)
        return X
    for part in (X.data, X.indices, X.indptr):
        part.setflags(write=False)
    return X


SPARSE = {
    "duplicates": lambda: with_duplicates(X),
    "unsorted": lambda: unsorted(X),
    "int64 indices": lambda: wide_indices(X),
    "read-only": lambda: read_only(sp.csr_matrix(X)),
    "read-only duplicates": lambda: read_only(with_duplicates(X)),
    "columns first": lambda: sp.csc_matrix(X),
    "coordinates": lambda: sp.coo_matrix(X),
    "sparse array": lambda: sp.csr_array(X),
}
DENSE = {
    "Fortran order": lambda: np.asfortranarray(X),
    "read-only": lambda: read_only(X),
    "every second": lambda: np.repeat(X, 2, axis=1)[:, ::2],
    "list": X.tolist,
}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("form", SPARSE)
def test_forms_of_a_sparse_matrix_are_one_matrix(estimator, form):
    y, usual = supervision(estimator), sp.csr_matrix(X)
    expected = scores(clone(estimator).fit(usual, y), usual)
    given = SPARSE[form]()
    stored = given.nnz
    fitted = clone(estimator).fit(given, y)
    assert np.array_equal(scores(fitted, given), expected)
    assert np.array_equal(scores(fitted, usual), expected)
    assert given.nnz == stored


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("form", DENSE)
def test_forms_of_a_dense_matrix_are_one_matrix(estimator, form):
    y = supervision(estimator)
    expected = scores(clone(estimator).fit(X, y), X)
    fitted = clone(estimator).fit(DENSE[form](), y)
    assert np.array_equal(scores(fitted, DENSE[form]()), expected)


@pytest.mark.processors
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("make", [np.array, sp.csr_matrix])
def test_scores_of_a_row_do_not_depend_on_the_rows_beside_it(estimator, make):
    fitted = clone(estimator).fit(make(X), supervision(estimator))
    new = np.random.default_rng(5).normal(size=(67, 7))
    whole, order = scores(fitted, make(new)), np.random.default_rng(6).permutation(67)
    assert np.array_equal(scores(fitted, make(new[order])), whole[order])
    for row in range(0, 67, 11):
        assert np.array_equal(scores(fitted, make(new[row : row + 1]))[0], whole[row])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("make", [np.array, sp.csr_matrix])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200, -1e308])
def test_a_bad_value_is_named_with_row_and_column(estimator, make, value):
    y, bad = supervision(estimator), X.copy()
    bad[2, 1] = value
    fitted = clone(estimator).fit(make(X), y)
    for call in (lambda: clone(estimator).fit(make(bad), y), lambda: scores(fitted, make(bad))):
        with pytest.raises(InputError, match="X holds .* in row 2, column 1"):
            call()


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_no_rows_and_no_columns_are_errors_of_ours(estimator):
    y = supervision(estimator)
    fitted = clone(estimator).fit(X, y)
    for call in (lambda: clone(estimator).fit(X[:0], y[:0]), lambda: scores(fitted, X[:0])):
        with pytest.raises(InputError, match="X has no rows"):
            call()
    with pytest.raises(InputError, match=r"X has 0 feature\(s\)"):
        clone(estimator).fit(X[:, :0], y)


@pytest.mark.parametrize("estimator", INSTANCE_RANKERS, ids=str)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_bad_relevance_is_named(estimator, value):
    y = RELEVANCE.astype(float)
    y[3] = value
    with pytest.raises(InputError, match="y holds (nan|inf) in row 3"):
        clone(estimator).fit(X, y)
    with pytest.raises(InputError, match="X has 40 rows and y has 39 entries"):
        clone(estimator).fit(X, RELEVANCE[1:])

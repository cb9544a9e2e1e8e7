"""RocchioRanker: the paper's formula, unit prototypes, every kind of label set."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank.errors import GraphError, ParameterError
from arcrank.rankers.rocchio import RocchioRanker
from tests.estimator_checks import parametrize_with_checks


@pytest.mark.processors
@parametrize_with_checks([RocchioRanker()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_prototypes_are_the_formula_in_unit_length():
    random = np.random.default_rng(0)
    X, Y = random.random((20, 6)), random.random((20, 4)) < 0.4
    Y[:, 3], Y[0] = False, False  # a label that nobody has, a document that has none
    ranker = RocchioRanker(beta=3, gamma=2).fit(sp.csr_matrix(X), Y)
    for label in range(3):
        inside, outside = X[Y[:, label]].mean(axis=0), X[~Y[:, label]].mean(axis=0)
        expected = np.maximum(0, 3 * inside - 2 * outside)
        np.testing.assert_allclose(ranker.coef_[label], expected / np.linalg.norm(expected))
    np.testing.assert_array_equal(ranker.coef_[3], 0)
    np.testing.assert_array_equal(ranker.intercept_, 0)
    np.testing.assert_allclose(ranker.score_labels(X), X @ ranker.coef_.T)


def test_label_names_and_prediction():
    X = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]
    ranker = RocchioRanker().fit(X, ["oil", "oil", "ship"])
    assert ranker.predict(X).tolist() == ["oil", "oil", "ship"]
    sets = RocchioRanker().fit(X, [["oil"], ["oil", "gas"], ["ship"]])
    assert sets.labels_.tolist() == ["gas", "oil", "ship"]
    assert sets.rank(X, top=1)[2].tolist() == ["ship"]
    assert sets.explain(X[0], "oil", "ship").margin > 0


def test_bad_input():
    with pytest.raises(ParameterError, match="gamma must be a number of at least 0, got -1"):
        RocchioRanker(gamma=-1).fit(np.eye(2), ["a", "b"])
    with pytest.raises(GraphError, match="need label sets"):
        RocchioRanker().fit(np.eye(2), [[("a", "b")], [("b", "a")]])
    with pytest.raises(GraphError, match="3 layers"):
        RocchioRanker().fit(np.eye(2), np.array([[1, 2, 3], [3, 2, 1]]))

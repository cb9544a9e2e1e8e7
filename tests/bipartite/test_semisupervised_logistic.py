import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from arcrank.bipartite.semisupervised_logistic import SemiSupervisedLogistic
from arcrank.errors import ParameterError
from tests.estimator_checks import parametrize_with_checks


def clusters(n=160, seed=0):
    random = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    X = random.normal(size=(n, 5)) + np.where(truth, 1.5, -1.5)[:, None] * np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    return X, np.where(np.arange(n) < 4, truth, -1), truth


@pytest.mark.parametrize("labels", ["soft", "hard"])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_unlabelled_instances_help(labels, as_sparse):
    X, y, truth = clusters()
    X = sparse.csr_matrix(X) if as_sparse else X
    alone = LogisticRegression(C=10.0).fit(X[y >= 0], y[y >= 0])
    ranker = SemiSupervisedLogistic(labels=labels, unlabelled_weight=10.0).fit(X, y)
    assert ((ranker.decision_function(X) > 0) == truth).mean() >= alone.score(X, truth)
    np.testing.assert_array_equal(ranker.probabilities_[y >= 0], y[y >= 0])


def test_hard_labels_end_where_they_reproduce_themselves():
    X, y, _ = clusters(seed=2)
    ranker = SemiSupervisedLogistic(labels="hard").fit(X, y)
    assert ranker.n_iter_ < ranker.max_iter
    np.testing.assert_array_equal(ranker.decision_function(X)[y == -1] > 0, ranker.probabilities_[y == -1] == 1.0)


def test_one_turn_equals_logistic_regression_on_weighted_copies():
    X, y, _ = clusters(seed=1)
    known = y >= 0
    first = LogisticRegression(C=10.0, tol=1e-5, max_iter=1000).fit(X[known], y[known])
    p = first.predict_proba(X[~known])[:, 1]
    each = known.sum() / (~known).sum()
    copies = np.vstack([X[known], X[~known], X[~known]])
    labels = np.concatenate([y[known], np.ones(len(p)), np.zeros(len(p))])
    weights = np.concatenate([np.ones(known.sum()), each * p, each * (1 - p)])
    second = LogisticRegression(C=10.0, tol=1e-5, max_iter=1000).fit(copies, labels, sample_weight=weights)
    ranker = SemiSupervisedLogistic(max_iter=1).fit(X, y)
    np.testing.assert_allclose(ranker.coef_, second.coef_.ravel(), atol=1e-3)


def test_without_unlabelled_instances_it_is_logistic_regression():
    X, _, truth = clusters()
    plain = LogisticRegression(C=10.0, tol=1e-5, max_iter=1000).fit(X, truth)
    ranker = SemiSupervisedLogistic().fit(X, truth)
    np.testing.assert_allclose(ranker.decision_function(X), plain.decision_function(X), atol=1e-6)
    assert ranker.n_iter_ == 0


@pytest.mark.parametrize("parameters", [{"C": -1}, {"labels": "firm"}, {"unlabelled_weight": 0.0}, {"max_iter": 0}])
def test_parameters_out_of_range_are_refused(parameters):
    with pytest.raises(ParameterError):
        SemiSupervisedLogistic(**parameters).fit(*clusters()[:2])


@pytest.mark.processors
@parametrize_with_checks([SemiSupervisedLogistic()])
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)

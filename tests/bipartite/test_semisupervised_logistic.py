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
    X = random.normal(size=(n, 5)) + np.where(truth, 1.0, -1.0)[:, None] * np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    return X, np.where(np.arange(n) < 4, truth, -1), truth


def regression(X, y, **settings):
    return LogisticRegression(C=10.0, tol=1e-5, max_iter=1000).fit(X, y, **settings)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_unlabelled_instances_change_the_weights(as_sparse):
    X, y, _ = clusters()
    X = sparse.csr_matrix(X) if as_sparse else X
    alone = regression(X[y >= 0], y[y >= 0])
    ranker = SemiSupervisedLogistic().fit(X, y)
    assert np.abs(ranker.coef_ - alone.coef_.ravel()).max() > 1.0
    assert ((ranker.decision_function(X) > 0) != alone.predict(X)).any()
    np.testing.assert_array_equal(ranker.probabilities_[y >= 0], y[y >= 0])


def test_training_ends_where_the_labels_reproduce_themselves():
    X, y, _ = clusters(seed=2)
    ranker = SemiSupervisedLogistic().fit(X, y)
    assert 1 <= ranker.n_iter_ < ranker.max_iter
    labels = ranker.probabilities_ > 0.5
    np.testing.assert_array_equal(ranker.decision_function(X)[y == -1] > 0, labels[y == -1])
    np.testing.assert_allclose(ranker.coef_, regression(X, labels).coef_.ravel(), atol=1e-2)


@pytest.mark.parametrize("weight", [0.25, 1.0])
def test_one_turn_equals_logistic_regression_on_the_more_probable_labels(weight):
    X, y, _ = clusters(seed=1)
    known = y >= 0
    guessed = np.where(known, y, regression(X[known], y[known]).predict(X))
    second = regression(X, guessed, sample_weight=np.where(known, 1.0, weight))
    ranker = SemiSupervisedLogistic(max_iter=1, unlabelled_weight=weight).fit(X, y)
    assert ranker.n_iter_ == 1
    np.testing.assert_allclose(ranker.coef_, second.coef_.ravel(), atol=1e-2)
    np.testing.assert_allclose(ranker.probabilities_[~known], second.predict_proba(X[~known])[:, 1], atol=1e-3)


def test_training_stops_where_few_labels_change():
    X, y, _ = clusters(seed=4)
    assert SemiSupervisedLogistic(tol=1.0).fit(X, y).n_iter_ == 0
    assert SemiSupervisedLogistic(tol=0.9).fit(X, y).n_iter_ == 1 < SemiSupervisedLogistic().fit(X, y).n_iter_


def test_without_unlabelled_instances_it_is_logistic_regression():
    X, _, truth = clusters()
    plain = LogisticRegression(C=10.0, tol=1e-5, max_iter=1000).fit(X, truth)
    ranker = SemiSupervisedLogistic().fit(X, truth)
    np.testing.assert_allclose(ranker.decision_function(X), plain.decision_function(X), atol=1e-6)
    assert ranker.n_iter_ == 0


@pytest.mark.parametrize("parameters", [{"C": -1}, {"tol": -0.1}, {"unlabelled_weight": 0.0}, {"max_iter": 0}])
def test_parameters_out_of_range_are_refused(parameters):
    with pytest.raises(ParameterError):
        SemiSupervisedLogistic(**parameters).fit(*clusters()[:2])


@pytest.mark.processors
@parametrize_with_checks([SemiSupervisedLogistic()])
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)

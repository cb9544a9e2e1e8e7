import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from arcrank.bipartite.transductive_svm import TransductiveSVM
from arcrank.errors import InputError, ParameterError
from tests.estimator_checks import parametrize_with_checks


def clusters(n=120, seed=0):
    random = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    X = random.normal(size=(n, 5)) + np.where(truth, 1.5, -1.5)[:, None] * np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    return X, np.where(np.arange(n) < 4, truth, -1), truth


def criterion(ranker, X, known, costs):
    w = np.append(ranker.coef_, ranker.intercept_)
    slack = np.maximum(0, 1 - (2 * ranker.labels_ - 1) * ranker.decision_function(X))
    return w @ w / 2 + np.where(known, ranker.C, costs) @ slack


def test_unlabelled_instances_help():
    X, y, truth = clusters()
    known = y >= 0
    svm = LinearSVC(C=1.0, loss="hinge", random_state=0).fit(X[known], y[known])
    ranker = TransductiveSVM(relevant_fraction=0.5).fit(X, y)
    assert (ranker.labels_ == truth).mean() > 0.95
    assert (ranker.labels_ == truth).mean() >= svm.score(X, truth)


def test_the_number_of_relevant_instances_is_kept_and_given_labels_stay():
    X, y, _ = clusters()
    ranker = TransductiveSVM(relevant_fraction=0.25).fit(sparse.csr_matrix(X), y)
    free = y == -1
    assert ranker.labels_[free].sum() == round(0.25 * free.sum())
    np.testing.assert_array_equal(ranker.labels_[~free], y[~free])


def test_at_the_end_no_switch_lowers_the_criterion():
    X, y, _ = clusters(seed=3)
    ranker = TransductiveSVM(relevant_fraction=0.3, tol=1e-6).fit(X, y)
    known = y >= 0
    before = criterion(ranker, X, known, np.ones(len(y)))
    for i in np.flatnonzero(~known & (ranker.labels_ == 1))[:10]:
        for j in np.flatnonzero(~known & (ranker.labels_ == 0))[:10]:
            ranker.labels_[[i, j]] = 0, 1
            assert criterion(ranker, X, known, np.ones(len(y))) >= before - 1e-3
            ranker.labels_[[i, j]] = 1, 0


def test_without_unlabelled_instances_it_is_a_linear_svm():
    X, _, truth = clusters()
    svm = LinearSVC(C=1.0, loss="hinge", tol=1e-3, random_state=0).fit(X, truth)
    np.testing.assert_allclose(TransductiveSVM().fit(X, truth).decision_function(X), svm.decision_function(X))


def test_all_instances_may_become_one_side():
    X, y, _ = clusters()
    ranker = TransductiveSVM(relevant_fraction=1e-6).fit(X, y)
    assert np.isfinite(ranker.decision_function(X)).all()


@pytest.mark.parametrize(
    "parameters", [{"C": 0}, {"C_unlabelled": -1.0}, {"relevant_fraction": 1.0}, {"max_switches": 0}, {"C": "much"}]
)
def test_parameters_out_of_range_are_refused(parameters):
    with pytest.raises(ParameterError):
        TransductiveSVM(**parameters).fit(*clusters()[:2])


def test_grades_are_refused():
    with pytest.raises(InputError, match="y holds 2"):
        TransductiveSVM().fit(np.eye(3), [0, 1, 2])


# Some checks draw features around 100, where LinearSVC's dual ascent is slow; scikit-learn ignores it there, too.
@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
@pytest.mark.processors
@parametrize_with_checks([TransductiveSVM(max_iter=100)])
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, cross_val_score
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from arcrank import CUT
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import ArcGraphs, LayeredGraphs
from arcrank.metrics import domination_error, zero_one_error
from arcrank.rankers.preference_machine.machine import PreferenceMachine
from tests.estimator_checks import parametrize_with_checks

X_IRIS, Y_IRIS = load_iris(return_X_y=True)
X_IRIS = scale(X_IRIS)
KERNELS = ["linear", "polynomial", "rbf", "cosine"]
NAMES = ["identity", "domination", "dominated", "disagreement"]


def label_sets(n=80, seed=0):
    X, Y = make_multilabel_classification(n, n_features=12, n_classes=5, random_state=seed)
    return scale(X), Y


def dot(A, B):
    return (A @ B.T).toarray() if sp.issparse(A) else A @ B.T


def expected_failures(estimator):
    near = "stops at tol on another path: scores agree to that, not to 1e-7 (test_sample_weights_multiply_instances)"
    weights = [f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse")]
    if estimator.kernel != "precomputed":
        return dict.fromkeys(weights, near)
    kernel = "the check's matrix is no kernel: it has negative eigenvalues, and is refused"
    return dict.fromkeys(["check_positive_only_tag_during_fit", "check_estimators_dtypes"], kernel)


@pytest.mark.processors
@parametrize_with_checks(
    [
        PreferenceMachine(max_iter=300),
        PreferenceMachine("domination", "squared-hinge", max_iter=300),
        PreferenceMachine(kernel="rbf"),
        PreferenceMachine(kernel="precomputed", max_iter=300),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_estimator_checks(estimator, check):
    check(estimator)


def test_identity_on_single_labels_is_crammer_and_singers_machine():
    theirs = LinearSVC(multi_class="crammer_singer", fit_intercept=False, tol=1e-8, max_iter=200_000)
    W = theirs.fit(X_IRIS, Y_IRIS).coef_
    scores = X_IRIS @ W.T
    right = scores[np.arange(150), Y_IRIS].copy()
    scores[np.arange(150), Y_IRIS] = -np.inf
    objective = 0.5 * (W**2).sum() + np.maximum(0, 1 - right + scores.max(axis=1)).sum()
    ours = PreferenceMachine(C=1, fit_intercept=False, tol=1e-5).fit(X_IRIS, Y_IRIS)
    assert ours.objective_ == pytest.approx(objective, rel=1e-3)
    assert (ours.predict(X_IRIS) == theirs.predict(X_IRIS)).mean() > 0.98


@pytest.mark.parametrize("codes", [None, "one-vs-one"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("decomposition", ["identity", "domination"])
def test_a_precomputed_linear_kernel_gives_the_linear_scores(decomposition, fit_intercept, codes):
    X, Y = label_sets()
    options = {"codes": codes, "fit_intercept": fit_intercept, "tol": 1e-7, "max_iter": 5000}
    linear = PreferenceMachine(decomposition, C=0.1, **options).fit(X, Y)
    new = X[:7] + 0.1
    for kernel, train, test in (("precomputed", X @ X.T, new @ X.T), (dot, X, new)):
        machine = PreferenceMachine(decomposition, kernel=kernel, C=0.1, **options).fit(train, Y)
        assert machine.objective_ == pytest.approx(linear.objective_, rel=1e-6)
        np.testing.assert_allclose(machine.score_labels(test), linear.score_labels(new), atol=2e-3)


@pytest.mark.parametrize("kernel", [*KERNELS, dot])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_kernel_learns_label_sets_dense_and_sparse(kernel, sparse):
    X, Y = label_sets()
    settings = {"C": 3.0, "coef0": 1.0, "degree": 2, "tol": 1e-2, "max_iter": 3000, "random_state": 0}
    machine = PreferenceMachine("domination", kernel=kernel, **settings)
    machine.fit(sp.csr_matrix(X) if sparse else X, Y)
    error = domination_error(LayeredGraphs.from_label_sets(Y), machine.score_labels(X))
    assert error < (0.45 if kernel in ("linear", "cosine", dot) else 0.2)
    assert machine.duality_gap_ <= 1e-2
    dense = clone(machine).fit(X, Y)
    np.testing.assert_allclose(dense.score_labels(X[:5]), machine.score_labels(X[:5]), atol=1e-6)


def test_codes_of_every_kind():
    for codes in (None, "one-vs-one", "error-correcting", np.eye(3), np.random.default_rng(0).normal(size=(3, 2))):
        machine = PreferenceMachine(codes=codes, C=10, tol=1e-2, max_iter=3000).fit(X_IRIS, Y_IRIS)
        assert (machine.predict(X_IRIS) == Y_IRIS).mean() > 0.8
    standard, explicit = (PreferenceMachine(codes=codes, tol=1e-6).fit(X_IRIS, Y_IRIS) for codes in (None, np.eye(3)))
    np.testing.assert_allclose(standard.coef_, explicit.coef_, atol=2e-3)
    np.testing.assert_array_equal(explicit.embedding_, explicit.coef_)
    assert not hasattr(standard, "embedding_")


def test_codes_embed_the_scores():
    codes = np.random.default_rng(0).normal(size=(3, 2))
    machine = PreferenceMachine(codes=codes, fit_intercept=False).fit(X_IRIS, Y_IRIS)
    assert machine.embedding_.shape == (2, 4)
    np.testing.assert_allclose(machine.coef_, codes @ machine.embedding_)


def test_the_kind_of_supervision_comes_back():
    X, Y = label_sets()
    assert (PreferenceMachine().fit(X, Y).predict(X).sum(axis=1) >= 1).all()
    names = [["a", "c"] if i % 2 else ["a", "b", "c"] for i in range(80)]
    sets = PreferenceMachine().fit(X, names)
    assert {name for row in sets.predict(X) for name in row} <= {"a", "b", "c"}
    ranks = PreferenceMachine().fit(X, LayeredGraphs.from_label_sets(Y)).predict(X)
    assert sorted(ranks[0].tolist()) == [1, 2, 3, 4, 5]


def test_sets_of_a_given_size():
    X, Y = label_sets()
    machine = PreferenceMachine().fit(X, Y)
    assert (machine.predict(X, size=2).sum(axis=1) == 2).all()
    with pytest.raises(ParameterError, match="from 1 to 5"):
        machine.predict(X, size=6)
    with pytest.raises(ParameterError, match="size is for label sets"):
        PreferenceMachine().fit(X_IRIS, Y_IRIS).predict(X_IRIS, size=1)


def test_sample_weights_multiply_instances():
    X, Y = label_sets(40)
    weight = np.arange(40) % 3
    options = {"tol": 1e-7, "max_iter": 5000, "C": 0.3}
    weighted = PreferenceMachine("domination", **options).fit(X, Y, sample_weight=weight)
    rows = np.repeat(np.arange(40), weight)
    repeated = PreferenceMachine("domination", **options).fit(X[rows], Y[rows])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=2e-3)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_warm_starts_follow_C_and_forget_other_graphs(kernel):
    X, Y = label_sets()
    machine = PreferenceMachine("domination", kernel=kernel, warm_start=True, tol=1e-4, random_state=0).fit(X, Y)
    cold = machine.n_iter_
    assert machine.fit(X, Y).n_iter_ <= min(1, cold)
    machine.set_params(C=1.1).fit(X, Y)
    fresh = clone(machine).fit(X, Y)
    assert machine.objective_ == pytest.approx(fresh.objective_, rel=2e-4)
    machine.fit(X, 1 - Y)
    assert machine.objective_ == pytest.approx(clone(machine).fit(X, 1 - Y).objective_, rel=2e-4)


def test_bounds_and_support():
    X, Y = label_sets()
    machine = PreferenceMachine("domination").fit(X, Y)
    assert 0 < machine.leave_one_out_bound_ <= 1
    bound = machine.margin_bound(0.1)
    assert not bound.applies
    assert bound.value == np.inf
    assert "not separated" in bound.reason
    easy = PreferenceMachine(C=100, intercept="regularised").fit(
        np.repeat(np.eye(3), 50, axis=0), np.repeat([0, 1, 2], 50)
    )
    bound = easy.margin_bound()
    assert bound.applies
    assert bound.margin > 0
    assert bound.radius == pytest.approx(2 * np.sqrt(2))
    assert bound.value > 0
    assert easy.leave_one_out_bound_ <= 1


def test_leave_one_out_error_is_below_its_bound():
    X, y = X_IRIS[::4], Y_IRIS[::4]
    options = {"C": 1.0, "intercept": "regularised", "tol": 1e-6}
    wrong = 0
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        wrong += PreferenceMachine(**options).fit(X[rest], y[rest]).predict(X[[i]])[0] != y[i]
    assert wrong / len(y) <= PreferenceMachine(**options).fit(X, y).leave_one_out_bound_


def test_progress_history_and_the_warning_of_max_iter(capsys):
    X, Y = label_sets()
    with pytest.warns(ConvergenceWarning, match="relative duality gap of"):
        machine = PreferenceMachine(tol=1e-12, max_iter=2, verbose=2).fit(X, Y)
    assert "iteration 2/2" in capsys.readouterr().err
    assert [entry["iteration"] for entry in machine.history_] == [1, 2]
    assert machine.n_iter_ == 2
    assert machine.duality_gap_ > 1e-12


@pytest.mark.filterwarnings("ignore:No instance prefers")
def test_cyclic_graphs_and_rows_without_arcs():
    graphs = ArcGraphs.from_arcs([[(0, 1), (1, 2), (2, 0)], [], [(0, 1)]] * 5, 3)
    X = np.random.default_rng(0).normal(size=(15, 3))
    machine = PreferenceMachine(C=10, tol=1e-2).fit(X, graphs)
    assert np.isfinite(machine.score_labels(X)).all()
    assert zero_one_error(graphs, machine.score_labels(X)) >= 1 / 3
    nothing = PreferenceMachine().fit(X, graphs[[1, 4, 7]][[0, 1, 2] * 5])
    assert not nothing.coef_.any()
    assert nothing.duality_gap_ == 0
    assert not nothing.margin_bound().applies


def test_cross_validation_slices_a_precomputed_kernel():
    K = X_IRIS @ X_IRIS.T
    scores = cross_val_score(
        PreferenceMachine(kernel="precomputed"), K, Y_IRIS, cv=KFold(3, shuffle=True, random_state=0)
    )
    assert scores.mean() > 0.8


def test_explanations_of_linear_machines():
    machine = PreferenceMachine().fit(X_IRIS, Y_IRIS)
    explanation = machine.explain(X_IRIS[0], 0, 1)
    scores = machine.score_labels(X_IRIS[:1])[0]
    assert explanation.margin == pytest.approx(scores[0] - scores[1])
    gram = X_IRIS @ X_IRIS.T
    with pytest.raises(ParameterError, match="explain needs features"):
        PreferenceMachine(kernel="precomputed").fit(gram, Y_IRIS).explain(gram[0], 0, 1)


def test_a_refit_with_another_kernel_forgets_the_old_one():
    machine = PreferenceMachine(kernel="rbf").fit(X_IRIS, Y_IRIS)
    machine.set_params(kernel="linear").fit(X_IRIS, Y_IRIS)
    assert not hasattr(machine, "dual_coef_")
    np.testing.assert_allclose(machine.score_labels(X_IRIS), X_IRIS @ machine.coef_.T + machine.intercept_)


def test_scoring_with_a_trained_linear_machine_imports_no_numba():
    data = pickle.dumps((PreferenceMachine().fit(X_IRIS, Y_IRIS), X_IRIS))
    program = (
        "import pickle, sys; machine, X = pickle.loads(sys.stdin.buffer.read());"
        "machine.rank(X); machine.predict(X); print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], input=data, check=True, capture_output=True)
    assert done.stdout.split() == [b"False"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a number greater than 0, or 'scale', got 0"),
        ({"C": "auto"}, "C must be a number above 0, or 'scale' to choose it by the data; got 'auto'"),
        (
            {"intercept": "free"},
            "intercept must be 'scaled' or 'regularised', got 'free'. For none, pass fit_intercept",
        ),
        ({"C": -1.0}, "C must be"),
        ({"C": np.nan}, "C must be"),
        ({"tol": 0}, "tol must be"),
        ({"loss": "huber"}, "loss must be one of"),
        ({"decomposition": "half"}, "decomposition must be one of"),
        ({"kernel": "sigmoid"}, "kernel must be one of"),
        ({"kernel": "rbf", "gamma": -1}, "gamma must be"),
        ({"kernel": "polynomial", "degree": 0}, "degree must be"),
        ({"aggregate": "mean"}, "aggregate must be"),
        ({"beta": 0, "loss": "beta-perceptron"}, "beta must be"),
        ({"cache_mb": 0}, "cache_mb must be"),
        ({"codes": "two-vs-two"}, "codes must be"),
    ],
)
def test_parameters_outside_their_range_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        PreferenceMachine(**parameters).fit(X_IRIS, Y_IRIS)


@pytest.mark.parametrize(
    ("parameters", "X", "message"),
    [
        ({"codes": np.ones((2, 3))}, X_IRIS, "one row for each of the 3 labels"),
        ({"codes": np.ones((3, 2))}, X_IRIS, "the same code"),
        ({"codes": np.full((3, 2), np.nan)}, X_IRIS, "NaN"),
        ({"kernel": "precomputed"}, X_IRIS, "square"),
        ({"kernel": "precomputed"}, np.triu(np.ones((150, 150))), "not symmetric"),
        ({"kernel": "precomputed"}, -np.eye(150), "negative eigenvalue"),
        ({"kernel": "precomputed"}, np.ones((150, 150)) - 0.5 * np.eye(150), "negative eigenvalue"),
        ({"kernel": "precomputed"}, sp.eye(150, format="csr"), "dense"),
        ({"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, X_IRIS, "NaN"),
        ({"kernel": lambda A, B: np.ones(3)}, X_IRIS, "returned shape"),
    ],
)
def test_bad_data_are_refused(parameters, X, message):
    with pytest.raises(InputError, match=message):
        PreferenceMachine(**parameters).fit(X, Y_IRIS)


@pytest.mark.parametrize("sparse", [False, True])
def test_as_many_landmarks_as_instances_are_the_kernel_machine(sparse):
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3))
    y = [["a"] if row[0] * row[1] > 0 else ["b", "c"] for row in X]
    X = sp.csr_matrix(X) if sparse else X
    settings = {"kernel": "rbf", "C": 2.0, "loss": "squared-hinge", "tol": 1e-7, "random_state": 0, "max_iter": 100_000}
    exact = PreferenceMachine(**settings).fit(X, y)
    same = PreferenceMachine(landmarks=99, **settings).fit(X, y)
    np.testing.assert_allclose(same.score_labels(X), exact.score_labels(X), atol=1e-3)
    few = PreferenceMachine(landmarks=20, **settings | {"tol": 1e-3}).fit(X, y)
    assert few.support_vectors_.shape == (20, 3)
    assert np.abs(few.score_labels(X) - exact.score_labels(X)).max() < 1.0
    for kernel in ("linear", "precomputed"):
        with pytest.raises(ParameterError, match="landmarks has no meaning"):
            PreferenceMachine(landmarks=5, kernel=kernel).fit(X, y)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("below", ["b", CUT])
def test_parts_of_a_kernel_machine_sum_to_the_margin(sparse, below):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 4))
    y = [["a"] if row[0] > 0 else ["b"] for row in X]  # the other features are noise
    X = sp.csr_matrix(X) if sparse else X
    machine = PreferenceMachine(
        "domination", "squared-hinge", kernel="rbf", gamma=0.1, cut_label=True, random_state=0
    ).fit(X, y)
    why = machine.explain(X[[0]], above="a", below=below)
    scores = machine.score_labels(X[[0]])[0]
    assert why.margin == pytest.approx(scores[0] - (0.0 if below is CUT else scores[1]))
    assert why.parts[0][0] == 0
    assert machine.explain(X[[0]], above="a", below=below) == why

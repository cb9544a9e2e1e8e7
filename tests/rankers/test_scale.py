"""The defaults that follow the data: C="scale" and intercept="scaled"."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_multilabel_classification

from arcrank import CandidateSets, LogLinearRanker, PreferenceMachine
from arcrank.graphs import as_graphs
from arcrank.rankers.scale import measure_scale
from tests import plm_oracle

X, Y = make_multilabel_classification(30, n_features=8, n_classes=4, random_state=0)
X = np.where(X > 3, X, 0.0)  # about half of the values are not 0
SQUARE, DENSITY = (X**2).sum(axis=1).mean(), (X != 0).mean()
EXACT = {"tol": 1e-5, "max_iter": 5_000, "random_state": 0}
RANKERS = [
    LogLinearRanker(solver="dual", **EXACT),
    LogLinearRanker("zero-one", solver="lbfgs", **EXACT),
    LogLinearRanker("disagreement", cut_label=True, calibration_folds=0, **EXACT),
    PreferenceMachine("domination", "squared-hinge", **EXACT),
    PreferenceMachine(kernel="rbf", **EXACT),
]


@pytest.mark.parametrize(
    ("ranker", "factor"),
    [
        (LogLinearRanker(), 1.0),
        (LogLinearRanker("zero-one"), 0.5),
        (LogLinearRanker("disagreement"), 0.4),
        (PreferenceMachine(), 0.15),
        (PreferenceMachine("domination"), 0.02),
        (PreferenceMachine("domination", "squared-hinge"), 0.01),
        (PreferenceMachine("domination", "logistic"), 0.08),
        (PreferenceMachine("domination", aggregate="sum"), 0.003),
        (PreferenceMachine(lambda heads, tails, row: [np.arange(len(heads))]), 0.02),
    ],
)
def test_c_follows_labels_density_and_length(ranker, factor):
    weight = np.full(len(X), 1e5)  # so many pieces that the least C does not matter
    found = ranker.set_params(random_state=0, tol=0.9).fit(X, Y, sample_weight=weight)
    assert pytest.approx(factor * np.sqrt(4 / DENSITY) / SQUARE) == found.C_
    assert found.C == "scale"


def test_few_pieces_have_a_least_c():
    proper = Y.any(axis=1) & ~Y.all(axis=1)
    assert pytest.approx(200 / proper.sum() / SQUARE) == PreferenceMachine(tol=0.1).fit(X, Y).C_
    heads = Y[proper].sum()
    assert pytest.approx(200 / heads / SQUARE) == PreferenceMachine("domination", tol=0.1).fit(X, Y).C_


def test_a_cut_is_one_more_label_and_has_its_own_factor():
    machine = PreferenceMachine("domination", "squared-hinge", cut_label=True, calibration_folds=0, tol=0.5)
    machine.fit(X, Y, sample_weight=np.full(len(X), 1e5))
    assert pytest.approx(0.02 * np.sqrt(5 / DENSITY) / SQUARE) == machine.C_
    ranker = LogLinearRanker(cut_label=True, calibration_folds=0).fit(X, Y)
    assert pytest.approx(2 * np.sqrt(5 / DENSITY) / SQUARE) == ranker.C_


def test_c_of_a_kernel_machine_follows_the_kernel():
    assert PreferenceMachine(kernel="rbf", tol=0.1).fit(X, Y).C_ == 1.0
    assert pytest.approx(1 / SQUARE) == PreferenceMachine(kernel=lambda A, B: A @ B.T, tol=0.1).fit(X, Y).C_


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_the_unit_of_the_features_does_not_matter(ranker):
    scores = ranker.fit(X, Y).score_labels(X)
    np.testing.assert_allclose(ranker.fit(1000 * X, Y).score_labels(1000 * X), scores, atol=1e-2)


@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_a_number_for_c_is_used_as_it_is(ranker):
    scaled = ranker.fit(X, Y)
    scores, C = scaled.score_labels(X), scaled.C_
    number = type(ranker)(**ranker.get_params() | {"C": C}).fit(X, Y)
    assert number.C_ == C
    np.testing.assert_array_equal(number.score_labels(X), scores)


@pytest.mark.parametrize("kind", [LogLinearRanker, partial(PreferenceMachine, "domination", "squared-hinge")])
@pytest.mark.parametrize(
    ("intercept", "cut_label", "constant"),
    [("regularised", False, 1.0), ("scaled", False, np.sqrt(DENSITY * SQUARE)), ("scaled", True, np.sqrt(SQUARE))],
)
def test_the_intercept_is_a_constant_feature(kind, intercept, cut_label, constant):
    options = {"C": 0.02, "cut_label": cut_label, "calibration_folds": 0, **EXACT}
    ours = kind(intercept=intercept, **options).fit(X, Y)
    column = np.hstack([X, np.full((len(X), 1), constant)])
    by_hand = kind(fit_intercept=False, **options).fit(column, Y)
    np.testing.assert_allclose(ours.score_labels(X), by_hand.score_labels(column), atol=1e-2)
    np.testing.assert_allclose(ours.intercept_, constant * by_hand.coef_[:, -1], atol=1e-2)


def test_a_kernel_machine_with_the_linear_kernel_has_the_same_intercept():
    dense = X + 1.0
    options = {"C": 0.01, **EXACT}
    linear = PreferenceMachine(**options).fit(dense, Y)
    kernel = PreferenceMachine(kernel=lambda A, B: A @ B.T, **options).fit(dense, Y)
    np.testing.assert_allclose(kernel.score_labels(dense), linear.score_labels(dense), atol=1e-2)


def test_the_default_problem_is_solved_as_a_generic_solver_solves_it():
    pytest.importorskip("cvxpy")
    machine = PreferenceMachine("domination", **EXACT).fit(X[:20], Y[:20])
    scale = measure_scale(X[:20], np.ones(20))
    design = np.hstack([X[:20], np.full((20, 1), scale.constant("scaled", with_cut=False))])
    best, _ = plm_oracle.solve(design, as_graphs(Y[:20]), "domination", "hinge", machine.C_)
    assert machine.duality_gap_ <= 1e-5
    assert machine.objective_ == pytest.approx(best, rel=2e-5)


def test_weights_are_repetitions_and_sparse_is_dense():
    weight = np.arange(len(X)) % 3.0
    stored = sp.csr_matrix(X)
    stored.data[::7] = 0.0  # stored zeros do not count
    dense = stored.toarray()
    scales = [
        measure_scale(dense, weight),
        measure_scale(stored, weight),
        measure_scale(np.repeat(dense, weight.astype(int), axis=0), np.ones(int(weight.sum()))),
    ]
    for scale in scales[1:]:
        assert scale == pytest.approx(scales[0])


@pytest.mark.parametrize("ranker", [LogLinearRanker(), PreferenceMachine(), PreferenceMachine(kernel="polynomial")])
@pytest.mark.parametrize("unit", [0.0, 1e-12, 1e12])
def test_features_without_or_with_extreme_values(ranker, unit):
    found = ranker.set_params(max_iter=3, tol=0.5).fit(unit * X, Y)
    assert 0 < found.C_ < np.inf
    assert np.isfinite(found.score_labels(unit * X)).all()


def test_c_of_candidates_follows_their_features():
    sets = CandidateSets(np.repeat(X, 2, axis=0)[:40], np.arange(0, 41, 4))
    grades = np.tile([2, 1, 0, 0], 10)
    square, density = (sets.features**2).sum(axis=1).mean(), (sets.features != 0).mean()
    assert pytest.approx(1 / np.sqrt(density) / square) == LogLinearRanker().fit(sets, grades).C_


def test_a_warm_start_goes_on_from_the_last_c():
    warm = LogLinearRanker(solver="dual", warm_start=True, **EXACT).fit(X, Y)
    warm.set_params(C=2 * warm.C_).fit(X, Y)
    cold = LogLinearRanker(solver="dual", C=warm.C_, **EXACT).fit(X, Y)
    np.testing.assert_allclose(warm.score_labels(X), cold.score_labels(X), atol=1e-2)

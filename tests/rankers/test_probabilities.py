"""Probabilities of rankers: their order, what they are worth, and the offsets of label sets."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import train_test_split

from arcrank import CUT, LogLinearRanker, MMPRanker, PerceptronRanker, PreferenceMachine, RocchioRanker
from arcrank.errors import InputError, NotCalibratedError
from arcrank.graphs import as_graphs
from arcrank.graphs.cut import insert_cut
from arcrank.metrics.calibration import expected_calibration_error, first_label_calibration_error
from arcrank.model_selection import StratifiedFolds
from arcrank.rankers.calibration import Calibration, fit_calibration, fit_temperature, no_curves
from arcrank.rankers.label_correlations import fit_label_correlations
from arcrank.rankers.label_effects import fit_label_effects
from arcrank.rankers.margins_sample import slope_of_margins
from arcrank.rankers.monotone_logistic import Curve, fit_curves, likeliest_slope
from arcrank.rankers.out_of_fold import out_of_fold_scores
from arcrank.rankers.set_offsets import _divisions, choose_offsets, choose_shared_offset


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def documents(n=200, k=4, d=5, seed=0):
    """Label sets of known probabilities, which depend on the features."""
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(n, d)), np.random.default_rng(99).normal(size=(d, k))
    return X, (rng.random((n, k)) < sigmoid(X @ W - 1)).astype(np.int64)


X, Y = documents(120)
SINGLE = X[:, :4].argmax(axis=1)
RANKERS = {
    "log-linear": LogLinearRanker(cut_label=True, tol=0.01),
    "machine": PreferenceMachine(cut_label=True, random_state=0),
    "rbf": PreferenceMachine(cut_label=True, kernel="rbf", random_state=0),
    "mmp": MMPRanker(cut_label=True, average=True),
    "perceptron": PerceptronRanker(cut_label=True, average=True),
}
of_rankers = pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS.keys())
by_name = pytest.mark.parametrize("name", RANKERS)


@cache
def fitted_ranker(name, *, single=False):
    return clone(RANKERS[name]).fit(X, SINGLE if single else Y)


def calibrations():
    """Calibrations fitted to scores of many sizes, some of which say little or nothing about the labels."""
    made = []
    for seed, (scale, noise) in enumerate([(1, 0), (1, 1), (1e-4, 0.5), (1e4, 0.2), (3, 30)]):
        rng = np.random.default_rng(seed)
        scores = scale * rng.normal(size=(150, 4))
        relevant = rng.random(scores.shape) < sigmoid(2 * scores / scale + noise * rng.normal(size=scores.shape))
        curves = fit_calibration(scores, np.ones_like(relevant), relevant)
        made.append((scale, Calibration(**curves, temperature=1.0, above_slope=1.0 / scale, offsets=np.zeros(4),
                                        documents=150, folds=0, set_measure=None,
                                        recall_thresholds=np.zeros(99))))  # fmt: skip
    return made


def test_the_order_of_probabilities_is_that_of_scores():
    """2 * 10^4 random rows of two labels for each calibration, many of them close to each other."""
    for seed, (scale, calibration) in enumerate(calibrations()):
        rng = np.random.default_rng(seed)
        scores = scale * rng.normal(size=(20_000, 2)) * 10.0 ** rng.uniform(-2, 1, (20_000, 1))
        scores[::2, 1] = scores[::2, 0] + scale * 10.0 ** rng.uniform(-8, 0, 10_000)
        above = scores[:, 1] > scores[:, 0]
        log_odds, p = calibration.log_odds(scores), calibration.probabilities(scores)
        assert ((log_odds[:, 1] > log_odds[:, 0]) == above).all()
        assert ((p[:, 1] >= p[:, 0]) | ~above).all()
        assert ((p[:, 1] <= p[:, 0]) | above).all()
        tied = p[:, 0] == p[:, 1]
        far = np.abs(log_odds[:, 1] - log_odds[:, 0]) > 1e-14 * np.exp(np.abs(log_odds).max(axis=1))
        assert not (tied & far).any()
        assert ((p > 0) & (p <= 1)).all()


def test_a_curve_never_falls_not_even_at_its_knots():
    knots = np.array([-1.0, 0.0, 3.0])
    x = np.sort(np.concatenate([knots, np.nextafter(knots, 9), np.nextafter(knots, -9), np.linspace(-2, 4, 50)]))
    for middle in 1e-3 * np.random.default_rng(0).random(50):
        curve = Curve(knots, np.array([-1.0, middle, 2.0]))
        assert (np.diff(curve(x)) >= 0).all()
        np.testing.assert_allclose(curve(knots), curve.values)
        np.testing.assert_allclose(curve(np.array([-2.0, 6.0])), [-2 - middle, 4 - middle])


def single_calibration(temperature):
    return Calibration(**no_curves(), temperature=temperature, above_slope=1.0, offsets=np.zeros(5), documents=9,
                       folds=0, set_measure=None, recall_thresholds=np.zeros(99))  # fmt: skip


def test_probabilities_of_single_labels_sum_to_1_and_keep_the_order():
    rng = np.random.default_rng(0)
    for temperature in (0.1, 1.0, 30.0):
        calibration, scores = single_calibration(temperature), rng.normal(size=(5_000, 5))
        p, log_odds = calibration.probabilities(scores), calibration.log_odds(scores)
        np.testing.assert_allclose(p.sum(axis=1), 1)
        order = np.argsort(scores, axis=1)
        assert (np.diff(np.take_along_axis(p, order, axis=1), axis=1) > 0).all()
        assert (np.diff(np.take_along_axis(log_odds, order, axis=1), axis=1) > 0).all()
        sure = (p > 1e-6) & (p < 1 - 1e-6)
        np.testing.assert_allclose(log_odds[sure], np.log(p[sure] / (1 - p[sure])), rtol=1e-6, atol=1e-6)


@by_name
def test_probabilities_of_rankers_follow_their_scores(name):
    fitted = fitted_ranker(name)
    order = np.argsort(fitted.score_labels(X), axis=1)
    assert (np.diff(np.take_along_axis(fitted.predict_proba(X), order, axis=1), axis=1) > 0).all()
    np.testing.assert_allclose(fitted.predict_proba(X), sigmoid(fitted.predict_log_odds(X)))
    single = fitted_ranker(name, single=True)
    np.testing.assert_allclose(single.predict_proba(X).sum(axis=1), 1)
    assert (single.predict_proba(X).argmax(axis=1) == single.predict(X)).all()
    assert single.calibration_.describe() == {
        "method": "softmax", "documents": 120, "folds": 3, "set_measure": "micro_f1", "offsets": "per label"
    }  # fmt: skip


def test_offsets_of_single_labels_find_rare_ones():
    digits = load_digits()
    keep = (digits.target < 5) | (np.arange(len(digits.target)) % 8 == 0)  # half of the digits become rare
    X, y = digits.data[keep] / 16, digits.target[keep]
    accuracy, balanced = {}, {}
    for measure in (None, "micro_f1", "macro_f1"):
        right, found = [], []
        for seed in range(5):
            train, test = train_test_split(np.arange(len(y)), train_size=0.3, random_state=seed)
            ranker = PreferenceMachine(
                "domination", "squared-hinge", cut_label=True, set_measure=measure, random_state=0
            )
            predicted = ranker.fit(X[train], y[train]).predict(X[test])
            right.append(accuracy_score(y[test], predicted))
            found.append(balanced_accuracy_score(y[test], predicted))
        accuracy[measure], balanced[measure] = np.mean(right), np.mean(found)
    assert accuracy["micro_f1"] > accuracy[None] + 0.005
    assert balanced["macro_f1"] > balanced[None] + 0.01


@by_name
def test_the_probability_of_being_above(name):
    fitted = fitted_ranker(name)
    one, other = fitted.predict_above_proba(X, 0, 2), fitted.predict_above_proba(X, 2, 0)
    np.testing.assert_allclose(one + other, 1, rtol=4e-16)
    scores = fitted.score_labels(X)
    order = np.argsort(scores[:, 0] - scores[:, 2])
    assert (np.diff(one[order]) > 0).all()
    assert ((one > 0.5) == (scores[:, 0] > scores[:, 2])).all()


def test_curves_and_slopes_are_exact():
    # To the last digits, not to what the rounding of a loss leaves: processors round differently.
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 2))
    y = (rng.random(300) < sigmoid(2 * x[:, 0] + x[:, 1])).astype(float)
    weight, order = np.ones(300), rng.permutation(300)
    curves, _ = fit_curves((x[:, 0], x[:, 1]), y, weight)
    again, _ = fit_curves((x[order, 0], x[order, 1]), y[order], weight)
    for one, other in zip(curves, again, strict=True):
        np.testing.assert_allclose(one.values, other.values, rtol=1e-9, atol=1e-9)
    assert likeliest_slope(lambda slope: slope - np.pi) == pytest.approx(np.pi, rel=1e-11)
    assert likeliest_slope(lambda slope: -1.0) == pytest.approx(np.exp(7))
    assert likeliest_slope(lambda slope: 1.0) == pytest.approx(np.exp(-7))


def test_the_slope_of_margins_is_the_likeliest():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4_000, 3))
    first = rng.random(4_000) < sigmoid(2.5 * (scores[:, 1] - scores[:, 2]))
    cut_first = as_graphs([[(1, 2)] if one else [(2, 1)] for one in first], kind="arcs", labels=[CUT, 0, 1, 2])
    assert slope_of_margins(scores, cut_first) == pytest.approx(2.5, rel=0.1)
    assert slope_of_margins(scores[:0], cut_first[:0]) == 1.0
    assert 0 < slope_of_margins(-scores, cut_first) < 0.01


@pytest.mark.parametrize(
    ("name", "measure"),
    [(name, "micro_f1") for name in RANKERS]
    + [("mmp", measure) for measure in ("macro_f1", "subset_accuracy", "precision>=0.6", None)],
)
def test_calibrating_again_is_calibrating_once(name, measure):
    fitted = clone(RANKERS[name]).set_params(calibration_folds=0, set_measure=measure).fit(X, Y)
    raw = fitted.score_labels(X)
    new, of_new = documents(seed=1)
    once = fitted.calibrate(new, of_new).predict_proba(X)
    offsets = fitted.calibration_.offsets
    np.testing.assert_allclose(fitted.score_labels(X), raw - offsets, atol=1e-12)
    again = fitted.calibrate(X[:90], Y[:90]).calibrate(new, of_new)
    np.testing.assert_allclose(again.calibration_.offsets, offsets, atol=1e-9)
    np.testing.assert_allclose(again.predict_proba(X), once, atol=1e-6)
    assert again.calibration_.describe()["folds"] is None
    assert again.calibration_.describe()["set_measure"] == measure
    if measure is None:
        np.testing.assert_array_equal(fitted.score_labels(X), raw)


def test_offsets_are_shared_or_per_label():
    assert LogLinearRanker(cut_label=True, set_measure=None).fit(X, Y).calibration_.describe()["offsets"] == "shared"
    fitted = LogLinearRanker(cut_label=True, set_measure="macro_f1").fit(X, Y)
    assert fitted.calibration_.describe()["offsets"] == "per label"
    assert fitted.calibration_.describe()["documents"] == 120


def problems():
    """Scores with ties, relevant labels, and a few labels of which nothing is known."""
    return st.integers(0, 10**6).map(make_problem)


def make_problem(seed):
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=(12, 3)), 1)
    relevant = rng.random(scores.shape) < sigmoid(2 * scores - 0.5)
    relevant[0], relevant[1] = [1, 0, 0], [0, 1, 0]
    judged = relevant | (rng.random(scores.shape) < 0.9)
    return scores, judged, relevant


def micro_f1(predicted, judged, relevant):
    right = (predicted & relevant).sum()
    return 2 * right / ((predicted & judged).sum() + relevant.sum())


def subset_accuracy(predicted, judged, relevant):
    return ((predicted == relevant) | ~judged).all(axis=1).mean()


def thresholds(values):
    levels = np.unique(values)
    return np.concatenate([[levels[0] - 1], (levels[1:] + levels[:-1]) / 2, [levels[-1] + 1]])


@pytest.mark.parametrize(("measure", "value"), [("micro_f1", micro_f1), ("subset_accuracy", subset_accuracy)])
@given(problem=problems())
@settings(deadline=None, max_examples=50)
def test_no_shared_offset_is_better(measure, value, problem):
    scores, judged, relevant = problem
    corrected = scores + fit_label_effects(*problem).effects
    offset = choose_shared_offset(corrected, judged, relevant, measure)
    best = max(value(corrected > at, judged, relevant) for at in thresholds(corrected[judged]))
    assert value(corrected > offset, judged, relevant) == pytest.approx(best)


@given(problem=problems())
@settings(deadline=None, max_examples=50)
def test_offsets_are_label_effects_and_a_shared_offset_and_for_the_micro_f1_those_of_the_labels(problem):
    scores, judged, relevant = problem
    effects, own = fit_label_effects(*problem).effects, choose_offsets(*problem, "macro_f1")
    for measure, share in {"subset_accuracy": 0.0, "micro_f1": 0.3}.items():
        shared = choose_shared_offset(scores + effects, judged, relevant, measure) - effects
        moved = np.where(judged.any(axis=0), (1 - share) * shared + share * own, shared)
        np.testing.assert_allclose(choose_offsets(*problem, measure), moved, atol=1e-12)


@given(problem=problems(), wanted=st.sampled_from([0.5, 0.7, 0.9]))
@settings(deadline=None, max_examples=50)
def test_the_longest_cut_of_a_precision(problem, wanted):
    scores, judged, relevant = problem
    corrected = scores + fit_label_effects(*problem).effects
    found = {}
    for at in thresholds(corrected[judged]):
        chosen = (corrected > at) & judged
        if chosen.any() and (chosen & relevant).sum() / chosen.sum() >= wanted:
            found[int(chosen.sum())] = at
    if not found:
        with pytest.warns(UserWarning, match="No cut has"):
            offsets = choose_offsets(*problem, f"precision>={wanted}")
        assert not ((scores > offsets) & judged).any()
        return
    offsets = choose_offsets(*problem, f"precision>={wanted}")
    assert ((scores > offsets) & judged).sum() == max(found)


def best_of_part(values, wanted, n_labels, others):
    """Try every threshold: the best one, by the label's share in the macro-F1 and the micro-F1, and its counts."""
    found = []
    for at in [values.max() + 1e-6 * (1 + abs(values.max())), *thresholds(values)[-2:0:-1], values.min() - 0.5]:
        right, taken, total = (wanted & (values > at)).sum(), (values > at).sum(), wanted.sum()
        macro = 2 * right / max(1, taken + total) / n_labels
        micro = 2 * (right + others[0]) / max(1, taken + total + others[1] + others[2])
        found.append((macro + micro, at, np.array([right, taken, total])))
    highest = max(quality for quality, *_ in found)
    equals = [part[1:] for part in found if part[0] > highest - 1e-12]
    assume(len(equals) == 1 or highest == 0)  # which of two equal ones is taken depends on the last bit
    return equals[0]


def taking(values, count):
    """The offset that `count` of the values are above, equal ones included."""
    possible = [values.min() - 0.5, *thresholds(values)[1:-1], values.max() + 1e-6 * (1 + abs(values.max()))]
    return max(at for at in possible if (values > at).sum() >= count)


def mean_offset(scores, judged, relevant, part_of):
    """The mean over the parts of one division of their best offsets, of each label."""
    offsets, so_far = np.zeros(scores.shape[1]), np.zeros(3, dtype=int)
    for number, label in enumerate(np.argsort(-relevant.sum(axis=0), kind="stable"), start=1):
        parts = [judged[:, label] & (part_of == part) for part in range(8)]
        found = [best_of_part(scores[at, label], relevant[at, label], number, so_far) for at in parts if at.any()]
        offsets[label] = np.mean([at for at, _ in found])
        so_far = so_far + np.sum([counts for _, counts in found], axis=0)
    return offsets


@given(problem=problems())
@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.filter_too_much])
def test_the_offset_of_each_label_is_a_mean_of_best_ones_drawn_towards_its_frequency(problem):
    scores, judged, relevant = problem
    own = np.mean([mean_offset(*problem, part_of) for part_of in _divisions(len(scores))], axis=0)
    for label, offset in enumerate(choose_offsets(*problem, "macro_f1")):
        values, total = scores[judged[:, label], label], relevant[:, label].sum()
        expected = taking(values, min(int(1.25 * total), len(values)))
        assert offset == pytest.approx((total * own[label] + 4 * expected) / (total + 4), abs=1e-9)


def test_divisions_have_eight_parts_of_equal_size():
    divisions = _divisions(80)
    assert len(divisions) == 3
    assert all((np.bincount(part_of) == 10).all() for part_of in divisions)
    assert not np.array_equal(divisions[0], divisions[1])


def test_a_label_that_is_never_judged_has_no_offset():
    scores, judged, relevant = make_problem(0)
    judged[:, 2] = relevant[:, 2] = False
    assert choose_offsets(scores, judged, relevant, "macro_f1")[2] == 0.0
    effects = fit_label_effects(scores, judged, relevant).effects
    shared = choose_shared_offset(scores + effects, judged, relevant, "micro_f1")
    assert choose_offsets(scores, judged, relevant, "micro_f1")[2] == pytest.approx(shared - effects[2])


def test_label_effects_raise_labels_that_score_too_low():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(2_000, 3))
    relevant = rng.random(truth.shape) < sigmoid(2 * truth - 1)
    fitted = fit_label_effects(truth - [0, 1, -1], np.ones_like(relevant), relevant)
    np.testing.assert_allclose(fitted.effects - fitted.effects[0], [0, 1, -1], atol=0.15)
    assert fitted.slope == pytest.approx(2, rel=0.1)


@by_name
def test_without_calibration_there_are_no_probabilities(name):
    fitted = clone(RANKERS[name]).set_params(calibration_folds=0).fit(X, Y)
    for method in ("predict_proba", "predict_log_odds", "predict_above_proba"):
        assert not hasattr(fitted, method)
        assert hasattr(fitted_ranker(name), method)
    with pytest.raises(NotCalibratedError, match="has no probabilities. Fit it on label sets .* or call calibrate"):
        fitted.predict_proba(X)
    assert hasattr(fitted.calibrate(X, Y), "predict_proba")


def test_a_ranker_without_a_cut_can_be_calibrated():
    new, of_new = documents(seed=1)
    for ranker in (RocchioRanker(), LogLinearRanker(), MMPRanker()):
        before = ranker.fit(X, Y).score_labels(X)
        assert ranker.calibrate(new, of_new).predict_proba(X).shape == (120, 4)
        np.testing.assert_array_equal(ranker.score_labels(X), before)
        ranker.fit(X, Y)
        assert not hasattr(ranker, "predict_proba")


@pytest.mark.parametrize("n", [1, 3])
def test_too_few_documents_cannot_calibrate(n):
    fitted = LogLinearRanker(cut_label=True).fit(X, Y)
    before = fitted.predict_proba(X)
    with pytest.raises(InputError, match=f"These {n} instances cannot calibrate"):
        fitted.calibrate(X[:n], Y[:n])
    np.testing.assert_array_equal(fitted.predict_proba(X), before)


@of_rankers
@pytest.mark.parametrize("y", [np.zeros((20, 3), int), np.ones((20, 3), int), np.eye(3, dtype=int)[[0, 1, 2] * 2]])
def test_data_that_cannot_calibrate_leave_the_cut_where_it_was_learnt(ranker, y):
    x = X[: len(y)]
    with pytest.warns(UserWarning, match=f"The {len(y)} training instances are too few, or too much alike") as caught:
        fitted = clone(ranker).set_params(calibration_folds=4).fit(x, y)
    assert len(caught) == 1
    assert not hasattr(fitted, "predict_proba")
    plain = clone(ranker).set_params(calibration_folds=0).fit(x, y)
    np.testing.assert_array_equal(fitted.score_labels(x), plain.score_labels(x))
    if hasattr(fitted, "fit_intercept") and (not y.any() or y.all()):
        np.testing.assert_array_equal(fitted.predict(x), y)


@pytest.mark.parametrize("measure", ["micro_f1", "macro_f1", "subset_accuracy", "precision>=0.9"])
def test_one_document_per_label_is_calibrated_without_a_crash(measure):
    y = np.eye(12, dtype=int)
    fitted = LogLinearRanker(cut_label=True, set_measure=measure)
    if measure == "precision>=0.9":
        with pytest.warns(UserWarning, match="No cut has"):
            fitted.fit(X[:12], y)
    else:
        fitted.fit(X[:12], y)
    p = fitted.predict_proba(X)
    assert ((p > 0) & (p < 1)).all()


def test_as_many_irrelevant_as_relevant_labels_of_one_kind():
    """Labels of which nothing says that they are irrelevant but one."""
    y = np.ones((30, 3), int)
    y[::3, 0] = 0
    fitted = LogLinearRanker(cut_label=True).fit(X[:30], y)
    assert fitted.predict_proba(X)[:, 1:].mean() > fitted.predict_proba(X)[:, 0].mean()


def test_curves_recover_a_known_map():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 20_000))

    def true(x, z):
        return sigmoid(np.where(x < 0, 3 * x, 0.7 * x) - 0.5 + np.abs(z))

    y = (rng.random(20_000) < true(x, z)).astype(float)
    (first, second), _ = fit_curves((x, z), y, np.ones(20_000))
    assert (np.diff(first.values) > 0).all()
    new_x, new_z = np.clip(rng.normal(size=(2, 5_000)), -2, 2)
    p = sigmoid(first(new_x) + np.interp(new_z, second.knots, second.values))
    assert np.abs(p - true(new_x, new_z)).mean() < 0.02
    outcome = (rng.random(5_000) < true(new_x, new_z)).astype(int)
    assert expected_calibration_error(outcome[:, None], p[:, None]) < 0.03


@pytest.mark.parametrize("surely", [True, False])
def test_first_labels_have_the_right_mean_probability(surely):
    rng = np.random.default_rng(0)

    def draw(n):
        scores = rng.normal(size=(n, 8))
        first = scores == scores.max(axis=1, keepdims=True)
        return scores, rng.random((n, 8)) < np.where(first & surely, 0.9, sigmoid(scores - 2))

    scores, relevant = draw(4_000)
    curves = fit_calibration(scores, np.ones_like(relevant), relevant)
    assert (curves["first_bonus"] > 0.5) == surely
    rest = {"above_slope": 1.0, "temperature": 1.0, "recall_thresholds": np.zeros(99), "offsets": np.zeros(8)}
    calibration = Calibration(**curves, **rest, documents=1, folds=0, set_measure=None)
    new, truth = draw(20_000)
    p, first = calibration.probabilities(new), new.argmax(axis=1)
    assert (p.argsort(axis=1) == new.argsort(axis=1)).all()
    rows = np.arange(len(new))
    assert p[rows, first].mean() == pytest.approx(truth[rows, first].mean(), abs=0.015)
    assert p.sum(axis=1).mean() == pytest.approx(truth.sum(axis=1).mean(), abs=0.03)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("case", ["separable", "reversed", "constant", "two values"])
def test_curves_stay_finite_and_increase_whatever_the_data(case, scale):
    x = {
        "separable": np.linspace(-1, 1, 200),
        "reversed": np.linspace(1, -1, 200),
        "constant": np.full(200, 0.3),
        "two values": np.repeat([0.0, 1.0], 100),
    }[case]
    y = (np.arange(200) >= 100).astype(float)
    (curve,), _ = fit_curves((scale * x,), y, np.ones(200))
    assert np.isfinite(curve.values).all()
    assert (np.diff(curve.values) > 0).all()
    p = sigmoid(curve(scale * x))
    if case in ("separable", "two values"):
        np.testing.assert_allclose(p[[0, -1]], [0, 1], atol=0.03)
    if case == "constant":
        np.testing.assert_allclose(p, 0.5, atol=0.01)


@pytest.mark.parametrize("ranker", [LogLinearRanker(cut_label=True), MMPRanker(cut_label=True)], ids=str)
def test_calibration_is_that_of_cross_validated_scores(ranker):
    fitted = clone(ranker).fit(X, Y)
    scores = np.empty(Y.shape)
    for train, test in StratifiedFolds(3, random_state=0).split(X, insert_cut(as_graphs(Y))):
        fold = clone(ranker).set_params(calibration_folds=0)
        if hasattr(ranker, "C"):
            fold.set_params(C=fitted.C_ * len(X) / len(train), tol=0.01)
        fold.fit(X[train], Y[train])
        scores[test] = fold.score_labels(X[test])
    graphs = insert_cut(as_graphs(Y))
    np.testing.assert_allclose(out_of_fold_scores(fitted, X, graphs, None, 3), scores, atol=1e-12)
    judged = np.ones(Y.shape, dtype=bool)
    plain = clone(ranker).set_params(calibration_folds=0).fit(X, Y).score_labels(X)
    if ranker.label_correlations:
        correlations, scores = fit_label_correlations(scores, judged, Y == 1)
        plain = correlations.correct(plain)
    offsets = choose_offsets(scores, judged, Y == 1, "micro_f1")
    np.testing.assert_allclose(fitted.calibration_.offsets, offsets)
    curves = fit_calibration(scores - offsets, judged, Y == 1)
    np.testing.assert_allclose(fitted.calibration_.score_values, curves["score_values"])
    np.testing.assert_allclose(fitted.score_labels(X), plain - offsets, atol=1e-12)


def test_weights_and_kernel_matrices_are_split_with_the_documents():
    gram, weight = X @ X.T, np.where(np.arange(120) % 2, 1.0, 3.0)
    machine = PreferenceMachine(cut_label=True, kernel="precomputed", calibration_folds=2, random_state=0)
    fitted = clone(machine).fit(gram, Y, sample_weight=weight)
    graphs = insert_cut(as_graphs(Y))
    scores = out_of_fold_scores(fitted, gram, graphs, weight, 2)
    for train, test in StratifiedFolds(2, random_state=0).split(X, graphs):
        fold = clone(machine).set_params(calibration_folds=0, C=fitted.C_ * 120 / len(train), tol=0.01)
        fold.fit(gram[np.ix_(train, train)], Y[train], sample_weight=weight[train])
        np.testing.assert_allclose(scores[test], fold.score_labels(gram[np.ix_(test, train)]), atol=1e-12)


def test_probabilities_are_right_where_scores_are_not():
    """Training on few documents with weak regularisation makes scores far too sure; their sigmoids show it."""
    x, y = documents(150, d=20, seed=3)
    new, of_new = documents(6_000, d=20, seed=4)
    ranker = LogLinearRanker(C=30, tol=0.01, cut_label=True, set_measure=None).fit(x, y)
    naive = expected_calibration_error(of_new, sigmoid(ranker.score_labels(new)))
    ours = expected_calibration_error(of_new, ranker.predict_proba(new))
    assert naive > 0.1
    assert ours < 0.03


def test_probabilities_of_single_labels_follow_a_curve_of_the_scores():
    rng = np.random.default_rng(0)

    def draw(n):
        scores = 2 * rng.normal(size=(n, 6))
        weight = sigmoid(np.where(scores < 1, 2 * scores - 3, 0.3 * scores - 1.3))
        right = (weight.cumsum(axis=1) < rng.random((n, 1)) * weight.sum(axis=1, keepdims=True)).sum(axis=1)
        return scores, right

    scores, right = draw(8_000)
    relevant = np.eye(6, dtype=bool)[right]
    rest = {"above_slope": 1.0, "recall_thresholds": np.zeros(99), "offsets": np.zeros(6), "documents": 1, "folds": 0}
    rest |= {"set_measure": None, "temperature": 1.0}
    curved = Calibration(**fit_calibration(scores, np.ones_like(relevant), relevant), **rest, one_label=True)
    curved = replace(curved, temperature=fit_temperature(curved.log_weights(scores), right))
    plain = Calibration(**no_curves(), **rest | {"temperature": fit_temperature(scores, right)})
    new, of_new = draw(20_000)
    truth, p = np.eye(6, dtype=int)[of_new], curved.probabilities(new)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p.argsort(axis=1) == new.argsort(axis=1)).all()
    assert (curved.log_odds(new).argsort(axis=1) == new.argsort(axis=1)).all()
    assert first_label_calibration_error(truth, p) < 0.03
    assert first_label_calibration_error(truth, plain.probabilities(new)) > 0.05


def test_probabilities_of_single_labels_are_right():
    rng = np.random.default_rng(5)
    W = rng.normal(size=(20, 5))

    def draw(n):
        x = rng.normal(size=(n, 20))
        return x, (0.5 * x @ W + rng.gumbel(size=(n, 5))).argmax(axis=1)

    (x, y), (new, of_new) = draw(300), draw(5_000)
    ranker = LogLinearRanker(C=30, tol=0.01, cut_label=True).fit(x, y)
    scores = ranker.score_labels(new)
    softmax = np.exp(scores - scores.max(axis=1, keepdims=True))
    softmax /= softmax.sum(axis=1, keepdims=True)
    truth = np.eye(5, dtype=int)[of_new]
    assert expected_calibration_error(truth, softmax) > 0.05
    assert expected_calibration_error(truth, ranker.predict_proba(new)) < 0.03


@pytest.mark.parametrize(
    "ranker",
    [PreferenceMachine("domination", "squared-hinge"), LogLinearRanker(solver="dual")],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.filterwarnings("ignore:dual stopped after max_iter")
def test_a_calibrated_fit_has_one_set_of_weights_at_a_time(ranker):
    wide = sp.random(60, 50_000, density=0.001, format="csr", random_state=0)
    sets = np.eye(10, dtype=int)[np.arange(60) % 10]
    ranker.set_params(cut_label=True, max_iter=2, tol=0.9, random_state=0)

    def peak(folds):
        fitted = clone(ranker).set_params(calibration_folds=folds)
        tracemalloc.start()
        try:
            fitted.fit(wide, sets)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(3)  # compiles
    assert peak(3) < 1.3 * peak(0)

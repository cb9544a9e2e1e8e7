"""What labels say about each other: the fit, the weights that it changes, and that it helps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from arcrank import AverageRanker, LogLinearRanker, PreferenceMachine, load, save
from arcrank.datasets import load_debtags_sample
from arcrank.errors import ParameterError
from arcrank.graphs import CUT, as_graphs
from arcrank.metrics import average_precision, ranking_loss
from arcrank.rankers import label_correlations
from arcrank.rankers.label_correlations import fit_label_correlations
from arcrank.rankers.label_effects import fit_label_effects
from arcrank.text import TextFeatures


def correlated(n=300, k=5, seed=0):
    """Noisy scores of labels that two hidden topics have in common."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, 2)) @ np.random.default_rng(7).normal(size=(2, k))
    return truth + rng.normal(size=(n, k)) - 1, truth > 1


def penalised_loss(B, features, log_odds, judged, relevant):
    z = log_odds + features @ B
    return np.where(judged, np.logaddexp(0, z) - relevant * z, 0).sum() + 50 * (B * B).sum()


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_many_steps_reach_the_minimum_of_a_generic_solver(monkeypatch, share):
    scores, relevant = correlated(60, 3)
    judged = np.random.default_rng(1).random(scores.shape) < share
    monkeypatch.setattr(label_correlations, "_STEPS", 500)
    parts = scores - scores.mean(axis=0), 0.5 * scores - 1, judged, relevant
    found = label_correlations._minimise(*parts)
    best = minimize(lambda b: penalised_loss(b.reshape(3, 3), *parts), np.zeros(9), tol=1e-12).x.reshape(3, 3)
    np.testing.assert_allclose(found, best, atol=1e-5)


@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([0.1, 1.0, 10.0]))
@settings(max_examples=30, deadline=None)
def test_every_step_lowers_the_loss(seed, k, scale):
    rng = np.random.default_rng(seed)
    features, log_odds = rng.normal(size=(40, k)), scale * rng.normal(size=(40, k))
    judged, relevant = rng.random((2, 40, k)) < 0.7
    losses = []
    for steps in range(5):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(label_correlations, "_STEPS", steps)
            B = label_correlations._minimise(features, log_odds, judged, relevant)
        losses.append(penalised_loss(B, features, log_odds, judged, relevant))
    assert (np.diff(losses) <= 1e-9).all()


def test_scores_are_corrected_by_what_the_other_instances_say():
    scores, relevant = correlated()
    judged = np.ones_like(relevant)
    _, corrected = fit_label_correlations(scores, judged, relevant)
    changed = relevant.copy()
    changed[5] = ~changed[5]
    _, others = fit_label_correlations(scores, judged, changed)
    same_part = (corrected == others).all(axis=1)
    assert same_part[5]
    assert np.isclose(same_part.mean(), 1 / 3, atol=0.01)


def test_a_rare_label_gets_less_from_the_others():
    scores, relevant = correlated(2000)
    judged = np.ones_like(relevant)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_correlations, "_RARE", 1e-15)
        whole = label_correlations._fit(scores, judged, relevant).mixing
    part = label_correlations._fit(scores, judged, relevant).mixing
    frequency = relevant.sum(axis=0)
    np.testing.assert_allclose(part, whole * frequency / (frequency + 10), atol=1e-11)


def test_correlated_labels_correct_each_other_and_independent_ones_hardly():
    scores, relevant = correlated(1000)
    judged = np.ones_like(relevant)
    found, corrected = fit_label_correlations(scores, judged, relevant)
    assert ranking_loss(relevant, corrected) < 0.9 * ranking_loss(relevant, scores)
    rng = np.random.default_rng(0)
    alone = rng.normal(size=(1000, 5))
    independent = alone + rng.logistic(size=alone.shape) > 1
    unrelated, _ = fit_label_correlations(alone, judged, independent)
    off_diagonal = ~np.eye(5, dtype=bool)
    assert np.abs(unrelated.mixing[off_diagonal]).max() < 0.2 < np.abs(found.mixing[off_diagonal]).max()


def test_many_instances_are_sampled(monkeypatch):
    scores, relevant = correlated(400)
    judged = np.ones_like(relevant)
    monkeypatch.setattr(label_correlations, "_MOST_PRODUCTS", 200 * 5**2)
    sampled = label_correlations._sampled(*scores.shape)
    assert len(sampled) == 200
    some, whole = (label_correlations._fit(*parts) for parts in (
        (scores, judged, relevant), (scores[sampled], judged[sampled], relevant[sampled])))  # fmt: skip
    np.testing.assert_array_equal(some.mixing, whole.mixing)


def test_scores_that_say_nothing_are_left_alone():
    relevant = np.random.default_rng(0).random((120, 3)) < 0.5
    found, corrected = fit_label_correlations(np.zeros((120, 3)), np.ones_like(relevant), relevant)
    assert not found.mixing.any()
    assert not corrected.any()


RANKERS = {
    "machine": PreferenceMachine("domination", "squared-hinge", cut_label=True, set_measure=None, random_state=0),
    "log-linear": LogLinearRanker(cut_label=True, set_measure=None, random_state=0),
    "average": AverageRanker(
        [("a", PreferenceMachine(random_state=0)), ("b", LogLinearRanker(random_state=0))],
        cut_label=True,
        set_measure=None,
    ),
}
of_rankers = pytest.mark.parametrize("name", RANKERS)


def documents(n=200, seed=0):
    scores, relevant = correlated(n, 5, seed)
    noise = np.random.default_rng(seed + 1).normal(size=(n, 3))
    return np.hstack([scores, noise]), relevant.astype(np.int64)


def fitted(name, X, y, **parameters):
    ranker = RANKERS[name]
    return type(ranker)(**{**ranker.get_params(deep=False), **parameters}).fit(X, y)


@of_rankers
@pytest.mark.parametrize("single", [False, True])
def test_weights_are_those_of_the_ranker_corrected(name, single):
    X, Y = documents()
    y = Y.argmax(axis=1) if single else Y
    plain, ranker = (fitted(name, X, y, label_correlations=on) for on in (False, True))
    mixing = ranker.label_correlations_
    assert mixing.any()
    np.testing.assert_allclose(ranker.coef_, plain.coef_ + mixing.T @ plain.coef_, rtol=1e-10, atol=1e-10)
    moved = (ranker.score_labels(X) - plain.score_labels(X)) - plain.score_labels(X) @ mixing
    np.testing.assert_allclose(moved, moved[:1].repeat(len(X), axis=0), atol=1e-9)  # constants of the labels
    assert not hasattr(plain, "label_correlations_")


@of_rankers
def test_scores_explanations_probabilities_and_files_agree(name, tmp_path):
    X, Y = documents()
    ranker = fitted(name, X, Y, set_measure="micro_f1")
    scores = ranker.score_labels(X)
    np.testing.assert_array_equal(ranker.predict(X), (scores > 0).astype(np.int64))
    order = np.argsort(scores, axis=1)
    assert (np.diff(np.take_along_axis(ranker.predict_log_odds(X), order, axis=1), axis=1) >= 0).all()
    why = ranker.explain(X[0], above=0, below=CUT)
    np.testing.assert_allclose(why.margin, scores[0, 0])
    save(ranker, tmp_path / "model.arcrank")
    stored = load(tmp_path / "model.arcrank")
    np.testing.assert_array_equal(stored.score_labels(X), scores)
    assert stored.label_correlations


def test_other_preferences_kernels_codes_and_few_instances_are_left_as_learnt():
    X, Y = documents()
    machine = {"cut_label": True, "random_state": 0}
    arcs = [[(label, CUT) if relevant else (CUT, label) for label, relevant in enumerate(row)] for row in Y.tolist()]
    others = [
        PreferenceMachine("disagreement", **machine).fit(X, as_graphs(arcs)),
        PreferenceMachine(**machine).fit(X, as_graphs(Y)),
        PreferenceMachine(kernel="rbf", **machine).fit(X, Y),
        PreferenceMachine(codes="learn", code_length=2, **machine).fit(X, Y),
        PreferenceMachine(**machine).fit(X[:99], Y[:99]),
        PreferenceMachine(calibration_folds=0, **machine).fit(X, Y),
        PreferenceMachine(random_state=0).fit(X, Y),
    ]
    assert not any(hasattr(ranker, "label_correlations_") for ranker in others)


def test_a_second_fit_forgets_the_correlations_of_the_first():
    X, Y = documents()
    ranker = PreferenceMachine(cut_label=True, random_state=0).fit(X, Y)
    assert hasattr(ranker, "label_correlations_")
    assert not hasattr(ranker.fit(X[:50], Y[:50]), "label_correlations_")


def test_a_value_that_is_no_flag_is_refused():
    with pytest.raises(ParameterError, match="label_correlations must be True or False, got 'auto'"):
        PreferenceMachine(label_correlations="auto").check_parameters()


def test_tags_of_packages_are_ranked_better_with_correlations():
    """What the guide of label sets claims, on the packages that are shipped."""
    corpus = load_debtags_sample()
    train, test = corpus.split("train"), corpus.split("test")
    words = TextFeatures().fit(train.texts)
    X, Z = words.transform(train.texts), words.transform(test.texts)
    losses, precisions = [], []
    for on in (False, True):
        ranker = PreferenceMachine("domination", "squared-hinge", C=0.3, cut_label=True, random_state=0,
                                   label_correlations=on).fit(X, train.indicator())  # fmt: skip
        scores = ranker.score_labels(Z)
        losses.append(ranking_loss(test.indicator(), scores))
        precisions.append(average_precision(test.indicator(), scores))
    assert losses[1] < 0.97 * losses[0]
    assert precisions[1] > precisions[0] + 0.002


@pytest.mark.processors
def test_the_map_does_not_depend_on_the_processor():
    scores, relevant = correlated(300)
    mixing = fit_label_correlations(scores, np.ones_like(relevant), relevant)[0].mixing
    slope = fit_label_effects(scores, np.ones_like(relevant), relevant).slope
    assert np.abs(mixing).sum() * slope == pytest.approx(1.08896403, abs=1e-8)

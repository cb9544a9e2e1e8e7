"""`evaluate` and `compare` on models that predict label sets with probabilities, against arcrank.metrics."""

from __future__ import annotations

import json

import numpy as np
import pytest

from arcrank import CUT, LogLinearRanker, MMPRanker, RocchioRanker, metrics
from arcrank.evaluation import compare, evaluate
from arcrank.evaluation.measures import CALIBRATION_ERRORS, F1_MEASURES
from arcrank.graphs import as_graphs
from tests.cli.json_schema import check_output

NAMES = np.array(["coffee", "milk", "tea", "water"])
OF_SETS = (*F1_MEASURES, "subset accuracy", *CALIBRATION_ERRORS)


def made(n, seed):
    """Instances whose label sets are hard to predict; some are empty."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    return X, (X + random.logistic(size=(n, 4)) > 0.7).astype(int)


def fitted(y, learner=LogLinearRanker, **more):
    return learner(cut_label=True, random_state=0, **more).fit(TRAIN[0], y)


def sets_of(Y):
    return [set(NAMES[row == 1].tolist()) for row in Y]


TRAIN, TEST = made(150, 0), made(1000, 1)


@pytest.fixture(scope="module")
def model():
    return fitted(TRAIN[1])


def assert_agrees(found, ranker, X, Y, predicted):
    """Every measure of sets is that of arcrank.metrics; equal-mass bins have slightly other edges."""
    p = ranker.predict_proba(X)
    assert found.measures["micro F1"] == pytest.approx(metrics.micro_f1(Y, predicted))
    assert found.measures["macro F1"] == pytest.approx(metrics.macro_f1(Y, predicted))
    assert found.measures["subset accuracy"] == pytest.approx(metrics.subset_accuracy(Y, predicted))
    assert [row.f1 for row in found.per_label] == pytest.approx(metrics.label_f1(Y, predicted).tolist())
    error = metrics.expected_calibration_error(Y, p)
    assert found.measures["calibration error"] == found.calibration.labels.error == pytest.approx(error, abs=0.01)
    error = metrics.first_label_calibration_error(Y, p)
    assert found.measures["first-label calibration error"] == pytest.approx(error, abs=0.02)
    assert found.calibration.method == ranker.calibration_.describe()


def test_label_sets_in_every_form(model):
    X, Y = TEST
    for ranker, y in (
        (model, Y),
        (model, as_graphs(Y, kind="indicator")),
        (fitted(sets_of(TRAIN[1])), sets_of(Y)),
        (fitted(TRAIN[1], MMPRanker), Y),
    ):
        found = evaluate(ranker, X, y)
        assert_agrees(found, ranker, X, Y, ranker.score_labels(X) > 0)
        assert list(found.measures)[-5:] == list(OF_SETS)
    (sentence,) = found.caveats
    assert f"{(Y.sum(axis=1) == 0).sum()} documents have no label" in sentence  # predicting none for them is right
    assert "left out of every measure of the ranking; predicted label sets count them as without labels" in sentence


def test_graphs_that_mention_the_cut_are_label_sets(model):
    X, Y = TEST
    expected = evaluate(model, X, Y)
    layers = [[[*one], [CUT], [*set(NAMES) - one]] for one in sets_of(Y)]
    layers = [[layer for layer in row if layer] for row in layers]
    arcs = [[(a, CUT) for a in row] + [(CUT, b) for b in set(NAMES) - row] for row in sets_of(Y)]
    named = fitted(sets_of(TRAIN[1]))
    for y in (as_graphs(layers, kind="layers"), as_graphs(arcs, kind="arcs", labels=[*NAMES, CUT])):
        found = evaluate(named, X, y)
        assert found.measures == pytest.approx(expected.measures, rel=1e-3)
        assert found.unknown_labels == {}


def test_more_than_sets_above_the_cut_stays_an_order():
    ranker = fitted(sets_of(TRAIN[1]))
    y = as_graphs([[["tea"], ["milk"], [CUT], ["water", "coffee"]], [["tea"], [CUT], ["milk"]]], kind="layers")
    found = evaluate(ranker, TEST[0][:2], y)
    plain = as_graphs([[["tea"], ["milk"], ["water", "coffee"]], [["tea"], ["milk"]]], kind="layers")
    assert found.measures == evaluate(ranker, TEST[0][:2], plain).measures
    assert "average precision" not in found.measures


def test_single_labels():
    X, Y = TEST
    ranker = fitted(TRAIN[1].argmax(axis=1))
    found = evaluate(ranker, X, Y.argmax(axis=1))
    assert_agrees(found, ranker, X, np.eye(4)[Y.argmax(axis=1)], np.eye(4)[ranker.predict(X)])
    assert found.measures["micro F1"] == pytest.approx(1 - found.measures["one-error"])
    assert found.caveats == []


def test_a_ranker_without_cut_that_was_calibrated_later():
    ranker = RocchioRanker().fit(*TRAIN)
    plain = evaluate(ranker, *TEST)
    assert plain.calibration is None
    assert not set(OF_SETS) & set(plain.measures)
    found = evaluate(ranker.calibrate(*made(100, 2)), *TEST)
    assert_agrees(found, ranker, *TEST, ranker.predict(TEST[0]))
    assert {name: found.measures[name] for name in plain.measures} == plain.measures


def test_many_blocks_are_one(model):
    X, Y = np.tile(TEST[0], (5, 1)), np.tile(TEST[1], (5, 1))
    found = evaluate(model, X, Y)
    assert found.n_documents == 5000  # three blocks
    assert_agrees(found, model, X, Y, model.score_labels(X) > 0)


def test_data_without_label_sets_have_no_such_measures():
    arcs = as_graphs([[("tea", "milk")]] * 3, labels=NAMES)
    found = evaluate(fitted(sets_of(TRAIN[1])), TEST[0][:3], arcs)
    assert found.calibration is None
    assert not set(OF_SETS) & set(found.measures)


def test_the_forms_of_an_evaluation(model, tmp_path):
    found, plain = evaluate(model, *TEST), evaluate(RocchioRanker().fit(*TRAIN), *TEST)
    for one in (found, plain):
        check_output(json.loads(json.dumps(one.to_dict(), allow_nan=False)), "evaluate")
        one.to_html(tmp_path / "r.html")
        page = (tmp_path / "r.html").read_text(encoding="utf-8")
        calibrated = one is found
        assert ('aria-label="Reliability diagram"' in page) == calibrated
        assert ("<th>F1</th>" in page.replace(' class="n"', "")) == calibrated
        assert ("promised" in page) == calibrated
        assert (one.to_dict()["calibration"] is None) != calibrated
    row = found.calibration.thresholds[4]
    assert row.threshold == 0.5
    assert row.precision == pytest.approx(row.expected_precision, abs=0.15)
    assert row.recall == pytest.approx(row.expected_recall, abs=0.15)


def test_two_calibrated_models_are_compared_by_their_sets(model):
    other = fitted(TRAIN[1], MMPRanker)
    found = compare(model, other, *TEST)
    for name in OF_SETS:
        assert found.measures[name].a == evaluate(model, *TEST).measures[name]
        assert found.measures[name].b == evaluate(other, *TEST).measures[name]
    assert found.measures["subset accuracy"].documents is not None
    assert found.measures["micro F1"].p is None  # not a mean over documents
    check_output(json.loads(json.dumps(found.to_dict(), allow_nan=False)), "evaluate-compare")
    for pair in ((model, RocchioRanker().fit(*TRAIN)), (RocchioRanker().fit(*TRAIN), model)):
        assert not set(OF_SETS) & set(compare(*pair, *TEST).measures)


def test_only_shared_labels_are_compared():
    X, Y = TEST
    first, second = fitted(sets_of(TRAIN[1])), fitted([one - {"milk"} for one in sets_of(TRAIN[1])])
    found = compare(first, second, X, sets_of(Y))
    shared = [0, 2, 3]
    assert found.a.labels == NAMES[shared].tolist()
    expected = metrics.micro_f1(Y[:, shared], first.score_labels(X)[:, shared] > 0)
    assert found.measures["micro F1"].a == pytest.approx(expected)

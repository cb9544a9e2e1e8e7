"""`ConformalSets`: the promises on simulated documents, every form of label sets, and what cannot be promised."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from arcrank import ConformalSets, LogLinearRanker, make_ranking_pipeline
from arcrank.errors import GraphError, InputError, NotCalibratedError, ParameterError
from arcrank.graphs import as_graphs
from arcrank.rankers import conformal
from arcrank.text import TextFeatures

NAMES = np.array(["milk", "tea", "water"])
PROBA = np.array([[0.9, 0.2, 0.1], [0.3, 0.8, 0.4], [0.2, 0.6, 0.7], [0.9, 0.9, 0.1]] * 5)
TRUTH = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1], [1, 1, 0]] * 5)
SETS = [["milk"], ["tea"], ["tea", "water"], ["milk", "tea"]] * 5


class Given:
    """A model that reads its probabilities off the documents."""

    def __init__(self, labels=NAMES):
        self.labels_ = np.asarray(labels)

    def predict_proba(self, X):
        return np.asarray(X.toarray() if sp.issparse(X) else X)


def simulated(random, n, k=12):
    """Documents whose model is too sure of itself: p, and relevant labels that are less probable than p says."""
    proba = random.beta(0.4, 1.2, (n, k))
    return proba, random.random((n, k)) < 0.9 * proba**1.3


def mean_recall(found, truth):
    sizes = truth.sum(axis=1)
    return np.where(sizes > 0, (found * truth).sum(axis=1) / np.maximum(1, sizes), 1.0).mean()


def mean_precision(found, truth):
    sizes = found.sum(axis=1)
    return np.where(sizes > 0, (found * truth).sum(axis=1) / np.maximum(1, sizes), 1.0).mean()


@pytest.mark.parametrize("n", [10, 60])
def test_the_promised_recall_is_kept_on_average(n):
    random = np.random.default_rng(n)
    recalls, thresholds = [], []
    for _ in range(200):
        proba, truth = simulated(random, n + 100)
        sets = ConformalSets(Given(range(12)), recall=0.85).calibrate(proba[:n], truth[:n])
        recalls.append(mean_recall(sets.predict(proba[n:]), truth[n:]))
        thresholds.append(sets.threshold_)
    error = np.std(recalls) / np.sqrt(len(recalls))
    assert 0.85 - 3 * error <= np.mean(recalls) <= 0.85 + 1 / (n + 1) + 3 * error
    assert min(thresholds) > 0


def test_the_recall_of_single_labels_is_exact():
    """One label of uniform p: the smallest of 10 is passed by 10/11 of new documents, the second smallest by 9/11."""
    random = np.random.default_rng(0)
    recalls = []
    for _ in range(400):
        proba = random.random((60, 1))
        sets = ConformalSets(Given(["tea"]), recall=0.9).calibrate(proba[:10], ["tea"] * 10)
        recalls.append(np.mean([len(one) for one in sets.predict(proba[10:])]))
    assert abs(np.mean(recalls) - 10 / 11) < 3 * np.std(recalls) / np.sqrt(len(recalls))


def test_the_promised_precision_fails_with_probability_delta_at_most():
    random = np.random.default_rng(1)
    new, new_truth = simulated(random, 20_000)
    precisions, thresholds = [], []
    for _ in range(200):
        proba, truth = simulated(random, 300)
        sets = ConformalSets(Given(range(12)), precision=0.7, delta=0.2).calibrate(proba, truth)
        precisions.append(mean_precision(new >= sets.threshold_, new_truth))
        thresholds.append(sets.threshold_)
    assert np.mean(np.array(precisions) < 0.7) <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 200)
    assert max(thresholds) < 1
    assert np.mean(precisions) < 0.75  # sets are not much smaller than they need to be


@pytest.mark.parametrize("promise", [{"recall": 0.8}, {"precision": 0.7}])
def test_every_form_of_label_sets(promise):
    forms = {
        "dense": TRUTH,
        "booleans": TRUTH.astype(bool),
        "sparse": sp.coo_matrix(TRUTH),
        "frame": pd.DataFrame(TRUTH, columns=NAMES),
        "lists": SETS,
        "sets": [set(one) for one in SETS],
        "graphs": as_graphs(SETS, kind="sets"),
        "numbered columns": as_graphs(TRUTH, labels=NAMES),
    }
    found = {form: ConformalSets(Given(), **promise).calibrate(PROBA, y) for form, y in forms.items()}
    assert len({one.threshold_ for one in found.values()}) == 1
    expected = np.greater_equal(PROBA, found["dense"].threshold_).astype(int)
    for form in ("dense", "booleans", "frame"):
        assert found[form].predict(PROBA).dtype == np.int64
        np.testing.assert_array_equal(found[form].predict(PROBA), expected)
    assert sp.issparse(found["sparse"].predict(PROBA))
    np.testing.assert_array_equal(found["sparse"].predict(sp.coo_matrix(PROBA)).toarray(), expected)
    for form in ("lists", "sets", "graphs", "numbered columns"):
        assert found[form].predict(PROBA) == [NAMES[row == 1].tolist() for row in expected]
    assert found["lists"].n_documents_ == 20


def test_two_names_for_each_document_are_label_sets():
    pairs = [["milk", "tea"], ["tea", "water"]] * 10
    assert ConformalSets(Given(), recall=0.5).calibrate(PROBA, pairs).threshold_ > 0


def test_single_labels():
    sets = ConformalSets(Given(), recall=0.9).calibrate(PROBA, np.array(["milk", "tea", "water", "tea"] * 5))
    assert sets.threshold_ == 0.7  # of 20 labels 5 have 0.7, and only 0.1 * 21 - 1 may be missed
    assert sets.predict(PROBA[:2]) == [["milk"], ["tea"]]


def test_texts_in_a_pipeline():
    texts = ["hot tea", "cold milk", "tea with milk", "water"] * 10
    drinks = [["tea"], ["milk"], ["tea", "milk"], ["water"]] * 10
    model = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(LogisticRegression(C=10)))
    Y = as_graphs(drinks).to_indicator().astype(int)
    sets = ConformalSets(model.fit(texts[:20], Y[:20]), precision=0.85).calibrate(texts[20:], Y[20:])
    assert sets.predict(["a cup of tea", "water"]).toarray().tolist() == [[0, 1, 0], [0, 0, 1]]
    assert sets.needs_review(["tea", "something"]).tolist() == [False, True]
    with pytest.raises(InputError, match="X is one text, 'hot tea'"):
        sets.predict("hot tea")


def test_a_pipeline_of_a_ranker_with_a_cut():
    texts = ["hot tea", "cold milk", "tea with milk", "water"] * 20
    drinks = [["tea"], ["milk"], ["tea", "milk"], ["water"]] * 20
    model = make_ranking_pipeline(TextFeatures(min_df=1), LogLinearRanker(C=10, cut_label=True))
    model.fit(texts[:40], drinks[:40])
    for promise in ({"recall": 0.9}, {"precision": 0.8}):
        sets = ConformalSets(model, **promise).calibrate(texts[40:], drinks[40:])
        assert sets.predict(texts[:4]) == [["tea"], ["milk"], ["milk", "tea"], ["water"]]
    assert not sets.needs_review(texts[:4]).any()
    uncut = make_ranking_pipeline(TextFeatures(min_df=1), LogLinearRanker()).fit(texts, drinks)
    with pytest.raises(ParameterError, match="which this RankingPipeline does not have"):
        ConformalSets(uncut, recall=0.9).calibrate(texts, drinks)
    with pytest.raises(NotCalibratedError, match="This LogLinearRanker has no probabilities"):
        ConformalSets(uncut[-1], recall=0.9).calibrate(texts, drinks)


def test_labels_that_the_model_does_not_know_are_missed():
    rising = np.linspace(0, 1, 30)[:, None] * [0, 1, 0]
    for y, place in (([["tea"]] * 30, 2), ([["tea"]] * 29 + [["tea", "wine"]], 1)):
        sets = ConformalSets(Given(), recall=0.9).calibrate(rising, y)
        assert sets.threshold_ == rising[place, 1]  # 0.1 * 31 - 1 may be missed, and half of the last document is


def test_more_unknown_labels_than_may_be_missed():
    known = [one[:1] for one in SETS]
    with pytest.warns(UserWarning, match="does not know 8 of the 24 relevant labels"):
        most = ConformalSets(Given(), recall=0.9).calibrate(
            PROBA, [*([["tea", "wine"], ["wine"]] * 4), *known[8:14], *known[:6]]
        )
    assert most.threshold_ == 0
    assert most.predict(PROBA[:1]) == [NAMES.tolist()]
    more = [[*one, "wine"] for one in known]
    precise = [ConformalSets(Given(), precision=0.6).calibrate(PROBA, y).threshold_ for y in (known, more)]
    assert precise[0] == precise[1]  # a set cannot be wrong about them


def test_too_few_documents():
    with pytest.warns(
        UserWarning, match=r"recall of 0.99 .* hold all labels: .* at least 99 .* there are 20\."
    ) as told:
        sets = ConformalSets(Given(), recall=0.99).calibrate(PROBA, TRUTH)
    assert told[0].filename == __file__
    assert sets.predict(PROBA).all()
    with pytest.warns(UserWarning, match=r"precision of 0.9 .* are empty: .* at least 22 .* there are 1\."):
        sets = ConformalSets(Given(), precision=0.9).calibrate(PROBA[:1], TRUTH[:1])
    assert sets.threshold_ > 1
    assert not sets.predict(PROBA).any()


def test_a_model_that_is_always_wrong():
    with pytest.warns(UserWarning, match="wrong too often") as told:
        sets = ConformalSets(Given(), precision=0.8).calibrate(1 - TRUTH * 0.9, TRUTH)
    assert told[0].filename == __file__
    assert not sets.predict(PROBA).any()
    assert sets.needs_review(PROBA).all()


@pytest.mark.parametrize("y", [np.zeros((20, 3)), [[]] * 20, sp.csr_matrix((20, 3))])
def test_no_relevant_label_at_all(y):
    with pytest.warns(UserWarning, match="20 of 20 calibration documents have no relevant label"):
        sets = ConformalSets(Given(), recall=0.9).calibrate(PROBA, y)
    assert sets.threshold_ == np.inf
    with pytest.warns(UserWarning, match="wrong too often"):
        sets = ConformalSets(Given(), precision=0.9, delta=0.2).calibrate(PROBA, y)
    assert sets.threshold_ == np.inf


def test_all_probabilities_are_equal():
    equal = np.full((40, 3), 0.5)
    sets = ConformalSets(Given(), recall=0.9).calibrate(equal, np.tile(TRUTH, (2, 1)))
    assert sets.threshold_ == 0.5
    assert sets.predict(equal[:1]).tolist() == [[1, 1, 1]]
    assert ConformalSets(Given(), precision=0.2).calibrate(equal, np.tile(TRUTH, (2, 1))).threshold_ == 0.01


def test_needs_review():
    sets = ConformalSets(Given(), recall=0.9).calibrate(PROBA, TRUTH)
    sets.threshold_ = 0.3
    new = np.array([[0.9, 0.3, 0.3], [0.4, 0.4, 0.1], [0.2, 0.2, 0.2], [0.3, 0.7, 0.0], [0.9, 0.25, 0.25]])
    assert sets.needs_review(new).tolist() == [False, True, True, False, False]
    sets = ConformalSets(Given(), precision=0.6).calibrate(PROBA, TRUTH)
    sets.threshold_ = 0.5
    assert sets.needs_review(new).tolist() == [True, True, True, False, True]
    assert sets.needs_review(new[:0]).shape == (0,)
    assert sets.predict(new[:0]).shape == (0, 3)


def test_less_memory_than_a_matrix_of_all_probabilities(monkeypatch):
    random = np.random.default_rng(0)
    proba = random.beta(0.01, 2, (1000, 2000)).astype(np.float32)
    truth = sp.csr_matrix(random.random(proba.shape) < proba)
    monkeypatch.setattr(conformal, "_BLOCK_CELLS", 1 << 14)
    for promise in ({"recall": 0.9}, {"precision": 0.3}):
        sets = ConformalSets(Given(range(2000)), **promise)
        tracemalloc.start()
        found = sets.calibrate(proba, truth).predict(proba)
        sets.needs_review(proba)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert 0 < found.nnz < 0.2 * proba.size
        assert peak < 8 * proba.size
        np.testing.assert_array_equal(found.toarray(), proba >= sets.threshold_)


@pytest.mark.parametrize(
    ("model", "parameters", "message"),
    [
        (Given(), {}, "either a recall or a precision, and neither was given"),
        (Given(), {"recall": 0.9, "precision": 0.9}, "and both were given"),
        (Given(), {"recall": 1.0}, "recall must be a number strictly between 0 and 1, got 1.0"),
        (Given(), {"precision": "high"}, "precision must be a number strictly between 0 and 1, got 'high'"),
        (Given(), {"precision": 0.9, "delta": 0}, "delta must be a number strictly between 0 and 1, got 0"),
        (LinearSVC(), {"recall": 0.9}, "needs a model with predict_proba, which this LinearSVC does not have"),
        (LogisticRegression(), {"recall": 0.9}, "has neither labels_ nor classes_; pass a model that was fitted"),
        (
            MultiOutputClassifier(LogisticRegression()).fit(PROBA, TRUTH),
            {"recall": 0.9},
            "gives a list with an array for each label",
        ),
    ],
)
def test_wrong_parameters(model, parameters, message):
    with pytest.raises(ParameterError, match=message):
        ConformalSets(model, **parameters).calibrate(PROBA, TRUTH)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (PROBA[:7], TRUTH, "X has 7 documents and y has 20"),
        (PROBA[:0], TRUTH[:0], "X has no documents"),
        (PROBA, TRUTH[:, :2], "y has 2 columns"),
        (PROBA, pd.DataFrame(TRUTH, columns=NAMES[::-1]), "not the labels of this ranker in their order"),
        (PROBA, [["wine", "beer", "juice"]] * 20, "knows none of the labels of y .'beer', 'juice', 'wine'."),
        (PROBA, np.tile([1, 2, 3], (20, 1)), "needs label sets .* of the kind 'ranks'"),
        (PROBA, [[["milk"], ["tea"], ["water"]]] * 20, "needs label sets .* of the kind 'layers'"),
        (PROBA, as_graphs([[("milk", "tea")]] * 20), "needs label sets, got ArcGraphs"),
        (PROBA, as_graphs(TRUTH), "have no names"),
        (PROBA, None, "y must have one entry for each instance"),
        (np.where(PROBA == 0.4, np.nan, PROBA), TRUTH, "returned nan for label 2 of document 1;"),
        (PROBA * 2, TRUTH, "returned 1.8 for label 0 of document 0; probabilities are numbers from 0 to 1"),
        (PROBA[:, :2], TRUTH, r"returned an array of shape \(20, 2\) for 20 documents and 3 labels"),
    ],
)
def test_wrong_data(X, y, message):
    with pytest.raises(InputError, match=message):
        ConformalSets(Given(), recall=0.9).calibrate(X, y)


def test_graphs_of_three_layers_are_not_label_sets():
    with pytest.raises(GraphError, match="3 layers"):
        ConformalSets(Given(), recall=0.9).calibrate(PROBA, as_graphs([[["milk"], ["tea"], ["water"]]] * 20))


def test_predict_before_calibrate():
    for ask in ("predict", "needs_review"):
        with pytest.raises(NotFittedError, match="not calibrated yet"):
            getattr(ConformalSets(Given(), recall=0.9), ask)(PROBA)


def test_it_is_shown_and_copied_like_an_estimator():
    sets = ConformalSets(LogisticRegression(), recall=0.9)
    assert repr(sets) == "ConformalSets(model=LogisticRegression(), recall=0.9)"
    assert clone(sets).get_params()["recall"] == 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "ConformalSets" in sets._repr_html_()

"""Unlabelled instances: latent directions, tentative preferences, and what a cross-validation makes of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import arcrank
from arcrank import CUT, AverageRanker, LogLinearRanker, PreferenceMachine, SemiSupervisedRanker
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import LayeredGraphs, as_graphs
from arcrank.graphs.unlabelled import split_unlabelled
from arcrank.metrics import ranking_loss
from arcrank.rankers.semisupervised import add_latent, latent_directions
from tests.estimator_checks import parametrize_with_checks

TOPICS, WORDS = 3, 20


def documents(random, n, words=range(WORDS)):
    """Rows of four words of one topic each, and the topics."""
    topics = random.integers(0, TOPICS, n)
    X = np.zeros((n, TOPICS * WORDS))
    for row, topic in enumerate(topics):
        X[row, topic * WORDS + random.choice(words, 4, replace=False)] = 0.5
    return sp.csr_matrix(X), topics


@pytest.fixture(scope="module")
def clusters():
    """24 labelled rows of the first half of the words, 300 unlabelled rows of all, 60 new ones of the second half."""
    random = np.random.default_rng(0)
    half = range(WORDS // 2)
    known, y = documents(random, 24, half)
    unlabelled, _ = documents(random, 300)
    new, truth = documents(random, 60, range(WORDS // 2, WORDS))
    return sp.vstack([known, unlabelled], format="csr"), [int(t) for t in y] + [None] * 300, new, truth


def machine(**parameters):
    return PreferenceMachine("domination", "squared-hinge", C=1.0, random_state=0, **parameters)


def semi(**parameters):
    settings = {"n_components": 5, "cut_label": True, "calibration_folds": 0, **parameters}
    return SemiSupervisedRanker([("machine", machine())], **settings)


def loss_of(ranker, clusters):
    _, _, new, truth = clusters
    return ranking_loss(as_graphs(truth), ranker.score_labels(new))


def test_unlabelled_instances_teach_words_that_no_labelled_one_has(clusters):
    X, y = clusters[:2]
    alone = machine(cut_label=True, calibration_folds=0).fit(X[:24], y[:24])
    assert loss_of(alone, clusters) > 0.3  # nothing is known of these words
    for latent, tentative in ((1.0, 0.0), (0.0, 0.5), (1.0, 0.5)):
        ranker = semi(latent_weight=latent, tentative_weight=tentative).fit(X, y)
        assert loss_of(ranker, clusters) < 0.02, (latent, tentative)


def test_the_same_seed_gives_the_same_weights(clusters):
    X, y = clusters[:2]
    first, second = (semi(calibration_folds=2).fit(X, y) for _ in range(2))
    assert np.array_equal(first.coef_, second.coef_)
    assert np.array_equal(first.predict_proba(X), second.predict_proba(X))


def test_weights_are_those_of_features_and_latent_features_together(clusters):
    X, y, new, _ = clusters
    ranker = semi(latent_weight=2.0, tentative_weight=0.0).fit(X, y)
    directions = 2.0 * latent_directions(X, 5)
    assert np.allclose(directions.T @ directions, 4.0 * np.eye(5))
    inner = machine(cut_label=True, calibration_folds=0).fit(add_latent(X, directions)[:24], y[:24])
    assert np.allclose(ranker.score_labels(new), inner.score_labels(add_latent(new, directions)))
    why = ranker.explain(new[0], above=1, below=CUT)
    assert why.margin == pytest.approx(ranker.score_labels(new[[0]])[0, 1])


def test_without_weights_it_is_the_average(clusters):
    X, y, new, _ = clusters
    ranker = semi(latent_weight=0, tentative_weight=0).fit(X, y)
    plain = AverageRanker([("machine", machine())], cut_label=True, calibration_folds=0).fit(X[:24], y[:24])
    assert np.array_equal(ranker.score_labels(new), plain.score_labels(new))


def test_offsets_and_probabilities_are_of_labelled_instances(clusters, tmp_path):
    X, y, new, _ = clusters
    sets = [None if one is None else [f"topic {one}"] for one in y]
    ranker = semi(calibration_folds=3).fit(X, sets)
    assert ranker.calibration_.documents == 24
    assert ranker.predict(X[:2]) == sets[:2]
    arcrank.save(ranker, tmp_path / "m.arcrank")
    loaded = arcrank.load(tmp_path / "m.arcrank")
    assert np.array_equal(loaded.predict_proba(new), ranker.predict_proba(new))
    assert loaded.get_params()["tentative_weight"] == 0.5


def test_rankings_need_no_cut(clusters):
    X, y = clusters[:2]
    ranks = np.array([[np.nan] * 3 if one is None else np.roll([1.0, 2.0, 3.0], one) for one in y])
    ranker = SemiSupervisedRanker([("one", LogLinearRanker("disagreement", C=10))], n_components=5).fit(X, ranks)
    assert (ranker.predict(X[:24]) == ranks[:24]).mean() > 0.9


def test_refusals(clusters):
    X, y = clusters[:2]
    with pytest.raises(InputError, match="None of the 324 instances is labelled"):
        semi().fit(X, [None] * 324)
    with pytest.raises(InputError, match="X has 324 instances and y has 3"):
        semi().fit(X, [0, 1, None])
    with pytest.raises(ParameterError, match="linear"):
        SemiSupervisedRanker([("rbf", PreferenceMachine(kernel="rbf"))]).fit(X.toarray()[:30], y[:30])
    for name, value in {"latent_weight": -1, "n_components": 0, "tentative_weight": "x", "random_state": 0.5}.items():
        with pytest.raises(ParameterError, match=name):
            semi(**{name: value}).check_parameters()


def test_what_counts_as_unlabelled():
    def found(y):
        labelled, known = split_unlabelled(y)
        return labelled.tolist(), known.tolist() if isinstance(known, np.ndarray) else known

    assert found([1, None, 2]) == ([True, False, True], [1, 2])
    assert found(np.array([1.0, np.nan, 2.0])) == ([True, False, True], [1, 2])
    assert found(np.array([[1.0, 0.0], [np.nan, np.nan]])) == ([True, False], [[1, 0]])
    ranks = np.array([[1.0, np.nan], [np.nan, np.nan]])
    assert np.array_equal(split_unlabelled(ranks)[1], ranks[:1], equal_nan=True)
    assert found([["a"], None, []]) == ([True, False, True], [["a"], []])
    graphs = LayeredGraphs.from_levels([[0, 1], [-1, -1]])
    assert split_unlabelled(graphs)[1] is graphs
    assert split_unlabelled(None)[1] is None


def test_frames_with_gaps():
    pd = pytest.importorskip("pandas")
    labelled, known = split_unlabelled(pd.Series(["a", None, "b"]))
    assert labelled.tolist() == [True, False, True]
    assert known.tolist() == ["a", "b"]
    frame = pd.DataFrame({"tea": [1.0, np.nan, 0.0], "milk": [0.0, np.nan, 1.0]})
    labelled, known = split_unlabelled(frame)
    assert (labelled.tolist(), list(known.columns)) == ([True, False, True], ["tea", "milk"])
    assert as_graphs(known).to_indicator().toarray().tolist() == [[1, 0], [0, 1]]


@parametrize_with_checks([SemiSupervisedRanker([("a", LogLinearRanker())], n_components=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)

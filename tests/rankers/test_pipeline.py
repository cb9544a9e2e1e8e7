"""`RankingPipeline`: a Pipeline with the methods of its ranker."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler

import arcrank
from arcrank import (
    LogLinearRanker,
    MMPRanker,
    PreferenceMachine,
    RankBoost,
    RankingPipeline,
    RocchioRanker,
    make_ranking_pipeline,
)
from arcrank.errors import ParameterError
from arcrank.metrics import scorer
from arcrank.text import HashedTextFeatures, LogCounts, TermCounts, TextFeatures
from tests.estimator_checks import parametrize_with_checks

TEXTS = ["crude oil prices rise", "a ship carries wheat", "oil tankers and ships", "wheat and corn harvest"]
SETS = [["oil"], ["ship", "grain"], ["oil", "ship"], ["grain"]]


OF_PIPELINES = dict.fromkeys(
    ("check_estimators_overwrite_params", "check_dont_overwrite_parameters"),
    "scikit-learn's Pipeline fits its steps in place too",
)


@parametrize_with_checks(
    [make_ranking_pipeline(MaxAbsScaler(), RocchioRanker())], expected_failed_checks=lambda _: OF_PIPELINES
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def pipeline():
    return make_ranking_pipeline(TextFeatures(min_df=1), LogLinearRanker(C=10, random_state=0)).fit(TEXTS, SETS)


def test_the_methods_are_those_of_the_ranker_on_the_transformed_texts(pipeline):
    X, ranker = pipeline[0].transform(TEXTS), pipeline[-1]
    np.testing.assert_array_equal(pipeline.rank(TEXTS), ranker.rank(X))
    np.testing.assert_array_equal(pipeline.rank(TEXTS, top=2), ranker.rank(X, 2))
    np.testing.assert_array_equal(pipeline.score_labels(TEXTS), ranker.score_labels(X))
    np.testing.assert_array_equal(pipeline.decision_function(TEXTS), ranker.decision_function(X))
    assert pipeline.predict(TEXTS) == ranker.predict(X)
    assert pipeline.score(TEXTS, SETS) == ranker.score(X, SETS)
    assert pipeline.labels_.tolist() == pipeline.classes_.tolist() == ["grain", "oil", "ship"]
    assert pipeline.thresholds_ == ranker.thresholds_


def test_methods_exist_only_where_the_ranker_has_them(pipeline):
    assert not hasattr(pipeline, "partial_fit")
    assert not hasattr(pipeline, "margins")
    online = make_ranking_pipeline(HashedTextFeatures(n_features=64), MMPRanker())
    assert hasattr(online, "partial_fit")
    assert hasattr(online, "margins")
    assert not hasattr(online, "thresholds_")
    machine = make_ranking_pipeline(TextFeatures(min_df=1), PreferenceMachine(random_state=0)).fit(TEXTS, SETS)
    assert machine.predict(TEXTS, size=1) == machine[-1].predict(machine[0].transform(TEXTS), size=1)


def test_online_margins_are_those_of_the_ranker():
    online = make_ranking_pipeline(HashedTextFeatures(n_features=64), MMPRanker()).fit(TEXTS, SETS)
    np.testing.assert_array_equal(online.margins(TEXTS, SETS), online[-1].margins(online[0].transform(TEXTS), SETS))


@pytest.mark.parametrize("last", [RandomForestClassifier(), RankBoost(), TextFeatures(), "passthrough"])
def test_the_last_step_must_rank_labels(last):
    with pytest.raises(ParameterError, match="must be a label ranker"):
        make_ranking_pipeline(TextFeatures(), last)
    with pytest.raises(ParameterError, match="must be a label ranker"):
        RankingPipeline([("words", TextFeatures()), ("last", last)]).fit(TEXTS, SETS)


def test_no_steps_at_all():
    with pytest.raises(ParameterError, match="got None"):
        make_ranking_pipeline()


def test_a_wrong_parameter_is_refused_before_the_transformers_are_fitted():
    pipeline = make_ranking_pipeline(TextFeatures(min_df=1), LogLinearRanker(C=-1))
    with pytest.raises(ParameterError, match="C must be"):
        pipeline.fit(TEXTS, SETS)
    assert not hasattr(pipeline[0], "terms_")


def test_clone_params_and_pickle(pipeline):
    copy = clone(pipeline).set_params(loglinearranker__C=3.0, textfeatures__ngrams=1)
    assert type(copy) is RankingPipeline
    assert copy[-1].C == 3.0
    with pytest.raises(NotFittedError):
        copy.rank(TEXTS)
    again = pickle.loads(pickle.dumps(pipeline))
    np.testing.assert_array_equal(again.score_labels(TEXTS), pipeline.score_labels(TEXTS))


def test_slices(pipeline):
    assert type(pipeline[:-1]) is Pipeline
    assert type(pipeline[-1:]) is type(pipeline[:]) is RankingPipeline
    X = pipeline[:-1].transform(TEXTS)
    np.testing.assert_array_equal(pipeline[-1:].rank(X), pipeline.rank(TEXTS))
    assert pipeline["textfeatures"] is pipeline[0]


def test_a_grid_search_may_exchange_the_ranker():
    pipeline = RankingPipeline([("words", TextFeatures(min_df=1)), ("ranker", RocchioRanker())])
    grid = {"ranker": [RocchioRanker(), MMPRanker()], "words__ngrams": [1]}
    texts, labels = TEXTS * 2, ["oil", "ship", "oil", "grain"] * 2
    search = GridSearchCV(pipeline, grid, scoring=scorer("one_error"), cv=2).fit(texts, labels)
    best = search.best_estimator_
    assert type(best) is RankingPipeline
    assert best.rank(["crude oil"], top=1).tolist() == [["oil"]]


@pytest.mark.parametrize("features", [TextFeatures(min_df=1), HashedTextFeatures()])
def test_explanations_use_the_words_of_the_text(features):
    pipeline = make_ranking_pipeline(features, RocchioRanker()).fit(TEXTS, SETS)
    text = "Ships carried the ship's oil."
    why = pipeline.explain(text, above="ship", below="grain")
    names = [name for name, _ in why.parts]
    assert {"Ships", "oil"} <= set(names) or {"Ships, ship", "oil"} <= set(names)
    assert sum(value for _, value in why.parts) == pytest.approx(why.margin)
    raw = pipeline[-1].explain(pipeline[0].transform([text]), "ship", "grain")
    assert [value for _, value in why.parts] == [value for _, value in raw.parts]
    assert pipeline.explain([text], above="ship", below="grain") == why


def test_explanations_after_other_transformers():
    terms = make_ranking_pipeline(TermCounts(), LogCounts(), RocchioRanker()).fit(TEXTS, SETS)
    assert {name for name, _ in terms.explain("oil ships", "oil", "grain").parts} == {"oil", "ship"}
    hashed = make_ranking_pipeline(HashingVectorizer(n_features=16), RocchioRanker()).fit(TEXTS, SETS)
    assert all(name.startswith("column ") for name, _ in hashed.explain("oil", "oil", "grain").parts)


def test_explanations_of_features():
    X = np.array([[1.0, 2.0], [3.0, 1.0], [0.0, 1.0]])
    scaled = make_ranking_pipeline(StandardScaler(), RocchioRanker()).fit(X, ["tea", "milk", "tea"])
    assert {name for name, _ in scaled.explain(X[0], "tea", "milk").parts} == {"x0", "x1"}
    assert scaled.explain(X[:1], "tea", "milk") == scaled.explain(X[0], "tea", "milk")
    alone = RankingPipeline([("ranker", RocchioRanker())]).fit(X, ["tea", "milk", "tea"])
    assert {name for name, _ in alone.explain(X[0], "tea", "milk").parts} == {"column 0", "column 1"}
    np.testing.assert_array_equal(alone.rank(X), alone[-1].rank(X))


def test_names_of_columns_are_handed_on():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"sugar": [1.0, 3.0, 0.0], "fat": [2.0, 1.0, 1.0]})
    pipeline = make_ranking_pipeline(StandardScaler(), RocchioRanker()).fit(frame, ["tea", "milk", "tea"])
    assert pipeline.feature_names_in_.tolist() == ["sugar", "fat"]
    assert {name for name, _ in pipeline.explain(frame[:1], "tea", "milk").parts} == {"sugar", "fat"}
    named = clone(pipeline).set_output(transform="pandas").fit(frame, ["tea", "milk", "tea"])
    assert named.explain(frame[:1], "tea", "milk") == pipeline.explain(frame[:1], "tea", "milk")


def test_partial_fit_in_blocks_equals_the_ranker():
    features = HashedTextFeatures(n_features=256)
    pipeline, ranker = make_ranking_pipeline(features, "passthrough", MMPRanker()), MMPRanker()
    for block in (slice(0, 2), slice(2, 4)):
        pipeline.partial_fit(TEXTS[block], SETS[block], labels=["grain", "oil", "ship"])
        ranker.partial_fit(features.transform(TEXTS[block]), SETS[block], labels=["grain", "oil", "ship"])
    np.testing.assert_array_equal(pipeline.score_labels(TEXTS), ranker.score_labels(features.transform(TEXTS)))
    assert pipeline.partial_fit(["a new gold mine"], [["gold"]]).labels_.tolist()[-1] == "gold"


def test_partial_fit_needs_transformers_that_are_ready():
    pipeline = make_ranking_pipeline(TextFeatures(min_df=1), Normalizer(), MMPRanker())
    with pytest.raises(NotFittedError, match=r"The step 'textfeatures' \(TextFeatures\) is not fitted"):
        pipeline.partial_fit(TEXTS, SETS)
    pipeline[0].fit(TEXTS)
    assert pipeline.partial_fit(TEXTS, SETS).rank(["oil"], top=1).shape == (1, 1)


def test_saved_and_loaded(pipeline, tmp_path):
    plain = Pipeline(pipeline.steps)
    for number, model in enumerate([pipeline, plain]):
        arcrank.save(model, tmp_path / str(number))
        again = arcrank.load(tmp_path / str(number))
        assert type(again) is RankingPipeline
        assert [name for name, _ in again.steps] == [name for name, _ in pipeline.steps]
        np.testing.assert_array_equal(again.score_labels(TEXTS), pipeline.score_labels(TEXTS))
        assert again.explain("oil ships", "oil", "grain") == pipeline.explain("oil ships", "oil", "grain")
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()


def test_a_pipeline_of_an_instance_ranker_stays_plain(tmp_path):
    model = Pipeline([("words", TextFeatures(min_df=1)), ("ranker", RankBoost(n_rounds=3))]).fit(TEXTS, [1, 0, 1, 0])
    arcrank.save(model, tmp_path / "m")
    assert type(arcrank.load(tmp_path / "m")) is Pipeline

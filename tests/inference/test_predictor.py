"""`Predictor`: the same rankings as the model, document by document."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import arcrank
from arcrank.datasets import Corpus
from arcrank.errors import InputError
from arcrank.inference import predictor as module
from arcrank.inference.model_parts import split_model
from arcrank.inference.predictor import Predictor
from arcrank.text import HashedTextFeatures, TextFeatures

TEXTS = ["crude oil prices rise", "a ship carries wheat", "oil tankers and ships", "zzz"]
SETS = [["oil"], ["ship", "grain"], ["oil", "ship"], ["grain"]]


def documents(**content):
    return Corpus(labels=[], label_sets=[[]] * len(TEXTS), **content)


@pytest.fixture(scope="module")
def pipeline():
    return arcrank.make_ranking_pipeline(TextFeatures(min_df=1), arcrank.LogLinearRanker(C=10)).fit(TEXTS, SETS)


@pytest.mark.parametrize("cells", [1, 7, 1 << 22])
def test_documents_are_ranked_as_by_the_pipeline(pipeline, cells, monkeypatch):
    monkeypatch.setattr(module, "_CELLS", cells)
    ranked = list(Predictor(pipeline).rank(documents(texts=TEXTS, ids=["a", None, "c", "d"]), 2))
    assert [document.labels for document in ranked] == pipeline.rank(TEXTS, top=2).tolist()
    best = -np.sort(-pipeline.score_labels(TEXTS), axis=1)[:, :2]
    np.testing.assert_allclose([document.scores for document in ranked], best, rtol=1e-12)
    assert [document.id for document in ranked] == ["a", None, "c", "d"]
    assert [document.known_features for document in ranked] == np.diff(pipeline[0].transform(TEXTS).indptr).tolist()
    assert {document.explanation for document in ranked} == {None}


@pytest.mark.parametrize("features", [TextFeatures(min_df=1), HashedTextFeatures(n_features=2**12)])
def test_explanations_are_those_of_the_pipeline(features):
    pipeline = arcrank.make_ranking_pipeline(features, arcrank.RocchioRanker()).fit(TEXTS, SETS)
    for text, document in zip(TEXTS, Predictor(pipeline).rank(documents(texts=TEXTS), 2, explain=2), strict=True):
        why = pipeline.explain(text, *document.labels)
        told = document.explanation
        assert (told["above"], told["below"]) == (why.above, why.below)
        assert told["margin"] == pytest.approx(why.margin)
        assert [part["weight"] for part in told["parts"]] == [value for _, value in why.parts[:2]]
        assert [", ".join(part["words"]) for part in told["parts"]] == [name for name, _ in why.parts[:2]]
        assert told["rest_count"] == max(0, len(why.parts) - 2)


def test_explanations_of_trees_are_those_of_the_pipeline():
    trees = arcrank.TreeRanker(n_rounds=5, n_runs=1, min_samples_leaf=1, random_state=0)
    pipeline = arcrank.make_ranking_pipeline(TextFeatures(min_df=1), trees).fit(TEXTS, SETS)
    for text, document in zip(TEXTS, Predictor(pipeline).rank(documents(texts=TEXTS), 2, explain=2), strict=True):
        why, told = pipeline.explain(text, *document.labels), document.explanation
        assert told["margin"] == pytest.approx(why.margin)
        assert [part["weight"] for part in told["parts"]] == [value for _, value in why.parts[:2]]
        words = [", ".join(part["words"]) or part["feature"] for part in told["parts"]]
        assert words == [name for name, _ in why.parts[:2]]


def test_votes_of_similar_documents_are_in_the_rest():
    pipeline = arcrank.make_ranking_pipeline(TextFeatures(min_df=1), arcrank.ShortlistRanker(random_state=0))
    pipeline.fit(TEXTS, SETS)
    for text, document in zip(TEXTS, Predictor(pipeline).rank(documents(texts=TEXTS), 2, explain=1), strict=True):
        told, why = document.explanation, pipeline.explain(text, *document.labels)
        assert told["margin"] == pytest.approx(document.scores[0] - document.scores[1], abs=1e-5)
        assert told["rest_count"] == len(why.parts) - 1 + len(why.neighbours)
        listed = [(part["document"], part["similarity"], part["weight"]) for part in told.get("neighbours", [])]
        assert listed == [tuple(part) for part in why.neighbours[:5]]


def test_the_best_of_many_labels_are_found_without_the_scores_of_all(monkeypatch):
    random = np.random.default_rng(0)
    X = csr_matrix(random.random((80, 12)) * (random.random((80, 12)) < 0.4))
    sets = [{f"label {at}" for at in random.choice(40, 2, replace=False)} for _ in range(80)]
    ranker = arcrank.ShortlistRanker(random_state=0, cut_label=True).fit(X, sets).calibrate(X, sets)
    corpus = Corpus(labels=[], label_sets=[[]] * 80, X=X)
    whole = list(Predictor(ranker).rank(corpus))
    monkeypatch.setattr(module, "_LISTED", 20)
    monkeypatch.setattr(Predictor, "scores", None)
    for best, one in zip(Predictor(ranker).rank(corpus, 3), whole, strict=True):
        assert (best.labels, best.scores) == (one.labels[:3], pytest.approx(one.scores[:3]))
        assert best.probabilities == pytest.approx(one.probabilities[:3])
        assert best.predicted == one.predicted[:20]


def test_one_label_has_nothing_to_explain(pipeline):
    assert next(Predictor(pipeline).rank(documents(texts=TEXTS), 1, explain=2)).explanation is None


def test_rankers_of_features():
    ranker = arcrank.RocchioRanker().fit(np.eye(4), SETS)
    predictor = Predictor(ranker)
    ranked = list(predictor.rank(documents(X=csr_matrix(np.eye(4, 6)))))
    assert [document.labels for document in ranked] == ranker.rank(np.eye(4)).tolist()
    assert not predictor.takes_text
    with pytest.raises(InputError, match="takes features, but these are texts"):
        predictor.features(documents(texts=TEXTS))


def test_refusals(pipeline):
    with pytest.raises(InputError, match="takes texts, but these are features"):
        Predictor(pipeline).features(documents(X=csr_matrix(np.eye(4))))
    with pytest.raises(InputError, match="RankBoost ranks instances"):
        Predictor(arcrank.RankBoost())
    kernel = arcrank.MMPRanker(kernel="rbf").fit(np.eye(4), SETS)
    with pytest.raises(InputError, match="has a kernel"):
        Predictor(kernel).margin(csr_matrix(np.eye(4)[:1]), 0, 1)


def test_split_model(pipeline):
    transformers, ranker = split_model(pipeline)
    assert transformers[0] is pipeline[0]
    assert ranker is pipeline[-1]
    assert split_model(ranker) == (None, ranker)

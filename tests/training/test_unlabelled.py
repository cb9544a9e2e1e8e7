"""AutoRanker with unlabelled documents."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import arcrank
from arcrank import AutoRanker
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import as_graphs
from arcrank.metrics import average_precision
from arcrank.text import TextFeatures
from arcrank.training.candidates import Sample
from arcrank.training.plan import Learner, Plan
from arcrank.training.unlabelled import make_word_features, of_labelled_documents

SETTINGS = {"folds": 3, "random_state": 0}

TOPICS = ("oil", "grain", "ship")
N = 36
WORDS = [first + second for first in "abc" for second in "abcdefghijklmnopqrst"]


def write(random, n, noise=8):
    """Texts of four of the sixty words of their topics and eight of anything, and their topics."""
    topics = random.choice(TOPICS, n)
    texts = []
    for topic in topics:
        own = [f"{topic}{word}" for word in random.choice(WORDS, 4, replace=False)]
        texts.append(" ".join([*own, *(f"noise{chr(97 + word)}" for word in random.integers(0, 26, noise))]))
    return texts, [[str(topic)] for topic in topics]


@pytest.fixture(scope="module")
def corpus():
    random = np.random.default_rng(0)
    known, sets = write(random, N)
    unlabelled, _ = write(random, 400)
    return known + unlabelled, sets + [None] * 400, *write(random, 200)


FAST = {"text_parameters": {"stem": False}, "learners": ["preference-machine"], "max_members": 1}
FAST["parameters"] = {"decomposition": "domination", "loss": "squared-hinge"}


@pytest.fixture(scope="module")
def auto(corpus):
    return AutoRanker(**FAST).fit(*corpus[:2])


def precision(model, corpus):
    texts, sets = corpus[2:]
    return average_precision(as_graphs(sets, kind="sets", labels=model.labels_), model.score_labels(texts))


@pytest.mark.slow
def test_clusters_of_unlabelled_documents_help(auto, corpus):
    texts, y = corpus[:2]
    plain = AutoRanker(**FAST).fit(texts[:N], y[:N])
    assert precision(auto, corpus) > precision(plain, corpus) + 0.05
    assert precision(auto, corpus) > 0.95


def test_the_summary_says_what_was_compared(auto):
    features = {one["parameters"].get("features") for one in auto.trials_}
    assert {"labelled documents", "all documents", "all documents, 50 latent x 1"} <= features
    assert {one["parameters"].get("tentative_weight") for one in auto.trials_} >= {0.0, 0.5}
    assert "latent" in auto.selected_
    assert "features=labelled documents" in auto.summary()
    assert all(one["documents"] == N for one in auto.trials_)


def test_the_same_seed_gives_the_same_bits(auto, corpus):
    again = AutoRanker(**FAST).fit(*corpus[:2])
    assert np.array_equal(again.score_labels(corpus[2]), auto.score_labels(corpus[2]))


def test_the_model_is_stored_and_explains_itself(auto, corpus, tmp_path):
    arcrank.save(auto, tmp_path / "m.arcrank")
    loaded = arcrank.load(tmp_path / "m.arcrank")
    texts = corpus[2][:3]
    assert np.array_equal(loaded.predict_proba(texts), auto.predict_proba(texts))
    assert loaded.summary() == auto.summary()
    why = auto.explain("oilaa oilab", above="oil", below="grain")
    assert {name for name, _ in why.parts} == {"oilaa", "oilab"}
    assert why.margin > 0


def test_a_labelled_document_as_if_it_were_new():
    texts = ["oil price", "oil tanker", "wheat", "oil harvest", "wheat harvest", "harvest"]
    words, features = make_word_features(texts, np.array([0, 1, 2]), {"ngrams": 1, "stem": None})
    assert words.terms_ == ["harvest", "oil", "price", "tanker", "wheat"]
    # price and tanker are terms because of these documents alone; oil is in two labelled ones, wheat in one of three
    known = [[words.terms_[column] for column in row.indices] for row in features.as_new]
    assert known == [["oil"], ["oil"], []]
    assert np.allclose(sp.linalg.norm(features.as_new[:2], axis=1), sp.linalg.norm(features.labelled[:2], axis=1))


@given(st.integers(0, 10**6), st.integers(1, 2))
def test_features_of_labelled_documents_as_if_they_were_new(seed, min_df):
    random = np.random.default_rng(seed)
    texts = [" ".join(random.choice(list(WORDS[:12]), random.integers(1, 6))) for _ in range(9)] + ["aa ab", "aa ab"]
    words = TextFeatures(min_df=min_df, ngrams=1, stem=None, stop_words=None)
    features = of_labelled_documents(words, words.fit_transform(texts))
    for row, text in enumerate(texts):
        others = Counter(term for other in texts[:row] + texts[row + 1 :] for term in set(other.split()))
        expected = {term for term in text.split() if others[term] >= min_df}
        assert {words.terms_[column] for column in features.as_new[row].indices} == expected


def test_documents_are_measured_as_if_they_were_new():
    X, graphs = sp.eye(30, format="csr"), as_graphs([["a"], ["b"], ["c"]] * 10)
    topics = sp.csr_matrix(np.tile(np.eye(3), (10, 1)))
    plan = Plan(Learner.PREFERENCE_MACHINE, {"C": 1.0})
    values = [
        Sample(sp.hstack([X, topics], format="csr"), graphs, np.arange(30), "one_error", **SETTINGS, as_new=new)
        .try_plan(plan)
        .value
        for new in (None, sp.hstack([X, 0 * topics], format="csr"))
    ]
    assert values[0] == 0.0
    assert values[1] > 0.5


def test_all_labelled_is_the_plain_ranker(corpus):
    texts, y = corpus[0][:N], corpus[1][:N]
    model = AutoRanker(**FAST).fit(texts, y)
    assert not any("features" in one["parameters"] for one in model.trials_)


def test_matrices_and_gaps():
    random = np.random.default_rng(1)
    dense = random.standard_normal((60, 4))
    y = [None if row % 2 else int(x > 0) for row, x in enumerate(dense[:, 0])]
    model = AutoRanker(learners=["log-linear"], max_members=1).fit(dense, y)
    assert (model.predict(dense) == (dense[:, 0] > 0)).mean() > 0.85
    words = sp.random(80, 600, 0.1, format="csr", random_state=0)
    Y = (words[:, :2].toarray() > 0).astype(float)
    Y[40:] = np.nan
    assert AutoRanker(**FAST | {"text_parameters": None}).fit(words, Y).predict(words).shape == (80, 2)


def test_few_documents_are_learnt_without_comparing():
    model = AutoRanker().fit(["crude oil", "wheat harvest", "oil price", "maize"], ["oil", "grain", None, None])
    assert model.rank(["oil"]).tolist() == [["oil", "grain"]]


def test_refusals(corpus):
    texts = corpus[0]
    with pytest.raises(InputError, match="is labelled"):
        AutoRanker().fit(texts, [None] * len(texts))
    with pytest.raises(InputError, match="give None for each"):
        AutoRanker().fit(texts, [*corpus[1][:40]])
    with pytest.raises(ParameterError, match="embeddings"):
        AutoRanker(embeddings=True).fit(texts, corpus[1])

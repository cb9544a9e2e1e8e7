"""AutoRanker with unlabelled documents."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import arcrank
from arcrank import AutoRanker
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import as_graphs
from arcrank.metrics import average_precision

TOPICS = ("oil", "grain", "ship")
N = 24


def write(random, n, noise=8):
    """Texts of four words of their topics and eight of anything, and their topics."""
    topics = random.choice(TOPICS, n)
    texts = []
    for topic in topics:
        own = [f"{topic}{'abcdefghijklmnopqrst'[word]}" for word in random.choice(20, 4, replace=False)]
        texts.append(" ".join([*own, *(f"noise{chr(97 + word)}" for word in random.integers(0, 26, noise))]))
    return texts, [[str(topic)] for topic in topics]


@pytest.fixture(scope="module")
def corpus():
    random = np.random.default_rng(0)
    known, sets = write(random, N)
    unlabelled, _ = write(random, 300)
    return known + unlabelled, sets + [None] * 300, *write(random, 200)


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
    assert precision(auto, corpus) > precision(plain, corpus) + 0.02
    assert precision(auto, corpus) > 0.98


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
    why = auto.explain("oila oilb", above="oil", below="grain")
    assert {name for name, _ in why.parts} == {"oila", "oilb"}
    assert why.margin > 0


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

"""Table 1 of Aiolli & Sperduti 2004: arithmetic on a small made corpus."""

from __future__ import annotations

import numpy as np
import pytest

from arcrank.datasets import Corpus
from arcrank.experiments import aiolli2004
from arcrank.experiments.aiolli2004 import (
    BASELINES,
    MEASURES,
    PUBLISHED,
    Row,
    folds,
    format_row,
    measures,
    rows,
    select_c,
)
from arcrank.rankers.online import MMPRanker
from arcrank.text import TextFeatures

TOPICS = {"grain": "wheat harvest farm crop", "ship": "vessel port cargo sea", "trade": "tariff export deficit dollar"}


@pytest.fixture
def corpus():
    rng = np.random.default_rng(0)
    texts, sets = [], []
    for i in range(60):
        chosen = [list(TOPICS)[j] for j in rng.permutation(3)[: 1 + i % 2]]
        words = [*" ".join(TOPICS[topic] for topic in chosen).split(), "noise", "report", "week"]
        texts.append(" ".join(rng.choice(words, 8)))
        sets.append(chosen)
    splits = {"train": np.arange(45), "test": np.arange(45, 60)}
    return Corpus(labels=list(TOPICS), texts=texts, label_sets=sets, splits=splits)


def test_the_table_has_the_papers_lines(corpus, monkeypatch, capsys):
    found = list(rows(corpus, n_folds=3))
    assert [row.method for row in found] == [*BASELINES, "identity", "domination", "disagreement"]
    assert found[0].C is None
    assert all(len(row.measured) == len(MEASURES) for row in found)
    assert [row.published for row in found] == [PUBLISHED["MMP"], None, *list(PUBLISHED.values())[1:]]
    assert all(row.measured[-1] > 80 for row in found)
    monkeypatch.setattr(aiolli2004, "load_reuters21578", lambda _: corpus)
    aiolli2004.main(["--folds", "2"])
    assert "published" in capsys.readouterr().out


def test_the_published_mmp_makes_one_pass_with_loss_1(corpus):
    """It is the configuration of Crammer & Singer's experiments; the other row is not in the paper."""
    paper = next(ranker for ranker, _ in BASELINES.values())
    assert (paper.loss, paper.epochs, paper.average) == ("indicator", 1, False)
    assert [published is None for _, published in BASELINES.values()] == [False, True]
    train, test = corpus.split("train"), corpus.split("test")
    features = TextFeatures(digits="drop", stop_words="english", ngrams=1, min_df=1, sublinear=False)
    ranker = MMPRanker().fit(features.fit_transform(train.texts), train.indicator())
    first = next(iter(rows(corpus, n_folds=2)))
    assert first.measured == measures(test.indicator(), ranker.score_labels(features.transform(test.texts)))
    assert "-" in format_row(Row("MMP", None, first.measured, None)).splitlines()[1]


def test_the_smaller_of_equal_costs_is_chosen(corpus):
    parts = list(folds(corpus.split("train"), 3, 0))
    assert sum(part.X_test.shape[0] for part in parts) == 45
    assert select_c("identity", parts, 0, grid=(1.0, 1.0)) == 1.0


def test_measures_of_a_perfect_ranking():
    Y = np.array([[1, 0, 1], [0, 1, 0]])
    assert measures(Y, Y.astype(float)) == (0.0, 0.0, 0.0, 0.0, 100.0)

"""Table 1 of Aiolli & Sperduti 2004: arithmetic on a small made corpus."""

from __future__ import annotations

import numpy as np
import pytest

from arcrank.datasets import Corpus
from arcrank.experiments import aiolli2004
from arcrank.experiments.aiolli2004 import MEASURES, PUBLISHED, folds, measures, rows, select_c

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
    assert [row.method for row in found] == list(PUBLISHED)
    assert found[0].C is None
    assert all(len(row.measured) == len(row.published) == len(MEASURES) for row in found)
    assert all(row.measured[-1] > 80 for row in found)
    monkeypatch.setattr(aiolli2004, "load_reuters21578", lambda _: corpus)
    aiolli2004.main(["--folds", "2"])
    assert "published" in capsys.readouterr().out


def test_the_smaller_of_equal_costs_is_chosen(corpus):
    parts = list(folds(corpus.split("train"), 3, 0))
    assert sum(part.X_test.shape[0] for part in parts) == 45
    assert select_c("identity", parts, 0, grid=(1.0, 1.0)) == 1.0


def test_measures_of_a_perfect_ranking():
    Y = np.array([[1, 0, 1], [0, 1, 0]])
    assert measures(Y, Y.astype(float)) == (0.0, 0.0, 0.0, 0.0, 100.0)

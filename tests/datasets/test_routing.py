"""Prompts with scores of language models on a small fixture; the real counts are in test_corpora.py."""

from __future__ import annotations

import json

import numpy as np
import pytest

from arcrank.datasets import load_routing
from arcrank.datasets.routing import load_routing_scores
from arcrank.errors import FormatError

TRAIN = [
    {"text": "2 + 2?", "scores": {"small": 0.5, "large": 1, "code": 0.5}},
    {"text": "Hello", "scores": {"large": 0.0, "small": 0.0}},
]
TEST = [{"text": "3 + 3?", "scores": {"small": 1.0, "code": 0.25, "large": None}}]


@pytest.fixture
def folder(data_folder):
    place = data_folder / "routing"
    place.mkdir()
    for name, rows in (("train", TRAIN), ("test", TEST)):
        (place / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return place


def test_higher_scores_rank_first_and_equal_ones_tie(folder):
    corpus = load_routing()
    assert corpus.texts == ["2 + 2?", "Hello", "3 + 3?"]
    assert corpus.labels == ["code", "large", "small"]
    np.testing.assert_array_equal(corpus.ranks, [[2, 1, 2], [np.nan, 1, 1], [2, np.nan, 1]])
    np.testing.assert_array_equal(load_routing_scores(), [[0.5, 1, 0.5], [np.nan, 0, 0], [0.25, np.nan, 1]])
    assert {name: rows.tolist() for name, rows in corpus.splits.items()} == {"train": [0, 1], "test": [2]}


def test_ties_and_missing_scores_are_no_preference(folder):
    corpus = load_routing()
    assert corpus[1:2].graphs().n_arcs == 0
    heads, tails = corpus.graphs().arcs(2)
    assert [(corpus.labels[h], corpus.labels[t]) for h, t in zip(heads, tails, strict=True)] == [("small", "code")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", r"test\.jsonl:2: invalid JSON"),
        ('{"text": "a"}', r"test\.jsonl:2: not a prompt: it needs a text and scores"),
        ('{"features": {"a": 1}, "scores": {}}', r"test\.jsonl:2: not a prompt: it needs a text and scores"),
        ('{"text": "a", "scores": {"code": "1"}}', r"test\.jsonl:2: not a prompt: the score of 'code' is '1'"),
        ('{"text": "a", "scores": {"code": true}}', r"test\.jsonl:2: not a prompt: the score of 'code' is True"),
    ],
)
def test_a_bad_prompt_has_its_line(folder, row, message):
    with (folder / "test.jsonl").open("a") as file:
        file.write(row)
    with pytest.raises(FormatError, match=message):
        load_routing()


def test_a_missing_file(folder):
    (folder / "test.jsonl").unlink()
    with pytest.raises(FormatError, match=r"test\.jsonl is missing"):
        load_routing()

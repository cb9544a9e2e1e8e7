"""MULAN's sets on small fixtures; the real counts are in test_corpora.py."""

from __future__ import annotations

import numpy as np
import pytest

from arcrank.datasets import load_mulan
from arcrank.errors import FormatError, ParameterError

ROWS = [
    '{"features": {"f10": 0.5, "f2": -1.5}, "labels": ["l10"]}',
    '{"features": {"f0": 2}, "labels": ["l2", "l0"]}',
    '{"features": {}, "labels": []}',
] + ['{"features": {"f1": 1.0}, "labels": ["l0"]}'] * 8


@pytest.fixture
def folder(data_folder):
    place = data_folder / "mulan"
    place.mkdir()
    return place


def test_features_and_labels_are_in_the_order_of_their_numbers(folder):
    (folder / "yeast.jsonl").write_text("\n".join(ROWS))
    corpus = load_mulan("yeast")
    assert corpus.feature_names == ["f0", "f1", "f2", "f10"]
    assert corpus.X.format == "csr"
    assert corpus.X[:4].toarray().tolist() == [[0, 0, -1.5, 0.5], [2, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]]
    assert corpus.labels == ["l0", "l2", "l10"]
    assert corpus.label_sets[:3] == [["l10"], ["l2", "l0"], []]


def test_the_first_seven_tenths_of_a_permutation_are_for_training(folder):
    (folder / "yeast.jsonl").write_text("\n".join(ROWS))
    order = np.random.default_rng(0).permutation(11).tolist()
    splits = load_mulan("yeast").splits
    assert {name: rows.tolist() for name, rows in splits.items()} == {"train": order[:7], "test": order[7:]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (ROWS[0] + '\n{"features": {"f1": "x"}, "labels": []}', r"yeast\.jsonl:2: "),
        (ROWS[0] + "\n{", r"yeast\.jsonl:2: invalid JSON"),
        ('{"text": "a", "labels": ["l1"]}', r"yeast\.jsonl: every row must have features and labels"),
        ('{"features": {"f1": 1}, "arcs": [["l1", "l2"]]}', r"yeast\.jsonl: every row must have features and labels"),
        ("", r"yeast\.jsonl: the file is empty"),
        (None, r"yeast\.jsonl is missing"),
    ],
)
def test_damage_is_an_error(folder, content, message):
    if content is not None:
        (folder / "yeast.jsonl").write_text(content)
    with pytest.raises(FormatError, match=message):
        load_mulan("yeast")


def test_an_unknown_name():
    with pytest.raises(ParameterError, match="bibtex, enron, medical, yeast"):
        load_mulan("bread")

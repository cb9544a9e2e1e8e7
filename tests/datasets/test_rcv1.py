"""RCV1-v2 on a small fixture in its format; the real counts are in test_corpora.py."""

from __future__ import annotations

import pytest

from arcrank.datasets import load_rcv1
from arcrank.errors import FormatError

FILES = {
    "topics.txt": "C11\nCCAT\n",
    "topics_parent.tsv": "C11\tCCAT\nCCAT\tRoot\n",
    "topic_names.txt": "CCAT: CORPORATE/INDUSTRIAL\n\tC11: STRATEGY/PLANS\n",
    "train.svm": "0,1 1:0.6 47236:0.8\n1 5:1\n",
    "test.svm": "1 47236:1\n",
    "text_sample.jsonl": '{"doc_label": ["C11", "CCAT"], "doc_token": ["New", "plans"]}\n',
}


@pytest.fixture
def folder(data_folder):
    place = data_folder / "rcv1"
    place.mkdir()
    for name, content in FILES.items():
        (place / name).write_text(content)
    return place


def test_vectors(folder):
    corpus = load_rcv1()
    assert corpus.X.shape == (3, 47_236)
    assert corpus.X[0, 0] == 0.6
    assert corpus.label_sets == [["C11", "CCAT"], ["CCAT"], ["CCAT"]]
    assert corpus.hierarchy == {"C11": "CCAT", "CCAT": None}
    assert corpus.descriptions == {"C11": "STRATEGY/PLANS", "CCAT": "CORPORATE/INDUSTRIAL"}
    assert corpus.split("test").X[0, 47_235] == 1


def test_text_sample(folder):
    corpus = load_rcv1("text-sample")
    assert corpus.texts == ["New plans"]
    assert corpus.label_sets == [["C11", "CCAT"]]


@pytest.mark.parametrize(
    ("part", "file", "content", "message"),
    [
        ("vectors", "train.svm", "0 1:0.6 2:x\n", r"train\.svm:1: invalid features"),
        ("vectors", "train.svm", "0 0:1 47236:1\n", "terms are numbered 1 to 47236, but 0"),
        ("vectors", "train.svm", "0 1:1 47237:1\n", "but 1 to 47237"),
        ("vectors", "train.svm", "2 1:1 47236:1\n", "the topic '2'"),
        ("vectors", "test.svm", None, r"test\.svm is missing"),
        ("vectors", "topics.txt", "C11\n", "do not name the same topics"),
        ("text-sample", "text_sample.jsonl", None, r"text_sample\.jsonl is missing"),
        ("text-sample", "text_sample.jsonl", '{"doc_label": []}\n', r"text_sample\.jsonl:1: not a document"),
        ("text-sample", "text_sample.jsonl", '{"doc_label": ["X"], "doc_token": []}\n', "the topic 'X'"),
    ],
)
def test_damage_is_an_error(folder, part, file, content, message):
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(content)
    with pytest.raises(FormatError, match=message):
        load_rcv1(part)

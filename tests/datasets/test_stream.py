"""Learning from files in blocks: the same as at once, all kinds of rows, bounded memory, a progress line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from arcrank.datasets import read_corpus
from arcrank.datasets.stream import hashed_features, learn_stream
from arcrank.errors import FormatError, ParameterError
from arcrank.rankers.online import MMPRanker, PerceptronRanker
from arcrank.rankers.rocchio import RocchioRanker
from arcrank.text import HashedTextFeatures

WORDS = HashedTextFeatures(n_features=256)
TOPICS = ["crude", "grain", "ship"]


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def text_rows(n=50):
    random = np.random.default_rng(0)
    words = np.array(["oil", "wheat", "tanker", "price", "port", "barrel"])
    return [
        {"text": " ".join(random.choice(words, 4)), "labels": [t for t in TOPICS if random.random() < 0.4]}
        for _ in range(n)
    ]


@pytest.mark.parametrize("batch_rows", [1, 7, 1000])
def test_blocks_of_any_size_learn_what_fit_learns(tmp_path, batch_rows):
    rows = text_rows()
    path = write_jsonl(tmp_path / "rows.jsonl", rows)
    ranker = MMPRanker("size", average=True)
    report = learn_stream(ranker, path, features=WORDS, labels=TOPICS, batch_rows=batch_rows)
    assert (report.documents, report.skipped) == (50, 0)
    whole = MMPRanker("size", average=True)
    whole.partial_fit(WORDS.transform([row["text"] for row in rows]), [row["labels"] for row in rows], labels=TOPICS)
    np.testing.assert_array_equal(ranker.coef_, whole.coef_)
    assert ranker.n_skipped_ == sum(len(row["labels"]) in (0, 3) for row in rows)


def test_shuffled_blocks_learn_what_fit_learns_in_some_order(tmp_path):
    rows = text_rows()
    path = write_jsonl(tmp_path / "rows.jsonl", rows)
    seen = []

    class Watching(MMPRanker):
        def partial_fit(self, X, y, labels=None):
            seen.extend(y)
            return super().partial_fit(X, y, labels)

    ranker = Watching()
    told = []
    report = learn_stream(ranker, path, features=WORDS, shuffle=True, batch_rows=7, progress=told.append)
    assert (report.documents, ranker.labels_.tolist(), told[-1]) == (50, TOPICS, 50)
    assert not report.order.in_runs
    assert seen != [{*row["labels"]} for row in rows]
    assert sorted(map(sorted, seen)) == sorted(sorted(row["labels"]) for row in rows)
    assert ranker.n_skipped_ == sum(len(row["labels"]) in (0, 3) for row in rows)
    again = learn_stream(other := MMPRanker(), path, features=WORDS, shuffle=True, batch_rows=50)
    np.testing.assert_array_equal(ranker.coef_, other.coef_)
    assert again.documents == 50


def test_a_shuffled_stream_goes_on_from_what_is_known(tmp_path):
    path = write_jsonl(tmp_path / "rows.jsonl", text_rows())
    ranker = MMPRanker().partial_fit(WORDS.transform(["gold"]), [["metal"]], labels=["metal", "ship"])
    learn_stream(ranker, path, features=WORDS, shuffle=True, batch_rows=3)
    assert ranker.labels_[:2].tolist() == ["metal", "ship"]
    assert sorted(ranker.labels_.tolist()) == ["crude", "grain", "metal", "ship"]


def test_svmlight_in_numbered_columns(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("a 1:1 3:2\nb 2:1\na,b 300:1\n")  # wider and wider, and beyond the columns: 300 % 256 = 44
    ranker = PerceptronRanker()
    learn_stream(ranker, path, features=WORDS, batch_rows=1, labels=["a", "b"])
    corpus = read_corpus(path)
    assert hashed_features(corpus, WORDS)[2].indices.tolist() == [44]
    whole = PerceptronRanker().fit(hashed_features(corpus, WORDS), corpus.label_sets)
    np.testing.assert_array_equal(ranker.coef_, whole.coef_)


def test_named_features_keep_their_columns_in_every_file(tmp_path):
    one = read_corpus(write_jsonl(tmp_path / "1.jsonl", [{"features": {"x": 1.0, "y": 2.0}, "labels": ["a"]}]))
    two = read_corpus(write_jsonl(tmp_path / "2.jsonl", [{"features": {"y": 2.0, "x": 1.0}, "labels": ["a"]}]))
    np.testing.assert_array_equal(hashed_features(one, WORDS).toarray(), hashed_features(two, WORDS).toarray())


@pytest.mark.parametrize("shuffle", [False, True])
def test_new_labels_and_mixed_preferences(tmp_path, shuffle):
    rows = [
        {"text": "oil", "labels": ["crude"]},
        {"text": "wheat", "labels": ["grain"]},
        {"text": "tanker", "arcs": [["ship", "crude"]]},
        {"text": "wheat oil", "ranking": ["grain", ["crude", "ship"]]},
        {"text": "oil", "labels": ["crude"]},
    ]
    for order in (rows, rows[::-1]):
        ranker = MMPRanker()
        path = write_jsonl(tmp_path / "rows.jsonl", order)
        learn_stream(ranker, path, features=WORDS, batch_rows=2, shuffle=shuffle)
        assert sorted(ranker.labels_.tolist()) == TOPICS
        assert ranker.n_rounds_ == 5
    assert ranker.rank(WORDS.transform(["oil"]), top=1).tolist() == [["crude"]]


def test_two_labels_in_every_row_are_label_sets(tmp_path):
    """Python's lists of two names could be arcs; a file says what it holds."""
    rows = [{"text": "oil port", "labels": ["crude", "ship"]}, {"text": "wheat port", "labels": ["grain", "ship"]}]
    path = write_jsonl(tmp_path / "rows.jsonl", rows)
    ranker = MMPRanker()
    assert learn_stream(ranker, path, features=WORDS, batch_rows=1).documents == 2
    assert ranker.labels_.tolist() == ["crude", "ship", "grain"]
    assert isinstance(ranker.predict(WORDS.transform(["oil"])), list)


def test_rows_that_cannot_be_read_are_counted(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "oil", "labels": ["crude"]}\nno JSON\n{"text": "port", "labels": ["ship"]}\n')
    report = learn_stream(MMPRanker(), path, features=WORDS, on_error="skip")
    assert (report.documents, report.skipped) == (2, 1)
    with pytest.raises(FormatError, match="rows.jsonl:2"):
        learn_stream(MMPRanker(), path, features=WORDS)


def test_the_progress_line_tells_documents_a_second(tmp_path, capsys):
    path = write_jsonl(tmp_path / "rows.jsonl", text_rows())
    learn_stream(MMPRanker(), path, features=WORDS, progress=True)
    assert "50 documents, " in capsys.readouterr().err
    learn_stream(MMPRanker(), path, features=WORDS)
    assert capsys.readouterr().err == ""


def test_what_cannot_be_learnt(tmp_path):
    with pytest.raises(ParameterError, match="RocchioRanker has no partial_fit"):
        learn_stream(RocchioRanker(), tmp_path / "rows.jsonl")
    path = tmp_path / "queries.svm"
    path.write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    with pytest.raises(FormatError, match="queries with candidates"):
        learn_stream(MMPRanker(), path)

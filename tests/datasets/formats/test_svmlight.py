from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from arcrank.datasets import read_corpus
from arcrank.errors import FormatError

NAMES = st.text(st.characters(codec="utf-8", exclude_characters=",#:", exclude_categories=("Z", "C")), min_size=1)
VALUES = st.floats(allow_nan=False, allow_infinity=False)
ROWS = st.lists(
    st.tuples(st.lists(NAMES, unique=True, max_size=4), st.dictionaries(st.integers(0, 200), VALUES, max_size=6)),
    min_size=1,
)


def read(raw, **options):
    raw = raw.encode() if isinstance(raw, str) else raw
    return read_corpus(io.BytesIO(raw), "svmlight", **options)


def write(rows):
    lines = [",".join(labels) + " " + " ".join(f"{j}:{v!r}" for j, v in fs.items()) for labels, fs in rows]
    return "\n".join(lines) + "\n"


@given(ROWS)
def test_rows_come_back(rows):
    rows = [row for row in rows if any(row)] or [(["a"], {})]  # a row of nothing is a blank line
    corpus = read(write(rows), n_features=201)
    expected = np.zeros((len(rows), 201))
    for i, (_, features) in enumerate(rows):
        for j, value in features.items():
            expected[i, j] = value
    assert corpus.label_sets == [labels for labels, _ in rows]
    np.testing.assert_array_equal(corpus.X.toarray(), expected)
    assert corpus.X.has_sorted_indices


def test_it_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(5000):
        columns = np.sort(rng.choice(300, 8, replace=False))
        labels = ",".join(map(str, rng.choice(12, 2, replace=False)))
        lines.append(f"{labels} " + " ".join(f"{j}:{v:.6g}" for j, v in zip(columns, rng.normal(size=8), strict=True)))
    raw = "\n".join(lines).encode()
    corpus = read(raw)
    X, y = load_svmlight_file(io.BytesIO(raw), multilabel=True, zero_based=True)
    assert (corpus.X != X).nnz == 0
    assert [{*map(int, labels)} for labels in corpus.label_sets] == [{*map(int, labels)} for labels in y]
    assert corpus.labels == [str(j) for j in range(12)]


def test_comments_blank_lines_tabs_and_rows_without_labels():
    corpus = read("# head\n\na,b 1:1\t2:0.5 # tail\n 3:1\n4:2 5:1\nc\n")
    assert corpus.label_sets == [["a", "b"], [], [], ["c"]]
    assert corpus.X.shape == (4, 6)
    assert corpus.X[1, 3] == 1
    assert corpus.X[2, 4] == 2


def test_unsorted_indices_are_sorted():
    assert read("a 7:1 3:2\n").X.indices.tolist() == [3, 7]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"a 1:x", "invalid features"),
        (b"a 1 2:3", "invalid features"),
        (b"a 1:2:3 4", "invalid features"),
        (b"a 1:", "invalid features"),
        (b"a :1", "invalid features"),
        (b"a 1: 2", "invalid features"),
        (b"a 1:nan", "invalid features"),
        (b"a 1:inf", "invalid features"),
        (b"a 1:1e999", "invalid features"),
        (b"a 1.5:1", "invalid features"),
        (b"a -1:1", "invalid features"),
        (b"a 1:1_0", "invalid features"),
        (b"a 5:1 5:2", "invalid features"),
        (b"a 1:\xff", "invalid features"),
        (b"a 99:1", "invalid features"),
        (b"a,,b 1:1", "invalid labels"),
        (b"\xff 1:1", "invalid UTF-8"),
    ],
)
def test_a_bad_row_is_an_error_or_a_counted_skip(row, reason):
    raw = b"a 1:1\n" + row + b"\nb 2:1\n"
    with pytest.raises(FormatError, match=f"^stream:2: {reason}"):
        read(raw, n_features=20)
    corpus = read(raw, n_features=20, on_error="skip")
    assert corpus.label_sets == [["a"], ["b"]]
    assert corpus.X.toarray()[:, :3].tolist() == [[0, 1, 0], [0, 0, 1]]
    assert corpus.skipped == {reason: 1}


def test_a_label_outside_the_vocabulary():
    with pytest.raises(FormatError, match="stream:2: label not in the vocabulary: 'c'"):
        read("a 1:1\na,c 1:1\n", labels=["a", "b"])
    assert read("a 1:1\na,c 1:1\n", labels=["a", "b"], on_error="skip").skipped == {"label not in the vocabulary": 1}


def test_when_every_row_is_bad_the_count_remains():
    corpus = read("a 1:x\na 2:x\n", on_error="skip")
    assert len(corpus) == 0
    assert corpus.skipped == {"invalid features": 2}

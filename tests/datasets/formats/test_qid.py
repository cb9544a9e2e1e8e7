from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from arcrank.datasets import iter_corpus, read_corpus
from arcrank.errors import FormatError, ParameterError

QUERIES = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=6), min_size=1, max_size=8)


def read(raw, **options):
    return read_corpus(io.BytesIO(raw.encode()), "qid", **options)


def write(queries):
    rows = [f"{g} qid:{q} 1:{q}.5 2:{j}" for q, grades in enumerate(queries) for j, g in enumerate(grades)]
    return "\n".join(rows) + "\n"


@given(QUERIES)
def test_graphs_prefer_the_higher_grade(queries):
    corpus = read(write(queries))
    graphs = corpus.graphs()
    assert corpus.ptr.tolist() == [0, *np.cumsum([len(grades) for grades in queries])]
    assert graphs.shape == (len(queries), max(map(len, queries)))
    for i, grades in enumerate(queries):
        expected = {(a, b) for a, x in enumerate(grades) for b, y in enumerate(grades) if x > y}
        assert {*zip(*map(np.ndarray.tolist, graphs.arcs(i)), strict=True)} == expected


@given(QUERIES, st.integers(1, 4))
def test_blocks_hold_whole_queries(queries, batch_rows):
    blocks = list(iter_corpus(io.BytesIO(write(queries).encode()), "qid", batch_rows=batch_rows))
    assert [len(block) for block in blocks[:-1]] == [batch_rows] * (len(blocks) - 1)
    assert np.concatenate([block.grades for block in blocks]).tolist() == [g for grades in queries for g in grades]
    assert [name for block in blocks for name in block.ids] == [str(q) for q in range(len(queries))]


def test_it_agrees_with_scikit_learn():
    raw = write([[1, 0, 2], [3], [0, 0]]) + "2.5 qid:x 4:1e-3 # comment\n"
    corpus = read(raw)
    X, y, query = load_svmlight_file(io.BytesIO(raw.replace("qid:x", "qid:9").encode()), query_id=True, zero_based=True)
    assert (corpus.X != X).nnz == 0
    assert corpus.grades.tolist() == y.tolist()
    assert np.repeat(corpus.ids, np.diff(corpus.ptr)).tolist() == [*map(str, query[:-1]), "x"]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("1 1:0.5", "invalid candidate"),
        ("x qid:1 1:1", "invalid candidate"),
        ("nan qid:1 1:1", "invalid candidate"),
        ("1 qid: 1:1", "invalid candidate"),
        ("1 qid:2 1:x", "invalid features"),
        ("1 qid:0 1:1", "query comes back"),
    ],
)
def test_a_bad_candidate_is_an_error_or_a_counted_skip(row, reason):
    raw = f"1 qid:0 1:1\n0 qid:2 1:1\n{row}\n2 qid:2 1:2\n"
    with pytest.raises(FormatError, match=f"^stream:3: {reason}"):
        read(raw)
    corpus = read(raw, on_error="skip")
    assert corpus.ptr.tolist() == [0, 1, 3]
    assert corpus.skipped == {reason: 1}


def test_labels_are_the_candidates():
    with pytest.raises(ParameterError, match="candidates"):
        read("1 qid:1 1:1\n", labels=["a"])

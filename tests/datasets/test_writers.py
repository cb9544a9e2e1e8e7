"""What `write_corpus` writes, `read_corpus` reads: every format, compressed or not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from arcrank.datasets import Corpus, iter_corpus, read_corpus, write_corpus
from arcrank.datasets.writers import WRITERS
from arcrank.errors import ParameterError

ENDINGS = ["", ".gz", ".xz"]
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
PLAIN = st.from_regex(r"[a-zA-Zé_][\w-]{0,8}", fullmatch=True)


def round_trip(corpus, folder, ending):
    path = folder / f"corpus.{ending}"
    write_corpus(corpus, path)
    with warnings.catch_warnings(action="ignore"):  # "labels look as if they were separated by a comma"
        return read_corpus(path)


@st.composite
def label_sets(draw, names, size):
    known = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    rows = st.lists(st.sampled_from(known), max_size=3, unique=True)
    return draw(st.lists(rows, min_size=size, max_size=size))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("written")


@settings(max_examples=30, deadline=None)
@given(data=st.data(), n=st.integers(1, 4), ending=st.sampled_from(ENDINGS))
def test_texts_and_label_sets_in_json_lines(folder, data, n, ending):
    texts = data.draw(st.lists(TEXTS, min_size=n, max_size=n))
    sets = data.draw(label_sets(NAMES, n))
    ids = data.draw(st.none() | st.lists(st.none() | NAMES, min_size=n, max_size=n))
    again = round_trip(Corpus(labels=[], texts=texts, label_sets=sets, ids=ids), folder, f"jsonl{ending}")
    assert (again.texts, again.label_sets) == (texts, sets)
    assert (again.ids or [None] * n) == (ids or [None] * n)


@settings(max_examples=30, deadline=None)
@given(data=st.data(), n=st.integers(1, 4), kind=st.sampled_from(["csv", "tsv"]), ending=st.sampled_from(ENDINGS))
def test_texts_and_label_sets_in_tables(folder, data, n, kind, ending):
    texts = data.draw(st.lists(TEXTS, min_size=n, max_size=n))
    names = NAMES.map(lambda name: name.replace(";", ":").strip()).filter(bool)
    sets = data.draw(label_sets(names, n))
    again = round_trip(Corpus(labels=[], texts=texts, label_sets=sets), folder, f"{kind}{ending}")
    assert (again.texts, again.label_sets, again.ids) == (texts, sets, None)


@settings(max_examples=30, deadline=None)
@given(data=st.data(), n=st.integers(1, 4), kind=st.sampled_from(["jsonl", "svmlight"]))
def test_numbered_features(folder, data, n, kind):
    floats = st.floats(allow_nan=False, allow_infinity=False, width=64)
    X = np.array(data.draw(st.lists(st.lists(floats, min_size=3, max_size=3), min_size=n, max_size=n)))
    X[0, 2] = 1.0  # so that the file tells the number of columns
    sets = data.draw(label_sets(PLAIN, n))
    given_X = data.draw(st.sampled_from([X, sp.csr_matrix(X)]))
    again = round_trip(Corpus(labels=[], X=given_X, label_sets=sets), folder, kind)
    assert again.label_sets == sets
    names = again.feature_names
    columns = {str(j) if names is None else names[j]: again.X.toarray()[:, j] for j in range(again.X.shape[1])}
    for j in range(3):
        assert np.array_equal(columns.get(str(j), np.zeros(n)), X[:, j])


def test_a_row_of_nothing_stays_a_row_in_svmlight(folder):
    corpus = Corpus(labels=["a"], X=sp.csr_matrix([[0.0], [2.0], [0.0]]), label_sets=[[], ["a"], []])
    again = round_trip(corpus, folder, "svmlight")
    assert again.label_sets == corpus.label_sets
    assert (again.X != corpus.X).nnz == 0


def test_every_kind_of_preference_in_json_lines(folder):
    rows = [("labels", ["a"]), ("layers", [["a"], ["b", "c"]]), ("arcs", [("a", "b"), ("b", "a")])]
    again = round_trip(Corpus(labels=[*"abc"], texts=[*"xyz"], preferences=rows), folder, "jsonl")
    assert [(kind, [tuple(v) for v in value]) for kind, value in again.preferences] == [
        (kind, [tuple(v) for v in value]) for kind, value in rows
    ]
    ranks = np.array([[2.0, 1.0, np.nan], [1.0, 1.0, 2.0]])
    again = round_trip(Corpus(labels=[*"abc"], texts=[*"xy"], ranks=ranks), folder, "jsonl")
    assert again.preferences == [("layers", [["b"], ["a"]]), ("layers", [["a", "b"], ["c"]])]


def test_named_features_keep_their_names_in_json_lines(folder):
    X = sp.csr_matrix([[0.0, 2.5], [1e-300, 0.0]])
    again = round_trip(Corpus(labels=[], X=X, feature_names=["ä", "1"], label_sets=[["a"], ["b"]]), folder, "jsonl")
    order = [again.feature_names.index(name) for name in ("ä", "1")]
    assert (again.X[:, order] != X).nnz == 0


def test_blocks_are_written_as_they_come(folder):
    corpus = Corpus(labels=["a"], texts=[f"t{i}" for i in range(25)], label_sets=[["a"]] * 25)
    write_corpus(corpus, folder / "whole.jsonl")
    write_corpus(iter_corpus(folder / "whole.jsonl", batch_rows=4), folder / "blocks.tsv", "tsv")
    assert read_corpus(folder / "blocks.tsv").texts == corpus.texts


@pytest.mark.parametrize("kind", [*WRITERS])
def test_a_failure_leaves_the_file_as_it_was(tmp_path, kind):
    def broken():
        content = {"X": sp.csr_matrix([[1.0]])} if kind == "svmlight" else {"texts": ["t"]}
        yield Corpus(labels=["a"], label_sets=[["a"]], **content)
        raise RuntimeError("the source broke off")

    path = tmp_path / "old"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="broke off"):
        write_corpus(broken(), path, kind)
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


def test_what_cannot_be_written_says_why(tmp_path):
    corpus = Corpus(labels=["a;b"], texts=["t"], label_sets=[["a;b"]])
    for path, kind, part in (
        ("c.parquet", None, "names no format that can be written"),
        ("c.jsonl", "parquet", "'parquet' is not a format"),
        ("c.csv", None, "separates labels with ;"),
        ("c.svm", None, "svmlight holds numbers"),
    ):
        with pytest.raises(ParameterError, match=part):
            write_corpus(corpus, tmp_path / path, kind)
    queries = Corpus(labels=["0"], X=np.ones((1, 1)), ptr=np.array([0, 1]), grades=np.array([1.0]))
    with pytest.raises(ParameterError, match="queries with candidates"):
        write_corpus(queries, tmp_path / "c.jsonl")
    assert not [*tmp_path.iterdir()]

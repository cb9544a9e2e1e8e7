from __future__ import annotations

import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arcrank.datasets import iter_corpus, read_corpus
from arcrank.errors import FormatError, ParameterError


def write(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


def test_lists_and_joined_strings(tmp_path):
    lists = write(tmp_path / "a.parquet", text=["x", "y"], labels=[["a", "b"], []], id=[1, 2], other=[0, 0])
    strings = write(tmp_path / "b.parquet", text=["x", "y"], labels=["a;b", ""])
    assert read_corpus(lists).label_sets == read_corpus(strings).label_sets == [["a", "b"], []]
    assert read_corpus(lists).ids == ["1", "2"]
    assert read_corpus(strings).ids is None


@pytest.mark.parametrize("labels", [
    pa.array([3, None]), pa.array([[3], []]), pa.array([[3], None]), pa.array([3, None], pa.int8()),
    pa.array(["3", None]), pa.array(["3", None], pa.large_string()), pa.array(["3", None]).dictionary_encode(),
    pa.array([["3"], None], pa.large_list(pa.large_string())), pa.array([3.0, None]),
])  # fmt: skip
@pytest.mark.parametrize("name", ["labels", "label"])
def test_labels_of_every_type_are_strings_and_null_is_none(tmp_path, labels, name):
    path = write(tmp_path / "a.parquet", text=pa.array(["x", "y"], pa.large_string()), **{name: labels})
    assert read_corpus(path).label_sets == [["3"], []]


def test_columns_of_other_names(tmp_path):
    path = write(tmp_path / "a.parquet", body=["x"], topics=["a|b"])
    with pytest.raises(FormatError, match="got body, topics.\n.*text_column= and label_column="):
        read_corpus(path)
    corpus = read_corpus(path, text_column="body", label_column="topics", label_separator="|")
    assert (corpus.texts, corpus.label_sets) == (["x"], [["a", "b"]])
    with pytest.raises(FormatError, match="no column 'Tags', only body, topics"):
        read_corpus(path, text_column="body", label_column="Tags")


def test_blocks(tmp_path):
    path = write(tmp_path / "a.parquet", text=[str(i) for i in range(2500)], labels=[["a"]] * 2500)
    assert [len(block) for block in iter_corpus(path, batch_rows=700)] == [700, 700, 700, 400]


def test_bad_rows_have_their_number(tmp_path):
    path = write(tmp_path / "a.parquet", text=["x", None, "z"], labels=[["a"], ["a"], [None]])
    with pytest.raises(FormatError, match=r"a\.parquet:2: invalid text"):
        read_corpus(path)
    corpus = read_corpus(path, on_error="skip")
    assert corpus.texts == ["x"]
    assert corpus.skipped == {"invalid text": 1, "invalid labels": 1}


def test_columns_that_are_missing(tmp_path):
    with pytest.raises(FormatError, match="columns text and labels are needed"):
        read_corpus(write(tmp_path / "a.parquet", words=["x"]))


def test_a_truncated_file(tmp_path):
    path = write(tmp_path / "a.parquet", text=["x"], labels=[["a"]])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FormatError, match="truncated or damaged"):
        read_corpus(path)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    path = write(tmp_path / "a.parquet", text=["x"], labels=[["a"]])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ParameterError, match=r"arcrank\[parquet\]"):
        read_corpus(path)

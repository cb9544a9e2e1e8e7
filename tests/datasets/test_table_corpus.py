"""Files whose columns are features: the same table in every format, and refused where it cannot be used."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from arcrank.datasets import Corpus, iter_corpus, learn_stream, read_corpus, write_corpus
from arcrank.datasets.read import iter_documents
from arcrank.errors import FormatError, InputError

CSV = b"id,age,colour,labels\n7,31,red,tea;milk\n8,,blue,milk\n9,25,,\n"
TABLE = {"age": ["31", None, "25"], "colour": ["red", "blue", None]}
SETS = [["tea", "milk"], ["milk"], []]


def read(raw, **options):
    return read_corpus(io.BytesIO(raw), "csv", **options)


def test_columns_beside_the_labels_are_features():
    corpus = read(CSV)
    assert (corpus.table, corpus.label_sets, corpus.ids) == (TABLE, SETS, ["7", "8", "9"])
    assert (corpus.texts, corpus.X, corpus.content_kind, len(corpus)) == (None, None, "table", 3)
    assert corpus[[2, 0]].table == {"age": ["25", "31"], "colour": [None, "red"]}


def test_the_column_of_labels_may_have_any_name():
    corpus = read(CSV.replace(b"labels", b"drinks"), label_column="drinks")
    assert (corpus.table, corpus.label_sets) == (TABLE, SETS)


def test_blocks_join_to_the_whole_table():
    rows = b"".join(b"%d,c%d,l%d\n" % (i, i % 3, i % 2) for i in range(25))
    whole = read(b"age,colour,labels\n" + rows)
    blocks = list(iter_corpus(io.BytesIO(b"age,colour,labels\n" + rows), "csv", batch_rows=4))
    assert [len(block) for block in blocks] == [4] * 6 + [1]
    assert [age for block in blocks for age in block.table["age"]] == whole.table["age"] == [str(i) for i in range(25)]


def test_parquet_files_and_data_frames_keep_their_types(tmp_path):
    frame = pd.DataFrame({"age": [31, None], "colour": ["red", None], "labels": [["tea"], []]})
    frame.to_parquet(tmp_path / "table.parquet")
    expected = {"age": [31.0, None], "colour": ["red", None]}
    assert read_corpus(tmp_path / "table.parquet").table == read_corpus(frame).table == expected


def test_a_table_with_a_text_is_a_corpus_of_texts():
    corpus = read(b"text,age,labels\noil,3,crude\n")
    assert (corpus.texts, corpus.table) == (["oil"], None)


@pytest.mark.parametrize("header", [b"title,labels", b"id,title,labels"])
def test_one_column_alone_is_rather_a_text_under_another_name(header):
    with pytest.raises(FormatError, match="this looks like a header"):
        read(header + b"\noil,crude\n")


def test_rows_that_cannot_be_read_are_named_or_skipped():
    raw = b"age,colour,labels\n31,red,tea\n25,blue\n40,red,milk\n"
    with pytest.raises(FormatError, match=r"stream:3: wrong number of columns: 2 instead of 3, as in the header"):
        read(raw)
    corpus = read(raw, on_error="skip")
    assert (corpus.table["age"], corpus.skipped) == (["31", "40"], {"wrong number of columns": 1})


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(FormatError, match="two columns have the same name"):
        read(b"age,age,labels\n1,2,tea\n")


def test_documents_to_rank_need_no_labels():
    (block,) = iter_documents(io.BytesIO(CSV), "csv", takes="table")
    assert block.table == {**TABLE, "labels": ["tea;milk", "milk", None]}  # a model ignores columns it does not know
    line = b'{"features": {"age": 31, "colour": null}}'
    (block,) = iter_documents(io.BytesIO(line), "jsonl", takes="table")
    assert block.table == {"age": [31], "colour": [None]}
    with pytest.raises(FormatError, match="the model takes the columns of a table, but this row is a text"):
        list(iter_documents(io.BytesIO(b'{"text": "oil"}'), "jsonl", takes="table"))
    with pytest.raises(FormatError, match="a row is an object"):
        list(iter_documents(io.BytesIO(b"just words"), takes="table"))


def test_what_needs_texts_or_numbers_refuses_tables(tmp_path):
    from arcrank import MMPRanker

    for refused in (
        lambda: learn_stream(MMPRanker(), io.BytesIO(CSV), "csv"),
        lambda: write_corpus(read(CSV), tmp_path / "out.jsonl"),
    ):
        with pytest.raises(InputError, match=r"is a table of features \('age', 'colour'\)"):
            refused()
    assert not (tmp_path / "out.jsonl").exists()


def test_a_corpus_has_one_kind_of_content():
    with pytest.raises(InputError, match="exactly one of texts, X or table"):
        Corpus(labels=["a"], texts=["oil"], table={"age": [3]}, label_sets=[["a"]])

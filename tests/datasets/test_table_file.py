"""Tables of features in files: columns by name, labels, and rows that cannot be read."""

from __future__ import annotations

import gzip
import io

import pandas as pd
import pytest

from arcrank import LogLinearRanker, make_ranking_pipeline
from arcrank.datasets import read_table
from arcrank.errors import FormatError, ParameterError
from arcrank.tables import TableFeatures

CSV = b'age,colour,"note, long",labels\n31,red,"a ""b""",tea;milk\n,blue,,milk\n'
COLUMNS = {"age": ["31", None], "colour": ["red", "blue"], "note, long": ['a "b"', None]}


def test_cells_are_strings_and_empty_ones_are_missing(tmp_path):
    assert read_table(io.BytesIO(CSV), "csv") == (COLUMNS, [["tea", "milk"], ["milk"]])
    path = tmp_path / "table.tsv.gz"
    path.write_bytes(gzip.compress(b"age\ttopic\n31\ta|b\n"))
    table = read_table(path, label_column="topic", label_separator="|")
    assert table == ({"age": ["31"]}, [["a", "b"]])
    assert read_table(io.BytesIO(b"age;colour\n3;red"), "csv", delimiter=";", labelled=False) == (
        {"age": ["3"], "colour": ["red"]},
        None,
    )


def test_parquet_and_frames_have_types(tmp_path):
    frame = pd.DataFrame({"age": [31, None], "day": pd.to_datetime(["2024-01-31", None]), "labels": [["tea"], []]})
    frame.to_parquet(tmp_path / "table.parquet")
    expected = {"age": [31.0, None], "day": [pd.Timestamp("2024-01-31"), None]}
    assert read_table(tmp_path / "table.parquet") == read_table(frame) == (expected, [["tea"], []])


def test_a_table_in_a_file_trains():
    rows = "".join(f"{i},{'red' if i % 2 else 'blue'},{'tea' if i % 2 else 'milk'}\n" for i in range(20))
    table = read_table(io.BytesIO(f"age,colour,label\n{rows}".encode()), "csv")
    model = make_ranking_pipeline(TableFeatures(), LogLinearRanker(C=10)).fit(table.columns, table.label_sets)
    assert model.rank({"age": ["7", ""], "colour": ["red", "blue"]}).tolist() == [["tea", "milk"], ["milk", "tea"]]


def test_errors_say_where():
    with pytest.raises(FormatError, match=r"stream: a column labels is needed, got age, colour"):
        read_table(io.BytesIO(b"age,colour\n3,red"), "csv")
    short = b"age,labels\n3,a\n4\n5,b\n"
    with pytest.raises(FormatError, match=r"stream:3: .*1 instead of 2"):
        read_table(io.BytesIO(short), "csv")
    assert read_table(io.BytesIO(short), "csv", on_error="skip") == ({"age": ["3", "5"]}, [["a"], ["b"]])
    with pytest.raises(FormatError, match=r"stream:2: .*ambiguous"):
        read_table(io.BytesIO(b"age;labels\n3;a,b\n"), "csv", delimiter=";")
    with pytest.raises(FormatError, match="same name"):
        read_table(io.BytesIO(b"age,age,labels\n3,4,a\n"), "csv")
    with pytest.raises(FormatError, match="empty"):
        read_table(io.BytesIO(b""), "csv")
    with pytest.raises(ParameterError, match="CSV, TSV or Parquet"):
        read_table(io.BytesIO(b"a 1:1"), "svmlight")

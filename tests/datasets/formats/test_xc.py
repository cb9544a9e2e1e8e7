from __future__ import annotations

import io

import numpy as np
import pytest

from arcrank.datasets import read_corpus
from arcrank.errors import FormatError, ParameterError

GOOD = "3 5 4\n0,3 0:0.5 4:1\n 1:2\n2\n"


def read(raw, **options):
    return read_corpus(io.BytesIO(raw.encode()), "xc", **options)


def test_header_rows_and_widths():
    corpus = read(GOOD)
    assert corpus.labels == ["0", "1", "2", "3"]
    assert corpus.label_sets == [["0", "3"], [], ["2"]]
    expected = [[0.5, 0, 0, 0, 1], [0, 2, 0, 0, 0], [0, 0, 0, 0, 0]]
    np.testing.assert_array_equal(corpus.X.toarray(), expected)


def test_names_may_be_given():
    corpus = read(GOOD, labels=["w", "x", "y", "z"])
    assert corpus.label_sets == [["w", "z"], [], ["y"]]
    with pytest.raises(ParameterError, match="4 labels"):
        read(GOOD, labels=["w"])


def test_an_empty_line_is_a_row_but_not_behind_the_last():
    assert read("2 5 4\n\n1 0:1\n\n").label_sets == [[], ["1"]]


@pytest.mark.parametrize("header", ["", "0,3 0:0.5\n", "3 5\n", "a b c\n"])
def test_a_missing_header(header):
    with pytest.raises(FormatError, match="stream:1: the header"):
        read(header)


@pytest.mark.parametrize(
    ("raw", "line", "reason"),
    [
        ("2 5 4\n0 1:1\n4 1:1\n", 3, "label not in the vocabulary"),
        ("2 5 4\n0 1:1\nx 1:1\n", 3, "label not in the vocabulary"),
        ("2 5 4\n0 1:1\n1 5:1\n", 3, "invalid features"),
        ("2 5 4\n0 1:1\n", 3, "row missing"),
        ("1 5 4\n0 1:1\n1 1:1\n", 3, "row too many"),
    ],
)
def test_a_bad_row_is_an_error_or_a_counted_skip(raw, line, reason):
    with pytest.raises(FormatError, match=f"^stream:{line}: {reason}"):
        read(raw)
    corpus = read(raw, on_error="skip")
    assert corpus.label_sets == [["0"]]
    assert corpus.X.shape == (1, 5)
    assert corpus.skipped == {reason: 1}


def test_a_truncated_file_says_how_many_rows_are_gone():
    with pytest.raises(FormatError, match="says 1,000,000,000 rows, but the file ends after 1"):
        read("1000000000 5 4\n0 1:1\n")
    assert read("1000000000 5 4\n0 1:1\n", on_error="skip").skipped == {"row missing": 999_999_999}

"""ASlib's scenarios on small fixtures; the real counts are in test_corpora.py."""

from __future__ import annotations

import numpy as np
import pytest

from arcrank.datasets import load_aslib
from arcrank.datasets.aslib import load_aslib_runtimes
from arcrank.errors import FormatError, ParameterError

TABLE = """\
A0,A1,A2,A3,A4,L:fast,L:slow,L:other,fold
1,10,,5,,0.5,50000,50000,2
3,,,6,,2,1.25,2,1
9,30,4,7,,50000,50000,50000,1
7,,,8,,3,,1,2
"""


@pytest.fixture
def folder(data_folder):
    place = data_folder / "aslib"
    place.mkdir()
    (place / "MIP-2016.csv").write_text(TABLE)
    return place


def test_ranks_follow_the_runtimes(folder):
    corpus = load_aslib("MIP-2016")
    assert corpus.labels == ["fast", "slow", "other"]
    np.testing.assert_array_equal(corpus.ranks, [[1, 2, 2], [2, 1, 2], [1, 1, 1], [2, np.nan, 1]])
    assert [graph.n_arcs for graph in (corpus[i : i + 1].graphs() for i in range(4))] == [2, 2, 0, 1]
    np.testing.assert_array_equal(load_aslib_runtimes("MIP-2016")[3], [3, np.nan, 1])


def test_unknown_features_are_medians_with_an_indicator(folder):
    corpus = load_aslib("MIP-2016")
    names = ["A0", "A1", "A2", "A3", "A4"]
    assert corpus.feature_names == [*names, "A1 is missing", "A2 is missing", "A4 is missing"]
    assert corpus.X.tolist() == [
        [1, 10, 4, 5, 0, 0, 1, 1],
        [3, 20, 4, 6, 0, 1, 1, 1],
        [9, 30, 4, 7, 0, 0, 0, 1],
        [7, 20, 4, 8, 0, 1, 1, 1],
    ]


def test_columns_with_the_same_gaps_share_an_indicator(folder):
    (folder / "MIP-2016.csv").write_text("A0,A1,A2,L:a,L:b,fold\n1,,,1,2,1\n2,3,4,2,1,2\n")
    corpus = load_aslib("MIP-2016")
    assert corpus.feature_names == ["A0", "A1", "A2", "A1 is missing"]
    assert corpus.X.tolist() == [[1, 3, 4, 1], [2, 3, 4, 0]]


def test_folds_are_splits(folder):
    splits = load_aslib("MIP-2016").splits
    assert {name: rows.tolist() for name, rows in splits.items()} == {"fold-1": [1, 2], "fold-2": [0, 3]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TABLE + "1,2,3\n", r"MIP-2016\.csv:6: 3 cells where the header has 9"),
        (TABLE.replace("50000", "timeout"), r"MIP-2016\.csv: a cell is not a number"),
        (TABLE.replace("fold", "part"), r"MIP-2016\.csv: columns A\.\.\., L:\.\.\. and fold are needed"),
        (TABLE.replace("2,1\n", "2,\n"), r"MIP-2016\.csv: the fold of each instance must be a whole number"),
        (TABLE.replace("2,1\n", "2,1.5\n"), r"MIP-2016\.csv: the fold of each instance must be a whole number"),
        ("", r"MIP-2016\.csv: the file is empty"),
        ("\xff", r"MIP-2016\.csv: not a CSV file in UTF-8"),
        (None, r"MIP-2016\.csv is missing"),
    ],
)
def test_damage_is_an_error(folder, content, message):
    if content is None:
        (folder / "MIP-2016.csv").unlink()
    else:
        (folder / "MIP-2016.csv").write_text(content, encoding="latin-1")
    with pytest.raises(FormatError, match=message):
        load_aslib("MIP-2016")


def test_an_unknown_name():
    with pytest.raises(ParameterError, match="MIP-2016"):
        load_aslib("mip-2016")

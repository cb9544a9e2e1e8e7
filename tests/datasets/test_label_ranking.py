"""Damaged label-ranking sets; the real counts are in test_corpora.py."""

from __future__ import annotations

import pytest

from arcrank.datasets import load_label_ranking
from arcrank.errors import FormatError


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("A1,L1,L2\n0.5,1,2\n0.5,1\n", r"iris\.csv:3: 2 cells where the header has 3"),
        ("A1,L1,L2\n0.5,1,x\n", r"iris\.csv: a cell is not a number"),
        ("", r"iris\.csv: the file is empty"),
        (None, r"iris\.csv is missing"),
    ],
)
def test_damage_is_an_error(data_folder, content, message):
    folder = data_folder / "label_ranking"
    folder.mkdir()
    if content is not None:
        (folder / "iris.csv").write_text(content)
    with pytest.raises(FormatError, match=message):
        load_label_ranking("iris")

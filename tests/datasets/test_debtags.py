"""Debtags on a small fixture; the real counts are in test_corpora.py."""

from __future__ import annotations

import lzma

import pytest

from arcrank.datasets import load_debtags
from arcrank.datasets.debtags import is_test_package
from arcrank.errors import FormatError

ROWS = b"""\
{"name": "0ad", "section": "games", "text": "a game", "labels": ["role::program", "game::strategy"]}
{"name": "bash", "section": "shells", "text": "a shell", "labels": ["role::program"]}
"""


@pytest.mark.parametrize("pack", [bytes, lzma.compress])
def test_packages_and_facets(data_folder, pack):
    name = "debtags.jsonl" if pack is bytes else "debtags.jsonl.xz"
    (data_folder / name).write_bytes(pack(ROWS))
    corpus = load_debtags()
    assert corpus.ids == ["0ad", "bash"]
    assert corpus.labels == ["game::strategy", "role::program"]
    assert corpus.hierarchy == {"game::strategy": "game", "role::program": "role", "game": None, "role": None}
    assert corpus.split("test").ids == [name for name in corpus.ids if is_test_package(name)]


@pytest.mark.parametrize("row", [b"{", b"[]", b'{"name": "x"}'])
def test_a_bad_row_has_its_line(data_folder, row):
    (data_folder / "debtags.jsonl").write_bytes(ROWS + row)
    with pytest.raises(FormatError, match=r"debtags\.jsonl:3: not a package"):
        load_debtags()


def test_a_truncated_file(data_folder):
    (data_folder / "debtags.jsonl.xz").write_bytes(lzma.compress(ROWS)[:-20])
    with pytest.raises(FormatError, match=r"debtags\.jsonl\.xz: the file is truncated"):
        load_debtags()

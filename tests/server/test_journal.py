"""Lines on disk before they are acknowledged, by one process only."""

import os

import pytest

from arcrank.datasets.journal import read_journal
from arcrank.errors import ParameterError
from arcrank.server.journal import Journal

LINE = {"id": "a", "text": "oil", "arcs": [["crude", "ship"]]}


def test_lines_are_there_when_append_returns(tmp_path):
    journal = Journal(tmp_path / "j")
    journal.append([LINE, {**LINE, "id": "b"}])
    journal.append([{"retract": "a"}])
    journal.close()
    again = read_journal(tmp_path / "j")
    assert (again.last, [one.id for one in again.live()]) == (3, ["b"])
    assert (tmp_path / "j").stat().st_mode & 0o077 == 0  # texts are private


def test_a_torn_line_is_removed_and_its_number_used_again(tmp_path):
    journal = Journal(tmp_path / "j")
    journal.append([LINE])
    journal.close()
    with open(tmp_path / "j", "a") as file:
        file.write('{"seq": 2, "id": "tor')
    journal = Journal(tmp_path / "j")
    journal.append([{**LINE, "id": "b"}])
    journal.close()
    assert list(read_journal(tmp_path / "j").entries) == ["a", "b"]


def test_one_process_writes(tmp_path):
    journal = Journal(tmp_path / "j")
    with pytest.raises(ParameterError, match="written by another server"):
        Journal(tmp_path / "j")
    journal.close()
    Journal(tmp_path / "j").close()


def test_a_full_disk_leaves_whole_lines(tiny_disk):
    journal = Journal(tiny_disk / "j")
    journal.append([LINE])
    with pytest.raises(OSError, match="No space"):
        journal.append([{**LINE, "id": "b", "text": "x" * 100_000}])
    journal.append([{**LINE, "id": "c"}])
    journal.close()
    assert list(read_journal(tiny_disk / "j").entries) == ["a", "c"]
    assert os.path.getsize(tiny_disk / "j") < 1000

from __future__ import annotations

import json

import pytest

from arcrank.experiments.cache import cached, is_cached


def test_a_finished_cell_is_not_run_again():
    key, calls = {"fold": 1}, []

    def compute():
        calls.append(1)
        return {"error": 0.25}

    assert cached("test", key, compute) == {"error": 0.25}
    assert cached("test", key, compute) == {"error": 0.25}
    assert len(calls) == 1
    assert is_cached("test", key)
    assert not is_cached("test", {"fold": 2})
    assert cached("test", key, compute, fresh=True) == {"error": 0.25}
    assert len(calls) == 2


def test_a_damaged_cell_is_run_again(session_cache):
    cached("damaged", {"a": 1}, lambda: 1)
    (path,) = (session_cache / "arcrank" / "experiments" / "damaged").iterdir()
    path.write_text(json.dumps({"key": {}})[:5])
    assert cached("damaged", {"a": 1}, lambda: 2) == 2


def test_a_folder_that_cannot_be_written_to_costs_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.warns(RuntimeWarning, match="cannot be stored"):
        assert cached("test", {"a": 1}, lambda: 3) == 3
    assert cached("test", {"a": 2}, lambda: 4) == 4  # warns once


def test_a_full_disk_costs_a_warning(full_disk, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(full_disk))
    with pytest.warns(
        RuntimeWarning, match=r"from the beginning: .*the file needs 1,0\d\d bytes, and the disk has 0 free"
    ):
        assert cached("full", {"a": 1}, lambda: "x" * 1000) == "x" * 1000
    assert [path.name for path in full_disk.rglob("*") if path.is_file()] == ["filler"]

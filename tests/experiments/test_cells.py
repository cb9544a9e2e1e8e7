from __future__ import annotations

import json

from arcrank.experiments.cells import cell, is_finished


def test_a_finished_cell_is_not_run_again():
    key, calls = {"fold": 1}, []

    def compute():
        calls.append(1)
        return {"error": 0.25}

    assert cell("test", key, compute) == {"error": 0.25}
    assert cell("test", key, compute) == {"error": 0.25}
    assert len(calls) == 1
    assert is_finished("test", key)
    assert not is_finished("test", {"fold": 2})
    assert cell("test", key, compute, fresh=True) == {"error": 0.25}
    assert len(calls) == 2


def test_a_damaged_cell_is_run_again(session_cache):
    cell("damaged", {"a": 1}, lambda: 1)
    (path,) = (session_cache / "arcrank" / "experiments" / "damaged").iterdir()
    path.write_text(json.dumps({"key": {}})[:5])
    assert cell("damaged", {"a": 1}, lambda: 2) == 2


def test_a_folder_that_cannot_be_written_to_costs_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert cell("test", {"a": 1}, lambda: 3) == 3

"""`arcrank warmup` leaves nothing to compile for later commands."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from arcrank.training import warmup


@pytest.mark.slow
def test_a_group_compiles_what_its_learners_need(tmp_path):
    """In a process of its own, with an empty cache; the group that compiles quickest."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    script = "from arcrank.training.warmup import compile_group as run; print(run('RankBoost'))"
    written = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, check=True)
        assert done.stdout == "RankBoost\n"
        written.append({file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.nb?")})
    assert written[0]
    assert written[0] == written[1]


def test_every_group_is_reported(monkeypatch):
    monkeypatch.setattr(warmup, "GROUPS", {"RankBoost": warmup.GROUPS["RankBoost"]})
    assert list(warmup.warm_up(processes=1)) == ["RankBoost"]


@pytest.mark.parametrize("name", warmup.GROUPS)
def test_the_learners_of_every_group_can_be_fitted(name):
    assert warmup.compile_group(name) == name

"""Damaged files are refused, and a killed save leaves the old model or the new one."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.modelfile.harm import count_damage


@pytest.mark.parametrize("name", ["log-linear dual text", "mmp mostly zero"])
def test_damaged_copies_never_score(name, tmp_path):
    counts = count_damage(tmp_path, 300, 1, name)
    assert set(counts) <= {"refused", "unharmed"}
    assert counts["refused"] > 0.95 * 300


@pytest.mark.slow
def test_killed_saves_leave_a_whole_model():
    # A process of its own: forking is only safe where there are no other threads.
    command = [sys.executable, "-m", "tests.modelfile.harm", "kill", "20"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    counts = json.loads(done.stdout)
    assert counts["whole"] == 20
    assert counts["killed in the middle"] > 0
    assert counts["litter after the next save"] == 0

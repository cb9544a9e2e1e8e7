"""A damaged or unwritable kernel cache must never kill a user's program. Each case runs in a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
from arcrank.compiled.jit import kernel

@kernel
def twice(x):
    return 2 * x
"""
SCRIPT = "import sys; sys.path.insert(0, sys.argv[1]); import kernels; print(kernels.twice(21))"


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **environment}
    command = [sys.executable, "-W", "always", "-c", SCRIPT, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=120, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernels.py").write_text(MODULE)
    assert run(tmp_path).stdout == "42\n"
    return tmp_path


def cache_files(folder: Path) -> list[Path]:
    return sorted((folder / "__pycache__").glob("kernels.twice*.nb?"))


def test_the_cache_is_used(folder):
    files = cache_files(folder)
    assert len(files) == 2
    stamps = [file.stat().st_mtime_ns for file in files]
    assert run(folder).stdout == "42\n"
    assert [file.stat().st_mtime_ns for file in files] == stamps


@pytest.mark.parametrize("damage", ["flip", "truncate", "garbage", "empty"])
def test_a_damaged_cache_is_compiled_anew(folder, damage):
    for file in cache_files(folder):
        data = bytearray(file.read_bytes())
        middle = len(data) // 2
        data[middle] ^= 0xFF
        spoilt = {"flip": data, "truncate": data[:middle], "garbage": b"not a cache" * 99, "empty": b""}
        file.write_bytes(spoilt[damage])
    result = run(folder)
    assert (result.returncode, result.stdout) == (0, "42\n"), result.stderr


def test_no_writable_folder_compiles_in_memory_with_one_warning(tmp_path):
    """numba is told that no locator works, as on a read-only install with a read-only home."""
    (tmp_path / "kernels.py").write_text(MODULE + MODULE.replace("twice", "thrice").split("kernel\n", 1)[1])
    script = SCRIPT.replace(
        "import kernels", "from numba.core.caching import CacheImpl; CacheImpl._locator_classes = []; import kernels"
    )
    command = [sys.executable, "-W", "always", "-c", script, str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
    assert (result.returncode, result.stdout) == (0, "42\n"), result.stderr
    assert result.stderr.count("arcrank cannot cache compiled code") == 1

"""The command run in this process, as a child process, and small models trained once a session."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest

from arcrank.cli.app import app
from arcrank.cli.errors import report_failure
from tests.forked import run_python

WORDS = {
    "crude": ["oil", "barrel", "opec", "refinery"],
    "grain": ["wheat", "harvest", "corn", "bushel"],
    "ship": ["tanker", "port", "cargo", "vessel"],
}


class Result(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def rows(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def call(*arguments: object, stdin: bytes | str = b"", terminal: bool = False) -> Result:
    """Run the command in this process, with `main`'s handling of failures."""
    out, err = (Screen(), Screen()) if terminal else (io.StringIO(), io.StringIO())
    given = io.TextIOWrapper(io.BytesIO(stdin.encode() if isinstance(stdin, str) else stdin))
    with redirect_stdout(out), redirect_stderr(err), mock.patch.object(sys, "stdin", given):
        try:
            app([str(argument) for argument in arguments], prog_name="arcrank", standalone_mode=False)
            code = 0
        except BaseException as error:
            code = report_failure(error)
    return Result(code, out.getvalue(), err.getvalue())


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "arcrank", *map(str, arguments)]


def run(*arguments: object, stdin: bytes | str = b"", **options: Any) -> Result:
    """Run the command in a process of its own, which is started for it if there are options for the start."""
    if not options:
        forked = run_python("-m", "arcrank", *arguments, stdin=stdin)
        return Result(forked.returncode, forked.stdout, forked.stderr)
    given = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(command(*arguments), input=given, capture_output=True, check=False, timeout=120, **options)
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def failed(result: Result, *words: str, n_before: int = 0) -> None:
    """Assert that the command failed as it should: exit code 2, at most four lines that hold these words.

    A stream may have written the rows before the one it fails at.
    """
    assert result.code == 2, result
    assert result.out.count("\n") == n_before
    lines = [line for line in result.err.splitlines() if not line.startswith(("Read ", "read "))]
    assert 1 <= len(lines) <= 4, result.err
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err, result.err


def text_rows(n: int = 60, seed: int = 0) -> list[dict[str, Any]]:
    """Documents whose words tell their labels."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(n):
        labels = sorted(random.choice(list(WORDS), random.integers(1, 3), replace=False).tolist())
        words = [str(random.choice(WORDS[label])) for label in labels for _ in range(3)]
        rows.append({"id": f"d{number}", "text": " ".join(words), "labels": labels})
    return rows


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def data(folder) -> Path:
    """Sixty texts with label sets."""
    return write_rows(folder / "news.jsonl", text_rows())


@pytest.fixture(scope="session")
def train_once(folder, data) -> Callable[..., Path]:
    """Train on the sixty texts; the same arguments are trained once."""
    made: dict[tuple[str, ...], Path] = {}

    def train(*arguments: str) -> Path:
        if arguments not in made:
            path = folder / f"model{len(made)}.arcrank"
            result = call("train", data, "--model", path, "--validate", "0", *arguments)
            assert result.code == 0, result.err
            made[arguments] = path
        return made[arguments]

    return train


@pytest.fixture(scope="session")
def model(train_once) -> Path:
    """A log-linear model of texts."""
    return train_once("--learner", "log-linear", "--set", "C=10")


@pytest.fixture(scope="session")
def online_model(train_once) -> Path:
    """An MMP model of hashed texts."""
    return train_once("--learner", "mmp", "--set", "n_features=4096")

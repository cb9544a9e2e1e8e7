"""The command as users run it, and as a function for speed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from arcrank.cli.app import app
from tests.forked import run_python


def shell(*arguments: object, stdin: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `arcrank` in a process of its own."""
    return run_python("-m", "arcrank", *arguments, stdin=stdin, cwd=cwd)


def call(*arguments: object, stdin: str = "") -> Any:
    """Run it in this process; `exception` holds what the last stop of the command would tell."""
    return CliRunner().invoke(app, [str(one) for one in arguments], input=stdin)


def assert_told(done: subprocess.CompletedProcess[str], *parts: str, code: int = 2) -> None:
    """The failure is told in at most four lines on standard error, with nothing on standard output."""
    assert done.returncode == code, done.stderr
    assert not done.stdout
    assert len(done.stderr.strip().splitlines()) <= 4, done.stderr
    for part in parts:
        assert part in done.stderr
    assert "Traceback" not in done.stderr


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path

"""The command as users run it, and as a function for speed; what it prints against its schemas."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from arcrank.cli.app import app

TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


def shell(*arguments: object, stdin: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `arcrank` as a process of its own."""
    command = [sys.executable, "-m", "arcrank", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, encoding="utf-8", cwd=cwd, check=False)


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


def assert_fits(value: Any, name: str) -> None:
    """The value is what the schema of this name says."""
    _check(value, json.loads(files("arcrank.cli").joinpath("schemas", f"{name}.json").read_text()), "$")


def _check(value: Any, schema: dict[str, Any], place: str) -> None:
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    assert not kinds or any(_is(value, kind) for kind in kinds), f"{place}: {value!r:.80} is not {kinds}"
    assert value in schema.get("enum", [value]), f"{place}: {value!r}"
    if "minimum" in schema and value is not None:
        assert value >= schema["minimum"], f"{place}: {value!r}"
    if isinstance(value, dict):
        _check_object(value, schema, place)
    if isinstance(value, list):
        for i, one in enumerate(value):
            _check(one, schema.get("items", {}), f"{place}[{i}]")


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _check_object(value: dict[str, Any], schema: dict[str, Any], place: str) -> None:
    missing = [name for name in schema.get("required", []) if name not in value]
    assert not missing, f"{place}: without {missing}"
    known, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    for name, one in value.items():
        assert name in known or others is not False, f"{place}: {name!r} is not in the schema"
        _check(one, known.get(name, others), f"{place}.{name}")

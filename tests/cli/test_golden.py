"""The JSON of every command is what was recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from arcrank.cli.app import app
from tests.cli.conftest import call
from tests.cli.golden_commands import COMMANDS, parse, stable, write_inputs

GOLDEN = json.loads((Path(__file__).parent / "golden.json").read_text(encoding="utf-8"))


def assert_equal(got: Any, wanted: Any, where: str) -> None:
    """Numbers within 1e-6, since processors round differently; fields in the same order."""
    assert type(got) is type(wanted), where
    if isinstance(wanted, dict):
        assert list(got) == list(wanted), where
        for name in wanted:
            assert_equal(got[name], wanted[name], f"{where}.{name}")
    elif isinstance(wanted, list):
        assert len(got) == len(wanted), where
        for number, (one, other) in enumerate(zip(got, wanted, strict=True)):
            assert_equal(one, other, f"{where}[{number}]")
    elif isinstance(wanted, float):
        assert got == pytest.approx(wanted, rel=1e-6, abs=1e-8), where
    else:
        assert got == wanted, where


def test_json_of_every_command_is_unchanged(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARCRANK_DATA", str(tmp_path))
    write_inputs(tmp_path)
    for name, arguments in COMMANDS.items():
        done = call(*arguments)
        assert done.code in (0, 1), (name, done.err)
        assert_equal(stable(parse(done.out)), GOLDEN[name], name)


def commands_with_json(group: Any, prefix: str = "") -> set[str]:
    found = set()
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            found |= commands_with_json(command, f"{name} ")
        elif any("--json" in parameter.opts for parameter in command.params):
            found.add(prefix + name)
    return found


def test_every_command_with_json_is_recorded():
    recorded = {" ".join(arguments[:2]) if arguments[0] == "data" else arguments[0] for arguments in COMMANDS.values()}
    assert recorded == commands_with_json(typer.main.get_command(app))

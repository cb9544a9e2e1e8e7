"""Commands are imported when they are called; the list of commands is the same as if all of them were."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
import typer

from arcrank.cli.app import COMMANDS, app

group = typer.main.get_command(app)


def modules_after(*arguments: str) -> set[str]:
    script = (
        f"import sys; sys.argv = ['arcrank', *{arguments}]; from arcrank.cli.app import app\n"
        "app(standalone_mode=False); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_summaries_are_those_of_the_commands(name):
    command = group.commands[name]
    assert command.name == name
    assert " ".join(inspect.cleandoc(command.help).split("\n\n")[0].split()) == COMMANDS[name]


def test_an_unknown_name_is_no_command():
    assert group.commands.get("rnk") is None
    with pytest.raises(KeyError):
        group.commands["rnk"]


def test_help_imports_no_command():
    loaded = modules_after("--help")
    assert "arcrank.cli.app" in loaded
    assert not [name for name in loaded if name.startswith("arcrank.cli.commands.")]
    assert not loaded & {"numpy", "sklearn", "numba", "scipy"}


def test_a_command_imports_no_other():
    loaded = modules_after("train", "--help")
    assert [name for name in loaded if name.startswith("arcrank.cli.commands.")] == ["arcrank.cli.commands.train"]

"""The TOML file of `--config`: a table of options for each command, checked against the commands that there are."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from arcrank.errors import FormatError

__all__ = ["read_options"]


def read_options(path: Path, group: Any) -> dict[str, Any]:
    """The defaults that the file sets for the commands of a group, as click takes them."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FormatError(
            f"{path}: the options cannot be read ({error}); give a TOML file, or drop --config."
        ) from None
    return _of_group(path, group, tables, "")


def _of_group(path: Path, group: Any, tables: dict[str, Any], above: str) -> dict[str, Any]:
    checked = {}
    for name, table in tables.items():
        command = group.commands.get(name)
        if command is None or not isinstance(table, dict):
            raise _unknown(path, f"{above}{name}", "table of a command", [f"{above}{one}" for one in group.commands])
        inner = f"{above}{name}."
        if hasattr(command, "commands"):
            checked[name] = _of_group(path, command, table, inner)
        else:
            checked[name] = _of_command(path, command, table, inner)
    return checked


def _of_command(path: Path, command: Any, options: dict[str, Any], above: str) -> dict[str, Any]:
    """`on-error = "skip"` and `on_error = "skip"` mean the same."""
    known = {param.name for param in command.params}
    checked = {name.replace("-", "_"): value for name, value in options.items()}
    for name in checked.keys() - known:
        raise _unknown(path, name, f"option of [{above[:-1]}]", sorted(known))
    return checked


def _unknown(path: Path, name: str, what: str, known: list[str]) -> FormatError:
    near = get_close_matches(name, known, n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    return FormatError(f"{path}: {name} is no {what}.{meant}\nThere are: {', '.join(known)}.")

"""The TOML file of `--config`: a table of options for each command, checked against the actual commands."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from arcrank.errors import FormatError

__all__ = ["nearest_option", "options_of", "read_options"]


def read_options(path: Path, group: Any) -> dict[str, Any]:
    """The defaults that the file sets for the commands of a group, as click expects them."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        why = (isinstance(error, OSError) and error.strerror) or error
        raise FormatError(f"{path}: the options cannot be read ({why}); give a TOML file, or omit --config.") from None
    return _of_group(path, group, tables, "")


def options_of(command: Any) -> list[Any]:
    """The options of a command, without its arguments."""
    return [param for param in command.params if param.param_type_name == "option"]


def nearest_option(name: str, command: Any) -> str | None:
    """The option that was probably meant: one with a similar name, or with this short flag."""
    flags = {flag.lstrip("-"): one.name for one in options_of(command) for flag in one.opts if flag[:2] != "--"}
    return flags.get(name) or _nearest(name, [one.name for one in options_of(command)])


def _nearest(name: str, known: Iterable[str]) -> str | None:
    by_lower = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), by_lower, n=1)
    return by_lower[near[0]] if near else None


def _of_group(path: Path, group: Any, tables: dict[str, Any], above: str) -> dict[str, Any]:
    checked = {}
    for name, table in tables.items():
        command = group.commands.get(name)
        if command is None or not isinstance(table, dict):
            raise _no_table(path, group, name, above)
        inner = f"{above}{name}."
        if hasattr(command, "commands"):
            checked[name] = _of_group(path, command, table, inner)
        else:
            checked[name] = _of_command(path, command, table, inner[:-1])
    return checked


def _no_table(path: Path, group: Any, name: str, above: str) -> FormatError:
    known = [f"{above}{one}" for one in group.commands]
    option = name.replace("-", "_")
    owners = [one for one in group.commands if option in _names(group.commands[one])]
    if owners:
        tables = " or ".join(f"[{above}{one}]" for one in owners)
        return FormatError(f"{path}: {name} is an option of a command.\nPut it under {tables}.")
    return _unknown(path, f"{above}{name}", "the table of a command", known, _nearest(f"{above}{name}", known))


def _names(command: Any) -> list[str]:
    return [one.name for one in options_of(command)]


def _of_command(path: Path, command: Any, options: dict[str, Any], table: str) -> dict[str, Any]:
    """`on-error = "skip"` and `on_error = "skip"` mean the same; a single value may stand for a list."""
    known = _names(command)
    checked = {name.replace("-", "_"): value for name, value in options.items()}
    arguments = [param.name for param in command.params if param.name not in known]
    for name in checked:
        if name in arguments:
            raise FormatError(f"{path}: {name} of [{table}] is an argument.\nGive it on the command line.")
        if name not in known:
            raise _unknown(path, name, f"an option of [{table}]", sorted(known), nearest_option(name, command))
    lists = [one.name for one in options_of(command) if one.multiple]
    return {k: [v] if k in lists and not isinstance(v, list) else v for k, v in checked.items()}


def _unknown(path: Path, name: str, what: str, known: list[str], near: str | None) -> FormatError:
    meant = f" Did you mean {near}?" if near else ""
    return FormatError(f"{path}: {name} is not {what}.{meant}\nAvailable: {', '.join(known)}.")

"""The page of the command, from the program itself: its tree of commands, and the annotations of their functions."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any

import typer
import typer.main

from tools.site.schema_page import schemas_of

__all__ = ["Command", "commands", "page"]

_KINDS = {str: "text", int: "whole number", float: "number", Path: "path"}
_ABOUT = """\
# Command line

<!-- Written by `make pages` from the program. Change the help texts in src/arcrank/cli, not this page. -->

Every command explains itself with `--help` or `-h`. Results go to standard output, everything else to standard error;
[exit codes](exit-codes.md) say how a command ended, and [`--json`](json.md) gives results that programs can read.

An option is taken from the command line, else from its environment variable, else from the table of its command in the
[file of options](files.md#options), else it has its default. The environment variable stands at the end of each entry;
a flag is set by `1` there, and an option that may be repeated takes several values with spaces between them.
"""


@dataclass(frozen=True)
class Command:
    """A command of the program: its path (`("data", "list")`; empty for the program) and typer's object of it."""

    path: tuple[str, ...]
    made: Any

    @property
    def name(self) -> str:
        """What the user types."""
        return " ".join(("arcrank", *self.path))

    @property
    def is_group(self) -> bool:
        """Whether it only holds other commands."""
        return hasattr(self.made, "commands")

    @property
    def options(self) -> list[str]:
        """The long names of its options, as `--json`."""
        return [name for one in self.made.params for name in one.opts if name.startswith("--")]


def commands(app: typer.Typer) -> list[Command]:
    """Every command of the program that is not hidden, each before its own subcommands."""
    return list(_walk((), typer.main.get_command(app)))


def _walk(path: tuple[str, ...], made: Any) -> Iterator[Command]:
    yield Command(path, made)
    for name, child in getattr(made, "commands", {}).items():
        if not child.hidden:
            yield from _walk((*path, name), child)


def page(app: typer.Typer) -> str:
    """The whole page as Markdown."""
    prefix = app.info.context_settings["auto_envvar_prefix"]
    found = commands(app)
    listed = [f"| [`{one.name}`](#{_anchor(one)}) | {_prose(_first(one))} |" for one in found[1:] if not one.is_group]
    table = "\n".join(["| command | what it does |", "|---|---|", *listed])
    sections = [_section(one, prefix) for one in found]
    return "\n".join([_ABOUT, table + "\n", *sections]).rstrip() + "\n"


def _anchor(command: Command) -> str:
    return "-".join(("arcrank", *command.path))


def _first(command: Command) -> str:
    return inspect.cleandoc(command.made.help or "").split("\n\n")[0]


def _section(command: Command, prefix: str) -> str:
    level = "#" * min(2 + max(len(command.path) - 1, 0), 3)
    helped = "\n\n".join(_prose(part) for part in inspect.cleandoc(command.made.help or "").split("\n\n"))
    parts = [f"{level} {command.name} {{ #{_anchor(command)} }}", helped]
    hints = _annotations(command.made)
    params = [one for one in command.made.params if one.name in hints and not one.hidden]
    arguments = [one for one in params if one.param_type_name == "argument"]
    options = [one for one in params if one.param_type_name == "option"]
    parts.append(f"```text\n{_usage(command, arguments)}\n```")
    if arguments:
        parts += ["**Arguments**", "\n".join(_argument(one, hints[one.name]) for one in arguments)]
    if options:
        variable = "_".join((prefix, *command.path)).upper().replace("-", "_")
        parts += ["**Options**", "\n".join(_option(one, hints[one.name], variable) for one in options)]
    if not command.path:
        parts.append(
            "`--install-completion` teaches your shell to complete commands and options, `--show-completion` only "
            "prints what that would add."
        )
    parts += _json(command)
    return "\n\n".join(part for part in parts if part) + "\n"


def _json(command: Command) -> list[str]:
    if "--json" not in command.options:
        return []
    links = [f"[`{one.stem}.json`](json.md#{one.stem})" for one in schemas_of(command.path, command.options)]
    return [f"**JSON**: `--json` prints what the schema {' or '.join(links)} describes."]


def _annotations(made: Any) -> dict[str, Any]:
    """The annotations of the command's function, `Annotated` and all."""
    return {} if made.callback is None else typing.get_type_hints(inspect.unwrap(made.callback), include_extras=True)


def _usage(command: Command, arguments: list[Any]) -> str:
    words = [command.name, "[OPTIONS]", *(_placed(one) for one in arguments)]
    return " ".join(words + (["COMMAND [ARGS]..."] if command.is_group else []))


def _placed(argument: Any) -> str:
    name = _metavar(argument)
    many = "..." if argument.nargs == -1 else ""
    return f"{name}{many}" if argument.required else f"[{name}]{many}"


def _metavar(argument: Any) -> str:
    return (argument.metavar or argument.name.upper()).removesuffix("...").strip("[]")


def _argument(one: Any, hint: Any) -> str:
    facts = [_kind(one, hint), _default(one)]
    return _entry(f"`{_placed(one)}`", one.help, facts)


def _option(one: Any, hint: Any, variable: str) -> str:
    names = ", ".join(f"`{name}`" for name in sorted(one.opts, key=lambda name: name.startswith("--"), reverse=True))
    if not one.is_flag and one.metavar:
        names += f" `{one.metavar}`"
    facts = [_kind(one, hint), _range(hint), "may be repeated" if one.multiple else "", _default(one)]
    # --version ends the program first, so it is useless as a variable
    facts += [] if one.is_eager else [f"`{one.envvar or f'{variable}_{one.name.upper()}'}`"]
    return _entry(names, one.help, facts)


def _entry(names: str, help: str | None, facts: list[str]) -> str:
    details = "; ".join(fact for fact in facts if fact)
    return f"- {names}: {_prose(help or '')}" + (
        f"  \n    <small>{details[0].upper()}{details[1:]}</small>" if details else ""
    )


def _kind(one: Any, hint: Any) -> str:
    plain = _plain(hint)
    if getattr(one, "is_flag", False):
        return ""
    if isinstance(plain, type) and issubclass(plain, Enum):
        return " · ".join(f"`{choice.value}`" for choice in plain)
    return _KINDS[plain]


def _plain(hint: Any) -> Any:
    """The type of one value: `Path` for `Annotated[list[Path] | None, ...]`."""
    while True:
        arguments = [one for one in typing.get_args(hint) if one is not NoneType]
        if not arguments:
            return hint
        hint = arguments[0]


def _range(hint: Any) -> str:
    info = next((one for one in typing.get_args(hint)[1:] if hasattr(one, "min")), None)
    if info is None or (info.min is None and info.max is None):
        return ""
    if info.max is None:
        return f"at least {info.min}"
    return f"at most {info.max}" if info.min is None else f"from {info.min} to {info.max}"


def _default(one: Any) -> str:
    if one.required:
        return "required"
    if one.default is None or one.default is False or callable(one.default):
        return ""
    value = one.default.value if isinstance(one.default, Enum) else one.default
    return "default the current folder" if value == Path() else f"default `{value}`"


def _prose(text: str) -> str:
    """A help text as Markdown: on one line, with special characters escaped, and code left as code."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if part.startswith("`") else _escaped(part) for part in parts)


def _escaped(text: str) -> str:
    marked = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return re.sub(r"([*_\[\]])", r"\\\1", marked)

"""How commands parse their options: short help, and errors that say where a value came from.

Flags have no type in the help, and environment variables are described once for all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from arcrank.cli.config_file import nearest_option, options_of
from arcrank.cli.console import say

__all__ = ["LazyGroup", "QuietCommand", "QuietGroup"]


def _shorten(params: list[Any]) -> list[Any]:
    for param in params:
        param.show_envvar = False
        if getattr(param, "is_flag", False):
            param.metavar = ""
        if getattr(param, "_runtime_param", param) is None:
            param._runtime_param = _Conversion()
    return params


class _Conversion:
    """Takes values that need no conversion as they are; others are left to typer.

    typer converts all values by pydantic, which takes longer to import than the rest of a short command.
    """

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of a parameter."""
        kind = param.type_descriptor.annotation
        several = param.multiple or param.nargs != 1
        if not several and (value is None or (value is param.default and isinstance(value, kind))):
            return value
        if not several and type(value) is str and kind is str:
            return value
        if not several and type(value) is str and kind is Path and _is_readable(value):
            return Path(value)
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _is_readable(path: str) -> bool:
    """Whether typer would not refuse a path: it does so if the path exists and cannot be read."""
    return not os.path.exists(path) or os.access(path, os.R_OK)


class QuietCommand(TyperCommand):
    """A command with short help, in plain text: rich takes longer to import than all else that help needs."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{**options, "rich_markup_mode": None})

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, with short help."""
        return _shorten(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options; an error names the place where the user wrote the value."""
        _warn_of_unknown_variables(ctx)
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.param_hint = error.param_hint or _origin(ctx, error.param)
            raise
        except Exception as error:
            _explain_program_option(ctx, error)
            raise


class QuietGroup(TyperGroup):
    """A group of commands with short help, in plain text."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{**options, "rich_markup_mode": None})

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the whole summary of each command, not only its beginning."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries_of_commands().items()))

    def summaries_of_commands(self) -> dict[str, str]:
        """Return the first paragraph of the help of each command."""
        return {name: " ".join(str(one.help).split("\n\n")[0].split()) for name, one in self.commands.items()}

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, with short help."""
        return _shorten(super().get_params(ctx))


class LazyGroup(QuietGroup):
    """A group that imports the module of a command when the command is called; its own help imports none."""

    summaries: ClassVar[dict[str, str]] = {}

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = LazyCommands(self.summaries)

    def summaries_of_commands(self) -> dict[str, str]:
        """Return the summaries, without importing the commands."""
        return self.summaries


class LazyCommands(dict[str, Any]):
    """Commands by name, each imported when it is looked up."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(dict.fromkeys(names))

    def __getitem__(self, name: str) -> Any:
        if super().__getitem__(name) is None:
            self[name] = _load(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a command, or the default if there is none of that name."""
        try:
            return self[name]
        except KeyError:
            return default

    def values(self) -> Any:
        """Return all commands."""
        return [self[name] for name in self]

    def items(self) -> Any:
        """Return the names and the commands."""
        return [(name, self[name]) for name in self]


def _load(name: str) -> Any:
    """Import a command, which is a function or a group."""
    found = getattr(import_module(f"arcrank.cli.commands.{name}"), name)
    if isinstance(found, typer.Typer):
        command: Any = get_group(found)
        command.name = name
        return command
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name, cls=QuietCommand)(found)
    return get_command(alone)


def _origin(ctx: Any, param: Any) -> str | None:
    """The environment variable or entry of the file that a value came from; None for the command line."""
    source = None if param is None else ctx.get_parameter_source(param.name)
    if source is not None and source.name == "ENVIRONMENT":
        name = f"{ctx.auto_envvar_prefix}_{param.name.upper()}"
        return f"the environment variable {name}={param.resolve_envvar_value(ctx)}"
    if source is not None and source.name == "DEFAULT_MAP":
        table = ".".join(_names_of(ctx))
        return (
            f"{param.name} = {ctx.lookup_default(param.name)!r} under [{table}] of {ctx.find_root().params['config']}"
        )
    return None


def _names_of(ctx: Any) -> list[str]:
    """The command and the groups above it, without the program."""
    return [] if ctx.parent is None else [*_names_of(ctx.parent), ctx.info_name]


def _explain_program_option(ctx: Any, error: Any) -> None:
    """Explain that an option such as --config belongs before the command."""
    flag = getattr(error, "option_name", None)
    if any(flag in param.opts for param in ctx.find_root().command.params):
        error.message = f"{flag} goes before the command: arcrank {flag} ... {' '.join(_names_of(ctx))} ..."
        error.possibilities = None


def _warn_of_unknown_variables(ctx: Any) -> None:
    prefix = f"{ctx.auto_envvar_prefix}_"
    known = {prefix + one.name.upper() for one in options_of(ctx.command)}
    for name in sorted(os.environ):
        if name.startswith(prefix) and name not in known and not ctx.resilient_parsing:
            near = nearest_option(name.removeprefix(prefix), ctx.command)
            meant = f" Did you mean {prefix}{near.upper()}?" if near else ""
            say(f"warning: {name} is set, but {' '.join(_names_of(ctx))} has no such option.{meant}")

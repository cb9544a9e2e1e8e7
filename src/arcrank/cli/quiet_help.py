"""Help without what every option would repeat: flags have no type, and environment variables are told once."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

__all__ = ["QuietCommand", "QuietGroup"]


def _quiet(params: list[Any]) -> list[Any]:
    for param in params:
        param.show_envvar = False
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


class QuietCommand(TyperCommand):
    """A command with short help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, told shortly."""
        return _quiet(super().get_params(ctx))


class QuietGroup(TyperGroup):
    """A group of commands with short help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, told shortly."""
        return _quiet(super().get_params(ctx))

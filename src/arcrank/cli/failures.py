"""How the command fails: at most four lines with place, cause and remedy, and an exit code.

0 done · 1 a bug of ours · 2 wrong use or wrong data · 3 `check` found something serious · 130 interrupted
"""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

import typer

from arcrank.errors import ArcrankError

BUG, WRONG_USE, SERIOUS, INTERRUPTED = 1, 2, 3, 130
# typer brings click along under its own name, or uses the installed one: its own classes are the ones that it raises
_USAGE: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def report_failure(error: BaseException, *, debug: bool = False) -> int:
    """Tell the user on standard error what went wrong, and return the exit code."""
    if isinstance(error, BrokenPipeError) or _is_broken_pipe(error.__context__):
        # `arcrank rank ... | head`: the reader has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 0
    if isinstance(error, typer.Exit) and error.exit_code != INTERRUPTED:
        return error.exit_code
    if isinstance(error, KeyboardInterrupt | typer.Abort | typer.Exit):
        sys.stderr.write("\nInterrupted; nothing was half-written.\n")
        return INTERRUPTED
    if type(error).__name__ == "NoArgsIsHelpError":  # nothing was asked for, so the help has been shown
        typer.echo(str(error), nl=bool(str(error)))
        return 0
    if debug:
        traceback.print_exception(error)
    if isinstance(error, _USAGE):
        _show_usage(error)
        return WRONG_USE
    if isinstance(error, ArcrankError | OSError):
        sys.stderr.write(f"arcrank: {_lines(error)}\n")
        return WRONG_USE
    if not debug:
        sys.stderr.write(
            f"arcrank: an error that should not happen: {type(error).__name__}: {_lines(error)}\n"
            "Run the command again with --debug and report what it shows.\n"
        )
    return BUG


def _is_broken_pipe(cause: BaseException | None) -> bool:
    """typer turns a broken pipe into an exit of its own."""
    return isinstance(cause, BrokenPipeError)


def _show_usage(error: Any) -> None:
    error.message = error.message.replace("Value error, ", "")  # what checks values for typer is no news to a user
    if "unexpected extra argument" in error.message:
        error.message += f". {_about_extra(error.ctx)}"
    error.show()


def _about_extra(context: Any) -> str:
    if context.command.name == "explain" and not (context.params.get("text") or context.params.get("file")):
        return 'Give the document as --text "...".'
    return 'A value of several words needs quotes, as in "natural gas".'


def _lines(error: BaseException, limit: int = 3) -> str:
    """The first lines of the message; who uses the command has `arcrank train` where the library has a function."""
    told = str(error).replace("arcrank.save", "arcrank train")
    return "\n".join(told.splitlines()[:limit])


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning as a line of ours, without the place in our source; it takes the place of `warnings.showwarning`."""
    sys.stderr.write(f"warning: {message}\n")

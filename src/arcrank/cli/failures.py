"""How the command fails: at most four lines with place, cause and remedy, and an exit code.

0 done · 1 a bug of ours · 2 wrong use or wrong data · 3 `check` found something serious · 130 interrupted
"""

from __future__ import annotations

import os
import sys
import traceback

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
    if debug:
        traceback.print_exception(error)
    if isinstance(error, _USAGE):
        error.show()  # type: ignore[attr-defined]
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


def _lines(error: BaseException, limit: int = 3) -> str:
    return "\n".join(str(error).splitlines()[:limit])

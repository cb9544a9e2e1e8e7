"""How the command reports failures: at most four lines with place, cause and remedy, and an exit code.

0 done · 1 a bug in arcrank · 2 wrong use or wrong data · 3 `check` found something serious · 130 interrupted
128 + n ended by signal n, as in 143 for SIGTERM
"""

from __future__ import annotations

import sys
import traceback
from typing import Any

import typer

from arcrank.cli.signals import caught_signal
from arcrank.errors import ArcrankError

_LESS_MEMORY = (
    "Give fewer documents or labels at a time, or close other programs; `arcrank train --learner mmp` reads a file\n"
    "as a stream, and --set n_features=16384 keeps its weights small."
)
BUG, WRONG_USE, SERIOUS, INTERRUPTED = 1, 2, 3, 130
# typer uses its own copy of click or the installed one; the class is looked up so that it is the one that is raised
_USAGE: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def report_failure(error: BaseException, *, debug: bool = False) -> int:
    """Report on standard error what went wrong, and return the exit code."""
    if caught_signal() is not None or isinstance(error, KeyboardInterrupt | typer.Abort):
        return _stopped(caught_signal())
    if isinstance(error, BrokenPipeError) or _is_broken_pipe(error.__context__):
        return 0  # `arcrank rank ... | head`: the reader has closed the pipe
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 0
    if isinstance(error, typer.Exit):
        return _stopped(None) if error.exit_code == INTERRUPTED else error.exit_code
    if type(error).__name__ == "NoArgsIsHelpError":  # no command was given
        return _show_help(error)
    if debug:
        traceback.print_exception(error)
    if isinstance(error, _USAGE):
        _show_usage(error)
        return WRONG_USE
    if isinstance(error, ArcrankError | OSError | MemoryError):
        sys.stderr.write(f"arcrank: {_lines(error) if isinstance(error, ArcrankError | OSError) else _memory(error)}\n")
        return WRONG_USE
    if not debug:
        sys.stderr.write(
            f"arcrank: internal error: {type(error).__name__}: {_lines(error)}\n"
            "Run the command again with --debug and report what it shows.\n"
        )
    return BUG


def _stopped(signal: int | None) -> int:
    """Write one line, below the ^C that a terminal shows."""
    code = INTERRUPTED if signal is None else 128 + signal
    line = "Interrupted.\n" if code == INTERRUPTED else "Terminated.\n"
    sys.stderr.write(f"\n{line}" if sys.stderr.isatty() else line)
    return code


def _show_help(error: BaseException) -> int:
    try:
        typer.echo(str(error), nl=bool(str(error)))
    except (ArcrankError, OSError) as failure:  # of standard output
        return report_failure(failure)
    return 0


def _is_broken_pipe(cause: BaseException | None) -> bool:
    """Whether this is a broken pipe, which typer turns into an exit."""
    return isinstance(cause, BrokenPipeError)


def _show_usage(error: Any) -> None:
    error.message = error.message.replace("Value error, ", "")  # a prefix of pydantic's
    if "unexpected extra argument" in error.message:
        error.message += f". {_about_extra(error.ctx)}"
    error.show()


def _about_extra(context: Any) -> str:
    if context.command.name == "explain" and not (context.params.get("text") or context.params.get("file")):
        return 'Give the document as --text "...".'
    return 'A value of several words needs quotes, as in "natural gas".'


def _lines(error: BaseException, limit: int = 3) -> str:
    """The first lines of the message, in terms of the command: `arcrank train` instead of `arcrank.save`."""
    message = _sentence(error).replace("arcrank.save", "arcrank train")
    return "\n".join(message.splitlines()[:limit])


def _sentence(error: BaseException) -> str:
    """The message of an error; for system errors without the number, which means little to most users.

    >>> _sentence(FileNotFoundError(2, "No such file or directory", "news.jsonl"))
    'news.jsonl: No such file or directory'
    """
    if isinstance(error, OSError) and not isinstance(error, ArcrankError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    return str(error)


def _memory(error: MemoryError) -> str:
    detail = _lines(error, limit=1).rstrip(".")
    return f"not enough memory{f': {detail}' if detail else ''}.\n{_LESS_MEMORY}"


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as one line without the place in the source; replaces `warnings.showwarning`."""
    sys.stderr.write(f"warning: {message}\n")

"""What the command says, and where: data on standard output, everything else on standard error.

rich is imported when something is drawn.
"""

from __future__ import annotations

import io
import math
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from arcrank._wording import as_json, printable
from arcrank.cli.streams import is_closed

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_WIDTH_OF_A_FILE = 120  # a file has no width


def say(message: str) -> None:
    """Write a line for the user to standard error."""
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


def write_json(value: Any) -> None:
    """Write one line of JSON to standard output; NaN and infinities become null."""
    write_data(as_json(_finite(value)) + "\n")


def write_data(text: str) -> None:
    """Write text for programs to standard output, as UTF-8 whatever the locale."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(text)
    sys.stdout.flush()


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value


def on_terminal() -> bool:
    """Whether standard output is read by a person."""
    return sys.stdout.isatty()


def console(*, error: bool = False, beside_file: bool = False) -> Console:
    """A rich console on standard output or standard error; it respects NO_COLOR.

    With `beside_file`, for what is shown in addition to a file, nothing is shown if standard output is closed.
    """
    from rich.console import Console

    file = sys.stderr if error else sys.stdout
    if isinstance(file, io.TextIOWrapper) and file.errors in ("strict", "surrogateescape"):
        file.reconfigure(errors="backslashreplace")  # do not fail on a name that the terminal cannot show
    quiet = beside_file and is_closed("stdout")
    return Console(file=file, highlight=False, width=None if file.isatty() else _WIDTH_OF_A_FILE, quiet=quiet)


def table(title: str, *columns: str, numbers: int = 0) -> Table:
    """A table whose last `numbers` columns are aligned to the right."""
    from rich.table import Table
    from rich.text import Text

    made = Table(title=Text(title) if title else None, title_justify="left")
    for place, column in enumerate(columns):
        made.add_column(column, justify="right" if place >= len(columns) - numbers else "left", overflow="fold")
    return made


def cell(value: Any) -> Any:
    """A value as rich shows it: no markup, and no control characters that would break the table."""
    from rich.text import Text

    return Text(printable(str(value)))


@contextmanager
def warnings_to_stderr() -> Iterator[None]:
    """Print each warning of the library once, as one line without the place in the source."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"warning: {message}")

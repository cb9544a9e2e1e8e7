"""What the command says, and where: data on standard output, everything else on standard error.

A progress bar is for a terminal; elsewhere there is a line now and then. rich is imported when something is drawn.
"""

from __future__ import annotations

import io
import json
import math
import re
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from arcrank.cli.streams import is_closed

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_SECONDS_BETWEEN_LINES = 5.0
_ESCAPED = re.compile(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_WIDTH_OF_A_FILE = 120  # what is not a terminal has no width of its own


def say(message: str) -> None:
    """A line to the user on standard error."""
    sys.stderr.write(message + "\n")
    sys.stderr.flush()


def write_json(value: Any) -> None:
    """One line of JSON on standard output; NaN and infinities become null."""
    write_data(as_json(_finite(value)) + "\n")


def write_data(text: str) -> None:
    """Text that programs read, on standard output: UTF-8 whatever the locale."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(text)
    sys.stdout.flush()


def as_json(value: Any) -> str:
    """JSON in UTF-8 on one line; what cannot be encoded, or might end the line, is escaped, so every name survives.

    >>> as_json("Öl" + chr(0xD800) + chr(0x2028))
    '"Öl\\\\ud800\\\\u2028"'
    """
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False, allow_nan=False))


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
    """A rich console on standard output or standard error; it obeys NO_COLOR.

    What is shown beside a file that the command writes is left out where standard output is closed.
    """
    from rich.console import Console

    file = sys.stderr if error else sys.stdout
    if isinstance(file, io.TextIOWrapper) and file.errors in ("strict", "surrogateescape"):
        file.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show is no reason to fail
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


def printable(name: str) -> str:
    """A name on one line of a terminal: control characters and halves of characters are escaped.

    >>> printable("a" + chr(10) + "b" + chr(0xD800))
    'a\\\\nb\\\\ud800'
    """
    if name.isprintable():
        return name
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "backslashreplace").decode() for char in name
    )


def number(value: float | None) -> str:
    """Four digits for people; a dash where there is nothing to tell."""
    return "-" if value is None or not math.isfinite(value) else f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


class Meter:
    """The progress of one task with its rate: `with Meter("reading", total, "bytes") as meter: meter.advance(n)`."""

    def __init__(self, what: str, total: float | None = None, unit: str = "documents", *, quiet: bool = False) -> None:
        self.done = 0.0
        self._quiet = quiet
        self._what = what
        self._total = total
        self._unit = unit
        self._bar: Any = None

    def __enter__(self) -> Self:
        self._start = self._told = time.perf_counter()
        if sys.stderr.isatty() and not self._quiet:
            self._bar = _bar()
            self._task = self._bar.add_task(self._what, total=self._total, state="")
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, amount: float = 1.0, state: str = "") -> None:
        """Tell that so much more has been done; `state` replaces the rate."""
        self.move(self.done + amount, state)

    def move(self, done: float, state: str = "") -> None:
        """Tell how much has been done in all."""
        self.done = done
        now = time.perf_counter()
        if self._bar is not None:
            self._bar.update(self._task, completed=done, state=state or self._rate(now))
        elif not self._quiet and now - self._told >= _SECONDS_BETWEEN_LINES:
            self._told = now
            say(f"{self._what}: {state or self._rate(now)}")

    def _rate(self, now: float) -> str:
        rate = self.done / max(now - self._start, 1e-9)
        if self._unit == "bytes":
            return f"{self.done / 1e6:,.1f} MB, {rate / 1e6:,.1f} MB/s"
        return f"{self.done:,.0f} {self._unit}, {rate:,.0f}/s"


def _bar() -> Any:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    texts = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[state]}", markup=False)
    return Progress(
        texts[0],
        BarColumn(),
        texts[1],
        TimeElapsedColumn(),
        console=console(error=True),
        transient=True,
        redirect_stdout=False,  # else rows for a file or a pipe would be shown above the bar, and not be written
    )


@contextmanager
def told_warnings() -> Iterator[None]:
    """Tell warnings of the library as lines of ours, each once, without the place in our source."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"warning: {message}")

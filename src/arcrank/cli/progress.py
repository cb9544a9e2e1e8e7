"""Progress of long work: a bar on a terminal, otherwise an occasional line."""

from __future__ import annotations

import sys
import time
from typing import Any, Self

from arcrank.cli.console import console, say

__all__ = ["Meter"]

_SECONDS_BETWEEN_LINES = 5.0


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
        self._start = self._reported = time.perf_counter()
        if sys.stderr.isatty() and not self._quiet:
            self._bar = _bar()
            self._task = self._bar.add_task(self._what, total=self._total, state="")
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, amount: float = 1.0, state: str = "") -> None:
        """Report that `amount` more is done; `state` replaces the rate."""
        self.move(self.done + amount, state)

    def move(self, done: float, state: str = "") -> None:
        """Report how much is done in total."""
        self.done = done
        now = time.perf_counter()
        if self._bar is not None:
            self._bar.update(self._task, completed=done, state=state or self._rate(now))
        elif not self._quiet and now - self._reported >= _SECONDS_BETWEEN_LINES:
            self._reported = now
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
        redirect_stdout=False,  # otherwise rows for a file or a pipe would be shown above the bar, and not written
    )

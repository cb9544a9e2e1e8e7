"""What training reports while it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arcrank.training.selection import Choice

__all__ = ["SILENT", "Move", "Reporter", "StderrReporter"]

Move = Callable[[float, str], None]
"""Called with how much has been done in all, and a few words about the present state."""


class Reporter:
    """Receives notes, progress and choices, and ignores them; the command has one that writes to standard error.

    Examples
    --------
    >>> with Reporter().progress("training", total=3) as move:
    ...     move(1, "first pass")
    """

    def note(self, message: str) -> None:
        """Receive a sentence for the user."""

    @contextmanager
    def progress(self, what: str, total: float | None = None) -> Iterator[Move]:  # noqa: ARG002
        """Provide a function to call as the work goes on."""
        yield lambda _done, _state: None

    @contextmanager
    def reading(self, path: str, what: str = "reading") -> Iterator[tuple[Any, Any]]:  # noqa: ARG002
        """Provide what to read in place of `path`, and the `progress` argument of `learn_stream`."""
        yield path, False

    def chosen(self, choice: Choice) -> None:
        """Receive the learner that was chosen, with all candidates that were tried."""


class StderrReporter(Reporter):
    """Writes notes, finished candidates and the choice to standard error, a line each."""

    def note(self, message: str) -> None:
        """Write a line."""
        print(message, file=sys.stderr, flush=True)  # noqa: T201

    @contextmanager
    def progress(self, what: str, total: float | None = None) -> Iterator[Move]:  # noqa: ARG002
        """Write a line when the work begins and whenever another part of it is done."""
        self.note(f"{what} ...")
        done = 0.0

        def move(now: float, state: str) -> None:
            nonlocal done
            if now > done:
                done = now
                self.note(f"  {state}")

        yield move

    def chosen(self, choice: Choice) -> None:
        """Write what was selected, and why."""
        self.note(f"selected {choice.describe()}: {choice.why}")


SILENT = Reporter()

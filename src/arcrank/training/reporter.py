"""What training reports while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arcrank.training.selection import Choice

__all__ = ["SILENT", "Move", "Reporter"]

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


SILENT = Reporter()

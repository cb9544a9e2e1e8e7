"""What training says on the way."""

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
    """Takes notes, progress and choices, and says nothing; the command has one that writes to standard error.

    Examples
    --------
    >>> with Reporter().progress("training", total=3) as move:
    ...     move(1, "first pass")
    """

    def note(self, message: str) -> None:
        """Take a sentence for the user."""

    @contextmanager
    def progress(self, what: str, total: float | None = None) -> Iterator[Move]:  # noqa: ARG002
        """Give a function to call as the work goes on."""
        yield lambda _done, _state: None

    @contextmanager
    def reading(self, path: str, what: str) -> Iterator[tuple[Any, Any]]:  # noqa: ARG002
        """Give what to read in place of `path`, and the `progress` of `learn_stream`."""
        yield path, False

    def chosen(self, choice: Choice) -> None:
        """Take the learner that was chosen, with all that was tried."""


SILENT = Reporter()

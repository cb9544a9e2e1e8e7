"""What training reports while it runs, on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from arcrank.cli.console import console, say, table, warnings_to_stderr
from arcrank.cli.files import flags_for_arguments, opened, suggest_row_fix
from arcrank.cli.progress import Meter
from arcrank.training.reporter import Move, Reporter
from arcrank.training.trial_table import trial_cells, trial_titles

if TYPE_CHECKING:
    from arcrank.training.selection import Choice

__all__ = ["ConsoleReporter"]


class ConsoleReporter(Reporter):
    """Shows notes and warnings as lines, progress as a bar, and the candidates of a choice as a table."""

    def __init__(self, on_error: str | None = None) -> None:
        self._on_error = on_error

    def note(self, message: str) -> None:
        """Write a line."""
        say(message)

    @contextmanager
    def progress(self, what: str, total: float | None = None) -> Iterator[Move]:
        """Show a bar on a terminal, elsewhere a line now and then."""
        with warnings_to_stderr(), Meter(what, total) as meter:
            yield meter.move

    @contextmanager
    def reading(self, path: str, what: str = "reading") -> Iterator[tuple[Any, Any]]:
        """Show how much of the file has been read; errors name flags and what to do."""
        with warnings_to_stderr(), opened(path, what) as stream, flags_for_arguments(), suggest_row_fix(self._on_error):
            yield stream, stream.report_learnt  # type: ignore[attr-defined]

    def chosen(self, choice: Choice) -> None:
        """Show what was tried, and why one was selected."""
        if choice.trials:
            _show_trials(choice)
        say(f"auto selected {choice.describe()}: {choice.why}.")


def _show_trials(choice: Choice) -> None:
    shown = table(f"Compared in {choice.folds} folds", *trial_titles(choice.measure), numbers=4)
    for cells in trial_cells(choice.records()):
        shown.add_row(*cells)
    console(error=True).print(shown)

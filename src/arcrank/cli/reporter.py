"""What training says on the way, on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from arcrank._wording import count, number
from arcrank.cli.console import console, say, table, warnings_to_stderr
from arcrank.cli.files import flags_for_arguments, opened, suggest_row_fix
from arcrank.cli.progress import Meter
from arcrank.training.reporter import Move, Reporter
from arcrank.training.selection import Choice, best_of_each, metric_title

__all__ = ["ConsoleReporter"]


class ConsoleReporter(Reporter):
    """Notes as lines, progress as a bar, the candidates of a choice as a table; warnings as lines, each once."""

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
    def reading(self, path: str, what: str) -> Iterator[tuple[Any, Any]]:
        """Show how much of the file has been read; errors name flags, and what to do."""
        with warnings_to_stderr(), opened(path, what) as stream, flags_for_arguments(), suggest_row_fix(self._on_error):
            yield stream, stream.tell_learnt  # type: ignore[attr-defined]

    def chosen(self, choice: Choice) -> None:
        """Show what was tried, and why one was taken."""
        if choice.trials:
            _show_trials(choice)
        say(f"auto: took {choice.plan.describe()}: {choice.why}.")


def _show_trials(choice: Choice) -> None:
    measure = metric_title(choice.measure)
    n = count(choice.documents, "document")
    held_out, in_turn = f"Tried on {n} held out to choose", f"Tried on {n} in {choice.folds} folds"
    title = held_out if choice.folds == 1 else in_turn
    shown = table(title, "", "learner", "C", measure, numbers=2)
    best = [trial.plan for trial in best_of_each(choice.trials, choice.measure)]
    for trial in choice.trials:
        mark = "* taken" if trial.plan is choice.plan else "+ best" if any(trial.plan is plan for plan in best) else ""
        shown.add_row(mark, str(trial.plan.learner), number(trial.plan.parameters["C"]), number(trial.value))
    console(error=True).print(shown)

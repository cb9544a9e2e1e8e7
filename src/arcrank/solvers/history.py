"""The progress that a solver reports, and the callback that can stop it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

Entry = dict[str, Any]
Callback = Callable[[Entry], bool | None]


class History:
    """A record of each iteration: `iteration, loss, gap or bound, seconds`; a callback that returns True stops."""

    def __init__(self, callback: Callback | None = None, total: int | None = None, verbose: int = 0) -> None:
        self.entries: list[Entry] = []
        self.total = total
        self._callback = callback
        self._verbose = verbose
        self._start = time.perf_counter()
        self._shown = self._start

    def add(self, **values: Any) -> bool:
        """Note one iteration. True if the callback wants to stop."""
        entry = {"iteration": len(self.entries) + 1, **values, "seconds": time.perf_counter() - self._start}
        self.entries.append(entry)
        if self._verbose:
            self._show(entry)
        return bool(self._callback(entry)) if self._callback else False

    def _show(self, entry: Entry) -> None:
        """One line on standard error that is overwritten on a terminal, else a line now and then."""
        if sys.stderr is None:  # it was closed when the process was started
            return
        now = time.perf_counter()
        terminal = sys.stderr.isatty()
        if not terminal and now - self._shown < 2.0 and self._verbose < 2 and entry["iteration"] > 1:
            return
        self._shown = now
        numbers = "  ".join(f"{key} {value:.4g}" for key, value in entry.items() if key != "iteration")
        line = f"iteration {entry['iteration']}{f'/{self.total}' if self.total else ''}  {numbers}"
        sys.stderr.write(f"\r\x1b[K{line}" if terminal else f"{line}\n")
        sys.stderr.flush()

    def close(self) -> None:
        """End the line of progress on a terminal."""
        if self._verbose and self.entries and sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write("\n")

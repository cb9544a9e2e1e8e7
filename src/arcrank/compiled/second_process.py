"""A second process that compiles kernels: started when a kernel is missing, and then asked for each further one."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Container, Iterator
from typing import Any

__all__ = ["SecondProcess", "second_process", "wait_for"]

Start = Callable[[], "subprocess.Popen[bytes]"]


class SecondProcess:
    """A process that leaves kernels in the cache, all but those that are named `own`; `start` starts it."""

    LONGEST, PAUSE = 120.0, 0.05  # seconds

    def __init__(self, start: Start, own: Container[str] = ()) -> None:
        self._start: Start | None = start
        self._own = own
        self._process: subprocess.Popen[bytes] | None = None

    def wait_for(self, name: str, look: Callable[[], Any]) -> Any:
        """Return what `look` finds in the cache while the process runs or when it has ended, or None.

        The first call only starts the process: its kernel is compiled here, meanwhile. So are those of this process.
        """
        if self._start is not None:
            start, self._start = self._start, None
            with contextlib.suppress(OSError):  # where no process can be started, this one compiles alone
                self._process = start()
            return None
        if name in self._own:
            return None
        deadline = time.monotonic() + self.LONGEST
        while self._process is not None:
            ended = self._process.poll() is not None
            found = look()
            if found is not None:
                return found
            if ended or time.monotonic() > deadline:
                self.end()
            else:
                time.sleep(self.PAUSE)
        return None

    def end(self) -> None:
        """Stop the process, if it runs, and start none from now on."""
        self._start = None
        if self._process is not None:
            self._process.kill()  # files of the cache are written completely or not at all
            self._process.wait()
            self._process = None


_present: SecondProcess | None = None


@contextlib.contextmanager
def second_process(start: Start, own: Container[str] = ()) -> Iterator[None]:
    """Within this, call `start` when the first kernel is missing, and wait for the next ones that are not `own`."""
    global _present  # noqa: PLW0603
    before, mine = _present, SecondProcess(start, own)
    _present = mine
    try:
        yield
    finally:
        mine.end()
        _present = before


def wait_for(name: str, look: Callable[[], Any]) -> Any:
    """Return what `look` finds of a kernel, where a second process may compile it, or None."""
    return None if _present is None else _present.wait_for(name, look)

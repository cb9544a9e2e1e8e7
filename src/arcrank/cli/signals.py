"""Ctrl-C and termination signals: work stops and cleans up, without a traceback.

This module imports nothing slow, because it must be active while everything else is imported.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from typing import Any

__all__ = ["catch_signals", "caught_signal", "release_signals"]

_ENDING = ("SIGTERM", "SIGHUP")  # Windows lacks the second
_default_hook = sys.unraisablehook
_caught: list[int] = []


def catch_signals() -> None:
    """Raise KeyboardInterrupt for Ctrl-C and SystemExit for the others; what the parent ignores stays ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)
    for number in _ending():
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)
    sys.unraisablehook = _stop_again


def release_signals() -> None:
    """Let a signal end the process at once from now on, without a traceback: the work is done."""
    for number in (signal.SIGINT, *_ending()):
        if signal.getsignal(number) is _stop:
            signal.signal(number, signal.SIG_DFL)


def caught_signal() -> int | None:
    """The signal that stopped the work, if any; libraries may have replaced its exception by another."""
    return _caught[0] if _caught else None


def _ending() -> list[int]:
    return [getattr(signal, name) for name in _ENDING if hasattr(signal, name)]


def _stop(number: int, _: Any) -> None:
    if _caught:  # a second signal during cleanup: the user does not want to wait
        os._exit(128 + number)
    _caught.append(number)
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


def _stop_again(unraisable: Any) -> None:
    """Stop a little later if Python dropped the exception, as it does in callbacks such as those of weak references.

    Handlers run in the main thread only, so that is where the exception was dropped.
    """
    if _caught and issubclass(unraisable.exc_type, KeyboardInterrupt | SystemExit):
        _thread.start_new_thread(_repeat, (_caught.pop(), _thread.get_ident()))
    else:
        _default_hook(unraisable)


def _repeat(number: int, main_thread: int) -> None:
    time.sleep(0.005)
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main_thread, number)  # this also wakes it up
    else:
        _thread.interrupt_main(signal.Signals(number))

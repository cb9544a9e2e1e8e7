"""Standard streams that are closed or cannot be written to.

A closed descriptor is opened on the null device, because the next file to be opened would get its number, and messages
would end up in a model file. Commands still say that standard output or input is closed when they need it. Messages
that cannot be written to standard error are dropped: they are not results.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Any, Literal

from arcrank.errors import ArcrankError

__all__ = ["is_closed", "prepare_streams"]

Name = Literal["stdin", "stdout", "stderr"]
_NAMES: tuple[Name, ...] = ("stdin", "stdout", "stderr")
_closed: set[Name] = set()


def prepare_streams() -> None:
    """Open closed descriptors on the null device, and turn failing writes into an error message, or ignore them."""
    for descriptor, name in enumerate(_NAMES):
        if getattr(sys, name) is None:
            _closed.add(name)
            setattr(sys, name, _null(descriptor))
            setattr(sys, f"__{name}__", getattr(sys, name))
    if sys.stdout is sys.__stdout__:  # otherwise a caller has redirected it
        sys.stdout = _over(sys.stdout, _ClosedOutput if is_closed("stdout") else _Output)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _over(sys.stderr, _Messages)


def is_closed(name: Name) -> bool:
    """Whether the stream was closed when the command was started."""
    return name in _closed


def _null(descriptor: int) -> io.TextIOWrapper:
    """A text stream on the null device, under this number unless another file has taken it since the start."""
    while (opened := os.open(os.devnull, os.O_RDWR)) < descriptor:
        pass  # a lower number was free
    os.set_inheritable(opened, True)
    return open(opened, "w" if descriptor else "r", encoding="utf-8", closefd=False)


def _over(stream: Any, kind: type[_Output]) -> io.TextIOWrapper:
    """The text stream with the same settings, writing through `kind`."""
    buffer = stream.buffer
    return io.TextIOWrapper(
        io.BufferedWriter(kind(getattr(buffer, "raw", buffer))),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


class _Output(io.RawIOBase):
    """Standard output that accepts everything and writes nothing after its first failure.

    At exit Python flushes its buffers again, and would print a second error message.
    """

    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw = raw
        self._failed = False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._raw.fileno()

    def isatty(self) -> bool:
        return self._raw.isatty()

    def write(self, data: Any) -> int | None:
        if self._failed:
            return len(data)
        try:
            return self._attempt(data)
        except (OSError, ArcrankError):
            self._failed = True
            raise

    def _attempt(self, data: Any) -> int | None:
        try:
            return self._raw.write(data)
        except BrokenPipeError:  # the reader has closed the pipe
            raise
        except OSError as error:
            raise ArcrankError(
                f"Standard output cannot be written to: {error.strerror}.\n"
                "Redirect it to a file with enough space, or to a program."
            ) from error


class _ClosedOutput(_Output):
    def _attempt(self, _: Any) -> int | None:
        raise ArcrankError(
            "Standard output is closed, so the result cannot be written.\n"
            "Redirect it to a file, or to /dev/null if you do not need it."
        )


class _Messages(_Output):
    """Standard error, on which failures are ignored: there is nowhere to report them."""

    def _attempt(self, data: Any) -> int | None:
        try:
            return self._raw.write(data)
        except OSError:
            return len(data)

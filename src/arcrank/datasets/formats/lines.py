"""Lines of a file with their numbers, and the one place that decides what happens to a row that cannot be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, TypeVar

from arcrank.errors import FormatError
from arcrank.graphs.base import name_fault

__all__ = ["Lines", "Options", "RowError", "decode"]

T = TypeVar("T")
_BOM = b"\xef\xbb\xbf"
_UTF16 = b"\xff\xfe", b"\xfe\xff"


class RowError(Exception):
    """One row that cannot be read: the reason, by which skips are counted, and the detail of this row.

    A `remedy` is for what is probably wrong with the whole file.
    """

    def __init__(self, reason: str, detail: str = "", remedy: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.remedy = remedy


@dataclass(frozen=True)
class Options:
    """What every reader is told: rows a block, the allowed labels (None: any), and the format's own switches.

    Where rows are not `labelled` their labels need not be there, and are not looked at.
    """

    batch_rows: int
    labels: list[str] | None = None
    n_features: int | None = None
    header: bool | None = None
    labelled: bool = True
    known: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Keep the allowed labels as a set too."""
        object.__setattr__(self, "known", frozenset(self.labels or ()))

    def check_labels(self, names: list[str]) -> None:
        """Raise a `RowError` for a name that no label can have, or one outside the given vocabulary."""
        for name in names:
            if fault := name_fault(name):
                raise RowError("invalid labels", f"the name {name!r} {fault}")
        if self.labels is not None and not self.known.issuperset(names):
            unknown = next(name for name in names if name not in self.known)
            raise RowError("label not in the vocabulary", repr(unknown))


class Lines:
    """The lines of a binary stream, numbered from 1, without their line ends; rows that fail are counted.

    Conventions: `on_error` is "raise" (a `FormatError` with `name:line`) or "skip" (`skipped` counts
    the reason). A line longer than `max_bytes` is never held in memory.
    """

    def __init__(self, stream: IO[bytes], name: str, on_error: str = "raise", max_bytes: int = 1 << 24) -> None:
        self.name = name
        self.keep_returns = False  # a table's quoted cell may hold the line end \r\n
        self.max_bytes = max_bytes
        self.skipped: Counter[str] = Counter()
        self.stream = stream
        self._on_error = on_error
        self._number = 0
        self._returned: list[tuple[int, bytes]] = []

    def __iter__(self) -> Lines:
        """Return itself: lines are read once."""
        return self

    def __next__(self) -> tuple[int, bytes]:
        """Return the next (number, line)."""
        if self._returned:
            return self._returned.pop()
        while raw := self.stream.readline(self.max_bytes + 2):
            self._number += 1
            line = raw.removeprefix(_BOM) if self._number == 1 else raw
            line = line.removesuffix(b"\n")
            if not self.keep_returns:
                line = line.removesuffix(b"\r")
            if len(line) <= self.max_bytes:
                return self._number, line
            self._pass_over(raw)
        raise StopIteration

    def _pass_over(self, read: bytes) -> None:
        self.fail(self._number, RowError("line too long", f"more than {self.max_bytes:,} bytes (max_line_bytes)"))
        while read and not read.endswith(b"\n"):
            read = self.stream.readline(1 << 20)

    def put_back(self, lines: list[tuple[int, bytes]]) -> None:
        """Return lines that were read too far, in their order."""
        self._returned.extend(reversed(lines))

    def fail(self, number: int, error: RowError, n_rows: int = 1) -> None:
        """Raise the error of a row with its place, or count it where the user asked for that."""
        if self._on_error == "raise":
            remedy = f".\n{error.remedy}" if error.remedy else ""
            raise FormatError(f"{self.name}:{number}: {error}{remedy}") from error
        self.skipped[error.reason] += n_rows

    def attempt(self, number: int, parse: Callable[[bytes], T], line: bytes) -> T | None:
        """Return `parse(line)`, or None when the row failed and was counted."""
        try:
            return parse(line)
        except RowError as error:
            self.fail(number, error)
            return None

    def take_skipped(self) -> dict[str, int]:
        """Return the counts since the last call."""
        taken = dict(self.skipped)
        self.skipped.clear()
        return taken


def decode(raw: bytes) -> str:
    """Decode UTF-8, or raise a `RowError` that says where it breaks."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        place = f"byte {raw[error.start]:#04x} at position {error.start}"
        if b"\0" in raw and not raw.startswith(_UTF16):
            raise RowError("invalid UTF-8", f"{place}; this is probably no text file") from error
        name, code = ("UTF-16", "utf16") if raw.startswith(_UTF16) else ("Latin-1", "latin1")
        remedy = f"Save it as UTF-8: iconv -f {code} -t utf8 IN > OUT"
        raise RowError("invalid UTF-8", f"{place}; the file is probably {name}", remedy) from error

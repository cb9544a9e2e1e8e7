"""Lines of a file with their numbers, and the decision what happens to a row that cannot be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import IO, Any, TypeVar, cast

from arcrank.errors import FormatError

__all__ = ["Lines", "RowError", "decode", "invalid_utf8"]

T = TypeVar("T")
_BOM = b"\xef\xbb\xbf"
_UTF16 = b"\xff\xfe", b"\xfe\xff"
_CHUNK = 1 << 18


class RowError(Exception):
    """One row that cannot be read: the reason, by which skipped rows are counted, and the detail of this row.

    A `remedy` is advice for an error that probably concerns the whole file.
    """

    def __init__(self, reason: str, detail: str = "", remedy: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.remedy = remedy


class Lines:
    """The lines of a buffered binary stream, numbered from 1, without their line ends; rows that fail are counted.

    Conventions: `on_error` is "raise" (a `FormatError` with `name:line`) or "skip" (`skipped` counts
    the reason). A line longer than `max_bytes` is never held in memory.
    """

    def __init__(self, stream: IO[bytes], name: str, on_error: str = "raise", max_bytes: int = 1 << 24) -> None:
        self.name = name
        self.keep_returns = False  # a table's quoted cell may hold the line end \r\n
        self.max_bytes = max_bytes
        self.place: Callable[[int], str] = lambda number: f"{name}:{number}"
        self.skipped: Counter[str] = Counter()
        self.stream = stream
        self._on_error = on_error
        self._number = 0
        self._ready: list[bytes | None] = []  # whole lines, the next one last; None for one that is too long
        self._rest: list[bytes] = []  # the pieces of a line that has not ended yet
        self._rest_bytes = 0
        self._passing = False  # skipping the rest of a line that is too long
        self._returned: list[tuple[int, bytes]] = []

    def __iter__(self) -> Lines:
        """Return itself: lines are read once."""
        return self

    def __next__(self) -> tuple[int, bytes]:
        """Return the next (number, line)."""
        if self._returned:
            return self._returned.pop()
        while self._ready or self._fill():
            self._number += 1
            line = self._ready.pop()
            if line is not None and self._number == 1:
                line = line.removeprefix(_BOM)
            if line is not None and not self.keep_returns:
                line = line.removesuffix(b"\r")
            if line is not None and len(line) <= self.max_bytes:
                return self._number, line
            self._fail_long()
        raise StopIteration

    @property
    def drained(self) -> bool:
        """Whether all lines that have arrived were returned, and there were some."""
        return self._number > 0 and not self._ready and not self._returned

    def _fill(self) -> bool:
        """Read until a line ends; False at the end of the stream. Takes what is available, without waiting for more."""
        while not self._ready and (data := cast(Any, self.stream).read1(_CHUNK)):
            self._take(data)
        if not self._ready and self._rest_bytes:  # the last line has no line end
            self._ready = [b"".join(self._rest)]
            self._rest, self._rest_bytes = [], 0
        return bool(self._ready)

    def _take(self, data: bytes) -> None:
        if self._passing:
            _, newline, data = data.partition(b"\n")
            self._passing = not newline
        head, newline, tail = data.rpartition(b"\n")
        if newline:
            self._ready = [*b"".join([*self._rest, head]).split(b"\n")[::-1]]
            self._rest, self._rest_bytes = [], 0
        self._rest.append(tail)
        self._rest_bytes += len(tail)
        if self._rest_bytes > self.max_bytes + len(_BOM) + 1:  # a byte order mark and a \r may still be removed
            self._rest, self._rest_bytes, self._passing = [], 0, True
            self._ready.insert(0, None)

    def _fail_long(self) -> None:
        self.fail(self._number, RowError("line too long", f"more than {self.max_bytes:,} bytes (max_line_bytes)"))

    def put_back(self, lines: list[tuple[int, bytes]]) -> None:
        """Put back lines that were read too far, in order."""
        self._returned.extend(reversed(lines))

    def fail(self, number: int, error: RowError, n_rows: int = 1) -> None:
        """Raise the error of a row with its place, or count it if the user asked for that."""
        if self._on_error == "raise":
            remedy = f".\n{error.remedy}" if error.remedy else ""
            raise FormatError(f"{self.place(number)}: {error}{remedy}") from error
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
    """Decode UTF-8, or raise a `RowError` that says where it is invalid."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise invalid_utf8(error) from error


def invalid_utf8(error: UnicodeDecodeError) -> RowError:
    """The error for bytes that are not UTF-8, with a guess at what they are."""
    raw = error.object
    place = f"byte {raw[error.start]:#04x} at position {error.start}"
    if b"\0" in raw and not raw.startswith(_UTF16):
        return RowError("invalid UTF-8", f"{place}; this is probably not a text file")
    name, code = ("UTF-16", "utf16") if raw.startswith(_UTF16) else ("Latin-1", "latin1")
    remedy = f"Save it as UTF-8: iconv -f {code} -t utf8 IN > OUT"
    return RowError("invalid UTF-8", f"{place}; the file is probably {name}", remedy)

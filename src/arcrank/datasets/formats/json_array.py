"""One JSON array of objects, as `DataFrame.to_json(orient="records")` writes it, on one line or on many.

Objects are read one at a time: the array is never in memory as a whole.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, cast

from arcrank.datasets.formats.json_row import DECODER, check_surrogates
from arcrank.datasets.formats.lines import Lines, RowError, invalid_utf8
from arcrank.errors import FormatError

__all__ = ["is_array", "objects"]

_BOM = b"\xef\xbb\xbf"
_SPACE = " \t\n\r"
_CHUNK = 1 << 16
_LONGEST_TOKEN = 16
"""An error this close to the end of the input so far may be due to a truncated token, such as `fals`."""


def is_array(start: bytes) -> bool:
    """Whether a file that starts like this holds an array."""
    return start.removeprefix(_BOM).lstrip().startswith(b"[")


def objects(lines: Lines) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Yield (number of the record, object); errors of a row name its record and the line where it starts."""
    window = _Window(lines)
    lines.place = lambda number: f"{lines.name}: record {number} (line {window.start})"
    window.take("[")
    number = 0
    while window.next_character() != "]":
        if number:
            window.take(",")
        number += 1
        found, source = window.object()
        try:
            check_surrogates(found, source)
        except RowError as error:
            lines.fail(number, error)
            yield number, None
        else:
            yield number, found
    window.take("]")
    if window.next_character():
        raise window.error("nothing should follow the array")


class _Window:
    """The part of the file that is in memory, and the position of reading."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        self._ended = False
        self.line = self.start = 1

    def next_character(self) -> str:
        """The next character that is not a space; empty at the end of the file."""
        while True:
            start, size = self._at, len(self._text)
            while self._at < size and self._text[self._at] in _SPACE:
                self._at += 1
            self.line += self._text.count("\n", start, self._at)
            if self._at < size:
                return self._text[self._at]
            if not self._read_on():
                return ""

    def take(self, character: str) -> None:
        """Skip one character that must come next."""
        self._check_next(character, f"expected {character!r}")
        self._at += 1

    def _check_next(self, character: str, message: str) -> None:
        found = self.next_character()
        if not found:
            raise self.error("the array is not closed; the file is probably truncated")
        if found != character:
            raise self.error(f"{message}, not {self._shown()}")

    def object(self) -> tuple[dict[str, Any], str]:
        """The next object, and its source; sets `start` to the line where it begins."""
        self._check_next("{", "a record is an object {...}")
        self.start = self.line
        try:
            found, end = self._decode()
        except RowError as error:
            raise self.error(str(error).removeprefix("invalid JSON: ")) from error
        source = self._text[self._at : end]
        self.line += source.count("\n")
        self._at = end
        return found, source

    def _decode(self) -> tuple[dict[str, Any], int]:
        while True:
            try:
                return cast(tuple[dict[str, Any], int], DECODER.raw_decode(self._text, self._at))
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated") or error.pos >= len(self._text) - _LONGEST_TOKEN
                ahead = error.pos - self._at
                if not cut or not self._read_on():
                    self.line += self._text.count("\n", self._at, self._at + ahead)
                    raise self.error(f"{error.msg.removesuffix(' at')}, at {self._shown(ahead)}") from error
            except (ValueError, RecursionError) as error:
                raise self.error(str(error)) from error

    def _read_on(self) -> bool:
        """Double the buffered text, so that long objects are not parsed too often; False at the end."""
        waiting = len(self._text) - self._at
        if waiting > self._lines.max_bytes:
            raise self.error(f"a record of more than {self._lines.max_bytes:,} characters (max_line_bytes)")
        parts, size = [self._text[self._at :]], 0
        while not self._ended and size <= max(waiting, _CHUNK // 2):
            data = cast(Any, self._lines.stream).read1(_CHUNK)
            self._ended = not data
            parts.append(self._decoded(data))
            size += len(parts[-1])
        self._text, self._at = "".join(parts), 0
        return size > 0

    def _decoded(self, data: bytes) -> str:
        try:
            return self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            cause = invalid_utf8(error)
            raise FormatError(
                f"{self._lines.name}: {cause}{'.' if cause.remedy else ''}\n{cause.remedy}".rstrip()
            ) from error

    def _shown(self, ahead: int = 0) -> str:
        place = self._at + ahead
        return repr(self._text[place : place + 20]) if place < len(self._text) else "the end of the file"

    def error(self, message: str) -> FormatError:
        """The error for an invalid array, which is never skipped: nothing after that point can be read."""
        return FormatError(f"{self._lines.name}:{self.line}: invalid JSON: {message}")

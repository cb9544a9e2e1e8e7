"""CSV and TSV: a text and its labels, `text<TAB>label1;label2`, with or without a header.

A header is recognised by its columns `text` and `labels` (or `label`); it may also name an `id`, and columns
of other names are left alone. A first line that looks like a header with other names is an error. Cells may be
quoted with `"`, doubled inside; quoted cells may hold delimiters and line ends. Spaces around a label are dropped,
and so are empty names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.headers import SEPARATORS, Suspicions, refuse_other_header, refuse_other_separator
from arcrank.datasets.formats.lines import Lines, Options, RowError, decode
from arcrank.datasets.formats.rows import Row, row_blocks
from arcrank.errors import FormatError

__all__ = ["csv_blocks", "records", "tsv_blocks"]


def csv_blocks(lines: Lines, options: Options) -> Iterator[Corpus]:
    """Yield the rows of comma-separated values in blocks."""
    return row_blocks(_rows(lines, ",", options.header), lines, options)


def tsv_blocks(lines: Lines, options: Options) -> Iterator[Corpus]:
    """Yield the rows of tab-separated values in blocks."""
    return row_blocks(_rows(lines, "\t", options.header), lines, options)


def _rows(lines: Lines, delimiter: str, header: bool | None) -> Iterator[tuple[int, Row]]:
    columns: _Columns | None = None
    for number, cells in records(lines, delimiter):
        if columns is None:
            if header is not False:
                refuse_other_separator(lines.name, number, cells, delimiter)
            columns = _find_columns(lines.name, number, cells, header)
            suspicions = Suspicions(lines.name, header=columns.in_header or header is False)
            if columns.in_header:
                continue
        try:
            row = _row(cells, columns, delimiter)
        except RowError as error:
            lines.fail(number, error)
            continue
        suspicions.watch(cells[columns.text], row.value)
        yield number, row
    if columns is not None:
        suspicions.warn()


class _Columns(NamedTuple):
    """The places of text, labels and id (None: there is none), and how many cells a row has."""

    text: int = 0
    labels: int = 1
    id: int | None = None
    width: int = 2
    in_header: bool = False


def _find_columns(name: str, number: int, cells: list[str], header: bool | None) -> _Columns:
    """What the first row says, which is a header or not."""
    if header is False:
        return _Columns()
    names = [cell.strip().lower() for cell in cells]
    found = {name.replace("labels", "label"): j for j, name in reversed([*enumerate(names)])}
    if "text" in found and "label" in found:
        return _Columns(found["text"], found["label"], found.get("id"), len(cells), in_header=True)
    if header:
        raise FormatError(
            f"{name}:{number}: no header: columns text and labels are needed, got {', '.join(names)[:60]!r}"
        )
    refuse_other_header(name, number, cells, "text and labels (label1;label2), and id if you like")
    return _Columns()


def _row(cells: list[str], columns: _Columns, delimiter: str) -> Row:
    if len(cells) != columns.width:
        wanted = "as in the header" if columns.in_header else "text and labels, as there is no header"
        separated = f"; cells are separated by {SEPARATORS[delimiter]}" if len(cells) == 1 else ""
        told = f"{len(cells)} where there should be {columns.width}, {wanted}{separated}"
        raise RowError("wrong number of columns", told)
    labels = [label.strip() for label in cells[columns.labels].split(";")]
    name = None if columns.id is None else cells[columns.id]
    return Row(cells[columns.text], "labels", list(dict.fromkeys(label for label in labels if label)), name)


def records(lines: Lines, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of the first line, cells); blank lines are no records."""
    lines.keep_returns = True
    pending = iter(lines)
    for number, line in pending:
        if not line.strip():
            continue
        consumed = [(number, line)]
        try:
            yield number, _read_record(consumed, pending, delimiter, lines.max_bytes)
        except RowError as error:
            lines.put_back(consumed[1:])  # a stray quote must not swallow the rows behind it
            lines.fail(number, error)


def _read_record(
    consumed: list[tuple[int, bytes]], pending: Iterator[tuple[int, bytes]], delimiter: str, max_bytes: int
) -> list[str]:
    record, size = _Record(delimiter), 0
    record.feed(decode(consumed[0][1]))
    while record.open:
        consumed.append(next(pending, (0, b"")))
        if not consumed[-1][0]:
            consumed.pop()
            raise RowError("quote never closed")
        size += len(consumed[-1][1])
        if size > max_bytes:
            raise RowError("line too long", f"a quoted cell of more than {max_bytes:,} bytes (max_line_bytes)")
        record.feed(decode(consumed[-1][1]))
    return record.cells


class _Record:
    """Cells of one record, fed line by line; `open` while a quoted cell goes on in the next line."""

    def __init__(self, delimiter: str) -> None:
        self.cells: list[str] = []
        self.open = False
        self._delimiter = delimiter
        self._parts: list[str] = []

    def feed(self, line: str) -> None:
        body = line.removesuffix("\r")
        at: int | None = 0
        while at is not None:
            at = self._quoted(body, at) if self.open else self._start(body, at)
        if self.open:
            self._parts.append(line[len(body) :] + "\n")

    def _start(self, line: str, at: int) -> int | None:
        """Read a cell from its start; return where to go on, None at the end of the line."""
        if line.startswith('"', at):
            self.open, self._parts = True, []
            return at + 1
        end = line.find(self._delimiter, at)
        self.cells.append(line[at:] if end < 0 else line[at:end])
        return None if end < 0 else end + 1

    def _quoted(self, line: str, at: int) -> int | None:
        end = line.find('"', at)
        if end < 0:
            self._parts.append(line[at:])
            return None
        if line.startswith('""', end):
            self._parts.append(line[at : end + 1])
            return end + 2
        self.open = False
        self.cells.append("".join([*self._parts, line[at:end]]))
        if end + 1 == len(line):
            return None
        if line[end + 1] != self._delimiter:
            raise RowError("text after a closing quote", self._misquoted(line[end + 1]))
        return end + 2

    def _misquoted(self, after: str) -> str:
        if after in SEPARATORS:
            return f"cells are separated by {SEPARATORS[self._delimiter]}, not by {SEPARATORS[after]}"
        return "quote the whole cell and double the quotes in it"

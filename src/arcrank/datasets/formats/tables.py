"""CSV and TSV: a text and its labels, `text<TAB>label1;label2`, with or without a header.

A header is recognised by its columns `text` and `labels` (or `label`), or by those that the user names; it may also
have an `id`, and columns of other names are ignored. With labels but without a text, all other columns are features. A
first line that looks like a header with other names is an error. Cells may be quoted with `"`, doubled inside; quoted
cells may hold delimiters and line ends. Spaces around a label are dropped, and so are empty names.

If the delimiter itself is a semicolon, nothing is assumed about labels: a label cell that contains `;`, `,` or `|` is
refused unless the user says what separates labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.cells import SEPARATOR, LabelCells
from arcrank.datasets.formats.columns import Columns, TableColumns, find_columns, find_table, missing_columns
from arcrank.datasets.formats.comparisons import comparison_row, holds_comparisons
from arcrank.datasets.formats.headers import (
    SEPARATORS,
    Suspicions,
    in_words,
    refuse_other_header,
    refuse_other_separator,
    with_delimiter,
)
from arcrank.datasets.formats.lines import Lines, RowError, decode
from arcrank.datasets.formats.options import Options
from arcrank.datasets.formats.rows import Row, row_blocks

__all__ = ["csv_blocks", "table_records", "tsv_blocks"]


def csv_blocks(lines: Lines, options: Options) -> Iterator[Corpus]:
    """Yield the rows of comma-separated values, or of those that `options.delimiter` separates, in blocks."""
    return row_blocks(_rows(lines, options.delimiter or ",", options), lines, options)


def tsv_blocks(lines: Lines, options: Options) -> Iterator[Corpus]:
    """Yield the rows of tab-separated values in blocks."""
    return row_blocks(_rows(lines, options.delimiter or "\t", options), lines, options)


def _rows(lines: Lines, delimiter: str, options: Options) -> Iterator[tuple[int, Row | None]]:
    table: _Table | _Comparisons | _Features | None = None
    for number, cells in table_records(lines, delimiter):
        row = None
        if table is None and cells is not None:
            table = _Table.of_first_row(lines.place(number), cells, delimiter, options)
            known = table.in_header or options.header is False
            suspicions = Suspicions(lines.name, header=known, separator=options.label_separator)
            if table.in_header:
                yield number, None
                continue
        if table is not None and cells is not None:
            try:
                row = table.row(cells)
                if row.kind == "labels" and isinstance(row.content, str):
                    suspicions.watch(row.content, row.value)
            except RowError as error:
                lines.fail(number, error)
        yield number, row
    if table is not None and options.labelled:
        suspicions.warn()


class _Comparisons(NamedTuple):
    """A table of votes or scores: the names of its columns."""

    names: list[str]
    options: Options
    in_header: bool = True

    def row(self, cells: list[str]) -> Row:
        """The row of some cells, or a `RowError`."""
        _check_width(cells, len(self.names))
        return comparison_row(dict(zip(self.names, cells, strict=True)), self.options)


class _Features(NamedTuple):
    """A table whose columns are features, and how its cells of labels are read."""

    columns: TableColumns
    width: int
    label_cells: LabelCells
    in_header: bool = True

    def row(self, cells: list[str]) -> Row:
        """The row of some cells, or a `RowError`."""
        _check_width(cells, self.width)
        return self.columns.row(cells, self.label_cells)


def _check_width(cells: list[str], width: int) -> None:
    if len(cells) != width:
        hint = "; a text that contains the delimiter needs quotes" if len(cells) > width else ""
        raise RowError("wrong number of columns", f"{len(cells)} instead of {width}, as in the header{hint}")


class _Table(NamedTuple):
    """Where the cells of a row are, how many there are, and how those of labels are read."""

    columns: Columns
    width: int
    in_header: bool
    delimiter: str
    label_cells: LabelCells

    @classmethod
    def of_first_row(
        cls, place: str, cells: list[str], delimiter: str, options: Options
    ) -> _Table | _Comparisons | _Features:
        """The table as its first row describes it, which may be a header."""
        if options.header is not False and holds_comparisons(cells, options):
            return _Comparisons(cells, options)
        otherwise = LabelCells(None, doubtful=";,|") if delimiter == SEPARATOR else LabelCells()
        label_cells = LabelCells.given(options, otherwise)
        columns = None
        if options.header is not False:
            refuse_other_separator(place, cells, delimiter)
            features = find_table(place, cells, options)
            if features is not None:
                return _Features(features, len(cells), label_cells)
            columns = find_columns(place, cells, options)
            if columns is None and options.header:
                raise missing_columns(f"{place}: no header", cells, options)
            if columns is None:
                refuse_other_header(place, cells, labelled=options.labelled)
        if columns is not None:
            return cls(columns, len(cells), True, delimiter, label_cells)
        width = 2 if options.labelled else min(len(cells), 2)
        return cls(Columns(0, 1 if options.labelled else None), width, False, delimiter, label_cells)

    def row(self, cells: list[str]) -> Row:
        """The row of some cells, or a `RowError`."""
        text, labels, name, _ = self.columns
        if len(cells) != self.width:
            raise self._wrong_width(len(cells))
        found = [] if labels is None else self.label_cells.labels(self.columns.label_cell(cells[labels]))
        return Row(cells[text], "labels", found, None if name is None else cells[name])

    def _wrong_width(self, found: int) -> RowError:
        if found == 1:
            hint = f"; cells are separated by {in_words(self.delimiter)}, or by what delimiter= says"
        else:
            hint = f"; a text that contains {self.delimiter!r} needs quotes" if found > self.width else ""
        wanted = "as in the header" if self.in_header else "text and labels, as there is no header"
        if self.columns.labels is None and not self.in_header:
            wanted = "as in the first row"
        return RowError("wrong number of columns", f"{found} instead of {self.width}, {wanted}{hint}")


def table_records(lines: Lines, delimiter: str) -> Iterator[tuple[int, list[str] | None]]:
    """Yield (number of the first line, cells); None for blank lines and for what cannot be read."""
    lines.keep_returns = True
    pending = iter(lines)
    for number, line in pending:
        cells = None
        if line.strip():
            consumed = [(number, line)]
            try:
                cells = _read_record(consumed, pending, delimiter, lines.max_bytes)
            except RowError as error:
                lines.put_back(consumed[1:])  # a stray quote must not consume the rows after it
                lines.fail(number, error)
        yield number, cells


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
    """Cells of one record, fed line by line; `open` while a quoted cell continues on the next line."""

    def __init__(self, delimiter: str) -> None:
        self.cells: list[str] = []
        self.open = False
        self._delimiter = delimiter
        self._parts: list[str] = []

    def feed(self, line: str) -> None:
        """Read one more line of the record; `open` says whether a quoted cell continues on the next one."""
        body = line.removesuffix("\r")
        at: int | None = 0
        while at is not None:
            at = self._quoted(body, at) if self.open else self._start(body, at)
        if self.open:
            self._parts.append(line[len(body) :] + "\n")

    def _start(self, line: str, at: int) -> int | None:
        """Read a cell from its start; return where to continue, None at the end of the line."""
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
            raise self._misquoted(line[end + 1])
        return end + 2

    def _misquoted(self, after: str) -> RowError:
        reason = "text after a closing quote"
        if after in SEPARATORS:
            detail = f"cells are separated by {in_words(self._delimiter)}, not by {in_words(after)}"
            return RowError(reason, detail, f"If this is so in the whole file, read it with {with_delimiter(after)}.")
        return RowError(reason, "quote the whole cell and double the quotes in it")

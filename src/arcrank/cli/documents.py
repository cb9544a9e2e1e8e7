"""Documents to be ranked, as a stream: no labels are needed, and a line that is not JSON is a text.

Batches hold what has arrived, so the answer to a line on a pipe does not wait for the next one.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, NamedTuple

from arcrank.cli.inputs import opened, place_and_remedy
from arcrank.cli.output import say
from arcrank.cli.showing import count
from arcrank.datasets.formats.headers import refuse_other_header, refuse_other_separator
from arcrank.datasets.formats.jsonl import fault, invalid, shown
from arcrank.datasets.formats.lines import Lines, Options, RowError, decode
from arcrank.errors import FormatError

_CHUNK = 1 << 20
_LONGEST_LINE = 1 << 24
_ROWS = 1000
_BOM = b"\xef\xbb\xbf"
_ENDINGS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".svm": "svmlight", ".svmlight": "svmlight"}
_ENDINGS |= {".libsvm": "svmlight", ".parquet": "parquet", ".pq": "parquet"}
_ENDINGS |= {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
_LINES_OF_ANY_KIND = "lines"
"""What no ending and no flag has named, for a model that takes texts: a line is JSON or a text."""


@dataclass
class Documents:
    """A batch: texts, or features X whose columns may have names; and ids where rows have them."""

    texts: list[str] | None = None
    X: Any = None
    names: list[str] | None = None
    ids: list[str | None] | None = None

    def __len__(self) -> int:
        return len(self.texts) if self.texts is not None else int(self.X.shape[0])


def read_documents(
    path: str,
    format: str | None,
    *,
    takes_text: bool,
    quiet: bool = False,
    on_error: str | None = None,
    blank_lines: bool = False,
) -> Iterator[Documents]:
    """Yield the documents of a file or of standard input in batches, none of them empty.

    With `blank_lines` these are documents too where lines are texts, so that documents and lines keep step.
    `on_error` is "raise", "skip", or None where the user has no choice; what was skipped is told at the end.
    """
    from arcrank.datasets.locate import open_binary, readable

    with ExitStack() as stack:
        source = stack.enter_context(opened(path, "ranking", quiet=quiet))
        name = str(source.name)
        stack.enter_context(readable(name))
        stack.enter_context(place_and_remedy(on_error))
        lines = Lines(stack.enter_context(open_binary(source)), name, on_error or "raise")
        found = format or _recognised(path, lines.stream, takes_text=takes_text)
        skipped: Counter[str] = Counter()
        for batch in _batches(lines, found, takes_text=takes_text, blank_lines=blank_lines):
            skipped.update(lines.take_skipped())
            if len(batch):
                yield batch
        _tell_skipped(skipped + lines.skipped)


def _tell_skipped(skipped: Counter[str]) -> None:
    if skipped:
        reasons = ", ".join(f"{reason} ({n:,})" for reason, n in skipped.items())
        say(f"left out {count(skipped.total(), 'row')} that could not be read: {reasons}.")


def _recognised(path: str, stream: Any, *, takes_text: bool) -> str:
    """By the ending; what that does not tell is JSON or texts, or rows of numbers for a model that takes features."""
    from arcrank.datasets.formats.xc import is_header

    ending = os.path.splitext(path.removesuffix(".xz").removesuffix(".gz"))[1].lower()
    if ending in _ENDINGS or takes_text:
        return _ENDINGS.get(ending, _LINES_OF_ANY_KIND)
    start = stream.peek(_CHUNK).lstrip()
    if is_header(start.partition(b"\n")[0]):
        return "xc"
    return "jsonl" if start.startswith(b"{") else "svmlight"


def _batches(lines: Lines, format: str, *, takes_text: bool, blank_lines: bool) -> Iterator[Documents]:
    if format in ("jsonl", _LINES_OF_ANY_KIND):
        strict = format == "jsonl"
        reader = _JsonReader(lines, takes_text=takes_text, strict=strict, blank_lines=blank_lines and not strict)
        yield from reader.batches()
    elif format == "svmlight":
        yield from (_svmlight(lines, number, rows) for number, rows in line_batches(lines.stream, lines.name))
    elif format in ("csv", "tsv"):
        yield from _tables(lines, "," if format == "csv" else "\t")
    else:
        yield from _blocks(lines, format)


def line_batches(stream: Any, name: str) -> Iterator[tuple[int, list[bytes]]]:
    """Yield (number of the first line, lines): what is there, at most a megabyte and the rest of a line."""
    number, size = 1, 0
    pending: list[bytes] = []
    while data := stream.read1(_CHUNK):
        head, newline, tail = data.rpartition(b"\n")
        if newline:
            lines = b"".join([*pending, head]).split(b"\n")
            yield number, _without_bom(lines) if number == 1 else lines
            number, pending, size = number + len(lines), [tail], len(tail)
        else:
            pending.append(data)
            size += len(data)
        if size > _LONGEST_LINE:
            raise FormatError(f"{name}:{number}: a line of more than {_LONGEST_LINE:,} bytes.\nBreak it up.")
    if size:
        lines = [b"".join(pending)]
        yield number, _without_bom(lines) if number == 1 else lines


def _without_bom(lines: list[bytes]) -> list[bytes]:
    return [lines[0].removeprefix(_BOM), *lines[1:]]


class _JsonReader:
    """Lines of JSON objects with `text` or `features`; or, unless `strict`, of bare texts."""

    def __init__(self, lines: Lines, *, takes_text: bool, strict: bool, blank_lines: bool) -> None:
        self._lines = lines
        self._takes_text = takes_text
        self._strict = strict
        self._blank_lines = blank_lines
        self._broken = 0

    def batches(self) -> Iterator[Documents]:
        for number, lines in line_batches(self._lines.stream, self._lines.name):
            rows, failure = self._rows(number, lines)
            yield self._documents(rows)
            if failure is not None:  # after what came before it has been ranked
                raise failure
        if self._broken > 1:
            say(f"{self._broken:,} lines in all begin with {{ and are no JSON; they were taken as texts.")

    def _rows(self, first: int, lines: list[bytes]) -> tuple[list[tuple[Any, str | None]], FormatError | None]:
        """The rows that can be read, up to the one that ends it all."""
        rows: list[tuple[Any, str | None]] = []
        for number, line in enumerate(lines, start=first):
            try:
                row = self._attempt(number, line)
            except FormatError as failure:
                return rows, failure
            if row is not None:
                rows.append(row)
        return rows, None

    def _documents(self, rows: list[tuple[Any, str | None]]) -> Documents:
        named = any(name is not None for _, name in rows)
        ids = [name for _, name in rows] if named else None
        contents = [content for content, _ in rows]
        if self._takes_text:
            return Documents(texts=contents, ids=ids)
        return _named_features(contents, ids)

    def _attempt(self, number: int, line: bytes) -> tuple[Any, str | None] | None:
        if not self._blank_lines and not line.strip():
            return None
        try:
            return self._row(number, decode(line.removesuffix(b"\r")))
        except RowError as error:
            self._lines.fail(number, error)
            return None

    def _row(self, number: int, text: str) -> tuple[Any, str | None]:
        fields = self._fields(number, text)
        content = text if fields is None else _content(fields)
        if isinstance(content, str) != self._takes_text:
            wanted = "texts, this row has features" if self._takes_text else "features, this row is a text"
            raise FormatError(f"{self._lines.name}:{number}: the model takes {wanted}.\nRank what it learnt from.")
        return content, _id_of(fields)

    def _fields(self, number: int, text: str) -> dict[str, Any] | None:
        """The JSON object of a line; None where the line is a text."""
        if not self._strict and not text.lstrip().startswith("{"):
            if number == 1:
                self._doubt_header(text)
            return None
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError) as error:
            if self._strict:
                raise invalid(text, error) from error
            self._note_broken(number, fault(text, error))
            return None
        if not isinstance(fields, dict):
            raise invalid(text)
        return fields

    def _note_broken(self, number: int, why: str) -> None:
        self._broken += 1
        if self._broken == 1:
            say(f"{self._lines.name}:{number}: this is no JSON ({why}), so the line is taken as a text.")

    def _doubt_header(self, text: str) -> None:
        cells = [cell.strip() for cell in re.split(r"[,\t]", text.lower())]
        if len(cells) > 1 and "text" in cells:
            say(f"{self._lines.name}:1: taken as a text; if it is the header of a table, give --format csv or tsv.")


def _content(fields: dict[str, Any]) -> str | dict[str, float]:
    if isinstance(fields.get("text"), str):
        return str(fields["text"])
    features = fields.get("features")
    if not isinstance(features, dict):
        has = ", ".join(map(shown, fields))[:60] or "nothing"
        told = f'an object needs "text", a string, or "features", an object of numbers; this one has {has}'
        raise RowError("no document", told)
    for name, value in features.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise RowError("invalid features", f"{shown(name)} has the value {shown(value)}, not a finite number")
    return features


def _id_of(fields: dict[str, Any] | None) -> str | None:
    name = None if fields is None else fields.get("id")
    return None if name is None else str(name)


def _named_features(contents: list[dict[str, float]], ids: list[str | None] | None) -> Documents:
    import numpy as np
    from scipy.sparse import csr_matrix

    columns: dict[str, int] = {}
    indices = [columns.setdefault(name, len(columns)) for features in contents for name in features]
    values = np.array([float(value) for features in contents for value in features.values()])
    indptr = np.concatenate([[0], np.cumsum([len(features) for features in contents])]).astype(np.int64)
    X = csr_matrix((values, np.array(indices, dtype=np.int64), indptr), shape=(len(contents), len(columns)))
    return Documents(X=X, names=list(columns), ids=ids)


def _svmlight(lines: Lines, first: int, raw: list[bytes]) -> Documents:
    """Rows of `labels index:value ...`; labels are not looked at."""
    from arcrank.datasets.formats.decimals import plain_features
    from arcrank.datasets.formats.svmlight import Row, cut, parse_rows

    rows = []
    for number, line in enumerate(raw, start=first):
        data = line.partition(b"#")[0] if b"#" in line else line
        found = lines.attempt(number, cut, data) if data.strip() else None
        if found is not None:
            rows.append(Row(number, [], found[1]))
    X = plain_features([row.features for row in rows])
    if X is None:  # unusual numbers, or wrong ones: the careful reader names the row
        X = parse_rows(rows, lines, None)[1]
    return Documents(X=X)


def _tables(lines: Lines, delimiter: str) -> Iterator[Documents]:
    """The column called text, or the first of two at most where there is no header."""
    from arcrank.datasets.formats.tables import records

    columns: _TableColumns | None = None
    texts: list[str] = []
    ids: list[str] = []
    for number, cells in records(lines, delimiter):
        if columns is None:
            refuse_other_separator(lines.name, number, cells, delimiter)
            columns = _table_columns(lines.name, number, cells)
            if columns.in_header:
                continue
        if len(cells) != columns.width:
            lines.fail(number, _wrong_width(cells, columns, delimiter))
            continue
        texts.append(cells[columns.text])
        ids += [] if columns.id is None else [cells[columns.id]]
        if len(texts) == _ROWS:
            yield Documents(texts=texts, ids=[*ids] or None)
            texts, ids = [], []
    yield Documents(texts=texts, ids=[*ids] or None)


def _wrong_width(cells: list[str], columns: _TableColumns, delimiter: str) -> RowError:
    told = f"{len(cells)} where there should be {columns.width}; a text with {delimiter!r} in it needs quotes"
    return RowError("wrong number of columns", told)


class _TableColumns(NamedTuple):
    """The places of text and id (None: there is none), and how many cells a row has."""

    text: int
    id: int | None
    width: int
    in_header: bool


def _table_columns(name: str, number: int, cells: list[str]) -> _TableColumns:
    names = [cell.strip().lower() for cell in cells]
    if "text" in names:
        return _TableColumns(names.index("text"), names.index("id") if "id" in names else None, len(cells), True)
    refuse_other_header(name, number, cells, "text, and id if you like")
    return _TableColumns(0, None, min(len(cells), 2), False)


def _blocks(lines: Lines, format: str) -> Iterator[Documents]:
    """Formats that are read as they are for training, only that labels are not looked at."""
    from arcrank.datasets.read import FORMATS

    if format == "qid":
        raise FormatError(f"{lines.name}: queries with candidates have no labels to rank.\nGive documents.")
    for block in FORMATS[format](lines, Options(_ROWS, labelled=False)):
        lines.skipped.update(block.skipped)
        yield Documents(block.texts, block.X, block.feature_names, block.ids)

"""Documents to be ranked, as a stream: no labels are needed, and a line that is not JSON is a text.

Batches hold what has arrived, so the answer to a line on a pipe does not wait for the next one.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Any, cast

from arcrank.cli.inputs import STANDARD_INPUT, opened
from arcrank.datasets.formats.lines import Lines, RowError, decode
from arcrank.errors import FormatError

_CHUNK = 1 << 20
_LONGEST_LINE = 1 << 24
_ROWS = 1000
_BOM = b"\xef\xbb\xbf"
_ENDINGS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".svm": "svmlight", ".svmlight": "svmlight"}
_ENDINGS |= {".libsvm": "svmlight", ".parquet": "parquet", ".pq": "parquet"}


@dataclass
class Documents:
    """A batch: texts, or features X whose columns may have names; and ids where rows have them."""

    texts: list[str] | None = None
    X: Any = None
    names: list[str] | None = None
    ids: list[str | None] | None = None

    def __len__(self) -> int:
        return len(self.texts) if self.texts is not None else int(self.X.shape[0])


def read_documents(path: str, format: str | None, *, takes_text: bool, quiet: bool = False) -> Iterator[Documents]:
    """Yield the documents of a file or of standard input in batches, none of them empty."""
    from arcrank.datasets.locate import open_binary, readable

    with ExitStack() as stack:
        source = stack.enter_context(opened(path, "ranking", quiet=quiet))
        name = str(source.name)
        stack.enter_context(readable(name))
        stream = stack.enter_context(open_binary(source))
        found = format or _recognised(path, stream, takes_text=takes_text)
        for batch in _batches(stream, name, found, takes_text=takes_text):
            if len(batch):
                yield batch


def _recognised(path: str, stream: Any, *, takes_text: bool) -> str:
    """By the ending; standard input is JSON or texts, or svmlight where the model takes numbers."""
    ending = os.path.splitext(path.removesuffix(".xz").removesuffix(".gz"))[1].lower()
    if path == STANDARD_INPUT and not takes_text:
        return "jsonl" if stream.peek(1)[:1] == b"{" else "svmlight"
    return _ENDINGS.get(ending, "jsonl")


def _batches(stream: Any, name: str, format: str, *, takes_text: bool) -> Iterator[Documents]:
    if format == "jsonl":
        reader = _JsonReader(name, takes_text=takes_text)
        yield from (reader.batch(number, lines) for number, lines in line_batches(stream, name))
    elif format == "svmlight":
        yield from (_svmlight(name, number, lines) for number, lines in line_batches(stream, name))
    elif format in ("csv", "tsv"):
        yield from _tables(stream, name, "," if format == "csv" else "\t")
    else:
        yield from _with_labels(stream, name, format)


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
    """Lines of JSON objects with `text` or `features`, or of bare texts."""

    def __init__(self, name: str, *, takes_text: bool) -> None:
        self._name = name
        self._takes_text = takes_text

    def batch(self, first: int, lines: list[bytes]) -> Documents:
        rows = [self._row(number, line) for number, line in enumerate(lines, start=first) if line.strip()]
        named = any(name is not None for _, name in rows)
        ids = [name for _, name in rows] if named else None
        contents = [content for content, _ in rows]
        if self._takes_text:
            return Documents(texts=contents, ids=ids)
        return _named_features(contents, ids)

    def _row(self, number: int, line: bytes) -> tuple[Any, str | None]:
        try:
            text = decode(line.removesuffix(b"\r"))
            fields = _object_of(text)
            content = text if fields is None else _content(fields)
        except RowError as error:
            raise FormatError(f"{self._name}:{number}: {error}.\nCorrect this row.") from error
        if isinstance(content, str) != self._takes_text:
            wanted = "texts, this row has features" if self._takes_text else "features, this row is a text"
            raise FormatError(f"{self._name}:{number}: the model takes {wanted}.\nRank what it learnt from.")
        return content, _id_of(fields)


def _object_of(text: str) -> dict[str, Any] | None:
    """The JSON object of a line; None where the line is a text."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _content(fields: dict[str, Any]) -> str | dict[str, float]:
    if isinstance(fields.get("text"), str):
        return str(fields["text"])
    features = fields.get("features")
    if not isinstance(features, dict):
        raise RowError("no document", 'an object needs "text", a string, or "features", an object of numbers')
    for name, value in features.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise RowError("invalid features", f"{name!r} has the value {value!r:.60}, not a finite number")
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


def _svmlight(name: str, first: int, lines: list[bytes]) -> Documents:
    """Rows of `labels index:value ...`; labels are not looked at."""
    from arcrank.datasets.formats.decimals import plain_features
    from arcrank.datasets.formats.svmlight import Row, cut, parse_rows

    rows = []
    for number, line in enumerate(lines, start=first):
        data = line.partition(b"#")[0] if b"#" in line else line
        if data.strip():
            rows.append(Row(number, [], cut(data)[1]))
    X = plain_features([row.features for row in rows])
    if X is None:  # unusual numbers, or wrong ones: the careful reader names the row
        X = parse_rows(rows, Lines(io.BytesIO(), name), None)[1]
    return Documents(X=X)


def _tables(stream: IO[bytes], name: str, delimiter: str) -> Iterator[Documents]:
    """The column called text, or the first one where there is no header."""
    from arcrank.datasets.formats.tables import records

    places: tuple[int, int] | None = None
    texts: list[str] = []
    ids: list[str | None] = []
    for number, cells in records(Lines(stream, name), delimiter):
        if places is None:
            header = [cell.strip().lower() for cell in cells]
            places = (header.index("text") if "text" in header else 0, header.index("id") if "id" in header else -1)
            if "text" in header:
                continue
        if len(cells) <= max(places):
            raise FormatError(f"{name}:{number}: only {len(cells)} columns.\nCorrect this row.")
        texts.append(cells[places[0]])
        ids.append(cells[places[1]] if places[1] >= 0 else None)
        if len(texts) == _ROWS:
            yield Documents(texts=texts, ids=ids if places[1] >= 0 else None)
            texts, ids = [], []
    yield Documents(texts=texts, ids=ids if places and places[1] >= 0 else None)


def _with_labels(stream: IO[bytes], name: str, format: str) -> Iterator[Documents]:
    """Formats that are read with their labels, which are not looked at."""
    from arcrank.datasets import iter_corpus

    for block in iter_corpus(cast(IO[bytes], _Named(stream, name)), format, batch_rows=_ROWS):
        if block.ptr is not None:
            raise FormatError(f"{name}: queries with candidates have no labels to rank.\nGive documents.")
        yield Documents(block.texts, block.X, block.feature_names, block.ids)


class _Named(io.RawIOBase):
    """A stream under the name that errors call it."""

    def __init__(self, stream: Any, name: str) -> None:
        self.name = name
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._stream.seekable())

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._stream.seek(offset, whence))

    def tell(self) -> int:
        return int(self._stream.tell())

    def readinto(self, buffer: Any) -> int:
        return int(self._stream.readinto1(buffer))

"""Corpora as files: JSON lines, CSV, TSV and svmlight, written block by block."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from scipy.sparse import csr_matrix, issparse

from arcrank._wording import as_json
from arcrank.datasets.corpus import Corpus
from arcrank.datasets.supervision import row_preferences
from arcrank.errors import ParameterError
from arcrank.io.atomic import write_atomically
from arcrank.io.compressed import compress

__all__ = ["WRITERS", "compress_lines", "format_of_output", "rows_of", "write_corpus"]

_ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv"}
_ENDINGS |= {".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight"}
_NOT_IN_SVMLIGHT = re.compile(r"[\s,#]")


def write_corpus(corpus: Corpus | Iterable[Corpus], path: str | os.PathLike[str], format: str | None = None) -> None:
    """Write a corpus to a file that `read_corpus` reads; the file is written completely or not at all.

    JSON lines take every kind of supervision, texts and features. CSV and TSV take texts with label sets, svmlight
    features with label sets; feature names and ids are left out in svmlight files. Ranks are written as layers. Splits,
    the hierarchy, descriptions, and labels that no instance has are not part of any of these formats.

    Parameters
    ----------
    corpus : Corpus, or iterable of Corpus
        A corpus, or blocks of one as `iter_corpus` yields them, which are written one by one.
    path : path
        The file; it is compressed if the name ends in .gz or .xz.
    format : {"jsonl", "csv", "tsv", "svmlight"}, optional
        By default the file extension decides: .jsonl or .ndjson, .csv, .tsv or .tab, .svm, .svmlight or .libsvm.

    Raises
    ------
    ParameterError
        If the format is not known or cannot hold the corpus; an existing file at `path` is left unchanged.

    Examples
    --------
    >>> import tempfile
    >>> from arcrank.datasets import Corpus, read_corpus
    >>> corpus = Corpus(labels=["crude", "ship"], texts=["oil", "a tanker"], label_sets=[["crude"], ["ship", "crude"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_corpus(corpus, f"{folder}/news.csv.gz")
    ...     read_corpus(f"{folder}/news.csv.gz").label_sets
    [['crude'], ['ship', 'crude']]
    """
    name = os.fspath(path)
    write = WRITERS[format_of_output(name, format)]
    blocks = [corpus] if isinstance(corpus, Corpus) else corpus
    write_atomically(path, compress_lines(name, write(blocks)), streamed=True)


def rows_of(block: Corpus) -> Iterator[dict[str, Any]]:
    """The rows of a block as JSON objects, as the reader of JSON lines expects them."""
    if block.ptr is not None:
        raise ParameterError(
            f"{block.source}: queries with candidates cannot be written in any of these formats.\n"
            "Convert files of documents with label sets, layers, rankings or arcs."
        )
    supervision, ids = row_preferences(block), block.ids or [None] * len(block)
    for name, content, (kind, value) in zip(ids, _contents(block), supervision, strict=True):
        named = {} if name is None else {"id": name}
        yield {**named, **content, kind: value if kind == "labels" else [list(one) for one in value]}


def _contents(block: Corpus) -> Iterator[dict[str, Any]]:
    block.refuse_table("conversion")
    if block.texts is not None:
        yield from ({"text": text} for text in block.texts)
        return
    X, names = block.X if issparse(block.X) else csr_matrix(block.X), block.feature_names
    for start, end in zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True):
        columns, values = X.indices[start:end].tolist(), X.data[start:end].tolist()
        yield {"features": {names[j] if names else str(j): v for j, v in zip(columns, values, strict=True)}}


def jsonl(blocks: Iterable[Corpus]) -> Iterator[bytes]:
    """JSON lines hold every kind of row."""
    for block in blocks:
        for row in rows_of(block):
            yield as_json(row).encode() + b"\n"


def _table(delimiter: str) -> Callable[[Iterable[Corpus]], Iterator[bytes]]:
    def write(blocks: Iterable[Corpus]) -> Iterator[bytes]:
        """A header, then `text` and `labels`, and `id` if the first row has one."""
        columns: list[str] | None = None
        for number, row in enumerate((row for block in blocks for row in rows_of(block)), start=1):
            if columns is None:
                columns = ["id", "text", "labels"] if "id" in row else ["text", "labels"]
                yield _line(columns, delimiter)
            cells = {"id": row.get("id") or "", "text": _text(row, number), "labels": _joined(row, number)}
            yield _line([cells[column] for column in columns], delimiter)

    return write


def _line(cells: list[str], delimiter: str) -> bytes:
    """Every cell is quoted, because the reader ignores blank lines."""
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(cells)
    return line.getvalue().encode()


def _text(row: dict[str, Any], number: int) -> str:
    if "text" not in row:
        raise ParameterError(f"Row {number:,} has features; a table holds texts.\nWrite .jsonl or .svmlight instead.")
    return str(row["text"])


def _labels(row: dict[str, Any], number: int) -> list[str]:
    if "labels" not in row:
        kind = next(kind for kind in ("layers", "arcs", "votes") if kind in row)
        raise ParameterError(f"Row {number:,} has {kind}; this format holds only label sets.\nWrite .jsonl instead.")
    return [str(label) for label in row["labels"]]


def _joined(row: dict[str, Any], number: int) -> str:
    labels = _labels(row, number)
    for label in labels:
        if ";" in label or label != label.strip() or not label:
            raise ParameterError(
                f"Row {number:,} has the label {label!r:.60}, which a table cannot hold: it separates labels with ; "
                "and drops spaces around them.\nWrite .jsonl instead."
            )
    return ";".join(labels)


def svmlight(blocks: Iterable[Corpus]) -> Iterator[bytes]:
    """Features under their numbers; named features are numbered in order of appearance."""
    places: dict[str, int] = {}
    number = 0
    for block in blocks:
        named = block.feature_names is not None
        for row in rows_of(block):
            number += 1
            if "features" not in row:
                raise ParameterError(
                    f"Row {number:,} is a text; svmlight holds numbers.\nWrite .jsonl or .csv instead."
                )
            features = {
                places.setdefault(name, len(places)) if named else int(name): value
                for name, value in row["features"].items()
            }
            pairs = (f"{j}:{value!r}" for j, value in sorted(features.items()))
            line = f"{_names(row, number)} {' '.join(pairs)}"
            yield (line if line.strip() else " 0:0").encode() + b"\n"  # a blank line would not be a row


def _names(row: dict[str, Any], number: int) -> str:
    labels = _labels(row, number)
    for label in labels:
        if not label or _NOT_IN_SVMLIGHT.search(label) or re.match(r"\d+:", label):
            raise ParameterError(
                f"Row {number:,} has the label {label!r:.60}, which svmlight cannot hold: its labels have no spaces, "
                "commas or #.\nWrite .jsonl instead."
            )
    return ",".join(labels)


WRITERS: dict[str, Callable[[Iterable[Corpus]], Iterator[bytes]]] = {
    "jsonl": jsonl,
    "csv": _table(","),
    "tsv": _table("\t"),
    "svmlight": svmlight,
}


def format_of_output(path: str, given: str | None) -> str:
    """The format that was given, or that of the file extension before .gz or .xz."""
    plain = path.removesuffix(".gz").removesuffix(".xz")
    found = given or next((kind for ending, kind in _ENDINGS.items() if plain.lower().endswith(ending)), None)
    if found not in WRITERS:
        raise ParameterError(
            f"{path}: {'the file extension names no' if given is None else f'{given!r} is not a'} format that can be "
            "written.\nEnd the name in .jsonl, .csv, .tsv or .svmlight, or name one of these formats."
        )
    return found


def compress_lines(path: str, lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of the file, compressed if its name ends in .gz or .xz."""
    return compress(path, _joined_lines(lines))


def _joined_lines(lines: Iterable[bytes], size: int = 1 << 16) -> Iterator[bytes]:
    """Join lines into blocks, to save system calls."""
    held, length = [], 0
    for line in lines:
        held.append(line)
        length += len(line)
        if length >= size:
            yield b"".join(held)
            held, length = [], 0
    yield b"".join(held)

"""Corpora as files: JSON lines, CSV, TSV and svmlight, written block by block."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from arcrank.errors import ParameterError
from arcrank.io.compressed import compress

if TYPE_CHECKING:
    from arcrank.datasets import Corpus

__all__ = ["WRITERS", "format_of_output", "packed", "rows_of"]

_ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv"}
_ENDINGS |= {".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight"}
_NOT_IN_SVMLIGHT = re.compile(r"[\s,#]")


def rows_of(block: Corpus) -> Iterator[dict[str, Any]]:
    """The rows of a block as JSON objects: what the reader of JSON lines reads."""
    for i in range(len(block)):
        name = None if block.ids is None else block.ids[i]
        yield {**({} if name is None else {"id": name}), **_content(block, i), **_preference(block, i)}


def _content(block: Corpus, i: int) -> dict[str, Any]:
    if block.texts is not None:
        return {"text": block.texts[i]}
    if block.ptr is not None:
        raise ParameterError(
            f"{block.source}: queries with candidates have no form in the files that can be written.\n"
            "Convert files of documents with label sets, layers, rankings or arcs."
        )
    X = block.X if hasattr(block.X, "indptr") else _sparse(block.X[[i]])
    at = slice(X.indptr[i], X.indptr[i + 1]) if X is block.X else slice(None)
    names, columns, values = block.feature_names, X.indices[at].tolist(), X.data[at].tolist()
    return {"features": {names[j] if names else str(j): v for j, v in zip(columns, values, strict=True)}}


def _sparse(row: Any) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix(row)


def _preference(block: Corpus, i: int) -> dict[str, Any]:
    if block.label_sets is not None:
        return {"labels": block.label_sets[i]}
    if block.preferences is not None:
        kind, value = block.preferences[i]
        return {kind: [list(one) for one in value] if kind != "labels" else value}
    return {"layers": _layers(block.ranks[i], block.labels)}  # type: ignore[index]


def _layers(ranks: Any, labels: list[str]) -> list[list[str]]:
    """Rank positions as layers, best first; NaN is not judged."""
    judged = sorted({rank for rank in ranks.tolist() if rank > 0})
    return [[labels[j] for j, rank in enumerate(ranks.tolist()) if rank == level] for level in judged]


def jsonl(blocks: Iterable[Corpus]) -> Iterator[bytes]:
    """Every kind of row has a form here."""
    for block in blocks:
        for row in rows_of(block):
            yield json.dumps(row, ensure_ascii=False).encode() + b"\n"


def _table(delimiter: str) -> Callable[[Iterable[Corpus]], Iterator[bytes]]:
    def write(blocks: Iterable[Corpus]) -> Iterator[bytes]:
        """A header, then `text` and `labels`; ids where the first row has one."""
        columns: list[str] | None = None
        for number, row in enumerate((row for block in blocks for row in rows_of(block)), start=1):
            if columns is None:
                columns = ["id", "text", "labels"] if "id" in row else ["text", "labels"]
                yield _line(columns, delimiter)
            cells = {"id": row.get("id") or "", "text": _text(row, number), "labels": _joined(row, number)}
            yield _line([cells[column] for column in columns], delimiter)

    return write


def _line(cells: list[str], delimiter: str) -> bytes:
    """Every cell is quoted: the reader takes a line of blanks for no row."""
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(cells)
    return line.getvalue().encode()


def _text(row: dict[str, Any], number: int) -> str:
    if "text" not in row:
        raise ParameterError(f"Row {number:,} has features, and a table has none.\nConvert to .jsonl or .svmlight.")
    return str(row["text"])


def _labels(row: dict[str, Any], number: int, remedy: str) -> list[str]:
    if "labels" not in row:
        kind = next(kind for kind in ("layers", "arcs") if kind in row)
        raise ParameterError(f"Row {number:,} has {kind}, and this format knows label sets only.\n{remedy}")
    return [str(label) for label in row["labels"]]


def _joined(row: dict[str, Any], number: int) -> str:
    labels = _labels(row, number, "Convert to .jsonl.")
    for label in labels:
        if ";" in label or label != label.strip() or not label:
            raise ParameterError(
                f"Row {number:,} has the label {label!r:.60}, which a table cannot hold:\nit separates labels with "
                "; and drops spaces around them. Convert to .jsonl."
            )
    return ";".join(labels)


def svmlight(blocks: Iterable[Corpus]) -> Iterator[bytes]:
    """Features under their numbers; named features get them in the order in which they come."""
    places: dict[str, int] = {}
    number = 0
    for block in blocks:
        named = block.feature_names is not None
        for row in rows_of(block):
            number += 1
            if "features" not in row:
                raise ParameterError(
                    f"Row {number:,} is a text, and svmlight holds numbers.\nConvert to .jsonl or .csv."
                )
            features = {
                places.setdefault(name, len(places)) if named else int(name): value
                for name, value in row["features"].items()
            }
            pairs = (f"{j}:{value!r}" for j, value in sorted(features.items()))
            yield (_names(row, number) + " " + " ".join(pairs) + "\n").encode()


def _names(row: dict[str, Any], number: int) -> str:
    labels = _labels(row, number, "Convert to .jsonl.")
    for label in labels:
        if not label or _NOT_IN_SVMLIGHT.search(label) or re.match(r"\d+:", label):
            raise ParameterError(
                f"Row {number:,} has the label {label!r:.60}, which svmlight cannot hold: no blanks, commas or #.\n"
                "Convert to .jsonl."
            )
    return ",".join(labels)


WRITERS: dict[str, Callable[[Iterable[Corpus]], Iterator[bytes]]] = {
    "jsonl": jsonl,
    "csv": _table(","),
    "tsv": _table("\t"),
    "svmlight": svmlight,
}


def format_of_output(path: str, given: str | None) -> str:
    """By the ending, under which a packing may stand."""
    plain = path.removesuffix(".gz").removesuffix(".xz")
    found = given or next((kind for ending, kind in _ENDINGS.items() if plain.lower().endswith(ending)), None)
    if found not in WRITERS:
        raise ParameterError(f"{path}: what to write?\nEnd the name in .jsonl, .csv, .tsv or .svmlight, or give --to.")
    return found


def packed(path: str, lines: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes of the file: as they are, or compressed where the name ends in .gz or .xz."""
    return compress(path, _gathered(lines))


def _gathered(lines: Iterable[bytes], size: int = 1 << 16) -> Iterator[bytes]:
    """Lines in blocks worth a system call."""
    held, length = [], 0
    for line in lines:
        held.append(line)
        length += len(line)
        if length >= size:
            yield b"".join(held)
            held, length = [], 0
    yield b"".join(held)

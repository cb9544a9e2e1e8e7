"""Parquet with columns `text`, `labels` (lists of strings, or strings `a;b`) and, if wanted, `id`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, Any

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.lines import Lines, Options, RowError
from arcrank.datasets.formats.rows import Row, row_blocks
from arcrank.errors import FormatError, ParameterError

__all__ = ["blocks"]


def blocks(stream: IO[bytes], lines: Lines, options: Options) -> Iterator[Corpus]:
    """Yield the rows in blocks; `lines` only counts and names what fails, by the number of the row."""
    return row_blocks(_rows(stream, lines, labelled=options.labelled), lines, options)


def _rows(stream: IO[bytes], lines: Lines, *, labelled: bool) -> Iterator[tuple[int, Row]]:
    number = 0
    for batch in _batches(stream, lines.name, ("text", "labels") if labelled else ("text",)):
        for fields in batch:
            number += 1
            try:
                yield number, _row(fields)
            except RowError as error:
                lines.fail(number, error)


def _batches(stream: IO[bytes], name: str, needed: tuple[str, ...]) -> Iterator[list[dict[str, Any]]]:
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ParameterError("Parquet files need pyarrow: install arcrank with its extra, arcrank[parquet]") from error
    try:
        file = ParquetFile(stream if stream.seekable() else io.BytesIO(stream.read()))
        wanted = [column for column in ("id", *needed) if column in file.schema_arrow.names]
        if not {*needed} <= {*wanted}:
            columns = f"columns {' and '.join(needed)} are" if len(needed) > 1 else f"a column {needed[0]} is"
            raise FormatError(f"{name}: {columns} needed, got {', '.join(file.schema_arrow.names)}")
        for batch in file.iter_batches(batch_size=1000, columns=wanted):
            yield batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise FormatError(f"{name}: the file is truncated or damaged ({error})") from error


def _row(fields: dict[str, Any]) -> Row:
    text, labels, name = fields["text"], fields.get("labels", []), fields.get("id")
    if not isinstance(text, str):
        raise RowError("invalid text", f"a string, not {text!r:.60}")
    if isinstance(labels, str):
        labels = [label.strip() for label in labels.split(";")] if labels.strip() else []
    if not isinstance(labels, list) or not all(isinstance(label, str) and label for label in labels):
        raise RowError("invalid labels", f"a list of strings, not {labels!r:.60}")
    return Row(text, "labels", list(dict.fromkeys(labels)), None if name is None else str(name))

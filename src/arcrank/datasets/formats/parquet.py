"""Parquet with a column of texts, one of labels (lists, strings `a;b` or whole numbers) and optionally `id`.

Without a text, all columns but labels and id are features.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.columns import find_columns, find_table, missing_columns
from arcrank.datasets.formats.comparisons import holds_comparisons
from arcrank.datasets.formats.lines import Lines
from arcrank.datasets.formats.options import Options
from arcrank.datasets.formats.rows import Row, row_blocks
from arcrank.datasets.formats.table_rows import comparison_rows, feature_rows, table_rows
from arcrank.errors import FormatError, ParameterError

__all__ = ["blocks", "read_frame"]


def blocks(lines: Lines, options: Options) -> Iterator[Corpus]:
    """Yield the rows in blocks; `lines` only counts and reports rows that fail, by their number."""
    return row_blocks(_rows(lines.stream, lines, options), lines, options)


def _rows(stream: IO[bytes], lines: Lines, options: Options) -> Iterator[tuple[int, Row | None]]:
    with _parquet_file(stream, lines.name) as file:
        names = file.schema_arrow.names
        if holds_comparisons(names, options):
            objects = (row for batch in file.iter_batches(batch_size=1000) for row in batch.to_pylist())
            yield from comparison_rows(objects, lines, options)
        elif (columns := find_table(lines.name, names, options)) is not None:
            batches = (batch.to_pydict().values() for batch in file.iter_batches(batch_size=1000))
            records = (row for values in batches for row in zip(*values, strict=True))
            yield from feature_rows(records, columns, lines, options)
        else:
            yield from table_rows(_records(file, lines.name, options), lines, options)


def read_frame(stream: IO[bytes], name: str) -> Any:
    """Return the whole file as a table of pyarrow."""
    with _parquet_file(stream, name) as file:
        return file.read()


def _records(file: Any, name: str, options: Options) -> Iterator[tuple[Any, Any, Any]]:
    names = file.schema_arrow.names
    columns = find_columns(name, names, options)
    if columns is None:
        raise missing_columns(name, names, options)
    wanted = [None if j is None else names[j] for j in columns[:3]]
    for batch in file.iter_batches(batch_size=1000, columns=[column for column in wanted if column is not None]):
        texts, labels, ids = (_values(batch, column) for column in wanted)
        yield from zip(texts, map(columns.label_cell, labels), ids, strict=True)


@contextmanager
def _parquet_file(stream: IO[bytes], name: str) -> Iterator[Any]:
    """Yield the open file; errors of pyarrow become a `FormatError`."""
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ParameterError("Parquet files need pyarrow: install arcrank with its extra, arcrank[parquet]") from error
    try:
        yield ParquetFile(stream if stream.seekable() else io.BytesIO(stream.read()))
    except (pa.ArrowException, OSError) as error:
        raise FormatError(f"{name}: the file is truncated or damaged ({error})") from error


def _values(batch: Any, column: str | None) -> list[Any]:
    return [None] * batch.num_rows if column is None else batch.column(column).to_pylist()

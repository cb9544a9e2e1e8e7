"""Rows of tables whose cells have types: Parquet files and DataFrames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from arcrank.datasets.formats.cells import LabelCells, is_missing, shown
from arcrank.datasets.formats.columns import TableColumns
from arcrank.datasets.formats.comparisons import comparison_row
from arcrank.datasets.formats.headers import Suspicions
from arcrank.datasets.formats.lines import Lines, RowError
from arcrank.datasets.formats.options import Options
from arcrank.datasets.formats.rows import Row

__all__ = ["comparison_rows", "feature_rows", "table_rows"]


def comparison_rows(
    records: Iterable[dict[str, Any]], lines: Lines, options: Options
) -> Iterator[tuple[int, Row | None]]:
    """Yield (number from 1, row) of records that hold votes or scores."""
    for number, fields in enumerate(records, start=1):
        row = None
        try:
            row = comparison_row(fields, options)
        except RowError as error:
            lines.fail(number, error)
        yield number, row


def feature_rows(
    records: Iterable[Sequence[Any]], columns: TableColumns, lines: Lines, options: Options
) -> Iterator[tuple[int, Row | None]]:
    """Yield (number from 1, row) of a table whose columns are features."""
    cells = LabelCells.given(options, LabelCells())
    for number, values in enumerate(records, start=1):
        row = None
        try:
            row = columns.row(values, cells)
        except RowError as error:
            lines.fail(number, error)
        yield number, row


def table_rows(
    records: Iterable[tuple[Any, Any, Any]], lines: Lines, options: Options
) -> Iterator[tuple[int, Row | None]]:
    """Yield (number from 1, row) of records (text, labels, id)."""
    cells = LabelCells.given(options, LabelCells())
    suspicions = Suspicions(lines.name, header=True, separator=options.label_separator)
    for number, (text, labels, name) in enumerate(records, start=1):
        row = None
        try:
            row = _row(text, labels, name, cells)
        except RowError as error:
            lines.fail(number, error)
        if row is not None and isinstance(labels, str):
            suspicions.watch(str(text), row.value)
        yield number, row
    suspicions.warn()


def _row(text: Any, labels: Any, name: Any, cells: LabelCells) -> Row:
    if not isinstance(text, str):
        raise RowError("invalid text", f"a string, not {shown(text)}")
    found = cells.labels(labels)
    if "" in found:
        raise RowError("invalid labels", f"an empty name in {shown(labels)}")
    return Row(text, "labels", found, None if is_missing(name) else str(name))

"""DataFrames of pandas and polars, and tables of pyarrow; none of these libraries is imported.

Only what they have in common is used: column names, and columns that convert to lists.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, Protocol, TypeGuard

from arcrank.datasets.corpus import Corpus
from arcrank.datasets.formats.columns import find_columns, find_table, missing_columns
from arcrank.datasets.formats.comparisons import holds_comparisons
from arcrank.datasets.formats.lines import Lines
from arcrank.datasets.formats.options import Options
from arcrank.datasets.formats.rows import row_blocks
from arcrank.datasets.formats.table_rows import comparison_rows, feature_rows, table_rows

__all__ = ["Frame", "blocks", "is_frame"]

_NAME = "DataFrame"


class Frame(Protocol):
    """What DataFrames of all libraries have."""

    @property
    def columns(self) -> Any:
        """The names of the columns (pyarrow has the columns themselves here, and `column_names`)."""

    def __getitem__(self, name: Any, /) -> Any:
        """The column of a name."""


def is_frame(source: object) -> TypeGuard[Frame]:
    """Whether an object is a DataFrame, as far as can be known without importing its library."""
    return hasattr(source, "columns") and hasattr(source, "__getitem__") and hasattr(source, "shape")


def blocks(frame: Frame, on_error: str, options: Options) -> Iterator[Corpus]:
    """Yield the rows in blocks; errors name a row by its position, as `.iloc` counts."""
    lines = Lines(io.BytesIO(), _NAME, on_error)
    lines.place = lambda number: f"{_NAME}.iloc[{number - 1}]"
    names = list(getattr(frame, "column_names", frame.columns))
    if holds_comparisons([str(name) for name in names], options):
        columns = zip(*(_values(frame[name]) for name in names), strict=True)
        records = (dict(zip(map(str, names), values, strict=True)) for values in columns)
        return row_blocks(comparison_rows(records, lines, options), lines, options)
    table = find_table(_NAME, [str(name) for name in names], options)
    if table is not None:
        rows = zip(*(_values(frame[name]) for name in names), strict=True)
        return row_blocks(feature_rows(rows, table, lines, options), lines, options)
    return row_blocks(table_rows(_records(frame, options), lines, options), lines, options)


def _records(frame: Frame, options: Options) -> Iterator[tuple[Any, Any, Any]]:
    names = list(getattr(frame, "column_names", frame.columns))
    shown = [str(name) for name in names]
    columns = find_columns(_NAME, shown, options)
    if columns is None:
        raise missing_columns(_NAME, shown, options)
    texts = _values(frame[names[columns.text]])
    labels, ids = ([None] * len(texts) if j is None else _values(frame[names[j]]) for j in (columns.labels, columns.id))
    yield from zip(texts, map(columns.label_cell, labels), ids, strict=True)


def _values(column: Any) -> list[Any]:
    return list(column.to_list() if hasattr(column, "to_list") else column.to_pylist())

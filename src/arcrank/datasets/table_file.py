"""CSV, TSV and Parquet files whose columns are features: the columns by name, and the labels of the rows."""

from __future__ import annotations

import io
import os
from typing import IO, Any, NamedTuple

from arcrank.datasets.formats import frame
from arcrank.datasets.formats.cells import SEPARATOR, LabelCells
from arcrank.datasets.formats.columns import find_label_column
from arcrank.datasets.formats.lines import Lines, RowError
from arcrank.datasets.formats.options import Options
from arcrank.datasets.formats.parquet import read_frame
from arcrank.datasets.formats.tables import table_records
from arcrank.datasets.request import Request
from arcrank.errors import FormatError, ParameterError

__all__ = ["LabelledTable", "read_table"]

_DELIMITERS = {"csv": ",", "tsv": "\t"}


class LabelledTable(NamedTuple):
    r"""A table as `TableFeatures` takes it, and the label set of each row.

    Examples
    --------
    >>> import io
    >>> from arcrank.datasets import read_table
    >>> from arcrank.tables import TableFeatures
    >>> table = read_table(io.BytesIO(b"age,colour,labels\n31,red,tea;milk\n,blue,milk"), "csv")
    >>> TableFeatures().fit(table.columns).kinds_
    {'age': 'number', 'colour': 'category'}
    """

    columns: dict[str, list[Any]]
    """The values of each column but that of the labels, None for missing ones; strings where the file has no types."""
    label_sets: list[list[str]] | None
    """None where labels were not asked for."""


def read_table(
    path: str | os.PathLike[str] | IO[bytes] | frame.Frame,
    format: str | None = None,
    *,
    labelled: bool = True,
    label_column: str | None = None,
    label_separator: str | None = None,
    delimiter: str | None = None,
    on_error: str = "raise",
    max_line_bytes: int = 1 << 24,
) -> LabelledTable:
    r"""Read a table whose columns are features of any kind: numbers, categories, dates, texts.

    Parameters
    ----------
    path : str, path, binary stream or DataFrame
        A CSV or TSV file with a header, or a Parquet file; compressed files (.gz, .xz) too.
    format : {"csv", "tsv", "parquet"}, optional
        By default from the extension.
    labelled : bool
        Whether there is a column of labels; without, all columns are features.
    label_column, label_separator, delimiter, on_error, max_line_bytes
        As in `read_corpus`.

    Examples
    --------
    >>> import io
    >>> from arcrank.datasets import read_table
    >>> file = io.BytesIO(b"age,colour,labels\n31,red,tea;milk\n,blue,milk")
    >>> read_table(file, "csv")
    LabelledTable(columns={'age': ['31', None], 'colour': ['red', 'blue']}, label_sets=[['tea', 'milk'], ['milk']])
    """
    from arcrank.tables.cells import table_columns  # its package imports scikit-learn, which reading does without

    options = Options(
        1, delimiter=delimiter, label_column=label_column, label_separator=label_separator, labelled=labelled
    )
    request = Request(path, format, on_error, max_line_bytes, options)
    if frame.is_frame(path):
        return _of_columns(table_columns(path), Lines(io.BytesIO(), "DataFrame", on_error), options, LabelCells())
    with request.opened() as (stream, name, found):
        lines = Lines(stream, name, on_error, max_line_bytes)
        if found == "parquet":
            return _of_columns(table_columns(read_frame(stream, name)), lines, options, LabelCells())
        if found in _DELIMITERS:
            return _of_lines(lines, delimiter or _DELIMITERS[found], options)
        raise ParameterError(f"{name}: a table is CSV, TSV or Parquet, but this file is read as {found}.")


def _of_lines(lines: Lines, delimiter: str, options: Options) -> LabelledTable:
    """Read a file of delimited cells; an empty cell is a missing value."""
    records = ((number, cells) for number, cells in table_records(lines, delimiter) if cells is not None)
    _, header = next(records, (0, None))
    if header is None:
        raise FormatError(f"{lines.name}: the file is empty: a table has a header with the names of its columns.")
    if len(set(header)) < len(header):
        raise FormatError(f"{lines.name}: two columns have the same name; names must be unique.")
    rows, numbers = [], []
    for number, cells in records:
        if len(cells) == len(header):
            rows.append([cell or None for cell in cells])
            numbers.append(number)
        else:
            lines.fail(number, RowError("wrong number of columns", f"{len(cells)} instead of {len(header)}"))
    columns = {name: [row[j] for row in rows] for j, name in enumerate(header)}
    cells_of_labels = LabelCells(None, doubtful=";,|") if delimiter == SEPARATOR else LabelCells()
    return _of_columns(columns, lines, options, cells_of_labels, numbers)


def _of_columns(
    columns: dict[str, list[Any]],
    lines: Lines,
    options: Options,
    otherwise: LabelCells,
    numbers: list[int] | None = None,
) -> LabelledTable:
    """Take the labels out of the columns; `numbers` are the lines of the rows."""
    at = find_label_column(lines.name, list(columns), options)
    if at is None:
        return LabelledTable(columns, None)
    cells, kept, sets = LabelCells.given(options, otherwise), [], []
    for row, value in enumerate(columns.pop(list(columns)[at])):
        try:
            found = cells.labels(value)
            options.check_labels(found)
        except RowError as error:
            lines.fail(row + 1 if numbers is None else numbers[row], error)
        else:
            kept.append(row)
            sets.append(found)
    return LabelledTable({name: [values[row] for row in kept] for name, values in columns.items()}, sets)

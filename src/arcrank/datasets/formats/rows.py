"""Rows with a text or named features and one kind of preference, gathered into blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arcrank.datasets.corpus import Corpus, labels_of
from arcrank.datasets.formats.gather import gathered
from arcrank.datasets.formats.lines import Lines, RowError
from arcrank.datasets.formats.options import Options
from arcrank.errors import FormatError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["Row", "TableRow", "feature_matrix", "row_blocks"]


class TableRow(dict[str, Any]):
    """The cells of a row whose columns are features of any kind, by their names; None is a missing value."""


class Row(NamedTuple):
    """One instance. `content` is a text, {feature: value} or a row of a table; `value` as in `Corpus.preferences`."""

    content: str | dict[str, float] | TableRow
    kind: str
    value: Any
    name: str | None = None

    def labels(self) -> list[str]:
        """Return the labels that the preference names."""
        return labels_of(self.kind, self.value)


def row_blocks(rows: Iterator[tuple[int, Row | None]], lines: Lines, options: Options) -> Iterator[Corpus]:
    """Gather (number, row) into blocks; the first row decides whether the file holds texts or features.

    A row of None is a line without a row. Named features keep their columns, so that later blocks only add some; rows
    without labels are ranked and discarded, and so are their columns.
    """
    columns: dict[str, int] = {}
    first: type | None = None
    for batch in gathered(_checked(rows, lines, options), lines, options):
        first = type(batch[0].content)
        yield _block(batch, columns if options.labelled else {}, first, lines, options)
    if lines.skipped:
        yield _block([], columns, first, lines, options)


def _checked(rows: Iterator[tuple[int, Row | None]], lines: Lines, options: Options) -> Iterator[Row | None]:
    first: type | None = None
    for number, row in rows:
        if row is None:
            yield None
            continue
        if options.takes not in (None, _kind(row.content)):
            raise _wrong_kind(lines.place(number), options, _kind(row.content))
        first = first or type(row.content)
        try:
            _check(row, first, options)
        except RowError as error:
            lines.fail(number, error)
            yield None
        else:
            yield row


_WANTED = {"text": "texts", "features": "features", "table": "the columns of a table"}
_FOUND = {"text": "is a text", "features": "has features", "table": "has the columns of a table"}


def _kind(content: str | dict[str, float] | TableRow) -> str:
    return "table" if isinstance(content, TableRow) else "features" if isinstance(content, dict) else "text"


def _wrong_kind(place: str, options: Options, found: str) -> FormatError:
    """The error for a row that the model cannot take; it is raised even with "skip", since the other rows are alike."""
    return FormatError(
        f"{place}: the model takes {_WANTED[options.takes or found]}, but this row {_FOUND[found]}.\n"
        "Give documents like those it was trained on."
    )


def _check(row: Row, first: type, options: Options) -> None:
    if type(row.content) is not first:
        raise RowError("texts and features in one file", "every row must have what the first one has")
    options.check_labels(row.labels())


def _block(rows: list[Row], columns: dict[str, int], first: type | None, lines: Lines, options: Options) -> Corpus:
    contents = [row.content for row in rows]
    tabular, featured = first is TableRow, first is dict
    only_sets = all(row.kind == "labels" for row in rows)
    return Corpus(
        labels=list(options.labels or sorted({label for row in rows for label in row.labels()})),
        texts=None if tabular or featured else contents,  # type: ignore[arg-type]
        X=feature_matrix(contents, columns) if featured else None,
        table=_table(contents) if tabular else None,
        feature_names=list(columns) if featured else None,
        label_sets=[row.value for row in rows] if only_sets else None,
        preferences=None if only_sets else [(row.kind, row.value) for row in rows],
        ids=[row.name for row in rows] if any(row.name is not None for row in rows) else None,
        source=lines.name,
        skipped=lines.take_skipped(),
    )


def _table(contents: list[Any]) -> dict[str, list[Any]]:
    """Return the columns of rows; a column that a row does not have is missing there."""
    names = dict.fromkeys(name for cells in contents for name in cells)
    return {name: [cells.get(name) for cells in contents] for name in names}


def feature_matrix(contents: list[Any], columns: dict[str, int]) -> csr_matrix:
    """Return the CSR matrix of named features; a name gets its permanent column when it is first seen."""
    from scipy.sparse import csr_matrix  # ranking a text does without

    indices = [columns.setdefault(name, len(columns)) for features in contents for name in features]
    values = np.array([value for features in contents for value in features.values()], dtype=np.float64)
    indptr = np.concatenate([[0], np.cumsum([len(features) for features in contents])]).astype(np.int32)
    shape = (len(contents), len(columns))
    matrix = csr_matrix((values, np.array(indices, dtype=np.int32), indptr), shape=shape)
    matrix.sort_indices()
    return matrix

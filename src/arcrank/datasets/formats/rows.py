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

__all__ = ["Row", "row_blocks"]


class Row(NamedTuple):
    """One instance. `content` is a text or {feature: value}; `value` is what `Corpus.preferences` holds."""

    content: str | dict[str, float]
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
        if options.takes not in (None, "features" if isinstance(row.content, dict) else "text"):
            raise _wrong_kind(lines.place(number), options)
        first = first or type(row.content)
        try:
            _check(row, first, options)
        except RowError as error:
            lines.fail(number, error)
            yield None
        else:
            yield row


def _wrong_kind(place: str, options: Options) -> FormatError:
    """The error for a row that the model cannot take; it is raised even with "skip", since the other rows are alike."""
    wanted, found = ("texts", "has features") if options.takes == "text" else ("features", "is a text")
    return FormatError(
        f"{place}: the model takes {wanted}, but this row {found}.\nGive documents like those it was trained on."
    )


def _check(row: Row, first: type, options: Options) -> None:
    if type(row.content) is not first:
        raise RowError("texts and features in one file", "every row must have what the first one has")
    options.check_labels(row.labels())


def _block(rows: list[Row], columns: dict[str, int], first: type | None, lines: Lines, options: Options) -> Corpus:
    contents = [row.content for row in rows]
    texts = None if first is dict else contents
    only_sets = all(row.kind == "labels" for row in rows)
    return Corpus(
        labels=list(options.labels or sorted({label for row in rows for label in row.labels()})),
        texts=texts,  # type: ignore[arg-type]
        X=_matrix(contents, columns) if texts is None else None,
        feature_names=list(columns) if texts is None else None,
        label_sets=[row.value for row in rows] if only_sets else None,
        preferences=None if only_sets else [(row.kind, row.value) for row in rows],
        ids=[row.name for row in rows] if any(row.name is not None for row in rows) else None,
        source=lines.name,
        skipped=lines.take_skipped(),
    )


def _matrix(contents: list[Any], columns: dict[str, int]) -> csr_matrix:
    """Return the CSR matrix of named features; a name gets its permanent column when it is first seen."""
    from scipy.sparse import csr_matrix  # ranking a text does without

    indices = [columns.setdefault(name, len(columns)) for features in contents for name in features]
    values = np.array([value for features in contents for value in features.values()], dtype=np.float64)
    indptr = np.concatenate([[0], np.cumsum([len(features) for features in contents])]).astype(np.int32)
    shape = (len(contents), len(columns))
    matrix = csr_matrix((values, np.array(indices, dtype=np.int32), indptr), shape=shape)
    matrix.sort_indices()
    return matrix

"""Which columns of a table hold the text, the labels and the id: named by the user, or with the usual names.

Tables are CSV and TSV files, Parquet files and DataFrames.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from arcrank.datasets.formats.cells import LabelCells, Relevance, id_of, is_missing
from arcrank.datasets.formats.options import Options
from arcrank.datasets.formats.rows import Row, TableRow
from arcrank.errors import FormatError, ParameterError

__all__ = ["Columns", "TableColumns", "find_columns", "find_label_column", "find_table", "missing_columns"]

_USUAL = {"text_column": ("text",), "label_column": ("labels", "label"), "id": ("id",)}
_MOST_LISTED = 20


class Columns(NamedTuple):
    """The positions of text, labels and id; None if there is no such column, or none is needed."""

    text: int
    labels: int | None = None
    id: int | None = None
    relevance: bool = False
    """Whether the labels are cells of the column `relevant`."""

    def label_cell(self, value: Any) -> Any:
        """Return what `LabelCells` reads."""
        return Relevance(value) if self.relevance else value


class TableColumns(NamedTuple):
    """The positions of a table whose columns are features: those of labels and id, None if there is none."""

    features: dict[str, int]
    labels: int | None = None
    id: int | None = None

    def row(self, cells: Sequence[Any], labels: LabelCells) -> Row:
        """Return the row of some cells, or raise a `RowError`; an empty cell is a missing value."""
        given = ((name, cells[j]) for name, j in self.features.items())
        content = TableRow((name, None if cell == "" or is_missing(cell) else cell) for name, cell in given)
        found = [] if self.labels is None else labels.labels(cells[self.labels])
        return Row(content, "labels", found, None if self.id is None else id_of(cells[self.id]))


def find_table(place: str, names: Sequence[str], options: Options) -> TableColumns | None:
    """Return the columns of a table of features, or None if it is not one.

    It is one if the model takes it (`options.takes`), or if it has labels, no text, and at least two other columns: one
    column alone is more likely a text under another name.
    """
    if options.text_column is not None or (not options.labelled and options.takes != "table"):
        return None
    if options.takes != "table" and _matches(names, _USUAL["text_column"]):
        return None
    labels = _find(place, names, "label_column", options.label_column) if options.labelled else None
    ids = _matches(names, _USUAL["id"])
    columns = [j for j in range(len(names)) if j != labels and j not in ids[:1]]
    if options.takes != "table" and (labels is None or len(columns) < 2):
        return None
    features = {names[j]: j for j in columns}
    if len(features) < len(columns):
        raise FormatError(f"{place}: two columns have the same name; names must be unique.")
    return TableColumns(features, labels, ids[0] if ids else None)


def find_columns(place: str, names: Sequence[str], options: Options) -> Columns | None:
    """Return the columns, or None if no column has a usual name and the user has named none.

    `place` is the location of the names, for errors; a `FormatError` lists the columns.
    """
    text = _find(place, names, "text_column", options.text_column)
    labels = _find(place, names, "label_column", options.label_column) if options.labelled else None
    relevant = _matches(names, ("relevant",)) if labels is None and options.label_column is None else []
    if options.labelled and len(relevant) == 1:
        labels = relevant[0]
    if text is None or (options.labelled and labels is None):
        if options.text_column is None and options.label_column is None:
            return None
        raise missing_columns(place, names, options)
    if text == labels:
        raise ParameterError(f"text_column= and label_column= are the same column, {names[text]!r}; give two.")
    ids = _matches(names, _USUAL["id"])
    return Columns(text, labels, ids[0] if ids else None, bool(relevant) and options.labelled)


def find_label_column(place: str, names: Sequence[str], options: Options) -> int | None:
    """Return the column of the labels, None if none is needed; a `FormatError` lists the columns."""
    if not options.labelled:
        return None
    found = _find(place, names, "label_column", options.label_column)
    if found is None:
        raise FormatError(
            f"{place}: a column labels is needed, got {_listed(names)}.\n"
            "If your column has another name, pass label_column=."
        )
    return found


def missing_columns(place: str, names: Sequence[str], options: Options) -> FormatError:
    """The error for a table that does not have the required columns."""
    if not options.labelled:
        needed, arguments = "a column text is", "text_column="
    else:
        needed, arguments = "columns text and labels are", "text_column= and label_column="
    return FormatError(
        f"{place}: {needed} needed, got {_listed(names)}.\nIf your columns have other names, pass {arguments}."
    )


def _find(place: str, names: Sequence[str], argument: str, given: str | None) -> int | None:
    """Return the position of a column, which must exist if its name was `given`, and must be unique."""
    found = _matches(names, _USUAL[argument] if given is None else (given,))
    if given is not None and not found:
        raise FormatError(
            f"{place}: there is no column {given!r}, only {_listed(names)}.\nSet {argument}= to one of them."
        )
    if len(found) > 1:
        which = " or ".join(repr(names[j]) for j in found[:3])
        raise FormatError(
            f"{place}: the column could be {which}.\nName one with {argument}=; column names must be unique."
        )
    return found[0] if found else None


def _matches(names: Sequence[str], wanted: tuple[str, ...]) -> list[int]:
    """Columns of exactly these names; else regardless of case and of spaces around them."""
    exact = [j for j, name in enumerate(names) if name in wanted] if len(wanted) == 1 else []
    lower = [name.strip().lower() for name in wanted]
    return exact or [j for j, name in enumerate(names) if name.strip().lower() in lower]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_LISTED:,} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(name if len(name) <= 40 else name[:37] + "..." for name in names[:_MOST_LISTED]) + more

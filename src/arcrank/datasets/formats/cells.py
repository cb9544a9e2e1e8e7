"""Labels and names as a cell of a table or a field of an object holds them.

Whole numbers are names too: 3 is the label "3", in every format. A missing value (None, NaN) is not a label.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, NamedTuple

from arcrank.datasets.formats.lines import RowError
from arcrank.datasets.formats.options import Options

__all__ = ["SEPARATOR", "LabelCells", "Relevance", "id_of", "is_missing", "name_of", "shown"]

SEPARATOR = ";"
"""The default separator of labels in one string."""

_RELEVANCE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("1", "true", "yes", "relevant"), ("relevant",)),
    **dict.fromkeys(("0", "false", "no", "irrelevant"), ("irrelevant",)),
    **dict.fromkeys(("", "-1", "null", "none", "nan"), ()),
}
_MISSING = ("NAType", "NaTType")  # known by name, so that pandas is not imported


class Relevance(NamedTuple):
    """A cell of the column `relevant`: true, false or null, in a table also 1, 0 or empty.

    It is read as a label set, so that everything that checks, joins and writes label sets works with it;
    `Corpus.relevance` turns it into 1, 0 and -1.

    >>> [Relevance(cell).labels() for cell in (True, 0, "", None)]
    [['relevant'], ['irrelevant'], [], []]
    """

    value: Any

    def labels(self) -> list[str]:
        """Return the label set, or raise a `RowError`."""
        if is_missing(self.value):
            return []
        word = f"{self.value:g}" if isinstance(self.value, float) else str(self.value).strip().lower()
        if word not in _RELEVANCE:
            allowed = "true, false or null (in a table 1, 0 or an empty cell)"
            raise RowError("invalid relevance", f"{allowed} is needed, not {shown(self.value)}")
        return list(_RELEVANCE[word])


class LabelCells(NamedTuple):
    """How cells of labels are read: a string holds labels with `separator` between them, or is one label (None).

    A string that contains one of the `doubtful` characters could be one label or several, and is refused.

    >>> LabelCells(";").labels("crude; ship"), LabelCells(None).labels("crude; ship"), LabelCells(";").labels([3, "x"])
    (['crude', 'ship'], ['crude; ship'], ['3', 'x'])
    """

    separator: str | None = SEPARATOR
    doubtful: str = ""

    @classmethod
    def given(cls, options: Options, otherwise: LabelCells) -> LabelCells:
        """The choice of the user, else that of the format; an empty separator leaves strings whole."""
        return otherwise if options.label_separator is None else cls(options.label_separator or None)

    def labels(self, cell: Any) -> list[str]:
        """Return the labels of a cell, each once, or raise a `RowError`."""
        if isinstance(cell, Relevance):
            return cell.labels()
        values = cell.tolist() if hasattr(cell, "tolist") else cell
        if isinstance(values, str):
            return _once(name for name in self._split(values) if name)
        if isinstance(values, (set, frozenset)):
            return sorted(map(name_of, values))
        if isinstance(values, (list, tuple)):
            return _once(map(name_of, values))
        return [] if is_missing(values) else [name_of(values)]

    def _split(self, cell: str) -> list[str]:
        if self.separator is not None:
            return [name.strip() for name in cell.split(self.separator)]
        found = next((sign for sign in self.doubtful if sign in cell), "")
        if found:
            detail = f"{shown(cell)} could be one label or several with {found!r} between them"
            remedy = (
                f'Pass label_separator="{found}" if it separates labels, label_separator="" if it is part of a name.'
            )
            raise RowError("ambiguous labels", detail, remedy)
        return [cell.strip()]


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def name_of(value: Any) -> str:
    """Return the name of one label, or raise a `RowError`; a 3 in a column with missing values becomes 3.0."""
    if isinstance(value, str):
        return value
    if not isinstance(value, bool) and (isinstance(value, Integral) or _is_whole(value)):
        return str(int(value))
    raise RowError("invalid labels", f"a label is a string or a whole number, not {shown(value)}")


def _is_whole(value: Any) -> bool:
    return isinstance(value, Real) and math.isfinite(value) and float(value).is_integer()


def id_of(value: Any) -> str | None:
    """Return the name of a row, None if it has none."""
    if is_missing(value):
        return None
    try:
        return name_of(value)
    except RowError as error:
        raise RowError("invalid id", f"a string or a whole number, not {shown(value)}") from error


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or a missing value of pandas."""
    return value is None or type(value).__name__ in _MISSING or (isinstance(value, float) and math.isnan(value))


def shown(value: Any) -> str:
    """A value as JSON, truncated.

    >>> shown(None), shown("Öl")
    ('null', '"Öl"')
    """
    return f"{json.dumps(value, ensure_ascii=False, default=str):.60}"

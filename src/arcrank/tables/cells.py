"""Tables of any library as columns of Python values, and what a single value can be.

No library is imported: DataFrames of pandas and polars and tables of pyarrow have column names, and columns that
convert to lists.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from decimal import Decimal
from numbers import Real
from typing import Any

from arcrank.errors import InputError

__all__ = ["as_category", "as_date", "as_number", "is_date", "is_number", "table_columns"]

_MISSING_TYPES = ("NAType", "NaTType")
_MISSING_WORDS = ("", "na", "n/a", "nan", "null", "none")
"""How files write a missing number or date."""


def table_columns(table: Any) -> dict[str, list[Any]]:
    """Return the columns by name, with None for missing values.

    Takes a DataFrame of pandas or polars, a table of pyarrow, a dict of columns, or a list of dicts (rows).

    >>> table_columns([{"age": 3, "colour": "red"}, {"age": float("nan")}])
    {'age': [3, None], 'colour': ['red', None]}
    """
    if isinstance(table, Mapping):
        columns = {str(name): _values(column) for name, column in table.items()}
    elif hasattr(table, "columns") and hasattr(table, "__getitem__"):
        names = list(getattr(table, "column_names", table.columns))
        columns = {str(name): _values(table[name]) for name in names}
        if len(columns) < len(names):
            raise InputError("Two columns of the table have the same name; names must be unique.")
    elif isinstance(table, list) and all(isinstance(row, Mapping) for row in table):
        keys = dict.fromkeys(name for row in table for name in row)
        columns = {str(name): [_known(row.get(name)) for row in table] for name in keys}
    else:
        raise InputError(
            f"A table is needed (a DataFrame, a dict of columns or a list of dicts), got {type(table).__name__}."
        )
    _check_lengths(columns)
    return columns


def _check_lengths(columns: dict[str, list[Any]]) -> None:
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        short, long = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise InputError(
            f"The column {short!r} has {lengths[short]} rows and {long!r} has {lengths[long]}; all columns of a table "
            "must have as many."
        )


def _values(column: Any) -> list[Any]:
    convert = next((name for name in ("to_list", "to_pylist", "tolist") if hasattr(column, name)), None)
    return [_known(value) for value in (column if convert is None else getattr(column, convert)())]


def _known(value: Any) -> Any:
    """Return the value, or None for the missing values of Python, NumPy and pandas."""
    missing = type(value).__name__ in _MISSING_TYPES or (isinstance(value, float) and math.isnan(value))
    return None if missing else value


def is_number(value: Any) -> bool:
    """Whether a value is a number, or a string of one.

    >>> [is_number(value) for value in (3, "2.5", "", "red", True)]
    [True, True, True, False, True]
    """
    try:
        as_number(value)
    except ValueError:
        return False
    return True


def as_number(value: Any) -> float:
    """Return a value as a float, NaN for a missing one; a ValueError where it is not a number."""
    if value is None or (isinstance(value, str) and value.strip().lower() in _MISSING_WORDS):
        return math.nan
    if not isinstance(value, Real | Decimal | str):
        raise ValueError(value)
    number = float(value)
    if math.isinf(number):
        raise ValueError(value)
    return number


def is_date(value: Any) -> bool:
    """Whether a value is a date, or a string of one in ISO's form.

    >>> [is_date(value) for value in (datetime.date(2024, 1, 31), "2024-01-31", "2024-01-31 10:30", "31.1.2024", 3)]
    [True, True, True, False, False]
    """
    try:
        as_date(value)
    except ValueError:
        return False
    return True


def as_date(value: Any) -> datetime.date | None:
    """Return a value as a date, None for a missing one; a ValueError where it is not a date."""
    if value is None or (isinstance(value, str) and value.strip().lower() in _MISSING_WORDS):
        return None
    if isinstance(value, str):
        return datetime.datetime.fromisoformat(value.strip()).date()
    if isinstance(value, datetime.datetime):
        return value.date()
    if not isinstance(value, datetime.date):
        raise ValueError(value)
    return value


def as_category(value: Any) -> str | None:
    """Return a value as the name of a category, None for a missing one; a ValueError for a list or an object.

    >>> [as_category(value) for value in ("red", 3, 3.0, True, " ", None)]
    ['red', '3', '3', 'True', None, None]
    """
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # whole numbers become floats where some are missing
    if not isinstance(value, str | Real | Decimal | datetime.date):
        raise ValueError(value)
    return str(value).strip() or None

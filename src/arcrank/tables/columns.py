"""How one column of a table becomes features: numbers, flags, categories, dates and texts."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from arcrank._typing import Array
from arcrank.errors import InputError
from arcrank.tables.cells import as_category, as_date, as_number, is_date, is_number
from arcrank.text import TextFeatures

__all__ = ["COLUMNS", "Column", "column_from_record", "guess_kind"]

_MONTHS = tuple(range(1, 13))
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WORDS_OF_TEXT = 3.0
"""Strings of so many words on average are texts, unless few of them are distinct."""
_DISTINCT = 0.5
_SMALLEST = 1e-30
_FEW_TEXTS = 1000


@dataclass
class Column(ABC):
    """One column, as it was learnt; it becomes one block of features."""

    name: str
    has_missing: bool
    """Whether a value was missing in training; then a feature says so."""

    kind: ClassVar[str]
    holds: ClassVar[str]
    """What its values are, in messages."""

    @classmethod
    @abstractmethod
    def fit(cls, name: str, values: list[Any], settings: Any) -> Self:
        """Learn from the values of training."""

    @abstractmethod
    def block(self, values: list[Any]) -> sparse.csr_matrix:
        """Return the features, (n, width)."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of the features."""

    def to_record(self) -> dict[str, Any]:
        """Return what a model file holds."""
        return {"kind": self.kind, **{field.name: getattr(self, field.name) for field in fields(self)}}

    @classmethod
    def read(cls, name: str, values: list[Any], convert: Callable[[Any], Any]) -> list[Any]:
        """Convert all values, or raise an InputError that names the column and the row."""
        found = []
        for row, value in enumerate(values):
            try:
                found.append(convert(value))
            except ValueError:
                raise InputError(
                    f"The column {name!r} holds {value!r:.60} in row {row}, where {cls.holds} are expected. Correct "
                    "the value, or train with another kind of this column (kinds=)."
                ) from None
        return found

    def _missing(self, missing: Any) -> list[Any]:
        return [np.asarray(missing, dtype=np.float64)[:, None]] if self.has_missing else []

    def _missing_name(self) -> list[str]:
        return [f"{self.name} is missing"] if self.has_missing else []


@dataclass
class NumberColumn(Column):
    """Numbers: standardised, with the median for missing ones."""

    median: float
    mean: float
    scale: float
    kind: ClassVar[str] = "number"
    holds: ClassVar[str] = "numbers"
    standardised: ClassVar[bool] = True

    @classmethod
    def fit(cls, name: str, values: list[Any], settings: Any) -> Self:  # noqa: ARG003
        """Learn the median, the mean and the standard deviation."""
        numbers = np.array(cls.read(name, values, as_number), dtype=np.float64)
        missing = np.isnan(numbers)
        median = float(np.median(numbers[~missing])) if not missing.all() else 0.0
        filled = np.where(missing, median, numbers)
        mean, scale = (float(filled.mean()), float(filled.std())) if cls.standardised else (0.0, 1.0)
        return cls(name, bool(missing.any()), median, mean, scale if scale > _SMALLEST else 1.0)

    def block(self, values: list[Any]) -> sparse.csr_matrix:
        """Return the standardised numbers, and whether they are missing."""
        numbers = np.array(self.read(self.name, values, as_number), dtype=np.float64)
        return sparse.csr_matrix(np.hstack(self._features(numbers)))

    def _features(self, numbers: Array) -> list[Array]:
        missing = np.isnan(numbers)
        filled = np.where(missing, self.median, numbers)
        return [((filled - self.mean) / self.scale)[:, None], *self._missing(missing)]

    def names(self) -> list[str]:
        """Return the name of the column."""
        return [self.name, *self._missing_name()]


@dataclass
class FlagColumn(NumberColumn):
    """Truth values: 1 and 0, with the more frequent one for missing ones."""

    kind: ClassVar[str] = "flag"
    holds: ClassVar[str] = "truth values (true, false, 1 or 0)"
    standardised: ClassVar[bool] = False

    @classmethod
    def read(cls, name: str, values: list[Any], convert: Callable[[Any], Any]) -> list[Any]:  # noqa: ARG003
        """Read the words of files too."""
        return super().read(name, values, _as_flag)


def _as_flag(value: Any) -> float:
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return float(value.strip().lower() == "true")
    number = as_number(value)
    if number not in (0.0, 1.0) and not np.isnan(number):
        raise ValueError(value)
    return number


@dataclass
class CategoryColumn(Column):
    """Categories: one feature each; the rare ones share one, and unknown ones have none."""

    categories: list[str]
    n_frequent: int
    """The first so many categories have features of their own."""
    kind: ClassVar[str] = "category"
    holds: ClassVar[str] = "names or numbers"

    @classmethod
    def fit(cls, name: str, values: list[Any], settings: Any) -> Self:
        """Learn the categories."""
        found = cls.read(name, values, as_category)
        counts = Counter(value for value in found if value is not None)
        least = settings.min_frequency
        least = least * len(values) if isinstance(least, float) else least
        by_count = sorted(counts, key=lambda value: (-counts[value], value))
        frequent = sorted(value for value in by_count[: settings.max_categories] if counts[value] >= least)
        rare = sorted(counts.keys() - set(frequent))
        return cls(name, None in found, frequent + rare, len(frequent))

    def block(self, values: list[Any]) -> sparse.csr_matrix:
        """Return one column per frequent category, one for the rare ones, and whether the value is missing."""
        place = {value: min(number, self.n_frequent) for number, value in enumerate(self.categories)}
        found = self.read(self.name, values, as_category)
        chosen = [place.get(value, -1) for value in found]
        width = self.n_frequent + (len(self.categories) > self.n_frequent)
        known = _one_hot(chosen, width)
        return sparse.hstack([known, *self._missing([value is None for value in found])], format="csr")

    def names(self) -> list[str]:
        """Return "colour = red", ..."""
        frequent = [f"{self.name} = {value}" for value in self.categories[: self.n_frequent]]
        rare = [f"{self.name} is rare"] if len(self.categories) > self.n_frequent else []
        return frequent + rare + self._missing_name()


@dataclass
class DateColumn(NumberColumn):
    """Dates: the day as a standardised number, the month and the day of the week."""

    kind: ClassVar[str] = "date"
    holds: ClassVar[str] = "dates"

    @classmethod
    def read(cls, name: str, values: list[Any], convert: Callable[[Any], Any]) -> list[Any]:  # noqa: ARG003
        """Read dates as numbers of days."""
        return [np.nan if day is None else day.toordinal() for day in super().read(name, values, as_date)]

    def block(self, values: list[Any]) -> sparse.csr_matrix:
        """Return the number of the day, the month, the day of the week, and whether the date is missing."""
        numbers = np.array(self.read(self.name, values, as_date), dtype=np.float64)
        days = [None if np.isnan(day) else datetime.date.fromordinal(int(day)) for day in numbers]
        months = _one_hot([-1 if day is None else day.month - 1 for day in days], len(_MONTHS))
        weekdays = _one_hot([-1 if day is None else day.weekday() for day in days], len(_DAYS))
        day, *missing = self._features(numbers)
        return sparse.hstack([day, months, weekdays, *missing], format="csr")

    def names(self) -> list[str]:
        """Return the name of the column, "joined month = 1", ..., "joined weekday = Monday", ..."""
        months = [f"{self.name} month = {month}" for month in _MONTHS]
        return [self.name, *months, *(f"{self.name} weekday = {day}" for day in _DAYS), *self._missing_name()]


@dataclass
class TextColumn(Column):
    """Texts: the terms of `TextFeatures`."""

    words: TextFeatures
    kind: ClassVar[str] = "text"
    holds: ClassVar[str] = "texts"

    @classmethod
    def fit(cls, name: str, values: list[Any], settings: Any) -> Self:  # noqa: ARG003
        """Learn the terms."""
        texts = cls.read(name, values, _as_text)
        words = TextFeatures(min_df=1 if len(texts) < _FEW_TEXTS else 2)
        try:
            return cls(name, None in values, words.fit(texts))
        except InputError as error:
            raise InputError(f"The column {name!r}: {error}. Use kinds={{{name!r}: 'ignore'}}.") from error

    def block(self, values: list[Any]) -> sparse.csr_matrix:
        """Return the weights of terms, and whether the text is missing."""
        texts = self.read(self.name, values, _as_text)
        missing = self._missing([value is None for value in values])
        return sparse.hstack([self.words.transform(texts), *missing], format="csr")

    def names(self) -> list[str]:
        """Return "notes: term", ..."""
        return [*(f"{self.name}: {term}" for term in self.words.terms_), *self._missing_name()]


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(value)
    return value


def _one_hot(chosen: list[int], width: int) -> sparse.csr_matrix:
    """Return a row of zeros with a one at the chosen column; -1 has none."""
    columns = np.array(chosen, dtype=np.int32)
    indptr = np.concatenate(([0], np.cumsum(columns >= 0)))
    kept = columns[columns >= 0]
    return sparse.csr_matrix((np.ones(len(kept)), kept, indptr), shape=(len(chosen), width))


COLUMNS: dict[str, type[Column]] = {
    column.kind: column for column in (NumberColumn, FlagColumn, CategoryColumn, DateColumn, TextColumn)
}
"""By kind."""


def column_from_record(record: dict[str, Any]) -> Column:
    """Return the column that `to_record` described."""
    values = {name: value for name, value in record.items() if name != "kind"}
    return COLUMNS[record["kind"]](**values)


def guess_kind(values: list[Any]) -> str:
    """Return the kind of a column by its values; "ignore" where there is none.

    Strings are numbers or dates where all of them are. They are texts where they have three words or more on average
    and most are distinct, else categories.

    >>> guess_kind([1, 2.5, None]), guess_kind(["a", "b", "a"]), guess_kind(["2024-01-31"]), guess_kind([True, None])
    ('number', 'category', 'date', 'flag')
    """
    known = [value for value in values if value is not None and value != ""]
    if not known:
        return "ignore"
    if all(type(value).__name__ in ("bool", "bool_") or _is_truth_word(value) for value in known):
        return "flag"
    if all(map(is_number, known)):
        return "number"
    if all(map(is_date, known)):
        return "date"
    strings = all(isinstance(value, str) for value in known)
    mean_words = np.mean([len(value.split()) for value in known]) if strings else 0.0
    return "text" if mean_words >= _WORDS_OF_TEXT and len(set(known)) > _DISTINCT * len(known) else "category"


def _is_truth_word(value: Any) -> bool:
    return isinstance(value, str) and value.strip().lower() in ("true", "false")

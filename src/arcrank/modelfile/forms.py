"""What stored values may be. A form looks at one value; sizes that several of them share are symbols, bound at first
sight: an array of shape ("k", "d") has as many rows as there are labels and as many columns as there are features.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from arcrank.modelfile.names import StoredNames
from arcrank.modelfile.rows import StoredRows
from arcrank.modelfile.sparse import StoredCsr

__all__ = [
    "LARGEST",
    "MOST_FEATURES",
    "AnyArray",
    "Array",
    "Csr",
    "Either",
    "Flag",
    "Form",
    "History",
    "Labels",
    "Measure",
    "MisfitError",
    "Names",
    "Number",
    "NumberList",
    "OneOf",
    "Optional",
    "Record",
    "Registered",
    "Size",
    "Sizes",
    "Some",
    "Whole",
    "Words",
    "log10",
]

LARGEST = 1e100
"""Of any stored weight or feature: its square, times an input of up to 1e6 and summed, is still finite."""
MOST_FEATURES = 2**26
"""Where the file itself does not hold a number for each of them."""
_MOST = 2**53

Sizes = dict[str, int]


class MisfitError(ValueError):
    """A stored value is not what it must be; the message is a part of a sentence, without a full stop."""


class Form(ABC):
    """`says` ends the sentence "it must be ..."."""

    says: str

    @abstractmethod
    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether this is such a value; binds sizes."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        """Raise a MisfitError unless the value fits."""
        if not self.fits(value, sizes):
            raise MisfitError(f"{where} is {_shown(value)}; it must be {self._says(sizes)}")

    def check_closely(self, value: Any, where: str) -> None:  # noqa: B027  most forms have nothing to add
        """Raise a MisfitError for what costs more memory to see than the file has bytes; of values that fit."""

    def _says(self, sizes: Sizes) -> str:  # noqa: ARG002
        return self.says


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} and shape {value.shape}"
    if isinstance(value, StoredRows | StoredCsr):
        return f"a matrix of shape {value.shape}"
    if isinstance(value, StoredNames):
        return f"{len(value)} names"
    return f"{value!r:.80}"


class OneOf(Form):
    """One of some values, of the same type."""

    def __init__(self, *allowed: Any) -> None:
        self.allowed = allowed
        self.says = ("one of " if len(allowed) > 1 else "") + ", ".join(map(repr, allowed))

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        return any(type(value) is type(one) and value == one for one in self.allowed)


class Flag(Form):
    """True or False, or 1 or 0 as some write it."""

    says = "True or False"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        return isinstance(value, int) and value in (0, 1)


class Whole(Form):
    """A whole number within limits; 3.0 is one too where `floats`."""

    def __init__(self, low: int = 0, high: int = _MOST, *, floats: bool = False) -> None:
        self.low, self.high, self.floats = low, high, floats
        self.says = f"a whole number from {low:,} to {high:,}"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        whole = type(value) is int or (self.floats and isinstance(value, float) and value.is_integer())
        return whole and self.low <= value <= self.high


class Size(Whole):
    """A whole number that others are the sizes of."""

    def __init__(self, symbol: str, low: int = 1, high: int = _MOST) -> None:
        super().__init__(low, high)
        self.symbol = symbol

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return super().fits(value, sizes) and _bound(self.symbol, value, sizes)


class Number(Form):
    """A finite number within limits, whole or not; True is none."""

    def __init__(self, low: float = -LARGEST, high: float = LARGEST) -> None:
        self.low, self.high = low, high
        self.says = f"a number from {low:g} to {high:g}"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        return isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high


class Measure(Form):
    """Any number, NaN and infinities included: something that was observed and that nothing is computed from."""

    says = "a number"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        return isinstance(value, int | float) and not isinstance(value, bool)


class NumberList(Form):
    """A list of numbers, or of lists of them."""

    says = "a list of numbers"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        rows = value if isinstance(value, list | tuple) else [None]
        return all(
            all(Measure().fits(one, sizes) for one in (row if isinstance(row, list | tuple) else [row])) for row in rows
        )


class History(Form):
    """A list of entries with numbers by name."""

    says = "a list of entries of numbers"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        measure = Measure()
        return isinstance(value, list) and all(
            isinstance(entry, dict) and all(measure.fits(number, sizes) for number in entry.values()) for entry in value
        )


class Optional(Form):
    """What an older file, or another way of training, does not have."""

    def __init__(self, form: Form) -> None:
        self.form, self.says = form, form.says

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return self.form.fits(value, sizes)

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        self.form.check(value, where, sizes)


class Either(Form):
    """The first of some forms that fits."""

    def __init__(self, *forms: Form) -> None:
        self.forms = forms
        self.says = ", or ".join(form.says for form in forms)

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return any(form.fits(value, sizes) for form in self.forms)

    def _says(self, sizes: Sizes) -> str:
        return ", or ".join(form._says(sizes) for form in self.forms)


class Record(Form):
    """A dict with exactly these entries."""

    says = "a record"

    def __init__(self, forms: Mapping[str, Form]) -> None:
        self.forms = forms

    def fits(self, value: Any, sizes: Sizes) -> bool:
        same = isinstance(value, dict) and set(value) == set(self.forms)
        return same and all(form.fits(value[name], sizes) for name, form in self.forms.items())

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not isinstance(value, dict) or set(value) != set(self.forms):
            raise MisfitError(f"{where} is {_shown(value)}; it must have the entries {', '.join(self.forms)}")
        for name, form in self.forms.items():
            form.check(value[name], f"{where}.{name}", sizes)


class Registered(Form):
    """A key of a dict, or a member of what a function returns, at "module:name"; read when it is needed."""

    def __init__(self, home: str, *more: Any) -> None:
        self.home, self.more = home, more
        self.says = "one of the named choices"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        return isinstance(value, str) and value in self._known()

    def _known(self) -> list[Any]:
        module, name = self.home.split(":")
        found = getattr(import_module(module), name)
        return [*self.more, *(found() if callable(found) else found)]

    def _says(self, sizes: Sizes) -> str:  # noqa: ARG002
        return f"one of {', '.join(map(repr, self._known()))}"


class Words(Form):
    """A collection of strings, of one of some types and, where there is a symbol, of its size."""

    says = "a list of words"

    def __init__(self, *types: type, symbol: str = "") -> None:
        self.types, self.symbol = types, symbol

    def fits(self, value: Any, sizes: Sizes) -> bool:
        if type(value) not in self.types or (self.symbol and not _bound(self.symbol, len(value), sizes)):
            return False
        return value.types is None if isinstance(value, StoredNames) else all(isinstance(word, str) for word in value)


class Some(Form):
    """A dict with some of these entries and no others."""

    def __init__(self, forms: Mapping[str, Form], says: str) -> None:
        self.forms, self.says = forms, says

    def fits(self, value: Any, sizes: Sizes) -> bool:
        known = isinstance(value, dict) and set(value) <= set(self.forms)
        return known and all(self.forms[name].fits(one, sizes) for name, one in value.items())


class Array(Form):
    """An array of one dtype (or one of some, by letters of NumPy's kinds and sizes) and a shape; all of it in a range.

    Entries of the shape are numbers, symbols, or a symbol and a number: "T+1". The range leaves out NaN; `measure`
    allows all numbers. `rows` allows a matrix by its rows that are not zero.
    """

    def __init__(
        self,
        dtypes: str,
        *shape: int | str,
        low: float = -LARGEST,
        high: float | str = LARGEST,
        measure: bool = False,
        rows: bool = False,
    ) -> None:
        self.dtypes, self.shape, self.low, self.high = dtypes.split(), shape, low, high
        self.measure, self.rows = measure, rows
        self.says = f"an array of {' or '.join(self.dtypes)} and shape ({', '.join(map(str, shape))})"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        kept = self._kept(value)
        if not isinstance(kept, np.ndarray) or kept.dtype.str[1:] not in self.dtypes:
            return False
        same = len(value.shape) == len(self.shape) and all(
            _agrees(wanted, length, sizes) for wanted, length in zip(self.shape, value.shape, strict=True)
        )
        return same and self._within(kept, sizes)

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        fits = self.fits(value, sizes)
        kept = self._kept(value)
        if not fits and isinstance(kept, np.ndarray) and kept.size and not self._within(kept, sizes):
            raise MisfitError(
                f"{where} has numbers from {kept.min()} to {kept.max()}; they must be from {self.low:g} to "
                f"{self._limit(sizes):g}"
            )
        super().check(value, where, sizes)

    def _kept(self, value: Any) -> Any:
        return value.rows if self.rows and isinstance(value, StoredRows) else value

    def _within(self, value: Any, sizes: Sizes) -> bool:
        if self.measure or not value.size or value.dtype == np.bool_:
            return True
        low, high = value.min().item(), value.max().item()  # NaN of NaN, and no second array
        return bool(low >= self.low and high <= self._limit(sizes))

    def _limit(self, sizes: Sizes) -> float:
        return sizes.get(self.high, 0) - 1 if isinstance(self.high, str) else self.high

    def _says(self, sizes: Sizes) -> str:
        known = ", ".join(str(sizes.get(one, one)) if isinstance(one, str) else str(one) for one in self.shape)
        return f"an array of {' or '.join(self.dtypes)} and shape ({known})"


class AnyArray(Form):
    """An array of numbers, of any shape, that nothing but training reads."""

    says = "an array of numbers"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        return isinstance(value, np.ndarray)


class Csr(Form):
    """A sparse matrix of float64 of this shape; its arrays were checked when it was read."""

    def __init__(self, rows: str, columns: str) -> None:
        self.data, self.shape = Array("f8", "values"), (rows, columns)
        self.says = f"a sparse matrix of shape ({rows}, {columns})"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        if not isinstance(value, StoredCsr) or not self.data.fits(value.data, {}):
            return False
        return all(map(_agrees, self.shape, value.shape, [sizes] * 2))


class Names(Form):
    """Distinct names in one of some forms, as many as the symbol says; `texts` are of type str only.

    Labels have to be told apart and shown, so none may be empty or hold a NUL character.
    """

    def __init__(
        self, symbol: str, *forms: str, texts: bool = True, distinct: bool = True, shown: bool = False
    ) -> None:
        self.symbol, self.forms, self.texts, self.distinct, self.visible = symbol, forms, texts, distinct, shown
        self.says = f"{'distinct ' if distinct else ''}names, one for each of {symbol}"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        kept = isinstance(value, StoredNames) and value.form in self.forms and (value.types is None or not self.texts)
        return kept and _bound(self.symbol, len(value), sizes)

    def check_closely(self, value: Any, where: str) -> None:
        if self.visible:
            check_visible(value.names, where)
        kept = {(type(name), name) for name in value.names if name == name}  # noqa: PLR0124  NaN is no name
        if self.distinct and len(kept) != len(value):
            raise MisfitError(f"{where} holds a name twice, or NaN; names must be distinct")

    def _says(self, sizes: Sizes) -> str:
        return f"{sizes[self.symbol]:,} names" if self.symbol in sizes else self.says


class Labels(Form):
    """Distinct labels, at least one: names that can be shown, or numbers in an array."""

    says = "distinct labels"
    _numbers = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8"

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol
        self.names = Names(symbol, "object", "text", texts=False, shown=True)
        self.numbers = Array(self._numbers, symbol, measure=True)

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return len(value) > 0 and (self.names if isinstance(value, StoredNames) else self.numbers).fits(value, sizes)

    def check_closely(self, value: Any, where: str) -> None:
        if isinstance(value, StoredNames):
            self.names.check_closely(value, where)
        elif len(np.unique(value)) != len(value) or (value != value).any():  # noqa: PLR0124  NaN is no label
            raise MisfitError(f"{where} holds a number twice, or NaN; labels must be distinct")


def check_visible(names: list[Any], where: str) -> None:
    """Refuse names that are empty, or that hold a NUL character."""
    strange = next((name for name in names if name == "" or (isinstance(name, str) and "\0" in name)), None)
    if strange is not None:
        raise MisfitError(
            f"{where} holds the name {strange!r}; a label's name must not be empty or hold a NUL character"
        )


def _agrees(wanted: int | str, length: int, sizes: Sizes) -> bool:
    if isinstance(wanted, int):
        return length == wanted
    symbol, _, more = wanted.partition("+")
    return _bound(symbol, length - int(more or 0), sizes)


def _bound(symbol: str, length: int, sizes: Sizes) -> bool:
    return length >= 0 and sizes.setdefault(symbol, length) == length


def log10(value: float) -> float:
    """The decimal logarithm, 0 for all that is below 1."""
    return math.log10(max(value, 1.0))

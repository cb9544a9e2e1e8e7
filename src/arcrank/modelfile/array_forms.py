"""Forms of arrays, of matrices that are not yet expanded, and of names: types, shapes in terms of sizes, and ranges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arcrank.io.string_arrays import StoredNames
from arcrank.modelfile.forms import LARGEST, Form, MisfitError, Sizes, bound
from arcrank.modelfile.rows import StoredRows
from arcrank.modelfile.sparse import StoredCsr

__all__ = ["AnyArray", "Array", "Csr", "Labels", "Names", "log10"]


class Array(Form):
    """An array of one of some dtypes (NumPy's kind and size, as in `f8 f4`), with a shape and a range of values.

    Entries of the shape are numbers, symbols, or a symbol and a number: "T+1". A range excludes NaN; `measure` allows
    all numbers. `rows` also allows a matrix stored by its nonzero rows.
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
    """An array of numbers, of any shape, that only training reads."""

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
    """Distinct names in one of some forms, as many as the symbol says; `texts` allows only str.

    Labels are shown to users, so none may be empty or hold a NUL character.
    """

    def __init__(
        self, symbol: str, *forms: str, texts: bool = True, distinct: bool = True, shown: bool = False
    ) -> None:
        self.symbol, self.forms, self.texts, self.distinct, self.visible = symbol, forms, texts, distinct, shown
        self.says = f"{'distinct ' if distinct else ''}names, one for each of {symbol}"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        kept = isinstance(value, StoredNames) and value.form in self.forms and (value.types is None or not self.texts)
        return kept and bound(self.symbol, len(value), sizes)

    def check_closely(self, value: Any, where: str) -> None:
        if self.visible:
            check_visible(value.names, where)
        if self.distinct and _count_distinct(value) != len(value):
            raise MisfitError(f"{where} holds a name twice, or NaN; names must be distinct")

    def _says(self, sizes: Sizes) -> str:
        return f"{sizes[self.symbol]:,} names" if self.symbol in sizes else self.says


def _count_distinct(value: StoredNames) -> int:
    """The number of different names, of which NaN is none; 1, 1.0 and True are different."""
    if value.types is None:
        return len(set(value.names))
    return len({(type(name), name) for name in value.names if name == name})  # noqa: PLR0124


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
        elif len(np.unique(value)) != len(value) or (value != value).any():  # noqa: PLR0124  NaN is not a label
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
    return bound(symbol, length - int(more or 0), sizes)


def log10(value: float) -> float:
    """The decimal logarithm; 0 for values below 1."""
    return math.log10(max(value, 1.0))

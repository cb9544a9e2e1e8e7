"""Forms: what a stored value may be.

A form checks one value. Sizes that several values share are symbols, bound where they occur first: an array of shape
("k", "d") has as many rows as there are labels and as many columns as there are features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from arcrank.io.string_arrays import StoredNames
from arcrank.modelfile.rows import StoredRows
from arcrank.modelfile.sparse import StoredCsr

__all__ = [
    "LARGEST",
    "MOST_FEATURES",
    "Either",
    "Flag",
    "Form",
    "History",
    "Measure",
    "MisfitError",
    "Number",
    "NumberList",
    "OneOf",
    "Optional",
    "Record",
    "Registered",
    "Size",
    "Sizes",
    "Some",
    "Text",
    "Whole",
    "Words",
    "bound",
]

LARGEST = 1e100
"""The largest stored weight or feature: its square, times an input of up to 1e6 and summed, is still finite."""
MOST_FEATURES = 2**26
"""The most features of a model whose file does not hold a number for each of them."""
_MOST = 2**53

Sizes = dict[str, int]


class MisfitError(ValueError):
    """A stored value is not allowed; the message is part of a sentence, without a full stop."""


class Form(ABC):
    """What a stored value may be; `says` completes the sentence "it must be ..."."""

    says: str

    @abstractmethod
    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether the value has this form; binds sizes."""

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        """Raise a MisfitError unless the value fits."""
        if not self.fits(value, sizes):
            raise MisfitError(f"{where} is {_shown(value)}; it must be {self._says(sizes)}")

    def check_closely(self, value: Any, where: str) -> None:  # noqa: B027  most forms have nothing to add
        """Raise a MisfitError for what takes more memory to find than the file has bytes, in a value that fits."""

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
    """One of the given values, and of the same type."""

    def __init__(self, *allowed: Any) -> None:
        self.allowed = allowed
        self.says = ("one of " if len(allowed) > 1 else "") + ", ".join(map(repr, allowed))

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        return any(type(value) is type(one) and value == one for one in self.allowed)


class Flag(Form):
    """True or False; 1 and 0 are allowed too."""

    says = "True or False"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        return isinstance(value, int) and value in (0, 1)


class Whole(Form):
    """A whole number within limits; with `floats`, 3.0 is one too."""

    def __init__(self, low: int = 0, high: int = _MOST, *, floats: bool = False) -> None:
        self.low, self.high, self.floats = low, high, floats
        self.says = f"a whole number from {low:,} to {high:,}"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        whole = type(value) is int or (self.floats and isinstance(value, float) and value.is_integer())
        return whole and self.low <= value <= self.high


class Size(Whole):
    """A whole number that is the size of other values."""

    def __init__(self, symbol: str, low: int = 1, high: int = _MOST) -> None:
        super().__init__(low, high)
        self.symbol = symbol

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return super().fits(value, sizes) and bound(self.symbol, value, sizes)


class Number(Form):
    """A finite number within limits, whole or not; True is not a number."""

    def __init__(self, low: float = -LARGEST, high: float = LARGEST) -> None:
        self.low, self.high = low, high
        self.says = f"a number from {low:g} to {high:g}"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        return isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high


class Text(Form):
    """Any string."""

    says = "a string"

    def fits(self, value: Any, sizes: Sizes) -> bool:  # noqa: ARG002
        return isinstance(value, str)


class Measure(Form):
    """Any number, NaN and infinities included: a recorded value that nothing is computed from."""

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
    """A value that older files, or other ways of training, do not have."""

    def __init__(self, form: Form) -> None:
        self.form, self.says = form, form.says

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return self.form.fits(value, sizes)

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        self.form.check(value, where, sizes)


class Either(Form):
    """Any of the given forms; the first that fits is used."""

    def __init__(self, *forms: Form) -> None:
        self.forms = forms
        self.says = ", or ".join(form.says for form in forms)

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return any(form.fits(value, sizes) for form in self.forms)

    def _says(self, sizes: Sizes) -> str:
        return ", or ".join(form._says(sizes) for form in self.forms)


class Record(Form):
    """A dict with exactly these entries; those that are `Optional` may be missing."""

    says = "a record"

    def __init__(self, forms: Mapping[str, Form]) -> None:
        self.forms = forms

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return self._has_entries(value) and all(
            form.fits(value[name], sizes) for name, form in self.forms.items() if name in value
        )

    def check(self, value: Any, where: str, sizes: Sizes) -> None:
        if not self._has_entries(value):
            raise MisfitError(f"{where} is {_shown(value)}; it must have the entries {', '.join(self.forms)}")
        for name, form in self.forms.items():
            if name in value:
                form.check(value[name], f"{where}.{name}", sizes)

    def _has_entries(self, value: Any) -> bool:
        needed = {name for name, form in self.forms.items() if not isinstance(form, Optional)}
        return isinstance(value, dict) and needed <= value.keys() <= self.forms.keys()


class Registered(Form):
    """A key of the dict, or a member of what the function returns, at "module:name"; imported when needed."""

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
    """A collection of strings, of one of the given types and, if there is a symbol, of its size."""

    says = "a list of words"

    def __init__(self, *types: type, symbol: str = "") -> None:
        self.types, self.symbol = types, symbol

    def fits(self, value: Any, sizes: Sizes) -> bool:
        if type(value) not in self.types or (self.symbol and not bound(self.symbol, len(value), sizes)):
            return False
        return value.types is None if isinstance(value, StoredNames) else all(isinstance(word, str) for word in value)


class Some(Form):
    """A dict with any of these entries and no others."""

    def __init__(self, forms: Mapping[str, Form], says: str) -> None:
        self.forms, self.says = forms, says

    def fits(self, value: Any, sizes: Sizes) -> bool:
        known = isinstance(value, dict) and set(value) <= set(self.forms)
        return known and all(self.forms[name].fits(one, sizes) for name, one in value.items())


def bound(symbol: str, length: int, sizes: Sizes) -> bool:
    """Whether a size agrees with its earlier value; binds it if there is none."""
    return length >= 0 and sizes.setdefault(symbol, length) == length

"""Python values as JSON and arrays, to be decoded by `values.py` and `stored.py`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank.errors import ModelFileError
from arcrank.io.string_arrays import name_arrays
from arcrank.modelfile.rows import row_arrays
from arcrank.modelfile.values import DTYPES

__all__ = ["Encoder", "MostlyZero", "Names", "describe"]


class Names(list[Any]):
    """A long list of names, to be stored in arrays rather than in the manifest."""


@dataclass(frozen=True)
class MostlyZero:
    """A matrix to be stored by its nonzero rows if that is smaller."""

    matrix: NDArray[np.float64]


class Encoder:
    """Turns values into JSON and collects arrays on the way.

    >>> encoder = Encoder("a model")
    >>> encoder.encode((1, 2.5, float("inf")), "what")
    {'$tuple': [1, 2.5, {'$float': 'inf'}]}
    """

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.arrays: dict[str, NDArray[Any]] = {}

    def encode(self, value: Any, where: str) -> Any:
        """Return the JSON of a value; `where` names its arrays, and the value in errors."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return str.__str__(value) if _is_unicode(value) else {"$text": [ord(character) for character in value]}
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"$float": repr(float(value))}
        if isinstance(value, Names):
            return self._names(list(value), "list", where)
        if isinstance(value, MostlyZero):
            return self._rows(value.matrix, where)
        return self._collection(value, where)

    def _collection(self, value: Any, where: str) -> Any:
        if isinstance(value, list):
            return [self.encode(item, where) for item in value]
        if isinstance(value, tuple):
            return {"$tuple": [self.encode(item, where) for item in value]}
        if isinstance(value, set | frozenset):
            return {"$set": [self.encode(item, where) for item in sorted(value, key=repr)]}
        if isinstance(value, Mapping):
            return self._mapping(value, where)
        return self._of_numpy(value, where)

    def _mapping(self, value: Mapping[Any, Any], where: str) -> Any:
        if all(isinstance(key, str) and not key.startswith("$") and _is_unicode(key) for key in value):
            return {str.__str__(key): self.encode(item, f"{where}.{key}") for key, item in value.items()}
        return {"$map": [[self.encode(key, where), self.encode(item, where)] for key, item in value.items()]}

    def _of_numpy(self, value: Any, where: str) -> Any:
        if isinstance(value, np.bool_ | np.integer | np.floating) and value.dtype.itemsize <= 8:
            return self.encode(value.item(), where)
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
            return self._dtype(value, where)
        if hasattr(value, "tocsr"):
            return self._csr(value.tocsr(), where)
        raise self._refusal(value, where)

    def _dtype(self, value: Any, where: str) -> Any:
        if np.dtype(value).str not in DTYPES:
            raise self._refusal(value, where)
        return {"$dtype": np.dtype(value).str}

    def _array(self, value: NDArray[Any], where: str) -> Any:
        if value.dtype.kind in "OUT" and value.ndim == 1:
            return self._names(value.tolist(), "text" if value.dtype.kind == "U" else "object", where)
        plain = np.asarray(value)
        little = plain.dtype.newbyteorder("<")
        if little.str not in DTYPES:
            raise self._refusal(value, where)
        turned = plain.ndim == 2 and plain.flags.f_contiguous and not plain.flags.c_contiguous
        # The memory layout is kept: with the other one, products would sum in another order.
        stored = np.asarray(plain.T if turned else plain, dtype=little, order="C")
        return {"$array": self._keep(stored, where)} | ({"order": "F"} if turned else {})

    def _csr(self, matrix: Any, where: str) -> Any:
        parts = {name: self._array(getattr(matrix, name), f"{where}.{name}") for name in ("data", "indices", "indptr")}
        return {"$csr": parts, "shape": [int(length) for length in matrix.shape]}

    def _rows(self, matrix: NDArray[Any], where: str) -> Any:
        arrays = row_arrays(matrix)
        if arrays is None:
            return self._array(matrix, where)
        return {"$rows": self._keep_all(arrays, where), "length": len(matrix)}

    def _names(self, names: list[Any], form: str, where: str) -> Any:
        arrays = name_arrays(names)
        if arrays is None:
            strange = next(name for name in names if name_arrays([name]) is None)
            raise ModelFileError(
                f"{self.owner} cannot be saved: {where} holds {strange!r:.80} of type {type(strange).__name__}; names "
                "may be str, int, float or bool. Convert them before training."
            )
        return {"$names": self._keep_all(arrays, where), "form": form}

    def _keep_all(self, arrays: Mapping[str, NDArray[Any]], where: str) -> dict[str, str]:
        return {name: self._keep(array, f"{where}.{name}") for name, array in arrays.items()}

    def _keep(self, array: NDArray[Any], where: str) -> str:
        name, number = where, 1
        while name in self.arrays:
            number += 1
            name = f"{where}#{number}"
        self.arrays[name] = array
        return name

    def _refusal(self, value: Any, where: str) -> ModelFileError:
        if callable(value):
            return ModelFileError(
                f"{self.owner} cannot be saved: {where} is {describe(value)}, and a model file holds no code. Train it "
                "with one of the named choices."
            )
        return ModelFileError(
            f"{self.owner} cannot be saved: {where} is {describe(value)}, which has no stored form. Give names, "
            "numbers, lists, dicts or arrays."
        )


def _is_unicode(text: str) -> bool:
    """Whether there are no surrogates: JSON would join two adjacent ones into one character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def describe(value: Any) -> str:
    """How an error message names a value.

    >>> describe(len), describe(1j)
    ('the function len', '1j of type complex')
    """
    name = getattr(value, "__qualname__", None)
    if isinstance(name, str):
        return f"the {'class' if isinstance(value, type) else 'function'} {name}"
    return f"{value!r:.80} of type {type(value).__name__}"

"""Names of labels, features and terms as arrays: UTF-8 bytes, where each name ends, and its type unless all are text.

Any text is preserved, including lone surrogates; so are int, float and bool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["StoredNames", "name_arrays"]

_TEXT = 0
_WRITERS: dict[type, tuple[int, Callable[[Any], str]]] = {
    str: (_TEXT, str),
    int: (1, str),
    float: (2, float.hex),
    bool: (3, lambda name: str(int(name))),
}
_READERS: dict[int, Callable[[str], Any]] = {_TEXT: str, 1: int, 2: float.fromhex, 3: lambda text: bool(int(text))}
_FORMS = ("list", "text", "object")
_AT_ONCE = 1 << 16


def name_arrays(names: list[Any]) -> dict[str, NDArray[Any]] | None:
    """Return "bytes", "ends" and "types" (omitted if all names are text), or None if a type is not known."""
    plain = [name.item() if isinstance(name, np.generic) else name for name in names]
    if not all(type(name) in _WRITERS for name in plain):
        return None
    types = np.array([_WRITERS[type(name)][0] for name in plain], dtype=np.uint8)
    encoded = [_WRITERS[type(name)][1](name).encode("utf-8", "surrogatepass") for name in plain]
    arrays: dict[str, NDArray[Any]] = {
        "bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "ends": np.cumsum([len(one) for one in encoded], dtype=np.int64),
    }
    return arrays | ({"types": types} if types.any() else {})


class StoredNames:
    """Names that are still arrays: their number is known before memory is allocated for each.

    `form` says what they become: a list ("list"), an array of objects ("object") or of NumPy's text ("text").
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], form: Any) -> None:
        if not {"bytes", "ends"} <= set(arrays) <= {"bytes", "ends", "types"} or form not in _FORMS:
            raise ValueError(f"names of the unknown form {form!r}, or without their bytes and ends")
        self.bytes, self.ends, self.types, self.form = arrays["bytes"], arrays["ends"], arrays.get("types"), form
        self._check()

    def _check(self) -> None:
        plain = self.bytes.dtype == np.uint8 and self.ends.dtype == np.int64
        if not plain or not self.bytes.ndim == self.ends.ndim == 1:
            raise ValueError("names that are not bytes, or whose ends are not int64")
        ends, last = self.ends, len(self.bytes)
        if (ends[-1] if len(ends) else 0) != last or (len(ends) and ends[0] < 0) or (ends[1:] < ends[:-1]).any():
            raise ValueError("names end outside their bytes")
        if self.types is not None and (self.types.dtype != np.uint8 or self.types.shape != ends.shape):
            raise ValueError("the types of names do not agree with their number")

    def __len__(self) -> int:
        return len(self.ends)

    @cached_property
    def names(self) -> list[Any]:
        """The stored names, decoded on first use."""
        texts = _texts(self.bytes.tobytes(), self.ends)
        if self.types is None:
            return texts
        return [_READERS[kind](text) for kind, text in zip(self.types.tolist(), texts, strict=True)]

    def expand(self) -> Any:
        """Return the names in their form."""
        if self.form == "list":
            return self.names
        if self.form == "text":
            return np.array(self.names, dtype=np.str_)
        array = np.empty(len(self), dtype=object)
        array[:] = self.names
        return array


def _texts(data: bytes, ends: NDArray[np.int64]) -> list[str]:
    if data.isascii():  # decoding once and slicing is faster than decoding each name
        whole = data.decode("ascii")
        return [whole[start:end] for start, end in pairwise(_limits(ends))]
    return [data[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(_limits(ends))]


def _limits(ends: NDArray[np.int64]) -> Iterator[int]:
    """0 and all ends as Python integers, converted a block at a time."""
    yield 0
    for start in range(0, len(ends), _AT_ONCE):
        yield from ends[start : start + _AT_ONCE].tolist()

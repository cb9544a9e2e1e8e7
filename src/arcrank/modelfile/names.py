"""Names of labels, features and terms as arrays: UTF-8 bytes, where each name ends, and its type unless all are text.

Text of any kind survives, lone surrogates and NUL characters included; so do int, float and bool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["name_arrays", "names_of"]

_TEXT = 0
_WRITERS: dict[type, tuple[int, Callable[[Any], str]]] = {
    str: (_TEXT, str),
    int: (1, str),
    float: (2, float.hex),
    bool: (3, lambda name: str(int(name))),
}
_READERS: dict[int, Callable[[str], Any]] = {_TEXT: str, 1: int, 2: float.fromhex, 3: lambda text: bool(int(text))}


def name_arrays(names: list[Any]) -> dict[str, NDArray[Any]] | None:
    """Return "bytes", "ends" and "types" (left out where all names are text), or None where a type is not known."""
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


def names_of(arrays: Mapping[str, NDArray[Any]], form: str) -> Any:
    """Return the names as a list ("list"), as an array of objects ("object") or of NumPy's text ("text")."""
    texts = _texts(arrays["bytes"].tobytes(), arrays["ends"])
    types = arrays.get("types")
    names = texts if types is None else [_READERS[kind](text) for kind, text in zip(types.tolist(), texts, strict=True)]
    if form == "list":
        return names
    if form == "text":
        return np.array(names, dtype=np.str_)
    if form != "object":
        raise ValueError(f"unknown form of names {form!r}")
    array = np.empty(len(names), dtype=object)
    array[:] = names
    return array


def _texts(data: bytes, ends: NDArray[np.int64]) -> list[str]:
    limits = [0, *ends.tolist()]
    if limits[-1] != len(data) or min(np.diff(limits), default=0) < 0:
        raise ValueError("names end outside their bytes")
    if data.isascii():  # one decoding and many cuts are faster than many decodings
        whole = data.decode("ascii")
        return [whole[start:end] for start, end in pairwise(limits)]
    return [data[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(limits)]

"""Python values as JSON and arrays, and back: types and values are preserved, and no code is run.

JSON types stand for themselves. What JSON cannot express is an object with one key that begins with "$":
{"$tuple": [...]}, {"$set": [...]}, {"$map": [[key, value], ...]}, {"$text": code points}, {"$float": "inf"},
{"$dtype": "<f8"}, {"$array": name}, {"$names": {...}, ...}, {"$csr": {...}, ...}, {"$rows": {...}, ...} since format 2.

This file decodes a manifest without arrays, and needs no NumPy; `encoder.py` encodes. What takes more memory than its
arrays is decoded to them (`StoredNames`, `StoredRows`, `StoredCsr`), to be checked first and then expanded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DTYPES", "decode", "expand", "readable"]

DTYPES = {"<f8": "F64", "<f4": "F32", "<f2": "F16", "<i8": "I64", "<i4": "I32", "<i2": "I16", "|i1": "I8"}
DTYPES |= {"<u8": "U64", "<u4": "U32", "<u2": "U16", "|u1": "U8", "|b1": "BOOL"}
"""safetensors's names of NumPy's types."""


def decode(value: Any, arrays: Callable[[str], NDArray[Any]] | None = None) -> Any:
    """Return the value that was encoded, to be expanded; `arrays` returns the array of a name.

    >>> decode({"$tuple": [1, {"$float": "-inf"}]})
    (1, -inf)
    """
    if isinstance(value, list):
        return [decode(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    kind = next((key for key in value if key.startswith("$")), None)
    if kind is None:
        return {key: decode(item, arrays) for key, item in value.items()}
    return _decoder(kind)(value, arrays)


def expand(value: Any) -> Any:
    """Return a decoded value with all its names and matrices expanded.

    >>> expand({"a": [1, (2, 3)]})
    {'a': [1, (2, 3)]}
    """
    if isinstance(value, dict):
        return {key: expand(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(expand(item) for item in value)
    return value.expand() if hasattr(value, "expand") else value


def readable(value: Any) -> Any:
    """Return what was encoded in JSON types alone: lists for tuples and sets, and the kind of an array for arrays.

    >>> readable({"dtype": {"$dtype": "<f8"}, "range": {"$tuple": [1, 2]}, "codes": {"$array": "codes"}})
    {'dtype': '<f8', 'range': [1, 2], 'codes': '<array>'}
    """
    if isinstance(value, list):
        return [readable(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = next((key for key in value if key.startswith("$")), None)
    if kind is None:
        return {key: readable(item) for key, item in value.items()}
    if kind in ("$array", "$names", "$csr", "$rows"):
        return f"<{kind[1:]}>"
    if kind == "$map":
        return {str(decode(key)): readable(item) for key, item in value["$map"]}
    return decode(value) if kind == "$text" else readable(value[kind])


def _decode_map(value: Any, arrays: Any) -> dict[Any, Any]:
    return {decode(key, arrays): decode(item, arrays) for key, item in value["$map"]}


def _decoder(kind: str) -> Callable[[Any, Any], Any]:
    if kind in _DECODERS:
        return _DECODERS[kind]
    from arcrank.modelfile.stored import DECODERS  # imports NumPy, which a card without arrays does not need

    return DECODERS[kind]


_DECODERS: dict[str, Callable[[Any, Any], Any]] = {
    "$tuple": lambda value, arrays: tuple(decode(value["$tuple"], arrays)),
    "$set": lambda value, arrays: set(decode(value["$set"], arrays)),
    "$map": _decode_map,
    "$text": lambda value, _: "".join(map(chr, value["$text"])),
    "$float": lambda value, _: float(value["$float"]),
}

"""The bytes of a model file: safetensors, with a manifest in its metadata, and checksums of it and of each array.

    8 bytes     length of the header, little-endian
    header      JSON: {"__metadata__": {"manifest": JSON text, "sha256": of that text}, array name: place, ...}
    data        the arrays, one after the other, little-endian, in C order

The manifest is an object whose "format" is a number and whose "arrays" gives dtype, shape and checksum of each array in
the order of the data. The rest of the header follows from it and must agree with it. An array's checksum is the SHA-256
of the SHA-256 digests of its blocks of 1 MiB, so that several threads can check it.

This file imports nothing heavy: a manifest is read without NumPy.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import struct
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from arcrank.errors import ModelFileError

__all__ = ["FORMAT", "Container", "container_bytes", "open_container"]

FORMAT = 2
"""The newest format; all up to it can be read. Format 2 added matrices stored by their nonzero rows."""
SIZES = {"F64": 8, "F32": 4, "F16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1}
SIZES |= {"U64": 8, "U32": 4, "U16": 2, "U8": 1, "BOOL": 1}
"""Bytes of a number, by safetensors's name of its type."""

_BLOCK = 1 << 20
_LONGEST_AXIS = 2**53  # of an empty array too
_LONGEST_HEADER = 100_000_000  # safetensors's own limit
_FEW_BLOCKS = 4  # with fewer, starting threads takes longer than it saves
_THREADS = 4

Manifest = dict[str, Any]


def container_bytes(manifest: Manifest, arrays: Mapping[str, tuple[str, list[int], memoryview]]) -> Iterator[Any]:
    """Yield the blocks of a file: arrays are (dtype, shape, bytes); "format" and "arrays" are added to the manifest."""
    entries = {
        name: {"dtype": dtype, "shape": shape, "sha256": _digest(data)} for name, (dtype, shape, data) in arrays.items()
    }
    text = json.dumps({"format": FORMAT, **manifest, "arrays": entries}, allow_nan=False)
    metadata = {"manifest": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    header = json.dumps({"__metadata__": metadata, **_places(entries)}).encode()
    header += b" " * (-len(header) % 8)  # so that the data begin at a multiple of 8
    yield struct.pack("<Q", len(header))
    yield header
    for _, _, data in arrays.values():
        yield data


@dataclass
class Container:
    """An open file whose manifest has been checked."""

    path: str
    file: BinaryIO
    manifest: Manifest
    data_size: int

    def read_arrays(self, empty: Callable[[str, list[int]], tuple[Any, memoryview]]) -> dict[str, Any]:
        """Return all arrays by name, each checked; `empty(dtype, shape)` gives an array and its bytes to fill."""
        with _threads(self.data_size) as pool:
            return {name: self._read(name, entry, empty, pool) for name, entry in self.manifest["arrays"].items()}

    def _read(self, name: str, entry: Mapping[str, Any], empty: Any, pool: Executor | None) -> Any:
        try:
            array, data = empty(entry["dtype"], entry["shape"])
        except (MemoryError, ValueError) as error:
            raise damaged(self.path, f"{name!r} cannot be made ({error})") from None
        digests = []
        for start in range(0, len(data), _BLOCK):
            block = data[start : start + _BLOCK]
            if self.file.readinto(block) != len(block):  # type: ignore[attr-defined]
                raise damaged(self.path, "it ends too early")
            digests.append(_later(pool, block))
        if _joined([digest() for digest in digests]) != entry["sha256"]:
            raise damaged(self.path, f"the checksum of {name!r} is wrong")
        return array


@contextmanager
def open_container(path: str | os.PathLike[str]) -> Iterator[Container]:
    """Open a model file, and check its manifest and its size."""
    name = os.fspath(path)
    with open(path, "rb", opener=_open_without_waiting) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ModelFileError(f"{name}: this is not a regular file; copy the model to a file and load that.")
        header, start = _read_header(name, file, status.st_size)
        manifest = _check_manifest(name, header)
        size = status.st_size - start
        _check_places(name, header, manifest, size)
        yield Container(name, file, manifest, size)


def damaged(path: str, what: str) -> ModelFileError:
    """Return the error for a damaged model file."""
    return ModelFileError(
        f"{path}: the model file is damaged: {what}. Copy it again, or train and save the model again."
    )


def _not_a_model(path: str, place: str) -> ModelFileError:
    return ModelFileError(
        f"{path}: this is not an arcrank model file, or its {place} is damaged. Give a file that arcrank.save wrote, "
        "or copy it again."
    )


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a pipe without waiting for a writer; O_NONBLOCK has no effect on files."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _read_header(path: str, file: BinaryIO, size: int) -> tuple[dict[str, Any], int]:
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > min(size - 8, _LONGEST_HEADER):
        raise _not_a_model(path, "beginning")
    raw = file.read(length)
    header = _parsed(raw)
    if header is None:
        raise _not_a_model(path, "header")
    return header, 8 + length


def _parsed(raw: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(raw.decode("ascii"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _check_manifest(path: str, header: dict[str, Any]) -> Manifest:
    metadata = header.pop("__metadata__", None)
    text = metadata.get("manifest") if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise ModelFileError(
            f"{path}: this is a safetensors file without a manifest, so arcrank.save did not write it, or its "
            "header is damaged. Give a file that arcrank.save wrote, or copy it again."
        )
    raw = text.encode("utf-8", "surrogatepass")
    if hashlib.sha256(raw).hexdigest() != metadata.get("sha256"):
        raise damaged(path, "the checksum of its manifest is wrong")
    manifest = _parsed(raw)
    if manifest is None or type(manifest.get("format")) is not int or manifest["format"] < 1:
        raise damaged(path, "its manifest has no format number")
    if manifest["format"] > FORMAT:
        raise ModelFileError(
            f"{path}: the model has format {manifest['format']}, written by arcrank {manifest.get('arcrank')}; this "
            f"arcrank reads formats up to {FORMAT}. Install a newer arcrank, or save the model with this one."
        )
    return manifest


def _check_places(path: str, header: dict[str, Any], manifest: Manifest, size: int) -> None:
    try:
        places = _places(manifest["arrays"])
    except (AttributeError, LookupError, TypeError, ValueError):
        raise damaged(path, "its manifest does not say what its arrays are") from None
    if header != places:
        raise damaged(path, "its header does not agree with its manifest")
    expected = max((place["data_offsets"][1] for place in places.values()), default=0)
    if size != expected:
        raise damaged(path, f"it holds {size:,} bytes of arrays instead of {expected:,}")


def _places(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What the safetensors header says about each array."""
    places, end = {}, 0
    for name, entry in entries.items():
        if not isinstance(entry["sha256"], str):
            raise ValueError("an array without a checksum")
        if not all(type(length) is int and 0 <= length <= _LONGEST_AXIS for length in entry["shape"]):
            raise ValueError("a shape that is not whole numbers")
        start, end = end, end + SIZES[entry["dtype"]] * math.prod(entry["shape"])
        places[name] = {"dtype": entry["dtype"], "shape": entry["shape"], "data_offsets": [start, end]}
    return places


@contextmanager
def _threads(size: int) -> Iterator[Executor | None]:
    if size < _FEW_BLOCKS * _BLOCK:
        yield None
        return
    with ThreadPoolExecutor(_THREADS) as pool:
        yield pool


def _later(pool: Executor | None, block: memoryview) -> Callable[[], bytes]:
    if pool is None:
        digest = hashlib.sha256(block).digest()
        return lambda: digest
    future: Future[bytes] = pool.submit(lambda: hashlib.sha256(block).digest())
    return future.result


def _digest(data: memoryview) -> str:
    with _threads(len(data)) as pool:
        later = [_later(pool, data[start : start + _BLOCK]) for start in range(0, len(data), _BLOCK)]
        return _joined([digest() for digest in later])


def _joined(digests: list[bytes]) -> str:
    return hashlib.sha256(b"".join(digests)).hexdigest()

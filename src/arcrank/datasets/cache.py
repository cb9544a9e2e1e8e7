"""Parsed corpora, stored as plain arrays in the user's cache folder under the checksum of their files.

A parsed corpus is a dict of arrays: numbers as they are, strings as UTF-8 bytes with offsets, and sets of labels as
codes with offsets. One file is an uncompressed .npz, whose members carry a CRC; nothing in it is executed. If the cache
is damaged, foreign or not writable, the corpus is parsed again.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from arcrank.datasets.locate import cache_folder

__all__ = ["Arrays", "cached", "checksum", "pack_sets", "pack_strings", "unpack_sets", "unpack_strings"]

Arrays = dict[str, NDArray[Any]]
_MEMBERS = "members"
# A file changed twice within one clock tick keeps its time stamp, so a recent one is not trusted.
_SETTLED_SECONDS = 2.0


def cached(kind: str, version: int, files: Sequence[Path], parse: Callable[[], Arrays]) -> Arrays:
    """Return `parse()`, or what it returned before for files of the same content.

    `version` is that of the parser: increase it whenever the arrays change.
    """
    path = _folder() / f"{kind}-v{version}-{_known_checksum(kind, files)}.npz"
    arrays = _load(path)
    if arrays is None:
        arrays = parse()
        _save(path, arrays)
    return arrays


def checksum(files: Iterable[Path]) -> str:
    """Return one SHA-256 over the names and contents of the files."""
    digest = hashlib.sha256()
    for file in files:
        with open(file, "rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        digest.update(f"{file.name}\0{content}\0".encode())
    return digest.hexdigest()[:40]


def pack_strings(name: str, strings: Sequence[str]) -> Arrays:
    """Return the arrays `<name>_bytes` (UTF-8) and `<name>_ptr` (offsets, one more than strings)."""
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    ptr = np.concatenate([[0], np.cumsum([len(item) for item in encoded], dtype=np.int64)]).astype(np.int64)
    return {f"{name}_bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8), f"{name}_ptr": ptr}


def unpack_strings(arrays: Arrays, name: str) -> list[str]:
    """Return the strings of `pack_strings`."""
    raw = arrays[f"{name}_bytes"]
    starts, ends = _spans(arrays[f"{name}_ptr"])
    if raw.max(initial=0) < 128:  # ASCII: offsets in bytes are offsets in characters, so it is decoded once
        text = raw.tobytes().decode("ascii")
        return [text[a:b] for a, b in zip(starts, ends, strict=True)]
    blob = raw.data  # slices of it are not copied before they are decoded
    return [str(blob[a:b], "utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=True)]


def pack_sets(name: str, sets: Sequence[Sequence[str]], labels: Sequence[str]) -> Arrays:
    """Return `<name>_codes` and `<name>_ptr` of label sets in their own order, and the labels' strings."""
    code = {label: j for j, label in enumerate(labels)}
    codes = np.array([code[label] for members in sets for label in members], dtype=np.int32)
    ptr = np.concatenate([[0], np.cumsum([len(members) for members in sets])]).astype(np.int64)
    return {f"{name}_codes": codes, f"{name}_ptr": ptr, **pack_strings(f"{name}_names", labels)}


def unpack_sets(arrays: Arrays, name: str) -> list[list[str]]:
    """Return the label sets of `pack_sets`."""
    names = unpack_strings(arrays, f"{name}_names")
    flat = [names[code] for code in arrays[f"{name}_codes"].tolist()]
    with _no_collection():
        return [flat[a:b] for a, b in zip(*_spans(arrays[f"{name}_ptr"]), strict=True)]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the garbage collector, which would scan tens of thousands of new lists again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _spans(ptr: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    return ptr[:-1].tolist(), ptr[1:].tolist()


def _folder() -> Path:
    return cache_folder() / "parsed"


def _load(path: Path) -> Arrays | None:
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as stored:
            # a damaged directory can lose members without an error from zipfile
            names = json.loads(stored[_MEMBERS].tobytes())
            return {name: stored[name] for name in names}
    except Exception:  # what numpy and zipfile raise for damaged files is not documented; all of it means: parse again
        return None


def _save(path: Path, arrays: Arrays) -> None:
    members = np.frombuffer(json.dumps(list(arrays)).encode(), dtype=np.uint8)
    _replace(path, lambda stream: np.savez(stream, **arrays, **{_MEMBERS: members}))  # type: ignore[arg-type]


def _replace(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """Write to a temporary file and move it into place, so that a reader never sees a partial file."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as stream:
            temporary = stream.name
            write(stream)
        os.replace(temporary, path)
    except BaseException as error:  # Ctrl-C leaves nothing behind either
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)
        if not isinstance(error, OSError):
            raise


def _known_checksum(kind: str, files: Sequence[Path]) -> str:
    """Return the checksum, from a stored note if size, times and inode of every file are unchanged."""
    now = time.time()
    stamps = [_stamp(file) for file in files]
    place = hashlib.sha256("\0".join(str(file) for file in files).encode()).hexdigest()[:16]
    note = _folder() / f"{kind}-{place}.json"
    try:
        known = json.loads(note.read_bytes())
        if known["stamps"] == stamps and re.fullmatch("[0-9a-f]{40}", known["checksum"]):
            return str(known["checksum"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    value = checksum(files)
    if all(max(stamp[2], stamp[3]) / 1e9 < now - _SETTLED_SECONDS for stamp in stamps):
        _replace(note, lambda stream: _write_json(stream, {"stamps": stamps, "checksum": value}))
    return value


def _write_json(stream: IO[bytes], value: object) -> None:
    stream.write(json.dumps(value).encode())


def _stamp(file: Path) -> list[int]:
    status = file.stat()
    return [status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]

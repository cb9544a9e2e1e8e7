"""`@kernel`: numba's `njit` with a cache that is verified and optional.

numba writes machine code into `__pycache__` and later runs whatever it finds there. A flipped bit in such a file can
kill the user's process, and code of another version gives wrong numbers. So each of our files starts with a SHA-256
and names what it was made for; where a file does not match, the kernel is compiled again. Where nothing can be written
(a read-only folder, a full disk), kernels are compiled in memory with one warning.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import uuid
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from itertools import count
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

Function = TypeVar("Function", bound=Callable[..., Any])
_DIGEST_BYTES = 32
_warned = False


class CheckedCache(FunctionCache):
    """numba's cache of one function, in which a failed read or write costs a compilation and never raises."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # numba's own stamp covers only the function's file, and kernels call functions of other files
        stamp = (self._cache_file._source_stamp, package_digest())
        self._cache_file = CheckedCacheFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature, or None where it must be compiled."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # what numba raises for a file that it cannot use is not documented; compiling always works
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the compiled code for a signature, or warn once that it cannot be written."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn_uncached(f"{self._cache_path} cannot be written to ({error.strerror})")


class CheckedCacheFile(IndexDataCacheFile):
    """numba's index and data files: SHA-256, then what the file was made for, then its content.

    A data file names its signature too. Otherwise an index could lead to other code after a process died between
    writing the two files, or after two processes wrote at the same time.
    """

    def save(self, key: Any, data: Any) -> None:
        """Write the data of one signature, then add it to the index."""
        overloads = self._load_index()
        name = overloads.get(key) or self._free_name(overloads)
        # Data before index: a process that dies in between leaves a file that nothing refers to.
        self._write(self._data_path(name), key, data)
        if key not in overloads:
            self._save_index({**overloads, key: name})

    def load(self, key: Any) -> Any:
        """Return the data of one signature, or None where there is none that can be trusted."""
        name = self._load_index().get(key)
        return None if name is None else self._read(self._data_path(name), key)

    def _load_index(self) -> dict[Any, str]:
        return self._read(self._index_path, "index") or {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, "index", overloads)

    def _free_name(self, overloads: dict[Any, str]) -> str:
        return next(name for name in map(self._data_name, count(1)) if name not in overloads.values())

    def _read(self, path: str, key: Any) -> Any:
        """Return the content, or None where the file is missing, damaged, out of date or not ours."""
        try:
            with open(path, "rb") as file:
                digest, data = file.read(_DIGEST_BYTES), file.read()
            # Before unpickling, which acts on whatever bytes it is given.
            if hashlib.sha256(data).digest() != digest:
                return None
            made_for, content = pickle.loads(data)
        except Exception:  # unpickling can raise anything: a class that no longer exists, a file of another layout
            return None
        return content if made_for == self._made_for(key) else None

    def _write(self, path: str, key: Any, content: Any) -> None:
        """Write the file completely or not at all; Ctrl-C leaves no temporary file behind."""
        data = self._dump((self._made_for(key), content))
        # A name of its own for each writer: processes that compile at the same time must not share a temporary file.
        temporary = f"{path}.tmp.{uuid.uuid4().hex[:16]}"
        try:
            with open(temporary, "wb") as file:
                file.write(hashlib.sha256(data).digest() + data)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def _made_for(self, key: Any) -> tuple[Any, ...]:
        return (self._version, self._source_stamp, key)


@cache
def package_digest() -> str:
    """Return the SHA-256 of all sources of this package, read once per process."""
    digest = hashlib.sha256()
    for name, source in _sources(files(__package__), ""):
        # With the length in front, text moved from one file to the next changes the digest.
        digest.update(f"{name}\0{len(source)}\0".encode() + source)
    return digest.hexdigest()


def _sources(folder: Any, prefix: str) -> Iterator[tuple[str, bytes]]:
    # Sorted, since the order in which a file system lists a folder is arbitrary.
    for entry in sorted(folder.iterdir(), key=lambda entry: str(entry.name)):
        if entry.name.endswith(".py"):
            yield prefix + entry.name, entry.read_bytes()
        elif entry.is_dir() and entry.name != "__pycache__":
            yield from _sources(entry, f"{prefix}{entry.name}/")


def kernel(function: Function) -> Function:
    """Compile `function` on its first call, without the GIL, cached on disk where that is possible."""
    # No fastmath: kernels compute with inf and NaN, and a reordered sum would change results between machines.
    # No boundscheck, the default: callers check their data once, kernels run over it many times.
    dispatcher: Any = numba.njit(nogil=True)(function)
    try:
        dispatcher._cache = CheckedCache(function)
    except (RuntimeError, OSError):  # numba found no folder that it may write to
        _warn_uncached("neither its own folder nor the user's cache folder is writable")
    return cast(Function, dispatcher)


def _warn_uncached(why: str) -> None:
    global _warned  # noqa: PLW0603
    if not _warned:
        _warned = True
        warnings.warn(
            f"arcrank cannot cache compiled code: {why}. It compiles again in each process; "
            "to avoid that, set NUMBA_CACHE_DIR to a writable folder with enough space.",
            RuntimeWarning,
            stacklevel=4,
        )

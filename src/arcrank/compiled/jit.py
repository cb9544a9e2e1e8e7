"""`@kernel`: numba's `njit` with a cache that is distrusted.

numba writes machine code into `__pycache__` and runs whatever it finds there again. A flipped bit in such a file
can kill the user's process, so ours carry a SHA-256; a file that does not match is compiled anew. Where no folder
is writable, kernels are compiled in memory with one warning.
"""

from __future__ import annotations

import hashlib
import pickle
import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import IndexDataCacheFile

Function = TypeVar("Function", bound=Callable[..., Any])
_DIGEST_BYTES = 32
_warned = False


class CheckedCacheFile(IndexDataCacheFile):
    """numba's index and data files, each preceded by the SHA-256 of its content."""

    def _load_index(self) -> dict[Any, str]:
        content = _read_checked(self._index_path)
        if content is None:
            return {}
        version, stamp, overloads = content
        fresh = version == self._version and stamp == self._source_stamp
        return overloads if fresh else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write_checked(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return _read_checked(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        self._write_checked(self._data_path(name), data)

    def _write_checked(self, path: str, content: Any) -> None:
        data = self._dump(content)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(data).digest() + data)


def _read_checked(path: str) -> Any:
    """Return the unpickled content, or None where the file is missing, damaged or not ours."""
    try:
        with open(path, "rb") as file:
            digest, data = file.read(_DIGEST_BYTES), file.read()
    except OSError:
        return None
    if hashlib.sha256(data).digest() != digest:
        return None
    return pickle.loads(data)


def kernel(function: Function) -> Function:
    """Compile `function` on its first call, without the GIL, cached on disk where that is possible."""
    njit: Any = numba.njit
    try:
        dispatcher = njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba found no folder that it may write to
        _warn_uncached()
        return cast(Function, njit(nogil=True)(function))
    dispatcher._cache._cache_file.__class__ = CheckedCacheFile
    return cast(Function, dispatcher)


def _warn_uncached() -> None:
    global _warned  # noqa: PLW0603
    if not _warned:
        _warned = True
        warnings.warn(
            "arcrank cannot cache compiled code: neither its own folder nor the user's cache folder is writable. "
            "It compiles anew in each process; set NUMBA_CACHE_DIR to a writable folder to avoid that.",
            RuntimeWarning,
            stacklevel=4,
        )

"""The only module that reads and writes compressed files: gzip and xz, alone or around tar archives."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, Any, cast

from arcrank.errors import FormatError

__all__ = ["ARCHIVES", "COMPRESSED", "compress", "files_of", "members", "open_binary", "readable"]

COMPRESSED = (".xz", ".gz")
ARCHIVES = (".tar.xz", ".tar.gz", ".tgz", ".tar")
_XZ, _GZIP = b"\xfd7zXZ", b"\x1f\x8b"


def compress(path: str, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes of a file: the blocks as they are, or compressed if the name ends in .gz or .xz."""
    if path.endswith(".gz"):
        compressor: Any = zlib.compressobj(wbits=31)
    elif path.endswith(".xz"):
        compressor = lzma.LZMACompressor()
    else:
        yield from blocks
        return
    for block in blocks:
        yield compressor.compress(block)
    yield compressor.flush()


@contextmanager
def readable(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn the errors of a damaged or truncated compressed file into a `FormatError` that names it."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, tarfile.TarError) as error:
        raise FormatError(f"{path}: the file is truncated or damaged ({error}); download it again") from error


@contextmanager
def open_binary(source: str | os.PathLike[str] | IO[bytes]) -> Iterator[io.BufferedReader]:
    """Open a file or stream for reading bytes; gzip and xz are recognised by their first bytes.

    A file is closed at the end; a given stream is not.
    """
    with ExitStack() as stack:
        if isinstance(source, (str, os.PathLike)):
            stream = stack.enter_context(open(source, "rb"))
        else:
            stream = io.BufferedReader(cast(Any, source))
            stack.callback(stream.detach)
        start = stream.peek(6)[:6]
        if start.startswith((_XZ, _GZIP)):
            plain: Any = lzma.LZMAFile(stream) if start.startswith(_XZ) else gzip.GzipFile(fileobj=stream)  # noqa: SIM115
            stream = stack.enter_context(io.BufferedReader(plain, 1 << 16))
        yield stream


def files_of(path: Path, *patterns: str) -> list[Path]:
    """Return the files that `members` would read, sorted: an archive itself, or matching files of a folder."""
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file() and _wanted(file.name, patterns))


def members(path: Path, *patterns: str) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield (name, stream) of each file in a folder or archive whose name matches one of the patterns.

    Names are without .gz or .xz. A folder is read in sorted order, an archive in its stored order; read each stream
    before taking the next one.
    """
    if path.is_dir():
        for file in files_of(path, *patterns):
            with readable(file), open_binary(file) as stream:
                yield _plain(file.name), _guarded(stream, file)
    elif path.name.endswith(ARCHIVES):
        yield from _archive_members(path, patterns)
    else:
        with readable(path), open_binary(path) as stream:
            yield _plain(path.name), _guarded(stream, path)


def _archive_members(path: Path, patterns: tuple[str, ...]) -> Iterator[tuple[str, IO[bytes]]]:
    with readable(path), open_binary(path) as stored:
        with tarfile.open(fileobj=stored, mode="r|") as archive:
            for info in archive:
                name = info.name.rpartition("/")[2]
                stream = archive.extractfile(info) if info.isfile() and _wanted(name, patterns) else None
                if stream is not None:
                    yield _plain(name), _guarded(_decompressed(stream, name), path)
        # tarfile takes a truncation between two members for the end; reading the stream to its end reveals it
        while stored.read(1 << 20):
            pass


def _decompressed(stream: IO[bytes], name: str) -> IO[bytes]:
    if name.endswith(".gz"):
        return io.BytesIO(gzip.decompress(stream.read()))
    return io.BytesIO(lzma.decompress(stream.read())) if name.endswith(".xz") else stream


class _Guarded(io.RawIOBase):
    """A stream that raises `FormatError` as soon as a read finds that the compressed file is damaged."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream = stream
        self._path = path

    def readable(self) -> bool:
        """True, as `io.BufferedReader` requires."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, with a `FormatError` for damaged files."""
        with readable(self._path):
            data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        """Read the rest, with a `FormatError` for damaged files."""
        with readable(self._path):
            return self._stream.read()


def _guarded(stream: IO[bytes], path: Path) -> IO[bytes]:
    return io.BufferedReader(_Guarded(stream, path), 1 << 16)


def _plain(name: str) -> str:
    return name.removesuffix(".xz").removesuffix(".gz")


def _wanted(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(_plain(name), pattern) for pattern in patterns)

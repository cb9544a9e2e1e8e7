"""Write files atomically: whatever happens, the path holds the old bytes or the new ones."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where an open file cannot be deleted: no lock is needed
    fcntl = None  # type: ignore[assignment]

__all__ = ["sync_folder", "write_atomically"]

_NO_SPACE = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_OPEN = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def write_atomically(
    path: str | os.PathLike[str], blocks: Iterable[bytes | memoryview], *, streamed: bool = False
) -> None:
    """Write blocks of bytes to a temporary file next to `path`, then replace `path` with it.

    Temporary files that killed processes left for the same path are removed; those of running ones are locked. If there
    is no space left, the error names the size of the whole file. `streamed` blocks are produced while they are written,
    perhaps for hours, so then it names only the size so far.
    """
    target = Path(os.path.realpath(path))  # a link stays, and its target is replaced
    _check_target(target)
    _remove_leftovers(target)
    counted = _Counted(blocks)
    try:
        _write_and_replace(target, counted)
    except OSError as error:
        if error.errno not in _NO_SPACE:
            raise
        if not streamed:
            counted.finish()
        raise OSError(error.errno, _no_space(error, target, counted), str(target)) from error
    sync_folder(target.parent)


def _write_and_replace(target: Path, blocks: Iterable[bytes | memoryview]) -> None:
    with _temporary(target) as (descriptor, temporary):
        _write(descriptor, blocks)
        _keep_permissions(descriptor, target)
        os.fsync(descriptor)
        os.replace(temporary, target)


class _Counted(Iterator[bytes | memoryview]):
    """Blocks whose bytes are counted as they are taken."""

    def __init__(self, blocks: Iterable[bytes | memoryview]) -> None:
        self._blocks = iter(blocks)
        self.size = 0
        self.whole = False

    def __next__(self) -> bytes | memoryview:
        try:
            block = next(self._blocks)
        except StopIteration:
            self.whole = True
            raise
        self.size += memoryview(block).nbytes
        return block

    def finish(self) -> None:
        """Count the rest without writing it."""
        for _ in self:
            pass


def _no_space(error: OSError, target: Path, counted: _Counted) -> str:
    """The message for a full disk, an exhausted quota or a limit on file sizes."""
    needed = f"{'' if counted.whole else 'more than '}{counted.size:,}"
    free = shutil.disk_usage(target.parent).free
    return (
        f"{error.strerror}; the file needs {needed} bytes, and the disk has {free:,} free. "
        "Free some space, or give a path on another disk"
    )


def _check_target(target: Path) -> None:
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "The folder to save into does not exist; create it", str(target.parent))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "This is a folder; give the name of a file in it", str(target))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "This is not a regular file, and saving would replace it", str(target))


def _prefix(target: Path) -> str:
    """The common prefix of the temporary files of one target; short, however long its name is."""
    return f".arcrank-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}-"


@contextlib.contextmanager
def _temporary(target: Path) -> Iterator[tuple[int, Path]]:
    descriptor, temporary = _create_locked(target)
    try:
        yield descriptor, temporary
    finally:
        with contextlib.suppress(FileNotFoundError):  # it has become the target
            temporary.unlink()
        os.close(descriptor)


def _create_locked(target: Path) -> tuple[int, Path]:
    while True:
        temporary = target.parent / f"{_prefix(target)}{secrets.token_hex(8)}.tmp"
        descriptor = os.open(temporary, _OPEN, 0o666)
        if _lock(descriptor, wait=True) is None or _still_there(descriptor, temporary):
            return descriptor, temporary
        os.close(descriptor)  # another save removed it as a leftover before it was locked


def _lock(descriptor: int, *, wait: bool) -> bool | None:
    """Whether we hold the lock; None if the system or the file system has no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _still_there(descriptor: int, temporary: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), temporary.stat())
    except FileNotFoundError:
        return False


def _remove_leftovers(target: Path) -> None:
    for leftover in target.parent.glob(f"{_prefix(target)}*.tmp"):
        with contextlib.suppress(OSError):  # gone already, or not ours to remove
            if fcntl is None:
                leftover.unlink()
            else:
                _remove_unless_locked(leftover)


def _remove_unless_locked(leftover: Path) -> None:
    """A process holds the lock of its temporary file until it ends, however it ends."""
    descriptor = os.open(leftover, os.O_RDWR)
    try:
        if _lock(descriptor, wait=False):
            leftover.unlink()
    finally:
        os.close(descriptor)


def _write(descriptor: int, blocks: Iterable[bytes | memoryview]) -> None:
    with os.fdopen(descriptor, "wb", closefd=False) as file:
        for block in blocks:
            file.write(block)


def _keep_permissions(descriptor: int, target: Path) -> None:
    if hasattr(os, "fchmod"):
        with contextlib.suppress(OSError):  # a new file, or a file system without permissions
            os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode))


def sync_folder(folder: Path) -> None:
    """Make a new or renamed file of this folder survive a power failure; its content is synchronised by itself."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Writing a file so that its path holds the old bytes or the new ones, whatever happens on the way."""

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
except ImportError:  # Windows, where a file that somebody has open cannot be deleted: no lock is needed
    fcntl = None  # type: ignore[assignment]

__all__ = ["write_atomically"]

_NO_SPACE = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_OPEN = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def write_atomically(
    path: str | os.PathLike[str], blocks: Iterable[bytes | memoryview], *, streamed: bool = False
) -> None:
    """Write blocks of bytes to a temporary file next to `path`, then replace `path` with it.

    Temporary files that killed processes left for the same path are removed; those of living ones are locked. Where
    there is no space the error names the size of the whole file. Blocks that are `streamed` are made as they are
    written, perhaps for hours, so then it names only how far it came.
    """
    target = Path(os.path.realpath(path))  # a link stays, and what it points to is replaced
    _check_target(target)
    _remove_litter(target)
    counted = _Counted(blocks)
    try:
        _write_and_replace(target, counted)
    except OSError as error:
        if error.errno not in _NO_SPACE:
            raise
        if not streamed:
            counted.finish()
        raise OSError(error.errno, _no_space(error, target, counted), str(target)) from error
    _sync_folder(target.parent)


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
    """Disks, quotas and limits for files have different errors."""
    needed = f"{'' if counted.whole else 'more than '}{counted.size:,}"
    free = shutil.disk_usage(target.parent).free
    return (
        f"{error.strerror}; the file needs {needed} bytes, and the disk has {free:,} free. "
        "Free some space, or give a path on another disk"
    )


def _check_target(target: Path) -> None:
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "There is no such folder to save into; create it", str(target.parent))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "This is a folder; give the name of a file in it", str(target))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "This is no ordinary file, and saving would replace it", str(target))


def _prefix(target: Path) -> str:
    """What the temporary files of one target have in common; short, whatever the length of its name."""
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
    """Whether the lock is ours; None where the system or the file system has no locks."""
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


def _remove_litter(target: Path) -> None:
    for litter in target.parent.glob(f"{_prefix(target)}*.tmp"):
        with contextlib.suppress(OSError):  # gone already, or not ours to remove
            if fcntl is None:
                litter.unlink()
            else:
                _remove_unless_locked(litter)


def _remove_unless_locked(litter: Path) -> None:
    """A process holds the lock of its temporary file until it ends, by whatever death."""
    descriptor = os.open(litter, os.O_RDWR)
    try:
        if _lock(descriptor, wait=False):
            litter.unlink()
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


def _sync_folder(folder: Path) -> None:
    """Without this a power cut may bring the old name back, though not half a file."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

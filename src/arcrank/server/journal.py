"""The journal of a model's feedback: lines are only ever appended, and are on disk before they are acknowledged."""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from arcrank._wording import as_json
from arcrank.datasets.journal import JournalContent, read_journal
from arcrank.errors import ParameterError
from arcrank.io.atomic import sync_folder

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["Journal", "journal_path"]


def journal_path(model: Path) -> Path:
    """Where the feedback on a model is stored.

    >>> journal_path(Path("news.arcrank")).as_posix()
    'news.feedback.jsonl'
    """
    return model.with_suffix(".feedback.jsonl")


class Journal:
    """A journal that this process alone writes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            self._lock()
            self.content: JournalContent = read_journal(path)
        except BaseException:
            os.close(self._file)
            raise
        os.ftruncate(self._file, self.content.size)  # a line that a crash cut off was never acknowledged
        os.fsync(self._file)
        sync_folder(path.parent)

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ParameterError(
                f"{self.path} is written by another server.\nStop that server, or serve a copy of the model."
            ) from None

    def append(self, lines: list[dict[str, Any]]) -> None:
        """Write lines and wait until they are on disk; after a failure none of them is in the journal."""
        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        numbered = [{"seq": self.content.last + n, "when": when, **line} for n, line in enumerate(lines, start=1)]
        data = "".join(f"{as_json(line)}\n" for line in numbered).encode()
        try:
            _write_all(self._file, data)
            os.fsync(self._file)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self.content.size)
            raise
        self.content.size += len(data)
        for line in numbered:
            self.content.add(line)

    def close(self) -> None:
        """Let another process write the journal."""
        os.close(self._file)


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]

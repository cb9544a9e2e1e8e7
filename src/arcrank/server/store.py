"""The models of a server, each with its queue; a model is replaced when its file changes."""

from __future__ import annotations

import asyncio
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from arcrank.errors import ArcrankError, ParameterError
from arcrank.server.problems import ProblemError
from arcrank.server.ranking import RankingQueue
from arcrank.server.served_model import ServedModel, file_checksum
from arcrank.server.settings import Settings

if TYPE_CHECKING:
    from arcrank.server.learning import Learning

__all__ = ["ModelStore", "Slot", "model_names"]

_log = logging.getLogger("arcrank.server")


def model_names(paths: list[Path]) -> dict[str, Path]:
    """Models by the names of their files, without the ending.

    >>> list(model_names([Path("a/news.arcrank"), Path("mail.arcrank")]))
    ['news', 'mail']
    """
    names: dict[str, Path] = {}
    for path in paths:
        name = path.name.removesuffix(path.suffix)
        if name in names:
            raise ParameterError(f"{names[name]} and {path} have the same name.\nRename one of the files.")
        names[name] = path
    return names


class Slot:
    """One model file, and the model that was read from it."""

    def __init__(self, name: str, path: Path, settings: Settings, *, writes: bool) -> None:
        self.name = name
        self.path = path
        self.pool = ThreadPoolExecutor(1, thread_name_prefix=f"arcrank-{name}")
        self.swaps = 0
        self.refused = 0
        self._seen = _signature(path)
        self._reloading = asyncio.Lock()  # a reload that began earlier must not end later, with an older file
        self.queue = RankingQueue(lambda: self.model, settings.limits.queue, self.pool)
        self.learning = self._start_learning() if writes else None
        self._model = None if self.learning else ServedModel.read(path, name)

    def _start_learning(self) -> Learning:
        from arcrank.server.learning import Learning  # imports scikit-learn, which a server that only reads can spare

        return Learning(self.path, self.name, self.queue.lock)

    @property
    def model(self) -> ServedModel:
        """The model to use now."""
        if self.learning is not None:
            return self.learning.model
        assert self._model is not None
        return self._model

    async def reload_if_changed(self, *, force: bool = False) -> None:
        """Read the file again if it has changed; if that fails, the old model stays."""
        async with self._reloading:
            seen = _signature(self.path)
            if seen == self._seen and not force:
                return
            self._seen = seen
            try:
                await self._reload()
            except (ArcrankError, OSError, MemoryError) as error:
                self.refused += 1
                _log.warning("%s was not taken up, and the model from before stays: %s", self.path, error)

    async def _reload(self) -> None:
        loop = asyncio.get_running_loop()
        if await loop.run_in_executor(None, file_checksum, self.path) == self.model.checksum:
            return  # touched, or saved by this process
        if self.learning is not None:
            await self.learning.reload()
        else:
            self._model = await loop.run_in_executor(None, ServedModel.read, self.path, self.name)
        self.swaps += 1
        _log.info("%s was read again: %s", self.path, self.model.checksum[:12])

    def close(self) -> None:
        """Stop threads, and let another process write the journal."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        if self.learning is not None:
            self.learning.close()


class ModelStore:
    """All models of a server by name."""

    def __init__(self, models: dict[str, Path], settings: Settings, *, writes: bool) -> None:
        self._settings = settings
        self.slots = {name: Slot(name, path, settings, writes=writes) for name, path in models.items()}
        self._watcher: asyncio.Task[None] | None = None

    def __getitem__(self, name: str) -> Slot:
        slot = self.slots.get(name)
        if slot is None:
            known = ", ".join(self.slots)
            raise ProblemError(404, f"This server has no model of that name. Its models are: {known}.")
        return slot

    def start_watching(self) -> None:
        """Look for changed files every few seconds."""
        self._watcher = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._settings.watch)
            await self.reload()

    async def reload(self, *, force: bool = False) -> None:
        """Read changed files again."""
        for slot in self.slots.values():
            try:
                await slot.reload_if_changed(force=force)
            except Exception:
                _log.exception("%s could not be read again.", slot.path)

    def close(self) -> None:
        """Stop watching and learning."""
        if self._watcher is not None:
            self._watcher.cancel()
        for slot in self.slots.values():
            slot.close()


def _signature(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file is replaced."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino

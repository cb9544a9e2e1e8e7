"""Feedback on one model: into the journal first, then into the model.

The card of a model file says how many lines of the journal the model has learnt ("applied"). Everything after them is
replayed when the file is read, so a crash loses nothing and nothing is learnt twice. The file that was there before the
first `learn` stays as the checkpoint. An `undo` replays the journal without the retracted preference, from the
model file if it has not learnt it, else from the checkpoint.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import arcrank
from arcrank._wording import count
from arcrank.errors import ParameterError
from arcrank.modelfile import read_card
from arcrank.server.journal import Journal, journal_path
from arcrank.server.preferences import journal_line, learn_entries, warm_up
from arcrank.server.problems import ProblemError
from arcrank.server.schemas import Acknowledgement, FeedbackRequest, LearnAnswer, UndoRequest
from arcrank.server.served_model import ServedModel, file_checksum, learns_online

__all__ = ["Learning", "checkpoint_path"]

_log = logging.getLogger("arcrank.server")


def checkpoint_path(model: Path) -> Path:
    """Where the model from before the first preference is stored.

    >>> checkpoint_path(Path("news.arcrank")).as_posix()
    'news.checkpoint.arcrank'
    """
    return model.with_suffix(f".checkpoint{model.suffix}")


@dataclass(eq=False)
class _Waiting:
    request: FeedbackRequest
    line: dict[str, Any]
    done: asyncio.Future[Acknowledgement]


class Learning:
    """The journal of one model file and the model that learns from it. Only one process has it."""

    def __init__(self, path: Path, name: str, model_lock: asyncio.Lock) -> None:
        self.path = path
        self.name = name
        self.journal = Journal(journal_path(path))
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=f"arcrank-learn-{name}")
        self._lock = asyncio.Lock()
        self._model_lock = model_lock  # held while documents are ranked
        self._waiting: list[_Waiting] = []
        self._task: asyncio.Task[None] | None = None
        self._applied = 0
        try:
            self.model = self.read()
        except BaseException:
            self.close()
            raise

    @property
    def is_live(self) -> bool:
        """Whether preferences are learnt at once."""
        return learns_online(self.model.predictor)

    @property
    def pending(self) -> int:
        """Preferences that the model has not learnt."""
        return len(self.journal.content.live(self._applied))

    def read(self) -> ServedModel:
        """Read the model file and replay what it has not learnt."""
        model = ServedModel.read(self.path, self.name, live=True)
        applied = self._applied_of(model.facts)
        if not learns_online(model.predictor):
            self._applied = applied
            return model
        warm_up(model.predictor.ranker)
        if not self.journal.content.holds(applied):
            model, applied = self._read_checkpoint(model, applied)
        entries = self.journal.content.live(applied)
        learn_entries(model, entries)
        model.learnt = len(entries)
        self._applied = self.journal.content.last
        return model

    def _applied_of(self, facts: dict[str, Any]) -> int:
        applied = int(_feedback_card(facts).get("applied", 0))
        if applied > self.journal.content.last:
            raise ParameterError(
                f"{self.path} has learnt {count(applied, 'line')} of its journal, but {self.journal.path} has "
                f"{self.journal.content.last:,}.\nRestore the journal, or train the model again."
            )
        return applied

    def _read_checkpoint(self, model: ServedModel, applied: int) -> tuple[ServedModel, int]:
        """The model from before the first preference, unless it belongs to another model file."""
        place, wanted = checkpoint_path(self.path), _feedback_card(model.facts).get("checkpoint")
        if wanted is None or not place.exists() or file_checksum(place) != wanted:
            _log.warning("%s was trained with a preference that was taken back; train it again.", self.path)
            return model, applied
        old = ServedModel.read(place, self.name, live=True)
        old.path, old.checksum, old.facts = model.path, model.checksum, model.facts
        return old, self._applied_of(read_card(place))

    async def feedback(self, request: FeedbackRequest) -> Acknowledgement:
        """Record a preference and learn it; those of concurrent requests go to disk together."""
        done: asyncio.Future[Acknowledgement] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(request, journal_line(request, self.model), done))
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._drain())
        return await asyncio.shield(done)

    async def _drain(self) -> None:
        try:
            while self._waiting:
                async with self._lock:
                    batch, self._waiting = self._waiting, []
                    await self._record(batch)
        finally:
            self._task = None

    async def _record(self, batch: list[_Waiting]) -> None:
        known = self.journal.content.entries
        new = {one.request.id: one for one in batch if one.request.id not in known}
        try:
            if new:
                await self._append([one.line for one in new.values()])
                async with self._model_lock:
                    self._learn([known[id] for id in new])
        except Exception as error:
            for one in batch:
                _fail(one.done, error)
            return
        first = set(map(id, new.values()))
        for one in batch:
            if not one.done.done():
                one.done.set_result(self._acknowledge(one.request.id, repeated=id(one) not in first))

    async def _append(self, lines: list[dict[str, Any]]) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._pool, self.journal.append, lines)
        except OSError as error:
            raise ProblemError(
                507, f"The journal cannot be written ({error.strerror}). Nothing was recorded."
            ) from error

    def _learn(self, entries: list[Any]) -> None:
        """Learn what is on disk already; what fails stays pending and is learnt with the next `learn`."""
        if not self.is_live or self._applied + len(entries) != self.journal.content.last:
            return
        try:
            learn_entries(self.model, entries)
        except Exception:
            _log.exception("A preference on %s is in the journal but could not be learnt.", self.name)
            return
        self.model.learnt += len(entries)
        self._applied = self.journal.content.last

    def _acknowledge(self, id: str, *, repeated: bool) -> Acknowledgement:
        content = self.journal.content
        learnt = content.entries[id].seq <= self._applied
        if repeated:
            state, detail = "repeated", "This id is known already; nothing was done."
        elif learnt and self.is_live:
            state, detail = "learnt", "The preference is on disk, and the model has learnt it."
        else:
            state, detail = "recorded", f"The preference is on disk. {self._how_to_learn()}"
        return Acknowledgement(id, state, detail, self.model.learnt, self.pending)  # type: ignore[arg-type]

    def _how_to_learn(self) -> str:
        if self.is_live:
            return "The model learns it with the next request to learn."
        learner = type(self.model.predictor.ranker).__name__
        return (
            f"{learner} learns from all documents at once: train it again with "
            f"arcrank train DATA --feedback {self.journal.path.name} --model {self.path.name}."
        )

    async def undo(self, request: UndoRequest) -> Acknowledgement:
        """Record a retraction, and replay the journal without the preference."""
        async with self._lock:
            content = self.journal.content
            if request.id not in content.entries:
                raise ProblemError(
                    404, "There is no preference with this id. Give the id of one that was acknowledged."
                )
            if request.id in content.retracted:
                return self._retracted(request.id, "It was taken back before; nothing was done.", "repeated")
            line = {"retract": request.id, **({} if request.by is None else {"by": request.by})}
            was_learnt = content.entries[request.id].seq <= self._applied
            await self._append([line])
            if not was_learnt:
                return self._retracted(request.id, "The preference was taken back before it was learnt.")
            if self.is_live:
                self.model = await asyncio.get_running_loop().run_in_executor(self._pool, self.read)
                return self._retracted(request.id, "The model has been rebuilt without the preference.")
            return self._retracted(request.id, f"The model was trained with it. {self._how_to_learn()}")

    def _retracted(self, id: str, detail: str, state: str = "retracted") -> Acknowledgement:
        return Acknowledgement(id, state, detail, self.model.learnt, self.pending)  # type: ignore[arg-type]

    async def learn(self) -> LearnAnswer:
        """Learn what is pending, and save the model."""
        async with self._lock:
            if not self.is_live:
                raise ProblemError(409, self._how_to_learn())
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._learn_and_save)

    def _learn_and_save(self) -> LearnAnswer:
        if self._applied != self.journal.content.last:
            self.model = self.read()
        model = self.model
        learnt = model.learnt
        if learnt or not self._file_is_right():
            self._keep_checkpoint()
            arcrank.save(model.model, self.path, card=self._card())
            model.checksum, model.facts, model.learnt = file_checksum(self.path), read_card(self.path), 0
        detail = (
            f"Saved {self.path.name} with {count(learnt, 'more preference')}." if learnt else "Nothing was pending."
        )
        return LearnAnswer(self.name, model.checksum, model.learnt, bool(learnt), detail)

    def _file_is_right(self) -> bool:
        return self.journal.content.holds(self._applied_of(self.model.facts))

    def _keep_checkpoint(self) -> None:
        """The file from before the first preference becomes the checkpoint; later files leave it as it is."""
        feedback, place = _feedback_card(self.model.facts), checkpoint_path(self.path)
        if feedback.get("checkpoint") and place.exists() and file_checksum(place) == feedback["checkpoint"]:
            return
        temporary = place.with_name(f".{place.name}.tmp")
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        try:
            os.link(os.path.realpath(self.path), temporary)  # saving replaces the file, so a link is a copy
        except OSError:
            shutil.copyfile(self.path, temporary)
        os.replace(temporary, place)

    def _card(self) -> dict[str, Any]:
        checkpoint = file_checksum(checkpoint_path(self.path))
        feedback = {"journal": self.journal.path.name, "applied": self._applied, "checkpoint": checkpoint}
        card = dict(self.model.facts.get("card") or {})
        return {**card, "labels": len(self.model.predictor.labels), "feedback": feedback}

    async def reload(self) -> None:
        """Take up a new model file; an error leaves the old model in place."""
        async with self._lock:
            self.model = await asyncio.get_running_loop().run_in_executor(self._pool, self.read)

    def close(self) -> None:
        """Let another process learn."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self.journal.close()


def _feedback_card(facts: dict[str, Any]) -> dict[str, Any]:
    return (facts.get("card") or {}).get("feedback") or {}


def _fail(done: asyncio.Future[Any], error: Exception) -> None:
    if not done.done():
        done.set_exception(error)

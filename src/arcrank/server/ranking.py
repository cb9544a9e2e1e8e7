"""Documents of concurrent requests, ranked together: one product costs less than many.

Documents wait in a bounded queue. Small requests that wait at the same time are ranked together, and at once, since
handing them to a thread costs more than ranking them. A large request is ranked in a thread: small ones do not wait for
it, as long as the model does not change meanwhile. Hence a model that learns waits for the thread.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from arcrank.inference.ranked_document import RankedDocument
from arcrank.server.problems import ProblemError
from arcrank.server.served_model import Document, ServedModel

__all__ = ["RankingQueue"]

T = TypeVar("T")
_BATCH_COST = 20_000  # characters that are ranked in a few milliseconds
_LABELS_AT_ONCE = 1_000  # a text costs twice as much with so many labels
_MOST_IN_BATCH = 64  # documents; a step in C that takes long would stop the other thread


@dataclass(eq=False)
class _Job:
    documents: list[Document]
    top: int | None
    threshold: float | None
    recall: float | None
    done: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    cost: float = 0.0

    @property
    def options(self) -> tuple[int | None, float | None, float | None]:
        return self.top, self.threshold, self.recall

    def cost_with(self, labels: int) -> float:
        length = sum(len(one) if isinstance(one, str) else 10 * len(one) for one in self.documents)
        return (length + 200 * len(self.documents)) * (1 + labels / _LABELS_AT_ONCE)


class RankingQueue:
    """The documents that wait for one model.

    Parameters
    ----------
    current : callable
        Returns the model to use now; it is called once per batch, so a batch is ranked by one model.
    most : int
        Documents that may wait.
    """

    def __init__(self, current: Callable[[], ServedModel], most: int, pool: ThreadPoolExecutor) -> None:
        self._current = current
        self._most = most
        self._pool = pool
        self._small: deque[_Job] = deque()
        self._large: deque[_Job] = deque()
        self._small_task: asyncio.Task[None] | None = None
        self._large_task: asyncio.Task[None] | None = None
        self.lock = asyncio.Lock()  # held while the thread uses the model, and while the model learns
        self.length = 0

    async def rank(
        self,
        documents: list[Document],
        top: int | None,
        threshold: float | None,
        recall: float | None,
        *,
        alone: bool = False,
    ) -> str:
        """Return the answer as JSON; `alone` says that no other request is there to be ranked with this one."""
        if self.length + len(documents) > self._most and self.length:
            raise ProblemError(
                503,
                f"{self.length:,} documents are waiting, and no more than {self._most:,} may. Try again later.",
                {"Retry-After": "1"},
            )
        job = _Job(documents, top, threshold, recall)
        job.cost = job.cost_with(len(self._current().predictor.labels))
        self._add(job, alone=alone)
        return await job.done

    def _add(self, job: _Job, *, alone: bool) -> None:
        """Rank a small job at once if it is the only one; else see to it that somebody ranks what waits."""
        loop = asyncio.get_running_loop()
        if alone and job.cost <= _BATCH_COST and not self._small:
            _rank(self._current(), [job], _set)
            return
        self.length += len(job.documents)
        if job.cost > _BATCH_COST:
            self._large.append(job)
            self._large_task = self._large_task or loop.create_task(self._rank_large())
        else:
            self._small.append(job)
            self._small_task = self._small_task or loop.create_task(self._rank_small())

    async def use(self, function: Callable[[ServedModel], T], *, large: bool) -> T:
        """Apply a function to the model, in the thread if it takes long."""
        if not large:
            return function(self._current())
        async with self.lock:
            return await asyncio.get_running_loop().run_in_executor(self._pool, function, self._current())

    async def _rank_small(self) -> None:
        try:
            while self._small:
                _rank(self._current(), self._take(), _set)
                await asyncio.sleep(0)  # between two batches answers are sent and requests are read
        finally:
            self._small_task = None

    async def _rank_large(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._large:
                job = self._large.popleft()
                self.length -= len(job.documents)
                if job.done.done():  # the request was given up
                    continue
                async with self.lock:
                    await loop.run_in_executor(self._pool, _rank, self._current(), [job], _set_later(loop))
        finally:
            self._large_task = None

    def _take(self) -> list[_Job]:
        """The next small jobs whose requests still wait, as many as are ranked in a few milliseconds."""
        batch: list[_Job] = []
        cost = 0.0
        while self._small and len(batch) < _MOST_IN_BATCH and cost + self._small[0].cost <= _BATCH_COST:
            job = self._small.popleft()
            self.length -= len(job.documents)
            if not job.done.done():
                batch.append(job)
                cost += job.cost
        return batch


_Answer = Callable[[_Job, str | Exception], None]


def _set(job: _Job, answer: str | Exception) -> None:
    if job.done.done():
        return
    if isinstance(answer, Exception):
        job.done.set_exception(answer)
    else:
        job.done.set_result(answer)


def _set_later(loop: asyncio.AbstractEventLoop) -> _Answer:
    def answer(job: _Job, found: str | Exception) -> None:
        loop.call_soon_threadsafe(_set, job, found)

    return answer


def _rank(model: ServedModel, batch: list[_Job], answer: _Answer) -> None:
    """Rank all jobs with the same options together; if that fails, one by one, so that errors reach their cause."""
    groups: dict[tuple[int | None, float | None, float | None], list[_Job]] = {}
    for job in batch:
        groups.setdefault(job.options, []).append(job)
    for jobs in groups.values():
        try:
            answers: list[str | Exception] = list(_answers(model, jobs))
        except Exception as error:
            answers = [error] if len(jobs) == 1 else [_one(model, job) for job in jobs]
        for job, found in zip(jobs, answers, strict=True):
            answer(job, found)


def _one(model: ServedModel, job: _Job) -> str | Exception:
    try:
        return next(iter(_answers(model, [job])))
    except Exception as error:
        return error


def _answers(model: ServedModel, jobs: list[_Job]) -> list[str]:
    """The answers to jobs that have the same options."""
    predictor, (top, threshold, recall) = model.predictor, jobs[0].options
    documents = [document for job in jobs for document in job.documents]
    chosen = predictor.threshold(threshold, recall)
    written: list[str] = []
    for start in range(0, len(documents), _MOST_IN_BATCH):
        corpus = model.corpus(documents[start : start + _MOST_IN_BATCH])
        ranked = predictor.rank(corpus, top, threshold=chosen)
        written += [_with_cut(model, one).to_json(model.written_labels) for one in ranked]
    answers = iter(written)
    return [f'{model.head}"documents":[{",".join(next(answers) for _ in job.documents)}]}}' for job in jobs]


def _with_cut(model: ServedModel, document: RankedDocument) -> RankedDocument:
    """Add the predicted labels of a model that has a cut but no probabilities: those that score above 0."""
    if document.predicted is None and model.has_cut:
        scored = zip(document.labels, document.scores, strict=True)
        document.predicted = [label for label, score in scored if score > 0]
    return document

"""Documents of concurrent requests, ranked together: one product costs less than many.

Documents wait in a bounded queue. Whoever finds the model idle ranks all that wait. A small batch is ranked at once,
since handing it to a thread costs more than ranking it; a large one is ranked in a thread, so that other connections
are served meanwhile.
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
_MOST_IN_BATCH = 64


@dataclass(eq=False)
class _Job:
    documents: list[Document]
    top: int | None
    threshold: float | None
    recall: float | None
    done: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def options(self) -> tuple[int | None, float | None, float | None]:
        return self.top, self.threshold, self.recall

    def cost(self, labels: int) -> float:
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
        self._waiting: deque[_Job] = deque()
        self._task: asyncio.Task[None] | None = None
        self.lock = asyncio.Lock()  # held while a model is used or learns
        self.length = 0

    async def rank(
        self, documents: list[Document], top: int | None, threshold: float | None, recall: float | None
    ) -> str:
        """Return the answer as JSON."""
        if self.length + len(documents) > self._most and self.length:
            raise ProblemError(
                503,
                f"{self.length:,} documents are waiting, and no more than {self._most:,} may. Try again later.",
                {"Retry-After": "1"},
            )
        job = _Job(documents, top, threshold, recall)
        self._waiting.append(job)
        self.length += len(documents)
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())
        return await job.done

    async def use(self, function: Callable[[ServedModel], T], *, large: bool) -> T:
        """Apply a function to the model while nothing else uses it."""
        async with self.lock:
            if not large:
                return function(self._current())
            return await asyncio.get_running_loop().run_in_executor(self._pool, function, self._current())

    async def _run(self) -> None:
        try:
            while self._waiting:
                async with self.lock:
                    await self._rank_batch()
        finally:
            self._task = None

    async def _rank_batch(self) -> None:
        model = self._current()
        batch, cost = self._take(len(model.predictor.labels))
        if not batch:
            return
        if cost <= _BATCH_COST:
            _rank(model, batch, _set)
        else:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._pool, _rank, model, batch, _set_later(loop))

    def _take(self, labels: int) -> tuple[list[_Job], float]:
        """The next jobs whose requests still wait, and their cost; more than one only if all of them are small."""
        batch: list[_Job] = []
        cost = 0.0
        while self._waiting and len(batch) < _MOST_IN_BATCH:
            job = self._waiting[0]
            more = job.cost(labels)
            if batch and cost + more > _BATCH_COST:
                break
            self._waiting.popleft()
            self.length -= len(job.documents)
            if not job.done.done():  # the request was given up
                batch.append(job)
                cost += more
        return batch, cost


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
    corpus = model.corpus([document for job in jobs for document in job.documents])
    chosen = predictor.threshold(threshold, recall)
    ranked = [_with_cut(model, one) for one in predictor.rank(corpus, top, threshold=chosen)]
    written = iter([one.to_json(model.written_labels) for one in ranked])
    return [f'{model.head}"documents":[{",".join(next(written) for _ in job.documents)}]}}' for job in jobs]


def _with_cut(model: ServedModel, document: RankedDocument) -> RankedDocument:
    """Add the predicted labels of a model that has a cut but no probabilities: those that score above 0."""
    if document.predicted is None and model.has_cut:
        scored = zip(document.labels, document.scores, strict=True)
        document.predicted = [label for label, score in scored if score > 0]
    return document

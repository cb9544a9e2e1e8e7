"""Runs of Amini, Truong & Goutte 2008: one cell per method, topic, split and label set, stored in the cache folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from arcrank._typing import Array, IntArray
from arcrank.datasets import Corpus, load_ohsumed, load_reuters21578
from arcrank.experiments.amini2008.methods import Split, Task, method
from arcrank.experiments.cache import cached
from arcrank.experiments.progress import Tick
from arcrank.metrics.bipartite import PrecisionTies, auc, precision_recall, top_precision, uninterpolated_precision
from arcrank.text import TermCounts, Tokenizer

__all__ = ["COLLECTIONS", "RECALLS", "Cell", "Collection", "Study"]

_VERSION = 2
"""Increase it when a change invalidates the stored cells."""
RECALLS = np.linspace(0.0, 1.0, 11)
TIES: tuple[PrecisionTies, PrecisionTies] = ("error", "random")
"""The paper's reading of its AUC, extended to the precisions, and the other one."""


class Collection(NamedTuple):
    """A collection and the paper's settings for it."""

    load: Callable[[], Corpus]
    n_relevant: int
    n_irrelevant: int
    cut: int
    """r of the AUP"""


COLLECTIONS = {
    "Reuters-21578": Collection(lambda: load_reuters21578("first-topic-top10"), 9, 81, 500),
    "OHSUMED": Collection(load_ohsumed, 3, 177, 1000),
}


@dataclass
class Cell:
    """The measures of one method on the test documents of one topic, ties counted as errors and in random order."""

    method: str
    topic: str
    split: int
    n_relevant: int
    n_irrelevant: int
    n_rounds: int
    aup: float = 0.0
    t9p: float = 0.0
    auc: float = 0.0
    aup_random: float = 0.0
    t9p_random: float = 0.0
    auc_random: float = 0.0
    precision: list[float] = field(default_factory=list)
    """Interpolated, at the recalls 0, 0.1, ..., 1."""
    seconds: float = 0.0


class Study:
    """A collection, its splits and its cells.

    Parameters
    ----------
    name : str, default="Reuters-21578"
        A name in `COLLECTIONS`.
    n_splits : int, default=10
        The number of random splits.
    n_rounds : int, default=100
        The rounds of boosting.
    tick : callable, optional
        Called after every cell.
    """

    def __init__(
        self, name: str = "Reuters-21578", n_splits: int = 10, n_rounds: int = 100, tick: Tick | None = None
    ) -> None:
        self.name, self.n_splits, self.n_rounds, self._tick = name, n_splits, n_rounds, tick
        self.collection = COLLECTIONS[name]

    @cached_property
    def corpus(self) -> Corpus:
        """The documents and their topics."""
        return self.collection.load()

    @cached_property
    def counts(self) -> sparse.csr_matrix:
        """Term counts as in the paper: lower case, one token for digits, a stop list, terms of at least 3 documents."""
        tokenizer = Tokenizer(digits="token", stop_words="english", stem=False)
        return TermCounts(tokenizer=tokenizer, min_df=3).fit_transform(self.corpus.texts or [])

    @lru_cache(maxsize=1)  # noqa: B019 - a study lives as long as its process
    def split(self, number: int) -> Split:
        """Return a split with a random third of the documents for the test."""
        return Split(self.counts, *self._parts(number))

    @cached_property
    def topics(self) -> list[str]:
        """The topics that have enough documents to label, and one in the test part, in every split (OHSUMED's vary)."""
        parts = [self._parts(number) for number in range(self.n_splits)]
        relevant = {topic: self.truth(topic) for topic in self.corpus.labels}
        return [
            topic
            for topic, truth in relevant.items()
            if all(truth[train].sum() >= self.collection.n_relevant and truth[test].any() for train, test in parts)
        ]

    def _parts(self, number: int) -> tuple[IntArray, IntArray]:
        order = np.random.default_rng([2008, number]).permutation(len(self.corpus))
        n_test = len(order) // 3
        return order[n_test:], order[:n_test]

    def truth(self, topic: str) -> Array:
        """Return 1 for the documents that have the topic, and 0 for the others."""
        return np.array([float(topic in labels) for labels in self.corpus.label_sets or []])

    def task(self, topic: str, number: int, n_relevant: int, n_irrelevant: int) -> Task:
        """Label random documents of the training part; smaller label sets are subsets of larger ones."""
        split, truth = self.split(number), self.truth(topic)
        random = np.random.default_rng([2008, number, self.corpus.labels.index(topic)])
        y = np.full(len(split.train), -1.0)
        for grade, count in ((1.0, n_relevant), (0.0, n_irrelevant)):
            rows = random.permutation(np.flatnonzero(truth[split.train] == grade))
            y[rows[:count]] = grade
        return Task(split, y, truth, self.n_rounds)

    def cell(self, name: str, topic: str, number: int, n_relevant: int = 0, n_irrelevant: int = 0) -> Cell:
        """Return a stored cell, or run it; by default the label set has the paper's size."""
        sizes = n_relevant or self.collection.n_relevant, n_irrelevant or self.collection.n_irrelevant
        found = self.finished(Cell(name, topic, number, *sizes, self.n_rounds))
        if self._tick is not None:
            self._tick()
        return found

    def finished(self, cell: Cell) -> Cell:
        """Return the cell with its measures, from the cache if they are stored."""
        return Cell(**cached("bipartite", self._key(cell), lambda: asdict(self._run(cell))))

    def cells(self, names: Iterable[str], topics: Iterable[str], report: Callable[[str], None]) -> list[Cell]:
        """Return the cells of all methods, topics and splits, with a line to `report` after each split."""
        names, topics, found = list(names), list(topics), []
        for number in range(self.n_splits):
            found += [self.cell(name, topic, number) for topic in topics for name in names]
            report(f"{self.name}: split {number + 1} of {self.n_splits}, {len(names)} methods, {len(topics)} topics")
        return found

    def _run(self, cell: Cell) -> Cell:
        task = self.task(cell.topic, cell.split, cell.n_relevant, cell.n_irrelevant)
        start = time.perf_counter()
        scores = method(cell.method)(task)
        cell.seconds = time.perf_counter() - start
        truth = task.truth[task.split.test]
        cut, top = min(self.collection.cut, len(truth)), min(50, len(truth))
        cell.aup, cell.aup_random = (uninterpolated_precision(truth, scores, cut, ties=t) for t in TIES)
        cell.t9p, cell.t9p_random = (top_precision(truth, scores, top, ties=t) for t in TIES)
        cell.auc, cell.auc_random = auc(truth, scores), auc(truth, scores, ties="half")
        curve = precision_recall(truth, scores)
        cell.precision = [float(curve.precision[curve.recall >= level - 1e-12].max()) for level in RECALLS]
        return cell

    def _key(self, cell: Cell) -> dict[str, Any]:
        names = ("method", "topic", "split", "n_relevant", "n_irrelevant", "n_rounds")
        return {"version": _VERSION, "collection": self.name, **{name: getattr(cell, name) for name in names}}

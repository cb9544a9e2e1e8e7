"""The runs behind Amini, Truong & Goutte 2008: one cell a method, topic, split and label set, kept on disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from arcrank.bipartite.rankboost import RankBoost
from arcrank.bipartite.semisupervised_logistic import SemiSupervisedLogistic
from arcrank.bipartite.semisupervised_rankboost import SemiSupervisedRankBoost
from arcrank.bipartite.transductive_svm import TransductiveSVM
from arcrank.datasets import Corpus, load_ohsumed, load_reuters21578
from arcrank.experiments import cells as store
from arcrank.metrics.bipartite import auc, precision_recall, top_precision, uninterpolated_precision
from arcrank.text import TermCounts, TfIdf, Tokenizer

__all__ = ["COLLECTIONS", "LATENT_GRID", "RECALLS", "Cell", "Collection", "Study", "Task", "method"]

_VERSION = 1
"""Raise it when a change makes the kept cells wrong."""
RECALLS = np.linspace(0.0, 1.0, 11)
LATENT_DIMENSIONS = (50, 100, 150, 200, 300)
LATENT_GRID = [f"LR latent={d} C={C}{u}" for d in LATENT_DIMENSIONS for C in (1, 10, 100) for u in ("", " unit")]
Rows = NDArray[np.intp]
Scores = NDArray[np.float64]


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
class Split:
    """One third of the documents for the test; idf is learnt in the other two."""

    counts: sparse.csr_matrix
    train: Rows
    test: Rows

    @cached_property
    def features(self) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
        """tf-idf features of the training and of the test part."""
        weights = TfIdf(sublinear=True, norm="l2").fit(self.counts[self.train])
        return weights.transform(self.counts[self.train]), weights.transform(self.counts[self.test])

    @cached_property
    def latent(self) -> tuple[Scores, Scores]:
        """The first latent dimensions, fitted on the training part (labels play no role)."""
        model = TruncatedSVD(max(LATENT_DIMENSIONS), algorithm="arpack", random_state=0)
        return model.fit_transform(self.features[0]), model.transform(self.features[1])


class Task(NamedTuple):
    """What a method gets: a split, the relevance of its training part (-1 = unlabelled), and the true one."""

    split: Split
    y: Scores
    truth: Scores
    n_rounds: int


@dataclass
class Cell:
    """How well one method ranked one topic's test documents."""

    method: str
    topic: str
    split: int
    n_relevant: int
    n_irrelevant: int
    n_rounds: int
    aup: float = 0.0
    t9p: float = 0.0
    auc: float = 0.0
    precision: list[float] = field(default_factory=list)
    """Interpolated, at the recalls 0, 0.1, ..., 1."""
    seconds: float = 0.0


def method(name: str) -> Callable[[Task], Scores]:
    """Return the method of that name: from a task to the scores of its test documents.

    Names are a word and settings: `RB`, `RB full` (all labels), `TSVM`, `TSVM prior` (told the true fraction of
    relevant documents), `ssLR`, `ssRB k=2 lambda=0.5`, `naive k=2`, `ssRB latent`, `LR`, `LR latent=100 C=10 unit`.
    """
    head, *words = name.split()
    settings = dict(word.partition("=")[::2] for word in words)
    if head == "LR":
        return lambda task: _logistic(task, settings)
    return lambda task: _ranked(task, _ranker(head, settings, task), full="full" in settings)


def _ranker(head: str, settings: dict[str, str], task: Task) -> Any:
    if head in ("ssRB", "naive"):
        return SemiSupervisedRankBoost(
            task.n_rounds,
            n_neighbors=int(settings.get("k", 2)),
            discount=float(settings.get("lambda", 1.0)),
            mixed=head == "naive",
            features="latent" if "latent" in settings else "stumps",
        )
    if head == "TSVM":
        known = float(task.truth[task.split.train].mean())
        return TransductiveSVM(relevant_fraction=known if "prior" in settings else None)
    return {"RB": lambda: RankBoost(task.n_rounds), "ssLR": SemiSupervisedLogistic}[head]()


def _ranked(task: Task, ranker: Any, *, full: bool) -> Scores:
    X, X_test = task.split.features
    scores: Scores = ranker.fit(X, task.truth[task.split.train] if full else task.y).decision_function(X_test)
    return scores


def _logistic(task: Task, settings: dict[str, str]) -> Scores:
    """Logistic regression on the labelled documents, on terms or on latent dimensions."""
    train, test = task.split.features
    if "latent" in settings:
        train, test = (part[:, : int(settings["latent"])] for part in task.split.latent)
    if "unit" in settings:
        train, test = normalize(train), normalize(test)
    known = task.y != -1
    model = LogisticRegression(C=float(settings.get("C", 10)), max_iter=1000).fit(train[known], task.y[known])
    scores: Scores = model.decision_function(test)
    return scores


class Study:
    """A collection, its splits and its finished cells."""

    def __init__(self, name: str = "Reuters-21578", n_splits: int = 10, n_rounds: int = 100) -> None:
        self.name, self.n_splits, self.n_rounds = name, n_splits, n_rounds
        self.collection = COLLECTIONS[name]

    @cached_property
    def corpus(self) -> Corpus:
        """The documents and their topics."""
        return self.collection.load()

    @cached_property
    def counts(self) -> sparse.csr_matrix:
        """Term counts, preprocessed as the paper did: lower case, one digit token, a stop list, 3 documents a term."""
        tokenizer = Tokenizer(digits="token", stop_words="english", stem=False)
        return TermCounts(tokenizer=tokenizer, min_df=3).fit_transform(self.corpus.texts or [])

    @lru_cache(maxsize=1)  # noqa: B019 - a study lives as long as its process
    def split(self, number: int) -> Split:
        """Draw one third of the documents for the test."""
        return Split(self.counts, *self._parts(number))

    @cached_property
    def topics(self) -> list[str]:
        """The topics that have enough relevant documents to label and one to find in every split; OHSUMED's vary."""
        parts = [self._parts(number) for number in range(self.n_splits)]
        relevant = {topic: self.truth(topic) for topic in self.corpus.labels}
        return [
            topic
            for topic, truth in relevant.items()
            if all(truth[train].sum() >= self.collection.n_relevant and truth[test].any() for train, test in parts)
        ]

    def _parts(self, number: int) -> tuple[Rows, Rows]:
        order = np.random.default_rng([2008, number]).permutation(len(self.corpus))
        n_test = len(order) // 3
        return order[n_test:], order[:n_test]

    def truth(self, topic: str) -> Scores:
        """Return 1 where the topic is among a document's labels, else 0."""
        return np.array([float(topic in labels) for labels in self.corpus.label_sets or []])

    def task(self, topic: str, number: int, n_relevant: int, n_irrelevant: int) -> Task:
        """Label documents of the training part at random; smaller label sets are parts of larger ones."""
        split, truth = self.split(number), self.truth(topic)
        random = np.random.default_rng([2008, number, self.corpus.labels.index(topic)])
        y = np.full(len(split.train), -1.0)
        for grade, count in ((1.0, n_relevant), (0.0, n_irrelevant)):
            rows = random.permutation(np.flatnonzero(truth[split.train] == grade))
            y[rows[:count]] = grade
        return Task(split, y, truth, self.n_rounds)

    def cell(self, name: str, topic: str, number: int, n_relevant: int = 0, n_irrelevant: int = 0) -> Cell:
        """Return a finished cell from disk, or run it; without numbers the label set has the paper's size."""
        sizes = n_relevant or self.collection.n_relevant, n_irrelevant or self.collection.n_irrelevant
        cell = Cell(name, topic, number, *sizes, self.n_rounds)
        return Cell(**store.cell("bipartite", self._key(cell), lambda: asdict(self._run(cell))))

    def cells(self, names: Iterable[str], topics: Iterable[str], report: Callable[[str], None]) -> list[Cell]:
        """Return the cells of all methods, topics and splits, split by split, reporting each split."""
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
        cell.aup = uninterpolated_precision(truth, scores, min(self.collection.cut, len(truth)))
        cell.t9p = top_precision(truth, scores, min(50, len(truth)))
        cell.auc = auc(truth, scores, ties="half")
        curve = precision_recall(truth, scores)
        cell.precision = [float(curve.precision[curve.recall >= level - 1e-12].max()) for level in RECALLS]
        return cell

    def _key(self, cell: Cell) -> dict[str, Any]:
        names = ("method", "topic", "split", "n_relevant", "n_irrelevant", "n_rounds")
        return {"version": _VERSION, "collection": self.name, **{name: getattr(cell, name) for name in names}}

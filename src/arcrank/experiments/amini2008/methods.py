"""Splits, ranking tasks and the methods that Amini, Truong & Goutte 2008 compare, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from arcrank._typing import Array, IntArray
from arcrank.bipartite.rankboost import RankBoost
from arcrank.bipartite.semisupervised_logistic import SemiSupervisedLogistic
from arcrank.bipartite.semisupervised_rankboost import SemiSupervisedRankBoost
from arcrank.bipartite.transductive_svm import TransductiveSVM
from arcrank.text import TfIdf

__all__ = ["LATENT_DIMENSIONS", "LATENT_GRID", "Split", "Task", "method"]

LATENT_DIMENSIONS = (50, 100, 150, 200, 300)
LATENT_GRID = [f"LR latent={d} C={C}{u}" for d in LATENT_DIMENSIONS for C in (1, 10, 100) for u in ("", " unit")]


@dataclass
class Split:
    """A third of the documents for the test; idf is learnt from the other two thirds."""

    counts: sparse.csr_matrix
    train: IntArray
    test: IntArray

    @cached_property
    def features(self) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
        """The tf-idf features of the training and of the test part."""
        weights = TfIdf(sublinear=True, norm="l2").fit(self.counts[self.train])
        return weights.transform(self.counts[self.train]), weights.transform(self.counts[self.test])

    @cached_property
    def latent(self) -> tuple[Array, Array]:
        """The first latent dimensions, fitted on the training part without its labels."""
        model = TruncatedSVD(max(LATENT_DIMENSIONS), algorithm="arpack", random_state=0)
        return model.fit_transform(self.features[0]), model.transform(self.features[1])


class Task(NamedTuple):
    """The input of a method: a split, the given relevance of its training part (-1: unlabelled), the true relevance."""

    split: Split
    y: Array
    truth: Array
    n_rounds: int


def method(name: str) -> Callable[[Task], Array]:
    """Return the method with this name, a function from a task to the scores of its test documents.

    A name is a word with settings: `RB`, `RB full` (all labels), `TSVM`, `TSVM prior` (given the true fraction of
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


def _ranked(task: Task, ranker: Any, *, full: bool) -> Array:
    X, X_test = task.split.features
    scores: Array = ranker.fit(X, task.truth[task.split.train] if full else task.y).decision_function(X_test)
    return scores


def _logistic(task: Task, settings: dict[str, str]) -> Array:
    """Fit logistic regression to the labelled documents, on terms or on latent dimensions."""
    train, test = task.split.features
    if "latent" in settings:
        train, test = (part[:, : int(settings["latent"])] for part in task.split.latent)
    if "unit" in settings:
        train, test = normalize(train), normalize(test)
    known = task.y != -1
    model = LogisticRegression(C=float(settings.get("C", 10)), max_iter=1000).fit(train[known], task.y[known])
    scores: Array = model.decision_function(test)
    return scores

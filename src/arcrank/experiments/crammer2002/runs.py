"""Runs of Crammer & Singer 2002, section 4: one cell for each fold and ranker, stored in the user's cache folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold

from arcrank import metrics
from arcrank.datasets import load_rcv1, load_reuters21578
from arcrank.experiments.cache import cached
from arcrank.rankers.online import MMPRanker, PerceptronRanker
from arcrank.rankers.rocchio import RocchioRanker
from arcrank.text import PivotedLength, RocchioSelector, TermCounts, Tokenizer

__all__ = ["CORPORA", "MEASURES", "RANKERS", "Cell", "Fold", "cells", "label_sets", "reuters_fold"]

_VERSION = 2
"""Increase it when a change invalidates the stored cells."""
_CURVE_POINTS = 400

RANKERS: dict[str, Any] = {
    "Rocchio": RocchioRanker(),
    "Perceptron": PerceptronRanker(),
    "MMP loss 1": MMPRanker("indicator"),
    "MMP loss 2": MMPRanker("size"),
    "MMP loss 3": MMPRanker("normalized"),
}
MEASURES: dict[str, Callable[[Any, Any], Any]] = {
    "loss 1 %": metrics.identity_error_percent,
    "loss 2": metrics.size_loss,
    "loss 3 %": metrics.disagreement_error_percent,
    "one-error %": lambda Y, scores: 100 * metrics.one_error(Y, scores),
    "coverage": metrics.coverage,
    "avg. precision": metrics.average_precision,
    "max F1": metrics.max_f1,
}


class Fold(NamedTuple):
    """Features and label indicators of a training and a test part, as CSR matrices."""

    X: sp.csr_matrix
    Y: sp.csr_matrix
    X_test: sp.csr_matrix
    Y_test: sp.csr_matrix


@dataclass
class Cell:
    """The results of one ranker on one fold."""

    corpus: str
    fold: int
    ranker: str
    measures: dict[str, float] = field(default_factory=dict)
    rounds: list[int] = field(default_factory=list)
    losses: list[list[float]] = field(default_factory=list)
    precision: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)


def reuters_fold(number: int) -> Fold:
    """Prepare the texts as sections 4.1, 4.2 and 4.4 say; terms and weights are learnt from the training part only."""
    texts, Y = _reuters()
    train, test = list(KFold(5, shuffle=True, random_state=0).split(texts))[number]
    counter = TermCounts(tokenizer=Tokenizer(digits="token", stop_words="english", stem=False))
    weights, selector = PivotedLength(slope=0.3), RocchioSelector(n_terms=100, fraction=0.025)
    X = weights.fit_transform(counter.fit_transform([texts[i] for i in train]))
    X_test = weights.transform(counter.transform([texts[i] for i in test]))
    return Fold(selector.fit_transform(X, Y[train]), Y[train], selector.transform(X_test), Y[test])


@lru_cache(maxsize=1)
def _reuters() -> tuple[list[str], sp.csr_matrix]:
    corpus = load_reuters21578("modapte")
    return corpus.texts or [], corpus.indicator()


def _rcv1_fold(number: int) -> Fold:  # noqa: ARG001 - there is one split
    """Select terms as the paper does (the vectors are already tf-idf), without the topic GMIL, which it excludes."""
    X, Y, train, test = _rcv1()
    selector = RocchioSelector(n_terms=100, fraction=0.025)
    return Fold(selector.fit_transform(X[train], Y[train]), Y[train], selector.transform(X[test]), Y[test])


@lru_cache(maxsize=1)
def _rcv1() -> tuple[Any, ...]:
    corpus = load_rcv1()
    kept = [j for j, label in enumerate(corpus.labels) if label != "GMIL"]
    return corpus.X, corpus.indicator()[:, kept], corpus.splits["train"], corpus.splits["test"]


CORPORA: dict[str, tuple[int, Callable[[int], Fold], Callable[[], Any]]] = {
    "Reuters-21578": (5, reuters_fold, _reuters),
    "RCV1": (1, _rcv1_fold, _rcv1),
}
"""The number of folds, the features of a fold, and a loader whose second item is the label indicator."""


def label_sets(corpus: str) -> sp.csr_matrix:
    """Return the (n, k) label indicator of all documents."""
    return CORPORA[corpus][2]()[1]


def cells(corpus: str, *, fresh: bool = False) -> Iterator[Cell]:
    """Yield the cell of every fold and ranker; stored cells are read, unless `fresh`."""
    n_folds, features, _ = CORPORA[corpus]
    for number in range(n_folds):
        fold = lru_cache(partial(features, number))  # computed when the first missing cell of the fold needs it
        for name, ranker in RANKERS.items():
            key = {"version": _VERSION, "corpus": corpus, "fold": number, "ranker": repr(ranker)}
            run = partial(_run, corpus, number, name, fold)
            yield Cell(**cached("category-ranking", {**key, "measures": list(MEASURES)}, run, fresh=fresh))


def _run(corpus: str, number: int, name: str, features: Callable[[], Fold]) -> dict[str, Any]:
    fold = features()
    ranker = clone(RANKERS[name]).fit(fold.X, fold.Y)
    scores = ranker.score_labels(fold.X_test)
    graph = metrics.precision_recall_graph(fold.Y_test, scores)
    measures = {name: float(measure(fold.Y_test, scores)) for name, measure in MEASURES.items()}
    done = Cell(corpus, number, name, measures, precision=graph.precision.tolist(), recall=graph.recall.tolist())
    if hasattr(ranker, "cumulative_losses_"):
        at = np.unique(np.geomspace(1, len(ranker.loss_rounds_), _CURVE_POINTS).astype(int)) - 1
        done.rounds, done.losses = ranker.loss_rounds_[at].tolist(), ranker.cumulative_losses_[at].tolist()
    return asdict(done)

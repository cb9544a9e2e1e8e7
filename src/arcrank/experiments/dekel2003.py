"""Dekel, Manning & Singer 2003, Figure 4: four losses measured by four errors over five folds.

    ARCRANK_DATA=... python -m arcrank.experiments.dekel2003 [--features words|all|counts] [--solver ...] [--fresh]

The data is RCV1-v2 with three-layer graphs over 103 leaves. There are three kinds of features:

words : the 3,200 most informative words of the training fold (by Theorem 1's bound at the first iteration)
all : all words of the vectors
counts : eq. (6), log(count) + 1, on the 2,316 documents whose tokens are available

The vectors of "words" and "all" are cosine-normalised tf-idf, not the counts that eq. (6) needs, and the 27,613
documents are a different part of RCV1 from the paper's month: verdicts compare errors on different documents.

There are two solvers, whose settings are selected on a fifth held out of at most 5,000 instances of the training fold.
"boosting" is the paper's Figure 3; smoothing, virtual examples and the number of iterations are selected once per fold,
by the domination error of the domination loss, and are the same for the four losses ("all" takes those of "words").
"dual" minimises the same loss plus ||W||^2 / 2; C is selected for each loss by the error that corresponds to it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise, product
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, train_test_split

from arcrank._typing import IntArray
from arcrank.datasets import Corpus, load_rcv1
from arcrank.experiments.cache import cached
from arcrank.experiments.outcomes import Outcome, Value
from arcrank.experiments.progress import Tick, ticked
from arcrank.graphs import Hierarchy, LayeredGraphs
from arcrank.metrics import generalized_error
from arcrank.rankers.loglinear import LogLinearRanker
from arcrank.text import InformativeSelector, LogCounts, TermCounts, Tokenizer

__all__ = [
    "DECOMPOSITIONS",
    "FEATURES",
    "GRID",
    "ITERATIONS",
    "PUBLISHED",
    "SMOOTHING",
    "SOLVERS",
    "VIRTUAL",
    "cells",
    "figure4",
    "main",
    "run",
    "select_boosting",
    "select_c",
]

DECOMPOSITIONS = ("zero-one", "disagreement", "domination", "dominated")
PUBLISHED = {
    "zero-one": (0.63, 0.068, 0.42, 0.12),
    "disagreement": (0.73, 0.063, 0.51, 0.14),
    "domination": (0.59, 0.049, 0.35, 0.10),
    "dominated": (0.59, 0.067, 0.41, 0.10),
}
FEATURES, SOLVERS = ("words", "all", "counts"), ("dual", "boosting")
N_FOLDS, N_WORDS, GRID = 5, 3200, (0.1, 1.0, 3.0, 10.0, 30.0, 100.0)
SMOOTHING, VIRTUAL, ITERATIONS = (0.01, 0.1, 1.0), (0.0, 0.1), (40, 80, 160)
_VERSION = 4
"""Increase it when a change invalidates the stored cells."""


def figure4(outcome: Outcome, tick: Tick) -> None:
    """Add the mean errors over folds of every loss, kind of features and solver."""
    for features in FEATURES:
        for solver in SOLVERS:
            found = list(ticked(cells(features, solver), tick))
            for loss in DECOMPOSITIONS:
                outcome.values += _values(f"{loss} ({features}, {solver})", loss, found)


def _values(row: str, loss: str, found: Sequence[dict[str, Any]]) -> list[Value]:
    errors = np.array([one["errors"] for one in found if one["loss"] == loss])
    means, spreads = errors.mean(axis=0).tolist(), errors.std(axis=0, ddof=1).tolist()
    return [
        Value(row, f"{error} error", mean, published, spread)
        for error, mean, spread, published in zip(DECOMPOSITIONS, means, spreads, PUBLISHED[loss], strict=True)
    ]


def cells(features: str, solver: str, *, fresh: bool = False) -> Iterator[dict[str, Any]]:
    """Yield a cell for each fold and loss: its four errors, the seconds it took and the selected settings."""
    for fold in range(N_FOLDS):
        for decomposition in DECOMPOSITIONS:
            key: dict[str, Any] = {
                "version": _VERSION,
                "features": features,
                "solver": solver,
                "fold": fold,
                "loss": decomposition,
            }
            yield {**key, **cached("leaf-ranking", key, partial(run, **key), fresh=fresh)}


def run(*, features: str, solver: str, fold: int, loss: str, version: int) -> dict[str, Any]:
    """Train with one loss on one fold and measure the four errors on its test part."""
    X, X_test, graphs, graphs_test = _fold(features, fold)
    if solver == "boosting":
        settings = _boosting_settings("counts" if features == "counts" else "words", fold, version)
    else:
        settings = {"C": select_c(X, graphs, loss)}
    ranker = _ranker(loss, solver, settings)
    start = time.perf_counter()
    ranker.fit(X, graphs)
    seconds = time.perf_counter() - start
    scores = ranker.score_labels(X_test)
    errors = [generalized_error(graphs_test, scores, error) for error in DECOMPOSITIONS]
    return {"errors": errors, "settings": settings, "seconds": seconds, "n_features": X.shape[1]}


def _boosting_settings(features: str, fold: int, version: int) -> dict[str, Any]:
    """Return the settings selected on the training part of a fold, which its four losses share."""
    grids = {"smoothing": SMOOTHING, "virtual": VIRTUAL, "iterations": ITERATIONS}
    key = {"version": version, "features": features, "fold": fold, **grids}

    def select() -> dict[str, Any]:
        X, _, graphs, _ = _fold(features, fold)
        return select_boosting(X, graphs)

    settings: dict[str, Any] = cached("leaf-ranking-settings", key, select)
    return settings


def select_boosting(X: Any, graphs: LayeredGraphs) -> dict[str, Any]:
    """Return smoothing, virtual and max_iter with the smallest held-out domination error of the domination loss."""
    train, held_out = _split(len(graphs))
    errors = {}
    for smoothing, virtual in product(SMOOTHING, VIRTUAL):
        ranker = _ranker("domination", "boosting", {"smoothing": smoothing, "virtual": virtual, "warm_start": True})
        for before, after in pairwise((0, *ITERATIONS)):
            ranker.set_params(max_iter=after - before).fit(X[train], graphs[train])
            scores = ranker.score_labels(X[held_out])
            errors[smoothing, virtual, after] = generalized_error(graphs[held_out], scores, "domination")
    smoothing, virtual, iterations = min(errors, key=errors.__getitem__)
    return {"smoothing": smoothing, "virtual": virtual, "max_iter": iterations}


def select_c(X: Any, graphs: LayeredGraphs, loss: str) -> float:
    """Return the C with the smallest error on a held-out fifth; the error is the one that the loss bounds."""
    train, held_out = _split(len(graphs))
    errors = {}
    for C in GRID:
        ranker = _ranker(loss, "dual", {"C": C}).fit(X[train], graphs[train])
        errors[C] = generalized_error(graphs[held_out], ranker.score_labels(X[held_out]), loss)
    return min(errors, key=errors.__getitem__)


def _split(n: int) -> tuple[IntArray, IntArray]:
    """Return instances of a training fold to learn from, and a fifth to select settings on."""
    some = np.random.RandomState(0).permutation(n)[:5000]
    train, held_out = train_test_split(some, test_size=0.2, random_state=0)
    return train, held_out


def _ranker(loss: str, solver: str, settings: dict[str, Any]) -> LogLinearRanker:
    if solver == "boosting":  # no intercept, as in eq. (6)
        return LogLinearRanker(loss, solver, fit_intercept=False, **settings)
    return LogLinearRanker(loss, solver, intercept="regularised", tol=1e-2, random_state=0, **settings)


@lru_cache(maxsize=1)
def _fold(features: str, fold: int) -> tuple[Any, Any, LayeredGraphs, LayeredGraphs]:
    """Return features and graphs of a fold; words and weights are learnt from its training part only."""
    corpus = _corpus(features)
    assert corpus.hierarchy is not None
    assert corpus.label_sets is not None
    graphs = Hierarchy(corpus.hierarchy).leaf_graphs(corpus.label_sets)
    train, test = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(np.arange(len(graphs))))[fold]
    if features == "counts":
        assert corpus.texts is not None
        texts = np.array(corpus.texts, dtype=object)
        counter = TermCounts(tokenizer=Tokenizer(stem=False, stop_words=None))
        X, X_test = LogCounts().fit_transform(counter.fit_transform(texts[train])), counter.transform(texts[test])
        X_test = LogCounts().fit_transform(X_test)
    else:
        X, X_test = corpus.X[train], corpus.X[test]
    if features != "all":
        selector = InformativeSelector(N_WORDS).fit(X, graphs[train])
        X, X_test = selector.transform(X), selector.transform(X_test)
    return X, X_test, graphs[train], graphs[test]


@lru_cache(maxsize=2)
def _corpus(features: str) -> Corpus:
    return load_rcv1("text-sample") if features == "counts" else load_rcv1()


def format_table(features: str, solver: str, found: Sequence[dict[str, Any]]) -> str:
    """Format a table: rows are losses, columns are errors, published values are in brackets."""
    heads = "".join(f"{name:>18}" for name in DECOMPOSITIONS)
    lines = [
        f"\nFigure 4, {features}, {solver}: measured [published]",
        f"{'loss':14}{heads}{'seconds':>10}   settings of each fold",
    ]
    for loss in DECOMPOSITIONS:
        folds = [one for one in found if one["loss"] == loss]
        means = np.mean([one["errors"] for one in folds], axis=0)
        texts = [f"{mean:.4f} [{paper:.3f}]" for mean, paper in zip(means, PUBLISHED[loss], strict=True)]
        chosen = " ".join("/".join(f"{value:g}" for value in one["settings"].values()) for one in folds)
        seconds = np.mean([one["seconds"] for one in folds])
        lines.append(f"{loss:14}" + "".join(f"{text:>18}" for text in texts) + f"{seconds:>10.1f}   {chosen}")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables; finished cells are stored, so an interrupted run resumes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", choices=[*FEATURES, "every"], default="every")
    parser.add_argument("--solver", choices=[*SOLVERS, "both"], default="both")
    parser.add_argument("--fresh", action="store_true", help="recompute stored cells")
    options = parser.parse_args(arguments)
    for features in FEATURES if options.features == "every" else [options.features]:
        for solver in SOLVERS if options.solver == "both" else [options.solver]:
            found = []
            for row in cells(features, solver, fresh=options.fresh):
                found.append(row)
                sys.stderr.write(f"{features}, {solver}: {len(found)} of {N_FOLDS * len(DECOMPOSITIONS)} cells\n")
            sys.stdout.write(format_table(features, solver, found))
            sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Mean Kendall tau on the eight label-ranking sets: 10 folds, shuffled, seed 0.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.label_ranking [--sets iris wine] [--learners trees forest]

Rows are learners, columns are sets; tau is over all instances, each scored by a model that has not seen it. Then the
means of standardised scores of pairs, and the seconds for each fit. TreeRanker has its default parameters, which were
chosen on other splits (3 folds, seed 1) of the same sets. The linear and the RBF learners get standardised features and
a C that is cross-validated within the training part of each fold. The forests are scikit-learn's, with 300 trees on
ranks of zero mean and unit variance.

The targets: the best mean at least .825, and for each set what the best of forests, RBF ridge and k-NN had.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.preprocessing import StandardScaler

from arcrank import LogLinearRanker, PreferenceMachine, TreeRanker
from arcrank._typing import Array
from arcrank.datasets import load_label_ranking
from arcrank.graphs import as_graphs
from arcrank.metrics import kendall_tau
from benchmarks.timing import report

BARS = {
    "iris": 0.987,
    "wine": 0.966,
    "glass": 0.907,
    "housing": 0.837,
    "vowel": 0.927,
    "vehicle": 0.902,
    "stock": 0.932,
    "spo": None,
}
MEAN = 0.825
Learner = Callable[[Array, Array, Array], Array]


def _ranker(ranker: Any) -> Learner:
    return lambda X, ranks, X_test: ranker.fit(X, as_graphs(ranks, kind="ranks")).score_labels(X_test)


def _searched(ranker: Any, costs: Iterable[float]) -> Learner:
    """A ranker on standardised features, with the best of some C by three folds of the training part."""

    def scores(X: Array, ranks: Array, X_test: Array) -> Array:
        scaler = StandardScaler().fit(X)
        search = GridSearchCV(ranker, {"C": list(costs)}, cv=KFold(3, shuffle=True, random_state=0), scoring=_tau)
        return search.fit(scaler.transform(X), ranks).best_estimator_.score_labels(scaler.transform(X_test))

    return scores


def _tau(ranker: Any, X: Array, ranks: Array) -> float:
    return kendall_tau(ranks, ranker.score_labels(X))


def _forest(forest: Any) -> Learner:
    def scores(X: Array, ranks: Array, X_test: Array) -> Array:
        centred = ranks.mean(axis=1, keepdims=True) - ranks
        return forest.fit(X, centred / centred.std(axis=1, keepdims=True)).predict(X_test)

    return scores


LEARNERS: dict[str, Learner] = {
    "trees": _ranker(TreeRanker("disagreement", random_state=0)),
    "trees (LightGBM)": _ranker(TreeRanker("disagreement", shared_trees=False, random_state=0)),
    "log-linear": _searched(LogLinearRanker(), [0.1, 1.0, 10.0, 100.0]),
    "machine (RBF)": _searched(
        PreferenceMachine("disagreement", "squared-hinge", "rbf", tol=1e-2, random_state=0), [0.1, 1.0, 10.0]
    ),
    "extra trees": _forest(ExtraTreesRegressor(300, random_state=0)),
    "random forest": _forest(RandomForestRegressor(300, random_state=0)),
}


def out_of_fold(learner: Learner, X: Array, ranks: Array) -> tuple[Array, float]:
    """Scores of all instances, and the seconds of a fit."""
    scores, start = np.empty(ranks.shape), time.perf_counter()
    for train, test in KFold(10, shuffle=True, random_state=0).split(X):
        scores[test] = learner(X[train], ranks[train], X[test])
    return scores, (time.perf_counter() - start) / 10


def standardised(scores: Array) -> Array:
    centred = scores - scores.mean(axis=1, keepdims=True)
    return centred / np.sqrt(np.mean(centred**2))


def show(title: str, values: Iterable[float], form: str = ".3f") -> float:
    found = list(values)
    print(f"{title:<36}" + "".join(f"{value:>9{form}}" for value in [*found, np.mean(found)]), flush=True)
    return float(np.mean(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=BARS, default=list(BARS))
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=list(LEARNERS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    corpora = {name: load_label_ranking(name) for name in arguments.sets}
    print(f"{'':<36}" + "".join(f"{name:>9}" for name in [*corpora, "mean"]))
    scores: dict[str, list[Array]] = {}
    seconds: dict[str, list[float]] = {}

    def taus(found: list[Array]) -> list[float]:
        return [kendall_tau(corpus.ranks, one) for corpus, one in zip(corpora.values(), found, strict=True)]

    means = []
    for name in arguments.learners:
        cells = [out_of_fold(LEARNERS[name], corpus.X, corpus.ranks) for corpus in corpora.values()]
        scores[name], seconds[name] = [cell[0] for cell in cells], [cell[1] for cell in cells]
        means.append(show(name, taus(scores[name])))
    for a, b in combinations(arguments.learners, 2):
        mixed = [standardised(x) + standardised(y) for x, y in zip(scores[a], scores[b], strict=True)]
        means.append(show(f"{a} + {b}", taus(mixed)))
    show("target", [float("nan") if BARS[name] is None else BARS[name] for name in corpora])
    for name in arguments.learners:
        show(f"seconds, {name}", seconds[name], ".2f")
    if list(corpora) == list(BARS):
        report("mean tau of the best line", max(means), MEAN, at_least=True)


if __name__ == "__main__":
    main()

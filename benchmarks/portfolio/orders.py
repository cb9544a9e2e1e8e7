"""Total orders: AutoRanker beside forests and RBF ridge on ranks, and k-NN with Borda counts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arcrank import AutoRanker
from arcrank._typing import Array
from arcrank.datasets import load_label_ranking
from arcrank.datasets.label_ranking import LABEL_RANKING_SETS
from arcrank.experiments.cache import cached
from arcrank.graphs import as_graphs
from arcrank.metrics import kendall_tau
from benchmarks.portfolio.table import show_ranks, show_table

REVISION = 1
"""Raise it when a change of AutoRanker changes its results."""
GOAL = 0.825
Learner = Callable[[Array, Array, Array], Array]


def auto(X: Array, ranks: Array, Z: Array) -> Array:
    model = AutoRanker().fit(X, as_graphs(ranks, kind="ranks"))
    print(model.selected_, file=sys.stderr)
    return model.score_labels(Z)


def regression(model: Any) -> Learner:
    """Regress the ranks, which for k-NN is the Borda count of the neighbours."""
    return lambda X, ranks, Z: -model.fit(X, ranks).predict(Z)


def _ridge() -> Any:
    grid = {"kernelridge__alpha": [0.01, 0.1, 1.0], "kernelridge__gamma": [0.03, 0.1, 0.3, 1.0]}
    return GridSearchCV(make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")), grid, cv=3)


def _neighbours() -> Any:
    grid = {"kneighborsregressor__n_neighbors": [3, 5, 10, 20]}
    return GridSearchCV(make_pipeline(StandardScaler(), KNeighborsRegressor(weights="distance")), grid, cv=3)


LEARNERS: dict[str, Learner] = {
    "AutoRanker": auto,
    "extra trees": regression(ExtraTreesRegressor(300, random_state=0)),
    "random forest": regression(RandomForestRegressor(300, random_state=0)),
    "RBF ridge": regression(_ridge()),
    "k-NN, Borda": regression(_neighbours()),
}


def tau(name: str, learner: str) -> float:
    """Mean Kendall tau over 10 folds, shuffled, seed 0."""

    def compute() -> float:
        corpus = load_label_ranking(name)
        X, ranks = np.asarray(corpus.X, dtype=float), np.asarray(corpus.ranks)
        scores = np.empty(ranks.shape)
        for train, test in KFold(10, shuffle=True, random_state=0).split(X):
            scores[test] = LEARNERS[learner](X[train], ranks[train], X[test])
        return float(kendall_tau(ranks, scores))

    key = {"set": name, "learner": learner, "revision": REVISION if learner == "AutoRanker" else 1}
    value: float = cached("portfolio-orders", key, compute)
    print(f"{name} {learner} {value:.4f}", file=sys.stderr, flush=True)
    return value


def run(only: list[str]) -> None:
    names = [name for name in LABEL_RANKING_SETS if not only or name in only]
    rows = {name: {learner: tau(name, learner) for learner in LEARNERS} for name in names}
    show_ranks("Orders", [{one: -value for one, value in row.items()} for row in rows.values()], list(LEARNERS))
    rows["mean"] = {learner: float(np.mean([rows[name][learner] for name in names])) for learner in LEARNERS}
    show_table("Kendall tau", rows, list(LEARNERS), factor=1.0)
    print(f"\nmean tau of AutoRanker {rows['mean']['AutoRanker']:.4f}, goal {GOAL}")

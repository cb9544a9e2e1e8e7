"""Compile the kernels that most tests need, so that two test processes do not both compile them.

`make test` runs this on one core while the other one lints and checks types.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.sparse import csr_matrix

import arcrank
from arcrank import metrics
from arcrank.graphs import ArcGraphs, LayeredGraphs

DECOMPOSITIONS = ("zero-one", "disagreement", "domination", "dominated")


def main() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(12, 4))
    levels = random.integers(0, 3, size=(12, 5))
    layered = LayeredGraphs.from_levels(levels)
    sets = LayeredGraphs.from_levels(np.minimum(levels, 1))
    arcs = ArcGraphs.from_arcs([[(0, 1), (1, 2), (3, 0)]] * 12, n_labels=5)
    for graphs in (layered, sets, arcs):
        for name in DECOMPOSITIONS:
            _fit_rankers(X, graphs, name)
    _fit_others(X, sets)
    _measure(sets, layered, X @ random.normal(size=(4, 5)))


def _fit_rankers(X: np.ndarray, graphs: object, decomposition: str) -> None:
    for features in (X, csr_matrix(X)):
        for solver in ("dual", "lbfgs", "boosting"):
            arcrank.LogLinearRanker(decomposition=decomposition, solver=solver, max_iter=3).fit(features, graphs)
        for kernel in ("linear", "rbf"):
            for loss in ("hinge", "squared-hinge"):
                arcrank.PreferenceMachine(decomposition=decomposition, loss=loss, kernel=kernel, max_iter=3).fit(
                    features, graphs
                )


def _fit_others(X: np.ndarray, sets: LayeredGraphs) -> None:
    for features in (X, csr_matrix(X)):
        arcrank.MMPRanker().fit(features, sets)
        arcrank.PerceptronRanker().fit(features, sets)
    relevance = np.arange(len(X)) % 2
    arcrank.RankBoost(n_rounds=2).fit(X, relevance)
    arcrank.SemiSupervisedRankBoost(n_rounds=2).fit(X, np.where(np.arange(len(X)) < 8, relevance, -1))


def _measure(sets: LayeredGraphs, layered: LayeredGraphs, scores: np.ndarray) -> None:
    for name in ("average_precision", "coverage", "one_error", "ranking_loss", "max_f1", "precision_recall_graph"):
        getattr(metrics, name)(sets, scores)
    for name in ("domination_error", "dominated_error", "disagreement_error", "zero_one_error"):
        getattr(metrics, name)(layered, scores)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()

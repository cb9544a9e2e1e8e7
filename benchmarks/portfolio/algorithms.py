"""Algorithm selection: how much of the gap between the single best and the virtual best solver is closed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import KFold

from arcrank import AutoRanker, TreeRanker
from arcrank._typing import Array
from arcrank.datasets import load_aslib
from arcrank.datasets.aslib import ASLIB_SCENARIOS, load_aslib_runtimes
from arcrank.experiments.cache import cached
from arcrank.graphs import PreferenceGraphs, as_graphs, from_scores
from benchmarks.portfolio.table import show_ranks, show_table

REVISIONS = {"AutoRanker": 1, "forest, log runtimes": 3}
"""Raise them when a change of the learner changes its results."""
TREES = 100
FOREST: dict[str, Any] = {
    "decomposition": "disagreement",
    "n_rounds": 1,
    "n_runs": 100,
    "learning_rate": 1.0,
    "max_leaf_nodes": 100_000,
    "min_samples_leaf": 1,
    "steps": "gradient",
    "arc_weights": "count",
    "random_state": 0,
}
"""Trees that are averaged instead of boosted."""
FOLDS = 4
MARGINS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
"""By which another algorithm must be ahead of the single best one, in standard deviations of scores."""
Selector = Callable[[Array, Array, Array, Array], Array]
"""From features, ranks and runtimes of training instances, and new features, to the columns of selected algorithms."""


def auto(X: Array, ranks: Array, _: Array, Z: Array) -> Array:
    known = (ranks != ranks[:, :1]).any(axis=1)  # where all algorithms tie there is no preference
    model = AutoRanker().fit(X[known], as_graphs(ranks[known], kind="ranks"))
    print(model.selected_, file=sys.stderr)
    return model.score_labels(Z).argmax(axis=1)


def runtime_forest(X: Array, _: Array, runtimes: Array, Z: Array) -> Array:
    """One random forest per algorithm on log runtimes."""
    logs = np.log1p(runtimes)
    forests = (RandomForestRegressor(TREES, random_state=0).fit(X, log) for log in logs.T)
    return np.column_stack([forest.predict(Z) for forest in forests]).argmin(axis=1)


def joint_forest(X: Array, ranks: Array, _: Array, Z: Array) -> Array:
    """One random forest on the ranks of all algorithms."""
    return RandomForestRegressor(TREES, random_state=0).fit(X, ranks).predict(Z).argmin(axis=1)


def boosted_votes(X: Array, _: Array, runtimes: Array, Z: Array) -> Array:
    """Boosted trees on votes for the faster algorithm of each pair, weighted by the difference of the runtimes."""
    ranker = TreeRanker("disagreement", 100, n_runs=2, arc_weights="count", random_state=0)
    return ranker.fit(X, _votes(runtimes)).score_labels(Z).argmax(axis=1)


def forests_of_votes(X: Array, _: Array, runtimes: Array, Z: Array) -> Array:
    """Two forests on such votes, weighted by differences of square roots and of logarithms; the sum of their scores.

    The algorithm that is best on average is selected unless another one is ahead by a margin, which is the best one in
    cross-validation on the training instances: of few instances, trees learn differences that are none.

    Of 25 settings (powers of the runtimes, sizes of leaves, shares of features, boosting, sums of two or three), these
    forests have the largest mean closed gap over the scenarios in cross-validation within training folds.
    """
    single = np.arange(runtimes.shape[1]) == runtimes.mean(axis=0).argmin()
    held_out = np.empty_like(runtimes)
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(X):
        held_out[test] = _forest_scores(X[train], runtimes[train], X[test])
    rows = np.arange(len(X))
    costs = [runtimes[rows, (held_out + margin * single).argmax(axis=1)].mean() for margin in MARGINS]
    return (_forest_scores(X, runtimes, Z) + MARGINS[int(np.argmin(costs))] * single).argmax(axis=1)


def _forest_scores(X: Array, runtimes: Array, Z: Array) -> Array:
    """Sum of the scores of both forests, each in units of its standard deviation on training instances."""
    total = np.zeros((len(Z), runtimes.shape[1]))
    for costs in (np.sqrt(runtimes), np.round(np.log1p(runtimes), 6)):
        forest = TreeRanker(**FOREST).fit(X, _votes(costs))
        total += forest.score_labels(Z) / forest.score_labels(X).std()
    return total


def _votes(costs: Array) -> PreferenceGraphs:
    return from_scores(costs / costs.max(), better="lower", margin="difference")


def pairwise_forests(X: Array, _: Array, runtimes: Array, Z: Array) -> Array:
    """A forest for each pair of algorithms, weighted by the difference of the runtimes; most wins (SATzilla)."""
    won = np.zeros((len(Z), runtimes.shape[1]))
    for a, b in combinations(range(runtimes.shape[1]), 2):
        difference = runtimes[:, b] - runtimes[:, a]
        used = difference != 0
        if not used.any():
            continue
        forest = RandomForestClassifier(TREES, random_state=0)
        forest.fit(X[used], difference[used] > 0, sample_weight=np.abs(difference[used]))
        first = forest.predict(Z)
        won[:, a] += first
        won[:, b] += ~first
    return won.argmax(axis=1)


LEARNERS: dict[str, Selector] = {
    "AutoRanker": auto,
    "trees, boosted votes": boosted_votes,
    "trees, forests of votes": forests_of_votes,
    "forests, pairwise": pairwise_forests,
    "forest, log runtimes": runtime_forest,
    "forest, ranks": joint_forest,
}


def closed_gap(name: str, learner: str) -> float:
    """(PAR10 of the single best - PAR10 of the selection) / (PAR10 of the single best - PAR10 of the virtual best)."""
    corpus, runtimes = load_aslib(name), load_aslib_runtimes(name)
    single, chosen = np.empty(len(runtimes)), np.empty(len(runtimes))
    for fold, test in corpus.splits.items():
        train = np.setdiff1d(np.arange(len(runtimes)), test)
        chosen[test] = runtimes[test, selected(name, learner, fold)]
        single[test] = runtimes[test, runtimes[train].mean(axis=0).argmin()]
    value = float((single.mean() - chosen.mean()) / (single.mean() - runtimes.min(axis=1).mean()))
    print(f"{name} {learner} {value:.4f}", file=sys.stderr, flush=True)
    return value


def selected(name: str, learner: str, fold: str) -> list[int]:
    """The algorithms that a learner selects for the instances of a fold, from those of the other folds."""

    def compute() -> list[int]:
        corpus, runtimes = load_aslib(name), load_aslib_runtimes(name)
        X, ranks, test = np.asarray(corpus.X, dtype=float), np.asarray(corpus.ranks), corpus.splits[fold]
        train = np.setdiff1d(np.arange(len(X)), test)
        picked: list[int] = LEARNERS[learner](X[train], ranks[train], runtimes[train], X[test]).tolist()
        return picked

    key = {"scenario": name, "learner": learner, "fold": fold, "revision": REVISIONS.get(learner, 2)}
    found: list[int] = cached("portfolio-algorithms", key, compute)
    return found


def run(only: list[str], learners: Sequence[str] = tuple(LEARNERS)) -> None:
    names = [name for name in ASLIB_SCENARIOS if not only or name in only]
    rows = {name: {learner: closed_gap(name, learner) for learner in learners} for name in names}
    show_ranks("Algorithms", [{one: -value for one, value in row.items()} for row in rows.values()], list(learners))
    rows["mean"] = {learner: float(np.mean([rows[name][learner] for name in names])) for learner in learners}
    show_table("closed gap, % of PAR10", rows, list(learners))


def run_votes(only: list[str]) -> None:
    """Forests of votes beside the usual baselines."""
    run(only, ["trees, forests of votes", "forests, pairwise", "forest, log runtimes"])

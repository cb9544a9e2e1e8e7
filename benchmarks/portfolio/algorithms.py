"""Algorithm selection: how much of the gap between the single best and the virtual best solver is closed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import combinations

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from arcrank import AutoRanker, TreeRanker
from arcrank._typing import Array
from arcrank.datasets import load_aslib
from arcrank.datasets.aslib import ASLIB_SCENARIOS, load_aslib_runtimes
from arcrank.experiments.cache import cached
from arcrank.graphs import as_graphs, from_scores
from benchmarks.portfolio.table import show_ranks, show_table

REVISION = 1
"""Raise it when a change of AutoRanker changes its results."""
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
    forests = (RandomForestRegressor(300, random_state=0).fit(X, log) for log in logs.T)
    return np.column_stack([forest.predict(Z) for forest in forests]).argmin(axis=1)


def joint_forest(X: Array, ranks: Array, _: Array, Z: Array) -> Array:
    """One random forest on the ranks of all algorithms."""
    return RandomForestRegressor(300, random_state=0).fit(X, ranks).predict(Z).argmin(axis=1)


def weighted_votes(X: Array, _: Array, runtimes: Array, Z: Array) -> Array:
    """Boosted trees on votes for the faster algorithm of each pair, weighted by the difference of the runtimes."""
    graphs = from_scores(runtimes / runtimes.max(), better="lower", margin="difference")
    ranker = TreeRanker("disagreement", 100, n_runs=2, arc_weights="count", random_state=0)
    return ranker.fit(X, graphs).score_labels(Z).argmax(axis=1)


def pairwise_forests(X: Array, _: Array, runtimes: Array, Z: Array) -> Array:
    """A forest for each pair of algorithms, weighted by the difference of the runtimes; most wins (SATzilla)."""
    won = np.zeros((len(Z), runtimes.shape[1]))
    for a, b in combinations(range(runtimes.shape[1]), 2):
        difference = runtimes[:, b] - runtimes[:, a]
        used = difference != 0
        if not used.any():
            continue
        forest = RandomForestClassifier(300, random_state=0)
        forest.fit(X[used], difference[used] > 0, sample_weight=np.abs(difference[used]))
        first = forest.predict(Z)
        won[:, a] += first
        won[:, b] += ~first
    return won.argmax(axis=1)


LEARNERS: dict[str, Selector] = {
    "AutoRanker": auto,
    "TreeRanker, weighted votes": weighted_votes,
    "forests, pairwise": pairwise_forests,
    "forest, log runtimes": runtime_forest,
    "forest, ranks": joint_forest,
}


def closed_gap(name: str, learner: str) -> float:
    """(PAR10 of the single best - PAR10 of the selection) / (PAR10 of the single best - PAR10 of the virtual best)."""

    def compute() -> float:
        corpus, runtimes = load_aslib(name), load_aslib_runtimes(name)
        X, ranks = np.asarray(corpus.X, dtype=float), np.asarray(corpus.ranks)
        single, chosen = np.empty(len(X)), np.empty(len(X))
        for test in corpus.splits.values():
            train = np.setdiff1d(np.arange(len(X)), test)
            picked = LEARNERS[learner](X[train], ranks[train], runtimes[train], X[test])
            chosen[test] = runtimes[test, picked]
            single[test] = runtimes[test, runtimes[train].mean(axis=0).argmin()]
        return float((single.mean() - chosen.mean()) / (single.mean() - runtimes.min(axis=1).mean()))

    key = {"scenario": name, "learner": learner, "revision": REVISION if learner == "AutoRanker" else 1}
    value: float = cached("portfolio-algorithms", key, compute)
    print(f"{name} {learner} {value:.4f}", file=sys.stderr, flush=True)
    return value


def run(only: list[str]) -> None:
    names = [name for name in ASLIB_SCENARIOS if not only or name in only]
    rows = {name: {learner: closed_gap(name, learner) for learner in LEARNERS} for name in names}
    show_ranks("Algorithms", [{one: -value for one, value in row.items()} for row in rows.values()], list(LEARNERS))
    rows["mean"] = {learner: float(np.mean([rows[name][learner] for name in names])) for learner in LEARNERS}
    show_table("closed gap, % of PAR10", rows, list(LEARNERS))

"""Votes: time of Bradley-Terry models, coverage of intervals, and errors of labels that were left out of training.

python -m benchmarks.votes
"""

from __future__ import annotations

import time

import numpy as np

from arcrank import BootstrapRanker, BradleyTerry, LogLinearRanker
from arcrank._typing import Array, IntArray
from arcrank.graphs import Votes, from_votes

LEVEL = 0.9


def draw(liking: Array, random: np.random.Generator) -> tuple[IntArray, IntArray]:
    """One vote for each row of (n, k) strengths: winners and losers."""
    n, k = liking.shape
    a = random.integers(k, size=n)
    b = (a + random.integers(1, k, size=n)) % k
    rows = np.arange(n)
    won = random.random(n) < 1 / (1 + np.exp(liking[rows, b] - liking[rows, a]))
    return np.where(won, a, b), np.where(won, b, a)


def show_time(n_votes: int = 1_000_000, k: int = 200) -> None:
    random = np.random.default_rng(0)
    winners, losers = draw(np.broadcast_to(random.normal(size=k), (n_votes, k)), random)
    names = np.array([f"model-{j}" for j in range(k)], dtype=object)
    start = time.perf_counter()
    votes = Votes.from_columns(names[winners], names[losers])
    counted = time.perf_counter()
    BradleyTerry().fit(votes)
    print(f"{n_votes:,} votes over {k} labels: {counted - start:.2f} s to count, "
          f"{time.perf_counter() - counted:.2f} s to fit")  # fmt: skip


def show_coverage(n: int = 400) -> None:
    """Of P(0 above 1), by Laplace's approximation and the bootstrap, and with features by the bootstrap."""
    random, hits = np.random.default_rng(0), np.zeros(3)
    ranker = LogLinearRanker("disagreement", arc_weights="count", C=30.0, fit_intercept=False)
    case = np.array([[1.0, 0.5]])
    for seed in range(n):
        s = random.normal(size=5)
        votes = Votes.from_columns(*draw(np.broadcast_to(s, (400, 5)), random), labels=range(5))
        model = BradleyTerry(C=10).fit(votes)
        samples = model.bootstrap(votes, 100, seed)
        margins = np.quantile(samples[:, 0] - samples[:, 1], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        truth = 1 / (1 + np.exp(s[1] - s[0]))
        low, high = model.above_interval(0, 1, LEVEL)
        hits[0] += low <= truth <= high
        hits[1] += margins[0] <= s[0] - s[1] <= margins[1]
        taste, X = random.normal(size=(2, 3)), random.normal(size=(300, 2))
        graphs = from_votes(range(300), *draw(X @ taste, random), labels=range(3)).graphs
        low, high = BootstrapRanker(ranker, 50, random_state=seed).fit(X, graphs).above_interval(case, 0, 1, LEVEL)[0]
        truth = 1 / (1 + np.exp(case @ (taste[:, 1] - taste[:, 0])))[0]
        hits[2] += low <= truth <= high
    for name, share in zip(("Laplace", "bootstrap", "bootstrap with features"), hits / n, strict=True):
        print(f"coverage of {LEVEL:.0%} intervals, {name}: {share:.1%} of {n}")


def show_cold_start(k: int = 12, n: int = 600) -> None:
    """Pairs of a label that was left out with the others: by its features, by an average label, and by all votes."""
    random = np.random.default_rng(0)
    X, Z = random.normal(size=(n, 4)), random.normal(size=(k, 2))
    W = random.normal(size=(4, 2)) @ Z.T + 0.3 * random.normal(size=(4, k))
    winners, losers = draw(2 * X @ W, random)
    options = {"decomposition": "disagreement", "arc_weights": "count", "C": 1.0}
    errors = np.zeros((3, k))
    full = LogLinearRanker(label_features=dict(enumerate(Z)), **options)
    full.fit(X, from_votes(range(n), winners, losers, labels=range(k)).graphs)
    for out in range(k):
        kept = [j for j in range(k) if j != out]
        seen = (winners != out) & (losers != out)
        ranker = LogLinearRanker(label_features={j: Z[j] for j in kept}, **options)
        ranker.fit(X[seen], from_votes(range(seen.sum()), winners[seen], losers[seen], labels=kept).graphs)
        mean = ranker.score_labels(X).mean(axis=1, keepdims=True)
        scores = ranker.add_labels({out: Z[out]}).score_labels(X)
        truth = (X @ W)[:, [out]] > (X @ W)[:, kept]
        told = full.score_labels(X)
        for row, given in enumerate((scores[:, -1:], mean, told[:, [out]])):
            others = told[:, kept] if row == 2 else scores[:, :-1]
            errors[row, out] = ((given > others) != truth).mean()
    for name, values in zip(("its features", "an average label", "its own votes too"), errors, strict=True):
        print(f"wrong pairs of a label by {name}: {values.mean():.1%}")


if __name__ == "__main__":
    show_time()
    show_cold_start()
    show_coverage()

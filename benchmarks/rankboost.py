"""RankBoost against XGBoost, and the neighbour search against scikit-learn, on Reuters-21578 (first-topic-top10).

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks rankboost

RankBoost: 200 rounds for topic acq with all labels, on the 9,509 x 10,751 tf-idf matrix. XGBoost: `rank:pairwise`, 200
trees of depth one, the same matrix, one query, one thread, `tree_method="hist"` (its default and fastest). Its pairs:
`lambdarank_pair_method="mean"` with one sampled partner per document (the cheapest it has), and "topk", its default,
with its default of 32. Both sides include the preparation of the matrix (sorted columns; DMatrix and histograms).
Neighbours: the 2 nearest of each document among all documents, against `NearestNeighbors(metric="cosine",
algorithm="brute")`. Memory is the most that arrays allocated by the search took at one time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from arcrank.bipartite.rankboost import RankBoost
from arcrank.datasets import load_reuters21578
from arcrank.metrics.bipartite import auc
from arcrank.solvers.neighbours import nearest_rows
from arcrank.text import TermCounts, TfIdf, Tokenizer
from benchmarks.timing import alternate, peak_bytes, report

ROUNDS = 200


def reuters() -> tuple[Any, np.ndarray]:
    corpus = load_reuters21578("first-topic-top10")
    tokenizer = Tokenizer(digits="token", stop_words="english", stem=False)
    counts = TermCounts(tokenizer=tokenizer, min_df=3).fit_transform(corpus.texts)
    y = np.array([float(labels[0] == "acq") for labels in corpus.label_sets])
    return TfIdf(sublinear=True, norm="l2").fit_transform(counts), y


def xgboost_scores(X: Any, y: np.ndarray, pair_method: str) -> np.ndarray:
    import xgboost

    parameters = {
        "objective": "rank:pairwise",
        "lambdarank_pair_method": pair_method,
        "tree_method": "hist",
        "max_depth": 1,
        "nthread": 1,
    }
    if pair_method == "mean":
        parameters["lambdarank_num_pair_per_sample"] = 1
    matrix = xgboost.DMatrix(X, label=y, group=[X.shape[0]], nthread=1)
    return xgboost.train(parameters, matrix, num_boost_round=ROUNDS).predict(matrix)


def boosting(X: Any, y: np.ndarray) -> None:
    ranker = RankBoost(ROUNDS).fit(X, y)  # compiles
    tasks = {
        "ours": lambda: ranker.fit(X, y),
        "mean": lambda: xgboost_scores(X, y, "mean"),
        "topk": lambda: xgboost_scores(X, y, "topk"),
    }
    seconds = alternate(tasks, rounds=3)
    print(f"RankBoost {seconds['ours']:.2f} s, AUC of the training documents {ranker.score(X, y):.4f}")
    for pairs in ("mean", "topk"):
        quality = auc(y, xgboost_scores(X, y, pairs), ties="half")
        print(f"XGBoost, pairs {pairs!r}: {seconds[pairs]:.2f} s, AUC {quality:.4f}")
        report(f"RankBoost / XGBoost rank:pairwise, pairs {pairs!r}", seconds["ours"] / seconds[pairs], 0.3)


def neighbours(X: Any) -> None:
    nearest_rows(X[:50], X[:50], 2)  # compiles
    tasks = {
        "ours": lambda: nearest_rows(X, X, 2),
        "theirs": lambda: NearestNeighbors(metric="cosine", algorithm="brute").fit(X).kneighbors(X, 2),
    }
    seconds = alternate(tasks, rounds=3)
    memory = {name: peak_bytes(task) for name, task in tasks.items()}
    print(f"nearest_rows {seconds['ours']:.2f} s, {memory['ours'] / 2**20:.1f} MB")
    print(f"NearestNeighbors {seconds['theirs']:.2f} s, {memory['theirs'] / 2**20:.1f} MB")
    np.testing.assert_allclose(tasks["ours"]()[1], 1.0 - tasks["theirs"]()[0], atol=1e-9)
    report("neighbour search / NearestNeighbors brute, time", seconds["ours"] / seconds["theirs"], 1.0)
    report("neighbour search / NearestNeighbors brute, memory", memory["ours"] / memory["theirs"], 0.1)


if __name__ == "__main__":
    X, y = reuters()
    print(f"Reuters {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} non-zeros, {ROUNDS} rounds")
    boosting(X, y)
    neighbours(X)

"""How accurate LogLinearRanker is on RCV1: leaves of the hierarchy on one fold, and label sets from train to test.

    ARCRANK_DATA=... python -m benchmarks.rcv1_accuracy

Limits: what an independent prototype reached on the leaves; on label sets, the best of 14 configurations of
scikit-learn, LibMultiLabel, Omikuji and napkinXC, with a little room.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.model_selection import KFold

from arcrank import LogLinearRanker
from arcrank.datasets import Corpus, load_rcv1
from arcrank.graphs import Hierarchy
from arcrank.metrics import average_precision, coverage, generalized_error, ranking_loss
from benchmarks.timing import report

LEAF_LIMITS = {"zero-one": 0.370, "disagreement": 0.0203, "domination": 0.173, "dominated": 0.054}


def leaves(corpus: Corpus) -> None:
    graphs = Hierarchy(corpus.hierarchy).leaf_graphs(corpus.label_sets)
    train, test = next(KFold(5, shuffle=True, random_state=0).split(np.arange(len(corpus))))
    start = time.perf_counter()
    ranker = LogLinearRanker("domination", C=10, intercept="regularised", random_state=0)
    ranker.fit(corpus.X[train], graphs[train])
    print(f"leaves, fold 0, domination, C = 10: {time.perf_counter() - start:.1f} s, gap {ranker.duality_gap_:.1e}")
    scores = ranker.score_labels(corpus.X[test])
    for name, limit in LEAF_LIMITS.items():
        report(f"{name} error", generalized_error(graphs[test], scores, name), limit)


def label_sets(corpus: Corpus) -> None:
    train, test = corpus.splits["train"], corpus.splits["test"]
    Y = corpus.indicator()
    start = time.perf_counter()
    ranker = LogLinearRanker("domination", C=30, intercept="regularised", random_state=0)
    ranker.fit(corpus.X[train], Y[train])
    print(f"label sets, train to test, C = 30: {time.perf_counter() - start:.1f} s, gap {ranker.duality_gap_:.1e}")
    scores = ranker.score_labels(corpus.X[test])
    report("ranking loss, %", 100 * ranking_loss(Y[test], scores), 0.76)
    report("coverage", coverage(Y[test], scores), 4.25)
    report("average precision, %", 100 * average_precision(Y[test], scores), 91.9, at_least=True)


def main() -> None:
    corpus = load_rcv1()
    leaves(corpus)
    label_sets(corpus)


if __name__ == "__main__":
    main()

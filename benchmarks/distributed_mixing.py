"""What the mixing of partitions costs in accuracy: MMP on Reuters-21578.

    ARCRANK_DATA=... python -m benchmarks.distributed_mixing

It learns the ModApte training part by one machine and by 2 and 5 partitions, and measures average precision and
one-error on the test part, for 1, 3 and 10 epochs. Partitions are consecutive parts of the training documents in random
order.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import dask
import numpy as np

from arcrank import MMPRanker
from arcrank.datasets import load_reuters21578
from arcrank.distributed import DaskMMPRanker
from arcrank.metrics import average_precision, one_error
from arcrank.text import TextFeatures
from distributed import Client


def blocks_of(X: Any, Y: Any, parts: int) -> list[Any]:
    cuts = np.linspace(0, X.shape[0], parts + 1).astype(int)
    return [dask.delayed((X[a:b], Y[a:b])) for a, b in pairwise(cuts)]


def reuters() -> tuple[Any, Any, Any, Any]:
    corpus = load_reuters21578()
    order = np.random.RandomState(0).permutation(corpus.splits["train"])
    test = corpus.splits["test"]
    features = TextFeatures()
    X = features.fit_transform([corpus.texts[i] for i in order])
    Y = corpus.indicator()
    return X, Y[order], features.transform([corpus.texts[i] for i in test]), Y[test]


def mmp(client: Client) -> None:
    X, Y, X_test, Y_test = reuters()
    kept = np.asarray(Y_test.sum(axis=1)).ravel() > 0
    X_test, Y_test = X_test[kept], Y_test[kept]
    print(f"Reuters-21578: {X.shape[0]:,} documents to learn from, {X_test.shape[0]:,} to measure on", flush=True)
    for average in (False, True):
        for epochs in (1, 3, 10):
            settings: dict[str, Any] = {"epochs": epochs, "average": average, "shuffle": True, "random_state": 0}
            found = {"1 machine": MMPRanker(**settings).fit(X, Y)}
            for parts in (2, 5):
                found[f"{parts} partitions"] = DaskMMPRanker(**settings, client=client).fit(blocks_of(X, Y, parts))
            for name, ranker in found.items():
                scores = ranker.score_labels(X_test)
                measures = average_precision(Y_test, scores), one_error(Y_test, scores)
                kind = "mean" if average else "last"
                print(
                    f"{kind} weights, {epochs:2} epochs, {name:12}  AP {measures[0]:.4f}  one-error {measures[1]:.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as one:
        mmp(one)

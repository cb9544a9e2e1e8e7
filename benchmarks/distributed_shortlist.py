"""What partitions cost a ranker of very many labels in accuracy: `load_subjects`.

    ARCRANK_DATA=... python -m benchmarks.distributed_shortlist [DOCUMENTS [PASSES ...]]

It holds out 4,000 training records, learns 12,000 others by one machine and by 2 and 5 partitions, and measures P@1,
P@5 and NDCG@5 on those held out, after 2, 4 and 8 passes. Partitions are consecutive parts of the records in random
order.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from arcrank import ShortlistRanker
from arcrank.datasets import load_subjects
from arcrank.distributed import DaskShortlistRanker
from arcrank.metrics import top_k
from benchmarks.distributed_mixing import blocks_of
from benchmarks.many_labels import tfidf
from distributed import Client

HELD_OUT = 4_000


def main(client: Client, documents: int = 12_000, *numbers: int) -> None:
    corpus = load_subjects()
    order = np.random.default_rng(5).permutation(corpus.splits["train"])
    test, train = order[:HELD_OUT], order[HELD_OUT : HELD_OUT + documents]
    vectorizer = tfidf()
    X = vectorizer.fit_transform([corpus.texts[i] for i in train])
    X_test, Y = vectorizer.transform([corpus.texts[i] for i in test]), corpus.indicator()
    print(f"{len(train):,} records to learn from, {len(test):,} to measure on", flush=True)
    for passes in numbers or (2, 4, 8):
        settings: dict[str, Any] = {"max_iter": passes, "random_state": 0}
        for parts in (1, 2, 5):
            if parts == 1:
                ranker = ShortlistRanker(**settings).fit(X, Y[train])
            else:
                ranker = DaskShortlistRanker(**settings, client=client).fit(blocks_of(X, Y[train], parts))
            top, _ = ranker.rank_numbers(X_test, 5)
            found = [100 * top_k.precision_at(Y[test], top, r) for r in (1, 5)]
            found.append(100 * top_k.ndcg_at(Y[test], top, 5))
            name = "1 machine" if parts == 1 else f"{parts} partitions"
            print(
                f"{passes} passes, {name:12}  P@1 {found[0]:.2f}  P@5 {found[1]:.2f}  NDCG@5 {found[2]:.2f}", flush=True
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as one:
        main(one, *map(int, sys.argv[1:]))

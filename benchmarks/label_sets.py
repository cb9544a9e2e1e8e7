"""How good the label sets of `predict` are: thresholds learnt in training against the cut of smallest loss.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.label_sets

Micro-F1 on test documents, with one-vs-rest LinearSVC (C = 1) for comparison. C = 100 for RCV1 and the debtags sample,
300 for Reuters. The rule was chosen by figures of this kind, so they show what it does, not what it would do elsewhere.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from arcrank import LogLinearRanker
from arcrank.datasets import load_debtags_sample, load_rcv1, load_reuters21578
from arcrank.text import TextFeatures


def tasks() -> Iterator[tuple[str, Any, Any, Any, Any, float]]:
    """Name, features and indicator of the training and of the test documents, and C."""
    for name, corpus, C in (
        ("debtags sample", load_debtags_sample(), 100.0),
        ("Reuters-21578", load_reuters21578("modapte"), 300.0),
        ("RCV1-v2", load_rcv1(), 100.0),
    ):
        train, test = corpus.split("train"), corpus.split("test")
        Y, truth = train.indicator(), test.indicator().toarray()
        known = np.flatnonzero(np.asarray(Y.sum(axis=0)).ravel())
        X, Z = train.X, test.X
        if corpus.texts is not None:
            words = TextFeatures()
            X, Z = words.fit_transform(train.texts), words.transform(test.texts)
        yield name, X, Y.toarray()[:, known], Z, truth[:, known], C


def main() -> None:
    print(f"{'micro-F1':<16} {'thresholds':>12} {'smallest loss':>14} {'one-vs-rest':>12}")
    for name, X, Y, Z, truth, C in tasks():
        ranker = LogLinearRanker(C=C, random_state=0).fit(X, Y)
        by_threshold = ranker.predict(Z)
        del ranker.thresholds_  # what is left is the cut of the smallest loss
        peer = OneVsRestClassifier(LinearSVC()).fit(X, Y)
        found = [f1_score(truth, sets, average="micro") for sets in (by_threshold, ranker.predict(Z), peer.predict(Z))]
        print(f"{name:<16} {found[0]:12.3f} {found[1]:14.3f} {found[2]:12.3f}", flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # from scikit-learn, about labels without a training document
        main()

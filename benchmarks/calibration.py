"""How far the probabilities of `predict_proba` can be believed, and what fitting them costs.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.calibration [reuters rcv1 debtags | few]

PreferenceMachine(cut_label=True, decomposition="domination", loss="squared-hinge"); C = 1 for Reuters and debtags, 0.3
for RCV1, as chosen by 3-fold cross-validation of micro-F1 (`benchmarks.label_sets`). Calibration errors are of test
documents, over 15 bins of equal mass: of all labels with a probability of at least 0.05, and of the first label of each
document. The processor time of `fit` is compared with that of cross-validating the same machine by hand, in the same
three folds, and fitting it once; memory is that of arrays.

`few`: LogLinearRanker with C = 1 and 100 on 500 and on all 2,123 training packages of the sample of debtags.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from arcrank import LogLinearRanker, PreferenceMachine, make_ranking_pipeline
from arcrank.datasets import load_debtags_sample
from arcrank.graphs import as_graphs
from arcrank.metrics import expected_calibration_error, first_label_calibration_error
from arcrank.model_selection import StratifiedFolds
from arcrank.text import TextFeatures
from benchmarks.label_sets.corpora import load_task
from benchmarks.timing import peak_bytes

COSTS = {"reuters": 1.0, "rcv1": 0.3, "debtags": 1.0}


def machine(C: float, **parameters: Any) -> PreferenceMachine:
    fixed = {"intercept": "regularised", "cut_label": True, "random_state": 0}
    return PreferenceMachine("domination", "squared-hinge", C=C, **fixed, **parameters)


def by_hand(X: Any, Y: Any, C: float) -> None:
    """Three folds and a fit, as a user would write it."""
    for train, test in StratifiedFolds(3, random_state=0).split(np.empty(len(Y)), as_graphs(Y)):
        machine(C * len(Y) / len(train), calibration_folds=0).fit(X[train], Y[train]).score_labels(X[test])
    machine(C, calibration_folds=0).fit(X, Y)


def show_few() -> None:
    corpus = load_debtags_sample()
    train, test = corpus.split("train"), corpus.split("test")
    print(f"{'packages':>10}{'C':>10}{'first':>10}")
    for part in (train[:500], train):
        for C in (1.0, 100.0):
            model = make_ranking_pipeline(TextFeatures(), LogLinearRanker(C=C, cut_label=True, random_state=0))
            labels = model.fit(part.texts, part.label_sets)[-1].labels_
            truth = np.array([np.isin(labels, names) for names in test.label_sets]).astype(int)
            error = first_label_calibration_error(truth, model.predict_proba(test.texts))
            print(f"{len(part):10}{C:10g}{error:10.3f}", flush=True)


def main() -> None:
    if sys.argv[1:] == ["few"]:
        show_few()
        return
    print(f"{'corpus':<10}{'labels':>10}{'first':>10}{'fit, s':>10}{'by hand':>10}{'ratio':>10}{'memory':>10}")
    for name in sys.argv[1:] or list(COSTS):
        task, C = load_task(name), COSTS[name]
        Y, truth = task.Y.toarray(), task.truth.toarray()
        start = time.process_time()
        model = machine(C).fit(task.X, Y)
        middle = time.process_time()
        by_hand(task.X, Y, C)
        seconds = middle - start, time.process_time() - middle
        errors = [
            error(truth, model.predict_proba(task.Z))
            for error in (expected_calibration_error, first_label_calibration_error)
        ]
        memory = peak_bytes(lambda X=task.X, Y=Y, C=C: machine(C).fit(X, Y)) / peak_bytes(
            lambda X=task.X, Y=Y, C=C: by_hand(X, Y, C)
        )
        print(
            f"{name:<10}{errors[0]:10.4f}{errors[1]:10.4f}{seconds[0]:10.1f}{seconds[1]:10.1f}"
            f"{seconds[0] / seconds[1]:10.2f}{memory:10.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""What the number of parts was chosen by over which `set_measure="macro_f1"` averages the offset of a label.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.macro_offsets [enron medical yeast bibtex]

No test documents: at most 3,000 training documents are divided at random, several times. A machine with domination, the
squared hinge and the cut learns from 70 % of them, offsets are chosen on its out-of-fold scores, and the other 30 % are
measured. Shown are macro-F1 and micro-F1 in %, and their difference to three parts with its standard error.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from arcrank import PreferenceMachine
from arcrank._typing import Array
from arcrank.rankers import set_offsets
from benchmarks.label_sets.cells import f1_of
from benchmarks.label_sets.corpora import load_task

PARTS = (1, 3, 5, 8, 12, 20)
COSTS = {"enron": 0.3, "medical": 1.0, "yeast": 0.1, "bibtex": 0.3}
SPLITS = {"enron": 16, "medical": 16, "yeast": 6, "bibtex": 4}
MOST, TRAINED, FOLDS = 3000, 0.7, 3


def machine(C: float) -> PreferenceMachine:
    options = {"cut_label": True, "calibration_folds": 0, "set_measure": None, "random_state": 0}
    return PreferenceMachine("domination", "squared-hinge", C=C, **options)


def measure(X: Any, Y: Array, C: float, seed: int) -> Array:
    """Macro-F1 and micro-F1 for each number of parts, (parts, 2)."""
    rows = np.random.default_rng(seed).permutation(len(Y))[:MOST]
    train, test = np.split(rows, [int(TRAINED * len(rows))])
    scores = np.empty((len(train), Y.shape[1]))
    for kept, held_out in KFold(FOLDS, shuffle=True, random_state=0).split(train):
        fold = machine(C * FOLDS / (FOLDS - 1)).fit(X[train[kept]], Y[train[kept]])
        scores[held_out] = fold.score_labels(X[train[held_out]])
    new, relevant = machine(C).fit(X[train], Y[train]).score_labels(X[test]), Y[train] > 0
    found = []
    for parts in PARTS:
        set_offsets._PARTS = parts
        offsets = set_offsets.choose_offsets(scores, np.ones_like(relevant), relevant, "macro_f1")
        found.append(f1_of(Y[test] > 0, new > offsets)[::-1])
    return np.array(found)


def main() -> None:
    warnings.simplefilter("ignore")  # about labels without a training document
    for name in sys.argv[1:] or COSTS:
        task = load_task(name)
        Y = task.Y.toarray()
        values = 100 * np.array([measure(task.X, Y, COSTS[name], seed) for seed in range(SPLITS[name])])
        gains = values - values[:, [PARTS.index(3)]]
        errors = gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
        print(f"{name}, {len(values)} splits")
        for parts, mean, gain, error in zip(PARTS, values.mean(axis=0), gains.mean(axis=0), errors, strict=True):
            shown = (f"{m:6.2f} ({g:+.2f} ± {e:.2f})" for m, g, e in zip(mean, gain, error, strict=True))
            print(f"  {parts:3} parts: macro-F1 {next(shown)}, micro-F1 {next(shown)}", flush=True)


if __name__ == "__main__":
    main()

"""What the settings were chosen by with which `set_measure="macro_f1"` and `"micro_f1"` find the offset of a label.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.set_offsets [enron medical yeast bibtex reuters rcv1]

No test documents: training documents are divided at random, several times. A machine with domination, the squared hinge
and the cut learns from two thirds of them, offsets are chosen on its out-of-fold scores, and the others are measured.
Shown are macro-F1 and micro-F1 in %, and their difference to eight parts, one division and nothing borrowed, with its
standard error: over splits that share documents, so that it is too small. Below are the same for `"micro_f1"`, by how
far its offsets are moved towards those for the macro-F1, and the average precision too.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from arcrank import PreferenceMachine
from arcrank._typing import Array
from arcrank.graphs import as_graphs
from arcrank.metrics import average_precision
from arcrank.model_selection import StratifiedFolds
from arcrank.rankers import set_offsets
from benchmarks.label_sets.cells import f1_of
from benchmarks.label_sets.corpora import load_task

NOTHING = 1e-9
SETTINGS = [
    (3, 1, 0.0, NOTHING),
    (8, 1, 0.0, NOTHING),
    (20, 1, 0.0, NOTHING),
    (8, 3, 0.0, NOTHING),
    *((8, 3, expected, borrowed) for expected in (1.0, 1.25, 1.5, 2.0) for borrowed in (2, 4, 8)),
]
"""Parts, divisions, documents that are expected to have a label over those that have it, and the weight of that."""
PLAIN = (8, 1, 0.0, NOTHING)
NAMES = ("_PARTS", "_DIVISIONS", "_EXPECTED", "_BORROWED")
COSTS = {"enron": 0.3, "medical": 1.0, "yeast": 0.1, "bibtex": 0.3, "reuters": 1.0, "rcv1": 0.3}
REPEATS = {"enron": 5, "medical": 5, "bibtex": 3, "reuters": 3}
FOLDS = 3
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7)


def machine(C: float) -> PreferenceMachine:
    options = {"cut_label": True, "calibration_folds": 0, "set_measure": None, "random_state": 0}
    return PreferenceMachine("domination", "squared-hinge", C=C, **options)


def measure(X: Any, Y: Array, C: float, train: Array, test: Array) -> tuple[Array, Array]:
    """Macro-F1, micro-F1 and average precision for each of the settings and each of the shares, (settings, 3)."""
    scores = np.empty((len(train), Y.shape[1]))
    for kept, held_out in StratifiedFolds(FOLDS, random_state=0).split(train, as_graphs(Y[train])):
        fold = machine(C * FOLDS / (FOLDS - 1)).fit(X[train[kept]], Y[train[kept]])
        scores[held_out] = fold.score_labels(X[train[held_out]])
    new, relevant = machine(C).fit(X[train], Y[train]).score_labels(X[test]), Y[train] > 0

    def measures(set_measure: str) -> list[float]:
        offsets = set_offsets.choose_offsets(scores, np.ones_like(relevant), relevant, set_measure)
        return [*f1_of(Y[test] > 0, new > offsets)[::-1], average_precision(Y[test], new - offsets)]

    found, shared, chosen = [], [], tuple(getattr(set_offsets, name) for name in NAMES)
    for setting in SETTINGS:
        change(setting)
        found.append(measures("macro_f1"))
    change(chosen)
    for set_offsets._OWN in SHARES:
        shared.append(measures("micro_f1"))
    return np.array(found), np.array(shared)


def change(values: tuple[float, ...]) -> None:
    for name, value in zip(NAMES, values, strict=True):
        setattr(set_offsets, name, value)


def show(title: str, names: Sequence[Any], values: Array, plain: int) -> None:
    gains = values - values[:, [plain]]
    errors = gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
    print(f"{title}, {len(values)} splits")
    for name, mean, gain, error in zip(names, values.mean(axis=0), gains.mean(axis=0), errors, strict=True):
        shown = (f"{m:6.2f} ({g:+.2f} ± {e:.2f})" for m, g, e in zip(mean, gain, error, strict=True))
        print(f"  {name!s:18} macro-F1 {next(shown)}, micro-F1 {next(shown)}, precision {next(shown)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", metavar="corpus", help=f"of {', '.join(COSTS)}; all by default")
    arguments = parser.parse_args()
    if unknown := set(arguments.corpora) - set(COSTS):
        parser.error(f"there is no corpus {unknown.pop()!r}; choose from {', '.join(COSTS)}")
    warnings.simplefilter("ignore")  # about labels without a training document
    for name in arguments.corpora or COSTS:
        task = load_task(name)
        Y = task.Y.toarray()
        found = [
            measure(task.X, Y, COSTS[name], train, test)
            for seed in range(REPEATS.get(name, 1))
            for train, test in KFold(FOLDS, shuffle=True, random_state=seed).split(Y)
        ]
        settings, shares = (100 * np.array(part) for part in zip(*found, strict=True))
        show(f"{name}: parts, divisions, expected, borrowed", SETTINGS, settings, SETTINGS.index(PLAIN))
        show(f"{name}: share", SHARES, shares, 0)


if __name__ == "__main__":
    main()

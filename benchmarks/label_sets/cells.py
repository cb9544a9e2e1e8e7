"""Measure one learner with one C on a part of a corpus, and choose C by cross-validation; every result is stored."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import KFold

from arcrank._typing import Array
from arcrank.experiments.cache import cached
from arcrank.metrics import average_precision, one_error, ranking_loss
from benchmarks.label_sets.corpora import Task
from benchmarks.label_sets.learners import Learner

Cell = dict[str, float]

FOLDS = 3
SMALLEST, LARGEST = -8, 8  # C from 0.0001 to 10000, in half decades


def choose_regularization(task: Task, learner: Learner, measure: str) -> float:
    """Return the C of the best mean over the folds; a grid of several values grows while the best is at its edge."""
    grid = learner.grid_of(task.name)
    if len(grid) == 1:
        return grid[0]
    values = {half_decade(C): mean_of_folds(task, learner, C, measure) for C in grid}
    while True:
        best = max(sorted(values), key=lambda step: values[step])
        step = best - 1 if best == min(values) else best + 1
        if step in values or not SMALLEST <= step <= LARGEST:
            return to_regularization(best)
        values[step] = mean_of_folds(task, learner, to_regularization(step), measure)


def half_decade(C: float) -> int:
    return round(2 * math.log10(C))


def to_regularization(step: int) -> float:
    return float(f"{10 ** (step / 2):.0e}")  # ..., 0.3, 1, 3, 10, ...


def mean_of_folds(task: Task, learner: Learner, C: float, measure: str) -> float:
    # No offset that labels share tells how good those of the labels will be.
    set_measure = "macro_f1" if measure == "macro_f1" else None
    cells = [measured(task, learner, C, part=f"fold {fold}", set_measure=set_measure) for fold in range(FOLDS)]
    return float(np.mean([cell[measure] for cell in cells]))


def measured(task: Task, learner: Learner, C: float, *, part: str, set_measure: str | None = None) -> Cell:
    """Return the measures of a fold or of the test documents, stored or computed."""
    set_measure = set_measure if learner.has_offset else None
    key: dict[str, Any] = {"corpus": task.name, "data": digest(task), "learner": learner.name, "C": C, "part": part}
    key |= {"revision": learner.revision, "set_measure": set_measure}
    cell: Cell = cached("label-sets", key, lambda: compute(task, learner, C, part, set_measure))
    return cell


_digests: dict[str, str] = {}


def digest(task: Task) -> str:
    return _digests.setdefault(task.name, task.digest())


def compute(task: Task, learner: Learner, C: float, part: str, set_measure: str | None) -> Cell:
    X, Y, Z, truth = rows_of(task, part)
    start = time.perf_counter()
    scores = learner.fit(X, Y, C, *([set_measure] if learner.has_offset else []))(Z)
    seconds = time.perf_counter() - start
    truth = truth.toarray()
    cell = ranking_measures(truth, scores) | {"seconds": seconds}
    if learner.has_sets:
        best = learner.has_offset and set_measure is None
        cell |= best_offsets(truth, scores) if best else set_measures(truth, scores > 0)
    shown = " ".join(f"{name}={value:.4f}" for name, value in cell.items())
    print(f"{task.name} {learner.name} C={C:g} {part} {set_measure or ''} {shown}", file=sys.stderr, flush=True)
    return cell


def rows_of(task: Task, part: str) -> tuple[Any, Any, Any, Any]:
    if part == "test":
        return task.X, task.Y, task.Z, task.truth
    folds = list(KFold(FOLDS, shuffle=True, random_state=0).split(np.arange(task.X.shape[0])))
    train, held_out = folds[int(part.removeprefix("fold "))]
    return task.X[train], task.Y[train], task.X[held_out], task.Y[held_out]


def ranking_measures(truth: Array, scores: Array) -> Cell:
    return {
        "ranking_loss": float(ranking_loss(truth, scores)),
        "average_precision": float(average_precision(truth, scores)),
        "one_error": float(one_error(truth, scores)),
    }


def set_measures(truth: Array, sets: Array) -> Cell:
    return {
        "micro_f1": f1_score(truth, sets, average="micro", zero_division=0),
        "macro_f1": f1_score(truth, sets, average="macro", zero_division=0),
        "subset_accuracy": accuracy_score(truth, sets),
    }


def best_offsets(truth: Array, scores: Array) -> Cell:
    """The best F1 of any offset shared by all labels, from a tenth of the given number of labels to ten times it."""
    descending = -np.sort(-scores, axis=None)
    ranks = truth.sum() * np.geomspace(0.1, 10, 81)
    offsets = descending[np.minimum(ranks.astype(int), descending.size - 1)]
    found = np.array([f1_of(truth, scores > offset) for offset in offsets])
    return dict(zip(("micro_f1", "macro_f1"), found.max(axis=0).tolist(), strict=True))


def f1_of(truth: Array, sets: Array) -> tuple[float, float]:
    """Micro-F1 and macro-F1, much faster than scikit-learn's for 81 offsets."""
    hits, sizes = (truth & sets).sum(axis=0), truth.sum(axis=0) + sets.sum(axis=0)
    return 2 * hits.sum() / max(sizes.sum(), 1), float(np.mean(2 * hits / np.maximum(sizes, 1)))

"""Whether the sets of `ConformalSets` keep their promises on debtags, with MAPIE for comparison.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.conformal

A model is trained once on the training documents. The test documents are split at random 100 times into calibration
and test documents, and each line is about the 100 splits: the mean over splits of the mean recall or precision of the
test documents, its standard error, the share of splits below the promise, labels in a set, seconds and peak memory of
a calibration on given probabilities. Splits share documents, so that the standard error is too small.

MAPIE (`pip install mapie`, skipped where it is missing) holds an array of documents x labels x 100 thresholds and goes
through documents and thresholds in Python. It is therefore compared on the 100 most frequent tags, 1,000 calibration
documents and one-vs-rest logistic regression; documents without one of these tags, which it refuses, are left out. Its
precision is not compared: it counts an empty set as all wrong, where `ConformalSets` counts it as right, and with that
finds no threshold for 0.8 here. The promise of recall is about the mean over splits, so many splits may be below. That
of precision is about each split: at most delta = 10 % of them may be below.

The `PreferenceMachine` is trained on all tags, so that its sets cannot be compared with those of one-vs-rest. Its
training takes most of the time, about 20 minutes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from arcrank import ConformalSets, PreferenceMachine
from arcrank._typing import Array, Mask
from arcrank.datasets import load_debtags
from arcrank.text import TextFeatures
from benchmarks.timing import peak_bytes

SPLITS = 100
RECALL, PRECISION, DELTA = 0.9, 0.8, 0.1
N_FREQUENT, N_CALIBRATION = 100, 1000
Predict = Callable[[Array], Mask]


class Table:
    """A model whose documents are their probabilities, so that they are computed once for all splits."""

    def __init__(self, k: int) -> None:
        self.labels_ = np.arange(k)

    def predict_proba(self, X: Array) -> Array:
        return X


class Task(NamedTuple):
    """A model's probabilities of documents that it was not trained on, and their labels."""

    name: str
    proba: Array
    truth: NDArray[np.int64]
    n_calibration: int
    with_mapie: bool


def ours(**promise: float) -> Callable[[Array, Any], Predict]:
    def calibrate(proba: Array, truth: Any) -> Predict:
        return ConformalSets(Table(proba.shape[1]), **promise).calibrate(proba, truth).predict  # type: ignore[arg-type]

    return calibrate


def mapie_recall() -> Callable[[Array, Any], Predict]:
    from mapie.risk_control import MultiLabelClassificationController

    def calibrate(proba: Array, truth: Any) -> Predict:
        controller = MultiLabelClassificationController(
            Table(proba.shape[1]).predict_proba, method="crc", target_level=RECALL
        )
        controller.calibrate(proba, truth)
        return lambda new: controller.predict(new)[:, :, 0]

    return calibrate


def share(found: Any, truth: Any, of: Any) -> Array:
    """The share of right labels among `of` for each document, 1 where there are none."""
    sizes = of.sum(axis=1)
    return np.where(sizes > 0, (found * truth).sum(axis=1) / np.maximum(1, sizes), 1.0)


def measure(task: Task, calibrate: Callable[[Array, Any], Predict], promised: str) -> str:
    random = np.random.default_rng(0)
    values, sizes, seconds = [], [], []
    for _ in range(SPLITS):
        order = random.permutation(len(task.proba))
        known, new = order[: task.n_calibration], order[task.n_calibration :]
        start = time.perf_counter()
        predict = calibrate(task.proba[known], task.truth[known])
        seconds.append(time.perf_counter() - start)
        found, truth = predict(task.proba[new]), task.truth[new]
        values.append(share(found, truth, truth if promised == "recall" else found).mean())
        sizes.append(found.sum(axis=1).mean())
    peak = peak_bytes(lambda: calibrate(task.proba[known], task.truth[known])) / 1e6
    below = np.mean(np.array(values) < (RECALL if promised == "recall" else PRECISION))
    return (
        f"{np.mean(values):9.4f} {np.std(values) / np.sqrt(SPLITS):8.4f} {below:7.2f} {np.mean(sizes):8.2f} "
        f"{np.median(seconds):9.3f} {peak:8.1f}"
    )


def tasks() -> Iterator[Task]:
    corpus = load_debtags()
    train, rest = corpus.split("train"), corpus.split("test")
    words = TextFeatures()
    X, new = words.fit_transform(train.texts), words.transform(rest.texts)
    Y, truth = train.indicator(), rest.indicator().toarray().astype(np.int64)
    counts = np.asarray(Y.sum(axis=0)).ravel()
    frequent = np.sort(np.argsort(-counts, kind="stable")[:N_FREQUENT])
    peer = OneVsRestClassifier(LogisticRegression(solver="liblinear")).fit(X, Y[:, frequent].astype(np.int64))
    chosen = truth[:, frequent].any(axis=1)
    yield Task("one-vs-rest", peer.predict_proba(new[chosen]), truth[chosen][:, frequent], N_CALIBRATION, True)
    machine = PreferenceMachine("domination", "squared-hinge", C=1, intercept="regularised", cut_label=True)
    machine.fit(X, Y)
    yield Task("PreferenceMachine", machine.predict_proba(new), truth, len(truth) // 2, False)


def methods(with_mapie: bool) -> Iterator[tuple[str, str, Callable[[Array, Any], Predict]]]:
    yield "recall", "arcrank", ours(recall=RECALL)
    if with_mapie:
        yield "recall", "MAPIE", mapie_recall()
    yield "precision", "arcrank", ours(precision=PRECISION, delta=DELTA)


def main() -> None:
    for task in tasks():
        n, k = task.proba.shape
        print(
            f"{task.name}: {k} labels, {task.n_calibration:,} calibration and {n - task.n_calibration:,} test documents"
        )
        print(f"{'':<26} {'mean':>9} {'error':>8} {'below':>7} {'labels':>8} {'seconds':>9} {'MB':>8}")
        for promised, name, calibrate in methods(task.with_mapie and find_spec("mapie") is not None):
            level = RECALL if promised == "recall" else PRECISION
            print(f"{f'{promised} {level:g}, {name}':<26} {measure(task, calibrate, promised)}", flush=True)


if __name__ == "__main__":
    main()

"""Time the linear duals against one-vs-rest LinearSVC and Perceptron, in one run: one thread, alternated.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.speed [NAME ...]

cut : PreferenceMachine(cut_label=True), domination, squared hinge, on Reuters (90 topics), C = 0.1, 1 and 10
path : the same machine at five values of C, each started from the last one, over a fit at the largest alone
loglinear : LogLinearRanker, domination, C = 10, on Reuters
debtags : PreferenceMachine as in `cut` and LogLinearRanker on 5,000 packages with all tags, C = 1 and 100
mmp : one pass of MMPRanker against one-vs-rest Perceptron(max_iter=1), Reuters; also the share of the checks of X

Times are of the processor, since other processes may run; medians. Kernels are compiled before the clock starts; for
start-up and compilation see `benchmarks.startup`.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

from sklearn.linear_model import Perceptron
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from arcrank import LogLinearRanker, MMPRanker, PreferenceMachine
from arcrank._features import check_features
from arcrank.datasets import load_debtags, load_reuters21578
from arcrank.text import TextFeatures
from benchmarks.timing import report

ROUNDS = 3
PATH = (0.1, 0.3, 1.0, 3.0, 10.0)
OPTIONS = {"calibration_folds": 0, "set_measure": None, "intercept": "regularised", "random_state": 0}


def reuters() -> tuple[Any, Any]:
    """Features and indicator of the training documents."""
    corpus = load_reuters21578("modapte").split("train")
    return TextFeatures().fit_transform(corpus.texts), corpus.indicator()


def debtags() -> tuple[Any, Any]:
    """Features and indicator of the first 5,000 training packages."""
    corpus = load_debtags().split("train")
    return TextFeatures().fit_transform(corpus.texts[:5000]), corpus.indicator()[:5000]


def machine(C: float) -> PreferenceMachine:
    return PreferenceMachine("domination", "squared-hinge", C=C, cut_label=True, **OPTIONS)


def loglinear(C: float) -> LogLinearRanker:
    return LogLinearRanker(solver="dual", C=C, **OPTIONS)


def one_vs_rest(X: Any, Y: Any) -> Callable[[], Any]:
    return lambda: OneVsRestClassifier(LinearSVC()).fit(X, Y)


def processor_seconds() -> float:
    """Time of this process and of the children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def race(tasks: dict[str, Callable[[], Any]], limits: dict[str, float]) -> None:
    """Print the median processor time of each task, and its ratio to that of the first."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            start = processor_seconds()
            task()
            seconds[name].append(processor_seconds() - start)
    first = median(next(iter(seconds.values())))
    for name, times in seconds.items():
        print(f"  {name:44} {median(times):8.3f} s   ({min(times):.3f} to {max(times):.3f})", flush=True)
        if name in limits:
            report(name, median(times) / first, limits[name])


def compare(X: Any, Y: Any, rankers: dict[str, Any], limits: dict[str, float]) -> None:
    for ranker in rankers.values():
        type(ranker)(**{**ranker.get_params(), "tol": 0.5}).fit(X[:200], Y[:200])
    fits = {name: (lambda ranker=ranker: ranker.fit(X, Y)) for name, ranker in rankers.items()}
    race({"one-vs-rest LinearSVC()": one_vs_rest(X, Y), **fits}, limits)


def cut() -> None:
    names = {f"PreferenceMachine with the cut, C = {C:g}": machine(C) for C in (0.1, 1.0, 10.0)}
    compare(*reuters(), names, dict.fromkeys(names, 0.5))


def path() -> None:
    X, Y = reuters()
    ranker = machine(1.0)
    ranker.fit(X[:200], Y[:200])

    def follow() -> None:
        features = ranker._check_features(X, reset=True)
        for _ in ranker._fit_path(features, ranker._learn_labels(Y, len(Y.indptr) - 1), PATH):
            pass

    race({"alone, C = 10": lambda: machine(10.0).fit(X, Y), "path to C = 10": follow}, {"path to C = 10": 1.5})


def loglinear_reuters() -> None:
    compare(*reuters(), {"LogLinearRanker, C = 10": loglinear(10.0)}, {"LogLinearRanker, C = 10": 0.25})


def debtags_rows() -> None:
    rankers = {
        "PreferenceMachine with the cut, C = 1": machine(1.0),
        "LogLinearRanker, C = 100": loglinear(100.0),
    }
    compare(*debtags(), rankers, dict(zip(rankers, (0.5, 0.4), strict=True)))


def mmp() -> None:
    X, Y = reuters()
    ranker = MMPRanker()
    ranker.fit(X[:200], Y[:200])
    warnings.simplefilter("ignore")  # that one pass does not converge
    peer = OneVsRestClassifier(Perceptron(max_iter=1, tol=None))
    tasks = {
        "one-vs-rest Perceptron(max_iter=1)": lambda: peer.fit(X, Y),
        "MMPRanker": lambda: ranker.fit(X, Y),
        "checks of X": lambda: check_features(ranker, type(X)(X, copy=True), reset=True),
    }
    race(tasks, {"MMPRanker": 1 / 50})


SECTIONS = {
    "cut": cut,
    "path": path,
    "loglinear": loglinear_reuters,
    "debtags": debtags_rows,
    "mmp": mmp,
}


def main() -> None:
    for name in sys.argv[1:] or SECTIONS:
        print(f"\n{name}", flush=True)
        SECTIONS[name]()


if __name__ == "__main__":
    main()

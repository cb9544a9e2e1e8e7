"""PreferenceMachine against scikit-learn's linear support vector machines on Reuters-21578, in one run.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.preference_machine [speed] [single] [rbf] [accuracy]

speed : 90 topics, identity, C = 1, tf-idf, to a relative gap of 1e-2 and 1e-3, over one-vs-rest LinearSVC's time
single : one topic per document, over LinearSVC(multi_class="crammer_singer") at objectives equal to 3, 4, 5 digits
rbf : 6,490 documents, ten topics, in a separate process; time and peak memory
accuracy : 90 topics, C by cross-validation on train for both, domination against one-vs-rest

Ratios are of processor time, the best of three rounds in which both run in turn; wall time is shown too. Kernels
are compiled before the clock starts.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from arcrank.datasets import load_reuters21578
from arcrank.metrics import average_precision, coverage, one_error, ranking_loss, zero_one_error
from arcrank.model_selection import StratifiedFolds
from arcrank.rankers.preference_machine.machine import PreferenceMachine
from arcrank.text import TextFeatures
from benchmarks.timing import report

ROUNDS = 3
GRID = (0.1, 0.3, 1.0, 3.0)
PAPER: dict[str, Any] = {"C": 1.0, "intercept": "regularised"}
FEATURES = {"ngrams": 1, "min_df": 1}  # words with log counts, as is usual with linear machines


def reuters(name: str) -> tuple[Any, Any, Any, Any]:
    """Features and indicators of train and test."""
    corpus = load_reuters21578(name)
    train, test = corpus.split("train"), corpus.split("test")
    features = TextFeatures(**FEATURES)
    X = features.fit_transform(train.texts)
    return X, train.indicator(), features.transform(test.texts), test.indicator()


def timed(fit: Callable[[], Any]) -> tuple[float, float, Any]:
    cpu, wall = time.process_time(), time.perf_counter()
    result = fit()
    return time.process_time() - cpu, time.perf_counter() - wall, result


def race(peer: Callable[[], Any], ours: dict[str, Callable[[], Any]]) -> tuple[Any, dict[str, Any]]:
    """The best processor time of each over rounds in which all run in turn."""
    best: dict[str, Any] = {}
    for _ in range(ROUNDS):
        for name, fit in {"peer": peer, **ours}.items():
            result = timed(fit)
            if name not in best or result[0] < best[name][0]:
                best[name] = result
    return best.pop("peer"), best


def show(name: str, result: Any, note: str = "") -> None:
    print(f"{name:28} {result[0]:7.2f} s cpu {result[1]:7.2f} s wall  {note}", flush=True)


def speed() -> None:
    X, Y, *_ = reuters("modapte")
    print(f"\nspeed: {X.shape[0]} x {X.shape[1]}, {Y.shape[1]} topics, identity, C = 1")
    PreferenceMachine(C=1, tol=0.5).fit(X, Y)
    runs = {f"relative gap {tol:g}": _machine(X, Y, tol=tol) for tol in (1e-2, 1e-3)}
    peer, ours = race(lambda: OneVsRestClassifier(LinearSVC()).fit(X, Y), runs)
    show("one-vs-rest LinearSVC()", peer)
    for name, result in ours.items():
        show(name, result, f"gap {result[2].duality_gap_:.1e}, {result[2].n_iter_} passes")
    for (name, result), limit in zip(ours.items(), (0.6, 1.5), strict=True):
        report(f"identity to a {name} over one-vs-rest LinearSVC", result[0] / peer[0], limit)


def single() -> None:
    X, Y, *_ = reuters("modapte")
    y = Y.indices[Y.indptr[:-1]]
    print(f"\nsingle: {X.shape[0]} documents, their first topic, no intercept, C = 1")
    PreferenceMachine(C=1, tol=0.5).fit(X, y)
    runs = {f"relative gap {tol:g}": _machine(X, y, tol=tol, fit_intercept=False) for tol in (1e-2, 1e-3, 1e-4, 1e-5)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer, ours = race(lambda: LinearSVC(multi_class="crammer_singer", fit_intercept=False).fit(X, y), runs)
    objective = _objective(peer[2], X, y)
    show("LinearSVC crammer_singer", peer, f"objective {objective:.3f}")
    for name, result in ours.items():
        show(name, result, f"objective {result[2].objective_:.3f}")
    for digits, within in (("three", 1e-3), ("four", 1e-4), ("five", 1e-5)):
        equal = [result for result in ours.values() if result[2].objective_ <= objective * (1 + within)]
        what = f"identity over crammer_singer, objectives equal to {digits} digits"
        report(what, equal[0][0] / peer[0] if equal else np.inf, 1.0)


def _machine(X: Any, Y: Any, **parameters: Any) -> Callable[[], PreferenceMachine]:
    return lambda: PreferenceMachine(**PAPER, random_state=0, **parameters).fit(X, Y)


def _objective(machine: Any, X: Any, y: Any) -> float:
    """`1/2 ||W||^2 + sum_i max(0, 1 - f_right + f_best other)`."""
    scores, rows = X @ machine.coef_.T, np.arange(len(y))
    column = np.searchsorted(machine.classes_, y)
    right = scores[rows, column]
    scores[rows, column] = -np.inf
    return float(0.5 * (machine.coef_**2).sum() + np.maximum(0, 1 - right + scores.max(axis=1)).sum())


def _rbf() -> None:
    X, Y, X_test, Y_test = reuters("modapte-top10")
    PreferenceMachine(**PAPER, kernel="rbf", gamma=1.0, tol=0.5).fit(X[:500], Y[:500])
    for decomposition in ("identity", "domination"):
        for cache in (500, 50):
            machine = PreferenceMachine(decomposition, **PAPER, kernel="rbf", gamma=1.0, cache_mb=cache)
            cpu, wall, _ = timed(lambda machine=machine: machine.fit(X, Y))
            error = one_error(Y_test, machine.score_labels(X_test))
            print(f"{decomposition}, cache of {cache} MB: {cpu:.1f} s cpu {wall:.1f} s wall, ", end="")
            print(f"gap {machine.duality_gap_:.1e}, {len(machine.support_)} support vectors, ", end="")
            print(f"one-error {100 * error:.2f} %", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    report("peak memory of all of them, GB", peak, 2.0)


def rbf() -> None:
    """In a separate process, to measure its peak memory."""
    print("\nrbf: 6,490 documents, ten topics, gamma = 1, C = 1, relative gap 1e-3", flush=True)
    process = multiprocessing.get_context("spawn").Process(target=_rbf)
    process.start()
    process.join()


def _measure(Y: Any, scores: Any) -> list[float]:
    graphs_error = 100 * zero_one_error(Y, scores)
    rest = 100 * one_error(Y, scores), coverage(Y, scores), 100 * ranking_loss(Y, scores)
    return [graphs_error, *map(float, rest), 100 * float(average_precision(Y, scores))]


def _choose(make: Callable[[float], Any], score: Callable[[Any, Any], Any], X: Any, Y: Any) -> float:
    """The C of the best mean average precision over five folds of train."""
    results = []
    for rows, rest in StratifiedFolds(5, random_state=0).split(X, Y):
        found = [average_precision(Y[rest], score(make(C).fit(X[rows], Y[rows]), X[rest])) for C in GRID]
        results.append(found)
    return GRID[int(np.mean(results, axis=0).argmax())]


def accuracy() -> None:
    X, Y, X_test, Y_test = reuters("modapte")
    print("\naccuracy: 90 topics, C by five-fold cross-validation on train (average precision)")
    print(f"{'':34}{'zero-one %':>11}{'one-error %':>12}{'coverage':>10}{'rank. loss %':>13}{'avg. prec. %':>13}")

    def line(name: str, make: Callable[[float], Any], score: Callable[[Any, Any], Any]) -> None:
        C = _choose(make, score, X, Y)
        found = _measure(Y_test, score(make(C).fit(X, Y), X_test))
        print(f"{f'{name}, C = {C:g}':34}{found[0]:11.2f}{found[1]:12.2f}", end="")
        print(f"{found[2]:10.3f}{found[3]:13.3f}{found[4]:13.2f}", flush=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a topic that is in no document of a fold
        line(
            "one-vs-rest LinearSVC",
            lambda C: OneVsRestClassifier(LinearSVC(C=C, random_state=0)),
            lambda machine, rows: np.atleast_2d(machine.decision_function(rows)),
        )
    for decomposition in ("domination", "identity", "disagreement"):
        line(
            decomposition,
            lambda C, decomposition=decomposition: PreferenceMachine(decomposition, **PAPER | {"C": C}, random_state=0),
            lambda machine, rows: machine.score_labels(rows),
        )


def main() -> None:
    sections = {"speed": speed, "single": single, "rbf": rbf, "accuracy": accuracy}
    for name in sys.argv[1:] or sections:
        sections[name]()


if __name__ == "__main__":
    main()

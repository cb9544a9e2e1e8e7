"""Time the linear duals against one-vs-rest LinearSVC and Perceptron, in one run: one thread, alternated.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.speed [NAME ...]

loglinear : LogLinearRanker, domination, C = 10, on Reuters (90 topics, scikit-learn's tf-idf), to a gap of 1e-3
large : the same at C = 1000, against LinearSVC(C=3)
kplm : PreferenceMachine, identity, hinge, C = 1, on the same, to a gap of 1e-2
debtags : LogLinearRanker, C = 100, on all training packages with all tags that occur (563)
machine : PreferenceMachine, domination, hinge, C = 10, on the same
mmp : one pass of MMPRanker against one-vs-rest Perceptron(max_iter=1), Reuters; also the checks of X, the product of X
    with the final weights, in double and single precision, and the share of weights met that are not 0
cut : PreferenceMachine(cut_label=True), domination, squared hinge, on Reuters, C = 0.1, 1 and 10
path : the same machine at five values of C, each started from the last one, over a fit at the largest alone
limits : for each kernel on Reuters, nanoseconds per non-zero and label, over what this machine needs to read a weight
    from memory and to multiply and add it

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

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Perceptron
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from arcrank import LogLinearRanker, MMPRanker, PreferenceMachine
from arcrank._features import check_features
from arcrank.datasets import load_debtags, load_reuters21578
from arcrank.decompositions import DOMINATION
from arcrank.graphs import as_graphs
from arcrank.solvers.loglinear_dual import DualAscent
from arcrank.text import TextFeatures
from benchmarks.timing import report

ROUNDS = 3
PATH = (0.1, 0.3, 1.0, 3.0, 10.0)
PACKAGES: int | None = None  # of debtags, the first ones; None: all
OPTIONS = {"calibration_folds": 0, "set_measure": None, "intercept": "regularised", "random_state": 0}


def reuters() -> tuple[Any, Any]:
    """Features and dense indicator of the training documents."""
    corpus = load_reuters21578("modapte").split("train")
    return TfidfVectorizer(sublinear_tf=True).fit_transform(corpus.texts), corpus.indicator().toarray()


def debtags() -> tuple[Any, Any]:
    """Features and indicator of the training packages, with the tags that occur."""
    corpus = load_debtags().split("train")
    Y = corpus.indicator()[:PACKAGES]
    return TextFeatures().fit_transform(corpus.texts[:PACKAGES]), Y[:, np.asarray(Y.sum(axis=0)).ravel() > 0].toarray()


def machine(C: float) -> PreferenceMachine:
    return PreferenceMachine("domination", "squared-hinge", C=C, cut_label=True, **OPTIONS)


def loglinear(C: float) -> LogLinearRanker:
    return LogLinearRanker("domination", "dual", C=C, intercept="regularised", random_state=0)


def preference(decomposition: str, C: float, tol: float) -> PreferenceMachine:
    return PreferenceMachine(decomposition, C=C, tol=tol, intercept="regularised", random_state=0)


def one_vs_rest(X: Any, Y: Any, C: float = 1.0) -> Callable[[], Any]:
    return lambda: OneVsRestClassifier(LinearSVC(C=C)).fit(X, Y)


def processor_seconds() -> float:
    """Time of this process and of the children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def race(tasks: dict[str, Callable[[], Any]], limits: dict[str, float], rounds: int = ROUNDS) -> None:
    """Print the median processor time of each task, and its ratio to that of the first."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            start = processor_seconds()
            task()
            seconds[name].append(processor_seconds() - start)
    first = median(next(iter(seconds.values())))
    for name, times in seconds.items():
        print(f"  {name:44} {median(times):8.3f} s   ({min(times):.3f} to {max(times):.3f})", flush=True)
        if name in limits:
            report(name, median(times) / first, limits[name])


def compare(X: Any, Y: Any, rankers: dict[str, Any], limits: dict[str, float], peer_C: float = 1.0) -> None:
    for ranker in rankers.values():
        type(ranker)(**{**ranker.get_params(), "tol": 0.5}).fit(X[:200], Y[:200])
    fits = {name: (lambda ranker=ranker: ranker.fit(X, Y)) for name, ranker in rankers.items()}
    race({f"one-vs-rest LinearSVC(C={peer_C:g})": one_vs_rest(X, Y, peer_C), **fits}, limits)
    for name, ranker in rankers.items():
        print(f"  {name}: relative gap {ranker.duality_gap_:.2g} after {ranker.n_iter_} passes", flush=True)


def cut() -> None:
    names = {f"PreferenceMachine with the cut, C = {C:g}": machine(C) for C in (0.1, 1.0, 10.0)}
    compare(*reuters(), names, dict.fromkeys(names, 0.5))


def path() -> None:
    X, Y = reuters()
    ranker = machine(1.0)
    ranker.fit(X[:200], Y[:200])

    def follow() -> None:
        features = ranker._check_features(X, reset=True)
        for _ in ranker._fit_path(features, ranker._learn_labels(Y, len(Y)), PATH):
            pass

    race({"alone, C = 10": lambda: machine(10.0).fit(X, Y), "path to C = 10": follow}, {"path to C = 10": 1.5})


def loglinear_reuters() -> None:
    compare(*reuters(), {"LogLinearRanker, C = 10": loglinear(10.0)}, {"LogLinearRanker, C = 10": 0.25})


def large() -> None:
    name = "LogLinearRanker, C = 1000"
    compare(*reuters(), {name: loglinear(1000.0)}, {name: 0.7}, peer_C=3.0)


def kplm() -> None:
    name = "PreferenceMachine, identity, C = 1"
    compare(*reuters(), {name: preference("identity", 1.0, 1e-2)}, {name: 0.25})


def debtags_loglinear() -> None:
    name = "LogLinearRanker, C = 100"
    compare(*debtags(), {name: loglinear(100.0)}, {name: 0.4})


def debtags_machine() -> None:
    name = "PreferenceMachine, domination, C = 10"
    compare(*debtags(), {name: preference("domination", 10.0, 1e-3)}, {name: 0.5})


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
    W = np.ascontiguousarray(ranker.fit(X, Y).coef_.T)
    halves = X.astype(np.float32), W.astype(np.float32)
    tasks |= {"SciPy's X @ W": lambda: X @ W, "SciPy's X @ W, single precision": lambda: halves[0] @ halves[1]}
    race(tasks, {"MMPRanker": 1 / 50}, rounds=15)  # of a twentieth of a second
    met = np.bincount(X.indices, minlength=len(W))
    print(f"  of the weights that documents meet, {met @ (W != 0).mean(axis=1) / met.sum():.0%} are not 0")


def limits() -> None:
    """Visits of all documents in random order; what is counted is one multiplication per non-zero and label."""
    X, Y = reuters()
    X, rows, k = X.tocsr(), np.random.RandomState(0).permutation(X.shape[0]), Y.shape[1]
    work = X.nnz * k
    read, add = machine_limits()
    print(f"  this machine: {8 / read:.1f} GB/s of reading, {1 / add:.1f} multiplications and additions per ns")
    # Scores read every weight once; an update reads and writes it once more.
    least = {"scores": max(read, add), "scores and update": max(3 * read, 2 * add)}
    ascent = DualAscent(X, as_graphs(Y), DOMINATION, np.full(X.shape[0], 10.0))
    state = ascent.start()
    arrays = np.zeros(len(rows)), np.zeros(len(rows)), np.zeros((len(rows), 2), dtype=np.int64)
    ascent.ascend(state, *arrays, rows, 0.0)
    tasks = {
        "log-linear dual, measuring": (lambda: ascent.measure(state, *arrays), "scores"),
        "log-linear dual, all move": (lambda: ascent.ascend(state, *arrays, rows, 0.0), "scores and update"),
        "MMP, which updates after errors": (lambda: MMPRanker().fit(X, Y), "scores"),
        "SciPy's X @ W": (lambda: X @ state.W, "scores"),
    }
    for name, (task, kind) in tasks.items():
        task()
        found = 1e9 * min(seconds_of(task) for _ in range(ROUNDS)) / work
        ratio = found / least[kind]
        print(
            f"  {name:30} {found:.3f} ns, {ratio:.1f} times the {least[kind]:.3f} ns of memory or arithmetic",
            flush=True,
        )


def machine_limits() -> tuple[float, float]:
    """Nanoseconds to read a float64 from memory, and for a multiplication and addition in the first cache."""
    large = np.ones(1 << 25)
    read = min(seconds_of(large.sum) for _ in range(5)) / large.size
    A = np.ones((512, 512))
    add = min(seconds_of(lambda: A @ A) for _ in range(5)) / 512**3  # BLAS, the best that arithmetic can do
    return 1e9 * read, 1e9 * add


def seconds_of(task: Callable[[], Any]) -> float:
    start = processor_seconds()
    task()
    return processor_seconds() - start


SECTIONS = {
    "loglinear": loglinear_reuters,
    "large": large,
    "kplm": kplm,
    "debtags": debtags_loglinear,
    "machine": debtags_machine,
    "mmp": mmp,
    "cut": cut,
    "path": path,
    "limits": limits,
}


def main() -> None:
    for name in sys.argv[1:] or SECTIONS:
        print(f"\n{name}", flush=True)
        SECTIONS[name]()


if __name__ == "__main__":
    main()

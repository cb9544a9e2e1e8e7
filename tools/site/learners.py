"""Measure every learner on the same features, and write docs/generated/learners.md.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m tools.site.learners [--accuracy-only | --times-only] [--corpora ...]

Finished cells are stored in the user's cache folder (see `arcrank.experiments.cache`), so a second run is cheap.
`--times-only` measures the times again, on an idle machine please, and reads the accuracies; `--accuracy-only` leaves
the times as they were measured last.

The settings of a learner are those of the best average precision on a quarter held out of at most 10,000 training
documents; C is raised until the measure falls. Labels without a training document are left out. Times are of one
thread: in every round all learners fit and rank in turn, and the median of three rounds counts; a fit of 20 seconds or
more is measured once. Kernels are compiled before the clock starts.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from arcrank import (
    AutoRanker,
    LogLinearRanker,
    MMPRanker,
    PerceptronRanker,
    PreferenceMachine,
    RocchioRanker,
    metrics,
)
from arcrank.datasets import Corpus, load_debtags, load_rcv1, load_reuters21578
from arcrank.experiments.cache import cached, is_cached
from arcrank.experiments.environment import machine, today, versions
from arcrank.model_selection import StratifiedFolds
from arcrank.rankers.base import top_columns
from arcrank.text import TextFeatures

__all__ = ["CORPORA", "LEARNERS", "MEASURES", "accuracy", "known_times", "page", "times"]

PAGE = Path(__file__).parents[2] / "docs" / "generated" / "learners.md"
EXPERIMENT, VERSION = "learners", 3
MOST, FOLDS, ROUNDS, LONG, TOP = 10_000, 4, 3, 20.0, 5

Settings = dict[str, Any]


class Learner(NamedTuple):
    """How to make a learner from settings, and the settings to choose from."""

    make: Callable[..., Any]
    grid: list[Settings]


class Data(NamedTuple):
    """The features and indicators of a corpus."""

    X: Any
    Y: Any
    X_test: Any
    Y_test: Any


def _grid(**values: Sequence[Any]) -> list[Settings]:
    found: list[Settings] = [{}]
    for name, choices in values.items():
        found = [{**one, name: choice} for one in found for choice in choices]
    return found


def _one_vs_rest_svm(**settings: Any) -> Any:
    return OneVsRestClassifier(LinearSVC(random_state=0, **settings))


def _one_vs_rest_logistic(**settings: Any) -> Any:
    return OneVsRestClassifier(LogisticRegression(solver="liblinear", random_state=0, **settings))


PEER = "one-vs-rest LinearSVC"
_BOTH = (False, True)
LEARNERS = {
    "LogLinearRanker, domination": Learner(
        partial(LogLinearRanker, "domination", fit_intercept=False, random_state=0),
        _grid(C=(10.0, 30.0, 100.0, 300.0, 1000.0)),
    ),
    "PreferenceMachine, domination": Learner(
        partial(PreferenceMachine, "domination", fit_intercept=False, random_state=0),
        _grid(C=(0.3, 1.0, 3.0, 10.0)),
    ),
    "MMPRanker, loss 3": Learner(partial(MMPRanker, "normalized"), _grid(epochs=(1, 3, 10), average=_BOTH)),
    "PerceptronRanker": Learner(PerceptronRanker, _grid(epochs=(1, 3, 10), average=_BOTH)),
    "RocchioRanker": Learner(RocchioRanker, _grid(gamma=(0.0, 4.0, 16.0, 64.0))),
    PEER: Learner(_one_vs_rest_svm, _grid(C=(0.3, 1.0, 3.0, 10.0, 30.0))),
    "one-vs-rest LogisticRegression": Learner(_one_vs_rest_logistic, _grid(C=(10.0, 100.0, 1000.0))),
    "AutoRanker, selection included": Learner(AutoRanker, _grid()),
}
CORPORA: dict[str, Callable[[], Corpus]] = {
    "Reuters-21578, ModApte, 90 topics": partial(load_reuters21578, "modapte"),
    "RCV1-v2, 103 topics": load_rcv1,
    "debtags, 563 tags": load_debtags,
}
MEASURES: dict[str, Callable[[Any, Any], Any]] = {
    "one-error %": lambda Y, S: 100 * metrics.one_error(Y, S),
    "ranking loss %": lambda Y, S: 100 * metrics.ranking_loss(Y, S),
    "coverage": metrics.coverage,
    "avg. precision %": lambda Y, S: 100 * metrics.average_precision(Y, S),
    "max F1": metrics.max_f1,
}
HIGH = ("avg. precision %", "max F1")


@cache
def data(corpus: str) -> Data:
    """TextFeatures() fitted to the training texts, or the vectors unchanged."""
    whole = CORPORA[corpus]()
    train, test = whole.split("train"), whole.split("test")
    Y, Y_test = train.indicator(), test.indicator()
    known = np.flatnonzero(np.asarray(Y.sum(axis=0)).ravel())
    if whole.texts is None:
        return Data(train.X, Y[:, known], test.X, Y_test[:, known])
    features = TextFeatures()
    return Data(features.fit_transform(train.texts), Y[:, known], features.transform(test.texts), Y_test[:, known])


def score(model: Any, X: Any) -> Any:
    return model.score_labels(X) if hasattr(model, "score_labels") else model.decision_function(X)


def fit(learner: str, settings: Settings, X: Any, Y: Any, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "Label not")  # from one-vs-rest, if a label has no document
        return LEARNERS[learner].make(**settings, **more).fit(X, Y)


def choose(learner: str, given: Data) -> Settings:
    """The settings of the best average precision on held-out training documents."""
    if len(LEARNERS[learner].grid) == 1:
        return LEARNERS[learner].grid[0]
    some = np.random.RandomState(0).permutation(given.X.shape[0])[:MOST]
    learn, judge = next(StratifiedFolds(FOLDS, random_state=0).split(some, given.Y[some]))
    rows, held_out = some[learn], some[judge]
    seen = np.flatnonzero(np.asarray(given.Y[rows].sum(axis=0)).ravel())
    Y = given.Y[:, seen]
    tolerance = {"tol": 1e-2} if learner.startswith(("LogLinear", "PreferenceM")) else {}
    found: list[float] = []
    for settings in LEARNERS[learner].grid:
        scores = score(fit(learner, settings, given.X[rows], Y[rows], **tolerance), given.X[held_out])
        found.append(float(metrics.average_precision(Y[held_out], scores)))
        if "C" in settings and found[-1] < max(found):
            break
    return LEARNERS[learner].grid[int(np.argmax(found))]


def accuracy(corpus: str, learner: str) -> dict[str, Any]:
    """Chosen settings, the measures on test, and the precision-recall graph."""

    def compute() -> dict[str, Any]:
        given = data(corpus)
        settings = choose(learner, given)
        start = time.perf_counter()
        scores = score(fit(learner, settings, given.X, given.Y), given.X_test)
        seconds = time.perf_counter() - start
        graph = metrics.precision_recall_graph(given.Y_test, scores)
        return {
            "settings": settings,
            "measures": {name: float(measure(given.Y_test, scores)) for name, measure in MEASURES.items()},
            "recall": graph.recall.tolist(),
            "precision": graph.precision.tolist(),
            "seconds": seconds,
        }

    return dict(cached(EXPERIMENT, _key("accuracy", corpus, learner=learner), compute))


def _key(part: str, corpus: str, **more: Any) -> Settings:
    grids = {name: LEARNERS[name].grid for name in more.values()}
    return {"version": VERSION, "part": part, "corpus": corpus, "most": MOST, "grids": grids, **more}


def times(corpus: str, *, fresh: bool = False) -> dict[str, Any]:
    """Return the median seconds of each learner to fit and to rank the test documents, all measured in one run."""

    def compute() -> dict[str, Any]:
        given = data(corpus)
        settings = {learner: accuracy(corpus, learner)["settings"] for learner in LEARNERS}
        few = np.arange(min(200, given.X.shape[0]))
        for learner in LEARNERS:  # compiles
            _timed(learner, settings[learner], Data(given.X[few], given.Y[few], given.X_test[:5], None))
        spent: dict[str, list[tuple[float, float]]] = {learner: [] for learner in LEARNERS}
        for _ in range(ROUNDS):
            for learner, past in spent.items():
                if not past or past[0][0] < LONG:
                    past.append(_timed(learner, settings[learner], given))
                    print(f"{corpus}: {learner} {past[-1][0]:.2f} s", flush=True)
        medians = {name: [median(part) for part in zip(*past, strict=True)] for name, past in spent.items()}
        return {"seconds": medians, "date": today(), "machine": machine(), "versions": versions()}

    return dict(cached(EXPERIMENT, _key("times", corpus), compute, fresh=fresh))


def known_times(corpus: str) -> dict[str, Any] | None:
    """The times that were measured last, or None."""
    return times(corpus) if is_cached(EXPERIMENT, _key("times", corpus)) else None


def _timed(learner: str, settings: Settings, given: Data) -> tuple[float, float]:
    start = time.perf_counter()
    model = fit(learner, settings, given.X, given.Y)
    middle = time.perf_counter()
    if hasattr(model, "rank"):
        model.rank(given.X_test, top=TOP)
    else:
        top_columns(np.asarray(model.decision_function(given.X_test)), TOP)
    return middle - start, time.perf_counter() - middle


def page(corpora: Sequence[str], timed: dict[str, dict[str, Any] | None]) -> str:
    """The generated part of docs/learners.md."""
    parts = [
        f"<!-- made by `python -m tools.site.learners` on {today()}: do not edit -->",
        f"Accuracy: {today()}, {versions()}, {machine()}.",
    ]
    for corpus in corpora:
        found = {learner: accuracy(corpus, learner) for learner in LEARNERS}
        given = data(corpus)
        parts += [
            f"### {corpus}",
            f"{given.X.shape[0]:,} training and {given.X_test.shape[0]:,} test documents, "
            f"{given.X.shape[1]:,} features, {given.Y_test.sum() / given.Y_test.shape[0]:.2f} labels a document.",
            _accuracy_table(found),
            _times_part(timed.get(corpus), given.X_test.shape[0]),
        ]
    return "\n\n".join(parts) + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["--:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, rule, *rows])


def _accuracy_table(found: dict[str, dict[str, Any]]) -> str:
    best = {
        name: (max if name in HIGH else min)(_shown(one["measures"][name]) for one in found.values())
        for name in MEASURES
    }
    rows = []
    for learner, one in found.items():
        cells = [_shown(one["measures"][name]) for name in MEASURES]
        marked = [
            f"**{value:{_format(value)}}**" if value == best[name] else f"{value:{_format(value)}}"
            for name, value in zip(MEASURES, cells, strict=True)
        ]
        rows.append([learner, *marked, _settings(one["settings"])])
    heads = [f"{name} {'↑' if name in HIGH else '↓'}" for name in MEASURES]
    return _table(["", *heads, "settings"], rows)


def _shown(value: float) -> float:
    """The value as shown; the best of these is marked."""
    return round(value, 3 if value < 1 else 2)


def _format(value: float) -> str:
    return ".3f" if value < 1 else ".2f"


def _settings(settings: Settings) -> str:
    shown = [f"{n} = {v:g}" if n != "average" else "averaged" if v else "" for n, v in settings.items()]
    return ", ".join(filter(None, shown))


def _times_part(timed: dict[str, Any] | None, n: int) -> str:
    if timed is None:
        return "Times are not measured yet."
    theirs = timed["seconds"][PEER]
    rows = [
        [learner, f"{fitting:.3g}", f"{fitting / theirs[0]:.2g}", f"{1e6 * ranking / n:.3g}"]
        for learner, (fitting, ranking) in timed["seconds"].items()
    ]
    heads = ["", "training, s", f"beside {PEER}", f"ranking, µs a document (top {TOP})"]
    return f"{_table(heads, rows)}\n\nTimes: {timed['date']}, {timed['versions']}, {timed['machine']}, one thread."


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--accuracy-only", action="store_true", help="show only times that were measured before")
    which.add_argument("--times-only", action="store_true", help="measure the times again")
    parser.add_argument("--corpora", nargs="+", choices=list(CORPORA), default=list(CORPORA), metavar="NAME")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    timed: dict[str, dict[str, Any] | None] = {}
    for corpus in options.corpora:
        for learner in LEARNERS:
            found = accuracy(corpus, learner)
            shown = ", ".join(f"{name} {value:.4g}" for name, value in found["measures"].items())
            print(f"{corpus}: {learner} ({_settings(found['settings'])}) {shown}", flush=True)
        timed[corpus] = known_times(corpus) if options.accuracy_only else times(corpus, fresh=options.times_only)
    options.page.parent.mkdir(parents=True, exist_ok=True)
    options.page.write_text(page(options.corpora, timed), encoding="utf-8")
    print(f"{options.page} after {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()

"""How time and memory grow with documents, labels, non-zeros per document and C, on synthetic label sets.

    OMP_NUM_THREADS=1 python -m benchmarks.growth [--quick] [--picture] [FACTOR ...]

Each factor is varied alone, the others stay at 2,000 documents (500 where labels vary), 100 labels, 40 non-zeros and
C = 1. A learner makes a fixed number of passes, so that the growth is that of a pass, except for documents and C, where
it runs until its relative duality gap is 1e-2. The exponent is the slope of a line through the logarithms: 1 is linear.
Times are of the processor. Memory is the peak of what `fit` allocates, over the size of weights, data and flows: those
of the solution, and, for the limit, as many as a machine has at a time on its way.
`--picture` draws the picture of docs/speed.md.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from arcrank import LogLinearRanker, MMPRanker, PreferenceMachine
from arcrank.solvers.flow_store import FlowStore
from benchmarks.timing import peak_bytes, report
from tools.site.pictures import Palette, save

N_FEATURES, LABELS_A_DOCUMENT, PASSES, ROUNDS = 2000, 3, 2, 3
ENOUGH_SECONDS = 2.0
FEWER = {"labels": {"documents": 500}}  # so that 10,000 labels take minutes
START = {"documents": 2000, "labels": 100, "nonzeros": 40, "C": 1.0}
STEPS: dict[str, list[float]] = {
    "documents": [1000, 2000, 4000, 8000],
    "labels": [100, 300, 1000, 3000, 10_000],
    "nonzeros": [10, 20, 40, 80, 160],
    "C": [0.1, 1.0, 10.0, 100.0],
}
TO_TOLERANCE = ("documents", "C")
TITLES = {"documents": "documents", "labels": "labels", "nonzeros": "non-zeros per document", "C": "C"}
LIMITS = {"documents": 1.1, "labels": 1.0, "nonzeros": 1.0}
OPTIONS = {"intercept": "regularised", "calibration_folds": 0, "set_measure": None, "random_state": 0}


class Point(NamedTuple):
    """Seconds of a fit, and its memory over that of weights, data and flows: the most, and those of the solution."""

    seconds: float
    memory: float
    of_solution: float


class Needed(NamedTuple):
    """Bytes of weights, data and flows: with the most flows at a time, and with those of the solution."""

    most: float
    of_solution: float


def synthetic(documents: float, labels: float, nonzeros: float) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Label sets drawn first; half of a document's features are typical of its labels, as words are of topics."""
    random = np.random.default_rng(0)
    n, k, m = int(documents), int(labels), int(nonzeros)
    own = random.integers(k, size=(n, LABELS_A_DOCUMENT))
    typical = random.integers(N_FEATURES, size=(k, 20))
    drawn = typical[own[:, random.integers(LABELS_A_DOCUMENT, size=m // 2)], random.integers(20, size=(n, m // 2))]
    columns = np.concatenate([drawn, random.integers(N_FEATURES, size=(n, m - m // 2))], axis=1)
    X = _csr(columns, N_FEATURES)
    X.data[:] = 1 / np.sqrt(m)
    return X, _csr(own, k)


def _csr(columns: Any, width: int) -> sp.csr_matrix:
    n, m = columns.shape
    matrix = sp.csr_matrix((np.ones(n * m), columns.ravel(), np.arange(0, n * m + 1, m)), shape=(n, width))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def learners(C: float, *, to_tolerance: bool) -> dict[str, Any]:
    stop = {"tol": 1e-2} if to_tolerance else {"tol": 1e-12, "max_iter": PASSES}
    return {
        "LogLinearRanker": LogLinearRanker(solver="dual", C=C, **stop, **OPTIONS),
        "PreferenceMachine": PreferenceMachine("domination", "squared-hinge", C=C, cut_label=True, **stop, **OPTIONS),
        "MMPRanker": MMPRanker(),
    }


def measure(fit: Callable[[], Any], needed: Needed) -> Point:
    """The shortest of some fits, since load only adds to the time of the processor; the last one's peak of memory."""
    seconds: list[float] = []
    while len(seconds) < ROUNDS and sum(seconds) < ENOUGH_SECONDS:
        start = time.process_time()
        bytes_used = peak_bytes(fit)
        seconds.append(time.process_time() - start)
    return Point(min(seconds), bytes_used / needed.most, bytes_used / needed.of_solution)


def needed_bytes(ranker: Any, X: sp.csr_matrix, Y: sp.csr_matrix) -> Needed:
    """The size of weights, data and flows of a fit."""
    data = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    flows = flow_bytes(ranker, X, Y)
    return Needed(*(8.0 * N_FEATURES * Y.shape[1] + data + one for one in flows))


def flow_bytes(ranker: Any, X: sp.csr_matrix, Y: sp.csr_matrix) -> Needed:
    """One number per document and label in the log-linear dual; a machine stores those above 0, each with a key."""
    if isinstance(ranker, LogLinearRanker):
        return Needed(8.0 * Y.shape[0] * Y.shape[1], 8.0 * Y.shape[0] * Y.shape[1])
    if not isinstance(ranker, PreferenceMachine):
        return Needed(0.0, 0.0)
    with counted_flows() as counts:
        store = clone(ranker).set_params(warm_start=True).fit(X, Y)._dual[-1]
    found = float(store.count.sum())
    return Needed(16.0 * max([found, *counts]), 16.0 * found)


@contextmanager
def counted_flows() -> Iterator[list[float]]:
    """How many flows there are whenever a pool is packed, which it is when it is full."""
    counts, repack = [], FlowStore.repack

    def note(store: FlowStore, *how: Any) -> None:
        counts.append(float(store.count.sum()))
        repack(store, *how)

    FlowStore.repack = note  # type: ignore[method-assign]
    try:
        yield counts
    finally:
        FlowStore.repack = repack  # type: ignore[method-assign]


def sweep(factor: str, values: list[float]) -> dict[str, list[Point]]:
    """The points of each learner, one per value of the factor."""
    points: dict[str, list[Point]] = {}
    for value in values:
        at = {**START, **FEWER.get(factor, {}), factor: value}
        X, Y = synthetic(at["documents"], at["labels"], at["nonzeros"])
        for name, ranker in learners(at["C"], to_tolerance=factor in TO_TOLERANCE).items():
            if name == "MMPRanker" and factor == "C":
                continue
            ranker.fit(X[:50], Y[:50])  # compiles
            found = measure(lambda r=ranker, X=X, Y=Y: r.fit(X, Y), needed_bytes(ranker, X, Y))
            memory = f"memory {found.memory:.2f}, over the flows of the solution {found.of_solution:.2f}"
            print(f"  {factor} = {value:g}, {name}: {found.seconds:.3f} s, {memory}", flush=True)
            points.setdefault(name, []).append(found)
    return points


def exponent(values: list[float], seconds: list[float]) -> float:
    return float(np.polyfit(np.log(values), np.log(seconds), 1)[0])


def show(factor: str, values: list[float], points: dict[str, list[Point]]) -> None:
    for name, found in points.items():
        slope = exponent(values, [point.seconds for point in found])
        report(f"{name}: memory", max(point.memory for point in found), 1.5)
        if factor in LIMITS:
            report(f"{name}: exponent in {factor}", slope, LIMITS[factor])
        else:
            print(f"{name}: exponent in {factor} {slope:.2f}")


def draw(found: dict[str, tuple[list[float], dict[str, list[Point]]]], figure: Any, palette: Palette) -> None:
    """One panel per factor, both axes logarithmic, and a dotted line of linear growth."""
    for axes, (factor, (values, points)) in zip(
        figure.subplots(1, len(found), sharey=True, squeeze=False)[0], found.items(), strict=True
    ):
        for (name, line), colour in zip(points.items(), palette.series, strict=False):
            axes.plot(values, [point.seconds for point in line], marker="o", markersize=3, color=colour, label=name)
        if factor in LIMITS:
            slowest = max(points.values(), key=lambda line: line[0].seconds)[0].seconds
            linear = [slowest * value / values[0] for value in values]
            axes.plot(values, linear, ":", color=palette.soft, label="linear")
        axes.set(xscale="log", yscale="log", xlabel=TITLES[factor])
        axes.set_xticks(values, [f"{value:g}" for value in values], rotation=45)
        axes.minorticks_off()
    figure.axes[0].set_ylabel("seconds")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="leave out the largest value of each factor")
    parser.add_argument("--picture", action="store_true", help="draw the picture of the documentation")
    parser.add_argument("factors", nargs="*", metavar="FACTOR", help=f"{', '.join(STEPS)} (default: all)")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    all_points = {}
    for factor in options.factors or STEPS:
        steps = STEPS[factor]
        values = steps[:-1] if options.quick else steps
        print(f"\n{factor}", flush=True)
        points = sweep(factor, values)
        show(factor, values, points)
        all_points[factor] = values, points
    if options.picture:
        save("growth", partial(draw, all_points), width=8.0, height=3.2)


if __name__ == "__main__":
    main()

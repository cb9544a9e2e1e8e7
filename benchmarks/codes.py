"""Learnt codes of 50 numbers beside the full machine and fixed codes, on debtags.

    OMP_NUM_THREADS=1 ARCRANK_DATA=... python -m benchmarks.codes [--choose | --starts] [--machines ...] [--documents n]

1. `--choose`: C of each machine, on 3,000 training documents drawn at random, of which a quarter is held out; the best
   average precision counts. The C of `CHOSEN` comes from this.
2. `--starts`: where the codes start from, on the same documents: the labels' centroids (what PreferenceMachine does),
   the full machine's weights, the full machine's scores, or random numbers.
3. Without options: all training documents, measured on test. Times are CPU seconds of one thread. `--documents` takes
   so many training documents, drawn at random, and the tags that they have.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from arcrank import PreferenceMachine, metrics
from arcrank.rankers.preference_machine.codes import error_correcting_codes
from arcrank.solvers import coding
from tools.site.learners import Data, data

LENGTH, SAMPLE, COSTS = 50, 3000, (1.0, 3.0, 10.0)
COMMON: dict[str, Any] = {"decomposition": "domination", "loss": "squared-hinge", "random_state": 0, "tol": 1e-2}
CHOSEN = {"full": 10.0, "learnt": 10.0, "random": 10.0, "error-correcting": 10.0}


def fixed(kind: str, k: int) -> Any:
    """The codes of a machine; random ones are orthonormal, so that C means the same."""
    if kind == "random":
        return coding.orthonormal(np.random.RandomState(0).standard_normal((k, LENGTH)))
    if kind == "error-correcting":
        return error_correcting_codes(k, LENGTH) / np.sqrt(k)
    return {"full": None, "learnt": "learn"}[kind]


def fit(kind: str, C: float, given: Data) -> tuple[PreferenceMachine, float]:
    machine = PreferenceMachine(C=C, codes=fixed(kind, given.Y.shape[1]), code_length=LENGTH, **COMMON)
    start = time.process_time()
    machine.fit(given.X, given.Y)
    return machine, time.process_time() - start


def show(title: str, machine: PreferenceMachine, seconds: float, given: Data) -> float:
    scores = machine.score_labels(given.X_test)
    precision, loss = (100 * f(given.Y_test, scores) for f in (metrics.average_precision, metrics.ranking_loss))
    k, d = given.Y.shape[1], given.X.shape[1]
    weights = k * d if machine.codes is None else LENGTH * (k + d)
    print(f"  {title:36} {precision:7.2f} {loss:7.2f} {weights:12,} {seconds:7.1f}", flush=True)
    return float(precision)


def held_out(given: Data) -> Data:
    """A quarter of some training documents in the place of the test documents, and the labels of the others."""
    rows = np.random.RandomState(0).permutation(given.X.shape[0])[:SAMPLE]
    train, test = np.split(rows, [SAMPLE * 3 // 4])
    seen = np.flatnonzero(np.asarray(given.Y[train].sum(axis=0)).ravel())
    return Data(given.X[train], given.Y[train][:, seen], given.X[test], given.Y[test][:, seen])


def sample(given: Data, documents: int) -> Data:
    rows = np.random.RandomState(1).permutation(given.X.shape[0])[:documents]
    seen = np.flatnonzero(np.asarray(given.Y[rows].sum(axis=0)).ravel())
    return Data(given.X[rows], given.Y[rows][:, seen], given.X_test, given.Y_test[:, seen])


def choose(given: Data, kinds: list[str]) -> None:
    for kind in kinds:
        found = {C: show(f"{kind}, C = {C:g}", *fit(kind, C, given), given) for C in COSTS}
        print(f"  {kind}: C = {max(found, key=found.__getitem__):g}")


def compare_starts(given: Data) -> None:
    full, _ = fit("full", CHOSEN["full"], given)
    makers = {
        "centroids": coding.centroid_codes,
        "weights of the full machine": lambda *_: np.linalg.svd(full.coef_, full_matrices=False)[0][:, :LENGTH],
        "scores of the full machine": lambda *_: np.linalg.svd(full.score_labels(given.X).T)[0][:, :LENGTH],
        "random": lambda *_: fixed("random", given.Y.shape[1]),
    }
    usual = coding.centroid_codes
    for title, make in makers.items():
        coding.centroid_codes = make
        try:
            machine, seconds = fit("learnt", CHOSEN["learnt"], given)
        finally:
            coding.centroid_codes = usual
        show(f"{title}, J = {machine.objective_:.0f}", machine, seconds, given)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--choose", action="store_true", help="choose C on training documents")
    parser.add_argument("--starts", action="store_true", help="compare starts on training documents")
    parser.add_argument("--machines", nargs="+", choices=list(CHOSEN), default=list(CHOSEN))
    parser.add_argument("--documents", type=int, default=None, help="training documents (default: all)")
    options = parser.parse_args()
    given = data("debtags, 563 tags")
    print("  machine, average precision %, ranking loss %, weights, s")
    if options.choose:
        choose(held_out(given), options.machines)
    elif options.starts:
        compare_starts(held_out(given))
    else:
        given = given if options.documents is None else sample(given, options.documents)
        for kind in options.machines:
            show(f"{kind}, C = {CHOSEN[kind]:g}", *fit(kind, CHOSEN[kind], given), given)


if __name__ == "__main__":
    main()

"""Ordinal regression beside mord: five grades made of a column of the label-ranking sets.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.ordinal [--sets housing stock ...] [--peer PYTHON]

A column of the features of a set is cut into five grades of equal frequency, and predicted from the other columns,
which are standardised on the training rows: the last column that has at least 20 distinct values. Shown are the mean
absolute error in grades and the share of wrong grades by 5-fold cross-validation, seed 0; C is the best of five
values by the mean absolute error of three folds of the training rows. mord (Pedregosa-Izquierdo et al. 2017) runs in a
Python of its own, in which `pip install mord` was called: LogisticAT is the log-linear loss over all thresholds, whose
regularisation alpha is 1 / C, and LogisticIT that of the immediate ones. `proportional odds` is the likelihood of the
ordered logit model.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from arcrank import LogLinearRanker, OrdinalRanker, PRankRanker
from arcrank._typing import Array, IntArray
from arcrank.datasets import load_label_ranking

SETS = ("housing", "stock", "glass", "wine", "vehicle", "vowel")
COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
GRADES = 5
Factory = Callable[[float], Any]


def _ordinal(decomposition: str, loss: str) -> Factory:
    return lambda C: OrdinalRanker(decomposition, loss, C)


LEARNERS: dict[str, Factory] = {
    "all thresholds, log-linear": _ordinal("disagreement", "log-linear"),
    "immediate thresholds, log-linear": _ordinal("immediate", "log-linear"),
    "domination, log-linear": _ordinal("domination", "log-linear"),
    "zero-one, log-linear": _ordinal("zero-one", "log-linear"),
    "proportional odds": _ordinal("immediate", "proportional-odds"),
    "all thresholds, hinge": _ordinal("disagreement", "hinge"),
    "immediate thresholds, hinge": _ordinal("immediate", "hinge"),
    "all thresholds, squared hinge": _ordinal("disagreement", "squared-hinge"),
    "PRank, 20 passes, mean": lambda _: PRankRanker(20, average=True, shuffle=True, random_state=0),
    "classes, no order": lambda C: LogLinearRanker("domination", C=C),
}
PEERS = ("mord LogisticAT", "mord LogisticIT")
_PEER = """
import sys, numpy as np, mord
data = np.load(sys.argv[1])
kind, alphas = sys.argv[2], [float(a) for a in sys.argv[3].split(",")]
found = {}
for name in {key.split(":")[0] for key in data.files}:
    X, y, Z = (data[f"{name}:{part}"] for part in ("X", "y", "Z"))
    for alpha in alphas:
        found[f"{name}:{alpha}"] = getattr(mord, kind)(alpha=alpha, max_iter=10000).fit(X, y).predict(Z)
np.savez(sys.argv[4], **found)
"""


def task(name: str) -> tuple[Array, IntArray]:
    X = load_label_ranking(name).X
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    column = max(j for j in range(X.shape[1]) if len(np.unique(X[:, j])) >= 20)
    edges = np.quantile(X[:, column], np.arange(1, GRADES) / GRADES)
    return np.delete(X, column, axis=1), np.digitize(X[:, column], edges)


def splits(X: Array, y: IntArray) -> dict[str, tuple[Array, IntArray, Array, IntArray]]:
    """Training and test parts: `3` is the outer fold, `3.1` its second inner one; features are standardised."""
    found = {}
    for outer, (train, test) in enumerate(KFold(5, shuffle=True, random_state=0).split(X)):
        found[f"{outer}"] = train, test
        inner = KFold(3, shuffle=True, random_state=0).split(train)
        found |= {f"{outer}.{i}": (train[rows], train[rest]) for i, (rows, rest) in enumerate(inner)}
    scaled = {}
    for key, (train, test) in found.items():
        scaler = StandardScaler().fit(X[train])
        scaled[key] = scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]
    return scaled


def ours(factory: Factory, parts: dict[str, Any]) -> dict[str, IntArray]:
    found = {}
    for key, (X, y, Z, _) in parts.items():
        for C in COSTS:
            found[f"{key}:{C}"] = factory(C).fit(X, y).predict(Z)
    return found


def peers(python: str, kind: str, parts: dict[str, Any]) -> dict[str, IntArray]:
    with tempfile.TemporaryDirectory() as folder:
        given, answer = (str(Path(folder) / name) for name in ("given.npz", "answer.npz"))
        arrays = {}
        for key, (X, y, Z, _) in parts.items():
            arrays |= {f"{key}:X": X, f"{key}:y": y, f"{key}:Z": Z}
        np.savez(given, **arrays)
        alphas = ",".join(str(1.0 / C) for C in COSTS)
        subprocess.run([python, "-c", _PEER, given, kind, alphas, answer], check=True)
        with np.load(answer) as data:
            return {f"{key}:{C}": data[f"{key}:{1.0 / C}"] for key in parts for C in COSTS}


def errors(predictions: dict[str, IntArray], parts: dict[str, Any]) -> tuple[float, float]:
    """The mean absolute and the zero-one error, with C chosen within each training part."""

    def absolute(key: str, C: float) -> Array:
        found: Array = np.abs(predictions[f"{key}:{C}"] - parts[key][3])
        return found

    measured = []
    for outer in (key for key in parts if "." not in key):
        inner = [key for key in parts if key.startswith(f"{outer}.")]
        losses = [np.mean(np.concatenate([absolute(key, C) for key in inner])) for C in COSTS]
        measured.append(absolute(outer, COSTS[int(np.argmin(losses))]))
    found = np.concatenate(measured)
    return float(found.mean()), float((found > 0).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--peer", metavar="PYTHON", help="a Python that has mord")
    arguments = parser.parse_args()
    cuts = {name: splits(*task(name)) for name in arguments.sets}
    print(f"{'mean absolute error, zero-one error':<36}" + "".join(f"{name:>14}" for name in [*cuts, "mean"]))
    names = [*LEARNERS, *(PEERS if arguments.peer else ())]
    for name in names:
        cells = []
        for parts in cuts.values():
            found = ours(LEARNERS[name], parts) if name in LEARNERS else peers(arguments.peer, name.split()[1], parts)
            cells.append(errors(found, parts))
        cells.append(tuple(np.mean(cells, axis=0)))
        print(f"{name:<36}" + "".join(f"{one:>8.3f} {other:.3f}" for one, other in cells), flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        sys.exit(main())

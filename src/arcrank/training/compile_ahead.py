"""Compile kernels of other candidates in a second process, while this one compiles those of machines.

numba compiles under the interpreter's lock, so threads do not help. The second process fits candidates of the same
kinds to a few random documents, which leaves their kernels in the cache.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import arcrank
from arcrank.compiled.second_process import second_process
from arcrank.graphs import LayeredGraphs, PreferenceGraphs, as_graphs
from arcrank.metrics import disagreement_error
from arcrank.training.measures import default_measure, measure_documents
from arcrank.training.plan import Learner, Plan

__all__ = ["alone", "compile_ahead"]

N_DOCUMENTS, MOST_FEATURES, ENOUGH_WEIGHTS = 60, 5000, 25_000
"""Few documents, but so many features and labels that solvers are chosen as for the data at hand."""
_SCRIPT = "import sys; sys.path[:0] = sys.argv[1:2]; from arcrank.training import compile_ahead; compile_ahead.main()"
_OF_MACHINES = frozenset(("linear_pass", "gram_pass"))
"""Kernels that are compiled here: they have most of their parts in common."""
_QUICK = {"max_iter": 2, "n_rounds": 1, "n_runs": 1, "calibration_folds": 0}
_alone = False


@contextlib.contextmanager
def compile_ahead(families: Sequence[Plan], X: Any, graphs: PreferenceGraphs) -> Iterator[None]:
    """Within this, start the second process when a kernel is missing; it ends with this block at the latest."""
    task = None if _alone or not _is_python(sys.executable) or (os.cpu_count() or 1) < 2 else _task(families, X, graphs)
    if task is None:
        yield
        return
    command = [sys.executable, "-c", _SCRIPT, str(Path(arcrank.__file__).parents[1]), task]
    nowhere = subprocess.DEVNULL
    with second_process(lambda: subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere), _OF_MACHINES):
        yield


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Within this, no second process is started."""
    global _alone  # noqa: PLW0603
    before, _alone = _alone, True
    try:
        yield
    finally:
        _alone = before


def _is_python(executable: str | None) -> bool:
    """Whether a program is an interpreter; in frozen programs and some servers it is the program itself."""
    return bool(executable) and Path(str(executable)).name.lower().startswith("python")


def _task(families: Sequence[Plan], X: Any, graphs: PreferenceGraphs) -> str | None:
    """What the second process is to do, as JSON; None where it has nothing to do or cannot be told."""
    others = [[str(one.learner), one.parameters] for one in families if one.learner is not Learner.PREFERENCE_MACHINE]
    if not 0 < len(others) < len(families) or not isinstance(graphs, LayeredGraphs):
        return None
    d = max(1, min(X.shape[1], MOST_FEATURES))
    shape = [N_DOCUMENTS, d, min(graphs.n_labels, -(-ENOUGH_WEIGHTS // d))]
    try:
        return json.dumps({"families": others, "shape": shape, "sparse": sp.issparse(X), "layers": graphs.n_layers})
    except TypeError:  # a user's own decomposition, loss or kernel
        return None


def main() -> None:
    """What the second process does: its last argument is the task, as JSON. What is needed first comes first."""
    warnings.simplefilter("ignore")  # few documents and passes do not lead to a solution
    task = json.loads(sys.argv[2])
    X, graphs = _examples(*task["shape"], sparse=task["sparse"], layers=task["layers"])
    scores = np.random.default_rng(0).random(graphs.shape)
    measure_documents(default_measure(graphs), graphs, scores)
    disagreement_error(graphs, scores)  # by which machines are measured
    for name, parameters in task["families"]:
        ranker = Plan(Learner(name), parameters).ranker()
        known = ranker.get_params(deep=False)
        ranker.set_params(**{key: value for key, value in _QUICK.items() if key in known}).fit(X, graphs)
    if "calibration_folds" in known:
        ranker.set_params(calibration_folds=2).fit(X, graphs)


def _examples(n: int, d: int, k: int, *, sparse: bool, layers: int) -> tuple[Any, PreferenceGraphs]:
    """Random documents and preferences of some shape."""
    random = np.random.default_rng(0)
    X = sp.random(n, d, density=min(1.0, 10 / d), random_state=0, format="csr")
    levels = random.integers(min(layers, 3), size=(n, k))
    y = as_graphs((levels == 0).astype(np.int64)) if layers <= 2 else LayeredGraphs.from_levels(levels)
    return (X if sparse else X.toarray()), y

"""Compile the kernels before they are needed: small fits of the learners, in as many processes as there are cores."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any

import numpy as np
from scipy import sparse

from arcrank.bipartite.rankboost import RankBoost
from arcrank.graphs import ArcGraphs
from arcrank.metrics import average_precision, domination_error, ranking_loss
from arcrank.rankers.candidates import CandidateSets
from arcrank.rankers.loglinear import LogLinearRanker
from arcrank.rankers.online.mmp import MMPRanker
from arcrank.rankers.online.perceptron import PerceptronRanker
from arcrank.rankers.online.preference_machine import OnlinePreferenceMachine
from arcrank.rankers.preference_machine import PreferenceMachine
from arcrank.rankers.shortlist import ShortlistRanker
from arcrank.training.auto import AutoRanker
from arcrank.training.compile_ahead import alone

N_DOCUMENTS, N_FEATURES, N_LABELS = 60, 20, 5
GROUPS: dict[str, list[Any]] = {
    "PreferenceMachine": [PreferenceMachine(), PreferenceMachine("domination", cut_label=True)],
    "LogLinearRanker": [LogLinearRanker(solver=solver) for solver in ("dual", "lbfgs", "boosting")],
    "kernel machines": [PreferenceMachine(kernel="rbf"), PreferenceMachine("domination", kernel="rbf")],
    "AutoRanker": [AutoRanker()],
    "ShortlistRanker": [ShortlistRanker()],
    "candidates": [LogLinearRanker(solver=solver) for solver in ("dual", "boosting")] + [PreferenceMachine()],
    "arcs": [LogLinearRanker(solver="dual"), LogLinearRanker(solver="lbfgs"), PreferenceMachine(), MMPRanker()],
    "online learners": [MMPRanker(), PerceptronRanker(), OnlinePreferenceMachine()],
    "RankBoost": [RankBoost()],
}
"""What is compiled together, in one process; the longest first."""


def warm_up(processes: int | None = None) -> Iterator[str]:
    """Compile the kernels that are not in the cache yet; yield the name of each group when it is done."""
    with ProcessPoolExecutor(processes or os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for done in as_completed(pool.submit(compile_group, name) for name in GROUPS):
            yield done.result()


def compile_group(name: str) -> str:
    """Fit the learners of a group to a few random documents; return the name."""
    X, y = _examples(name)
    for learner in GROUPS[name]:
        with alone():  # other groups have processes of their own
            scores = learner.fit(X, y).decision_function(X)
        if isinstance(y, np.ndarray) and y.ndim == 2:
            for measure in (average_precision, ranking_loss, domination_error):
                measure(y, scores)
    return name


def _examples(name: str) -> tuple[Any, Any]:
    """Documents and preferences of the kind that a group learns from: label sets, unless its name says another."""
    random = np.random.default_rng(0)
    X = sparse.random(N_DOCUMENTS, N_FEATURES, density=0.3, random_state=0, format="csr")
    Y = (random.random((N_DOCUMENTS, N_LABELS)) < 0.4).astype(np.int64)
    if name == "RankBoost":
        return X, Y[:, 0]
    if name == "arcs":
        return X, ArcGraphs.from_arcs([[(int(i), (int(i) + 1) % N_LABELS)] for i in Y.argmax(axis=1)], N_LABELS)
    if name == "candidates":
        return CandidateSets(X, np.arange(0, N_DOCUMENTS + 1, N_LABELS)), Y[:, 0]
    return X, Y

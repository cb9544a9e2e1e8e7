"""Scores of training instances by rankers that have not seen them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from arcrank._threads import map_in_threads
from arcrank._typing import Array, IntArray, Mask
from arcrank.graphs import LayeredGraphs, PreferenceGraphs
from arcrank.graphs.base import row_blocks
from arcrank.model_selection import StratifiedFolds

__all__ = ["judgements", "out_of_fold_scores"]

_TOLERANCE = 1e-2
"""The duality gap of the rankers of folds: what smaller gaps change in scores of new instances is far less than what
another draw of the training instances would."""


def out_of_fold_scores(ranker: Any, X: Any, graphs: PreferenceGraphs, weight: Any, folds: int) -> Array:
    """Cross-validated scores relative to the cut, (n, k), of a ranker with cut_label=True; it is cloned.

    The folds are spread evenly over the labels and do not depend on the ranker's random state. C weighs a sum over
    instances, so it is raised where these are fewer: scores then have the scale of those of the whole ranker.
    """
    scores = np.empty((len(graphs), len(ranker.labels_)))
    quiet = _quiet_parameters(ranker)
    costs = ranker._costs()

    def score_fold(fold: tuple[IntArray, IntArray]) -> None:
        train, test = fold
        raised = {name: C * len(graphs) / len(train) for name, C in costs.items()}
        model = clone(ranker).set_params(**quiet, **raised)
        model.fit(_rows(ranker, X, train, train), graphs[train], **_weights(weight, train))
        scores[test] = model.score_labels(_rows(ranker, X, test, train))

    splitter = StratifiedFolds(folds, random_state=0)
    map_in_threads(score_fold, splitter.split(np.empty(len(graphs)), graphs), ranker._n_threads())
    return scores


def _quiet_parameters(ranker: Any) -> dict[str, Any]:
    """Parameters of the rankers of folds; threads are for the folds, which need no other work to agree.

    Those of rankers within the ranker are found by the end of their names, as in `member__tol`.
    """
    quiet = {"calibration_folds": 0, "callback": None, "warm_start": False, "verbose": 0}
    known = ranker.get_params()
    found = {name: value for name, value in quiet.items() if name in known}
    nested = {name: name.split("__")[-1] for name in known}
    found |= {name: 1 for name, last in nested.items() if last == "n_jobs"}
    return found | {name: max(known[name], _TOLERANCE) for name, last in nested.items() if last == "tol"}


def _rows(ranker: Any, X: Any, rows: IntArray, train: IntArray) -> Any:
    """These rows, and of a kernel matrix the columns of the training rows."""
    return X[np.ix_(rows, train)] if getattr(ranker, "kernel", None) == "precomputed" else X[rows]


def _weights(weight: Any, rows: IntArray) -> dict[str, Any]:
    return {} if weight is None else {"sample_weight": weight[rows]}


def judgements(graphs: PreferenceGraphs) -> tuple[Mask, Mask]:
    """Which labels are compared with CUT, and which are above it, (n, k) each; the first label of the graphs is CUT."""
    shape = len(graphs), graphs.n_labels - 1
    judged, relevant = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    if isinstance(graphs, LayeredGraphs):
        for block in row_blocks(*graphs.shape):
            levels = graphs.levels(block)
            cut, others = levels[:, :1], levels[:, 1:]
            judged[block] = (others >= 0) & (cut >= 0) & (others != cut)
            relevant[block] = judged[block] & (others < cut)
        return judged, relevant
    arcs = graphs.to_arcs()
    rows = arcs.rows()
    above, below = arcs.tail == 0, arcs.head == 0
    relevant[rows[above], arcs.head[above] - 1] = True
    judged[rows[below], arcs.tail[below] - 1] = True
    return judged ^ relevant, relevant & ~judged  # a label on both sides of the cut says nothing

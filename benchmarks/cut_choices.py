"""What the constants and forms of the cut label were chosen by: held-out training documents, no test documents.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.cut_choices [medical enron bibtex yeast reuters]

Micro-F1 of label sets in %, of out-of-fold scores (three folds) of PreferenceMachine with domination and the squared
hinge. "one piece": the cut is one head under domination, as in any three-layer graph; "single arcs": each arc of the
cut is a piece, as cut_label=True has it; both with the best offset for all labels. The other columns correct the scores
of the single arcs by label effects: they are fitted, with the offset, on one half of the documents, and measured on
the other; "no effects" is the offset alone, measured in the same way.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from arcrank import PreferenceMachine
from arcrank._typing import Array, Mask
from arcrank.graphs import as_graphs
from arcrank.graphs.cut import insert_cut
from arcrank.model_selection import StratifiedFolds
from arcrank.rankers import label_effects
from arcrank.rankers.out_of_fold import out_of_fold_scores
from benchmarks.label_sets.corpora import load_task

COSTS = {"medical": 1.0, "enron": 0.1, "bibtex": 0.1, "yeast": 0.03, "reuters": 1.0}
FIXED = {"intercept": "regularised", "random_state": 0}
SPREADS = (0.1, 0.3, 0.5, 1.0, 3.0)


def one_piece(X: Any, Y: Any, C: float) -> Array:
    """Out-of-fold scores, relative to the cut, with plain domination of three-layer graphs."""
    graphs = insert_cut(as_graphs(Y)).with_labels(None)
    scores = np.empty(Y.shape)
    for train, test in StratifiedFolds(3, random_state=0).split(np.empty(len(Y)), as_graphs(Y)):
        machine = PreferenceMachine("domination", "squared-hinge", C=C * len(Y) / len(train), **FIXED)
        found = machine.fit(X[train], graphs[train]).score_labels(X[test])
        scores[test] = found[:, 1:] - found[:, :1]
    return scores


def single_arcs(X: Any, Y: Any, C: float) -> Array:
    machine = PreferenceMachine("domination", "squared-hinge", C=C, cut_label=True, calibration_folds=0, **FIXED)
    machine.labels_, machine.C_ = np.arange(Y.shape[1]), C
    return out_of_fold_scores(machine, X, insert_cut(as_graphs(Y)), None, 3)


def best_offset(scores: Array, relevant: Mask) -> tuple[float, float]:
    """The offset of the best micro-F1, and this."""
    order = np.argsort(-scores, axis=None)
    right = np.cumsum(relevant.ravel()[order])
    f1 = 2 * right / (np.arange(1, len(right) + 1) + right[-1])
    best = int(f1.argmax())
    return float(scores.ravel()[order[best]]), float(f1[best])


def f1_of(predicted: Mask, relevant: Mask) -> float:
    return 2 * float((predicted & relevant).sum()) / float(predicted.sum() + relevant.sum())


def halves(scores: Array, relevant: Mask, spread: float | None) -> float:
    """Mean micro-F1 over both halves of four random splits."""
    found = []
    for seed in range(4):
        first = np.random.default_rng(seed).permutation(len(scores)) < len(scores) // 2
        for here in (first, ~first):
            effects = np.zeros(scores.shape[1])
            if spread is not None:
                label_effects._SPREAD = spread
                judged = np.ones(relevant[here].shape, dtype=bool)
                effects = label_effects.fit_label_effects(scores[here], judged, relevant[here]).effects
            offset, _ = best_offset(scores[here] + effects, relevant[here])
            found.append(f1_of(scores[~here] + effects >= offset, relevant[~here]))
    return float(np.mean(found))


def main() -> None:
    titles = ["one piece", "single arcs", "no effects", *(f"spread {spread:g}" for spread in SPREADS)]
    print(f"{'corpus':<10}" + "".join(f"{title:>12}" for title in titles))
    for name in sys.argv[1:] or list(COSTS):
        task = load_task(name)
        Y = task.Y.toarray().astype(int)
        relevant = Y == 1
        scores = single_arcs(task.X, Y, COSTS[name])
        values = [best_offset(one_piece(task.X, Y, COSTS[name]), relevant)[1], best_offset(scores, relevant)[1]]
        values += [halves(scores, relevant, spread) for spread in (None, *SPREADS)]
        print(f"{name:<10}" + "".join(f"{100 * value:12.1f}" for value in values), flush=True)


if __name__ == "__main__":
    main()

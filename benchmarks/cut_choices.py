"""What the constants and forms of the cut label were chosen by: held-out training documents, no test documents.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.cut_choices [medical enron bibtex yeast reuters]

Micro-F1 of label sets in %, of out-of-fold scores (three folds) of PreferenceMachine with domination and the squared
hinge. "one piece": the cut is one head under domination, as in any three-layer graph; "learnt cut": each arc of the cut
is a piece; "constant": the same with a cut without weights, as cut_label=True has it; all with the best offset for all
labels. "learnt, macro" and "constant, macro" are the macro-F1 of the best offset of each label. The other columns
correct the scores of the constant cut by label effects: they are fitted, with the offset, on one half of the documents,
and measured on the other; "no effects" is the offset alone, measured in the same way.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from arcrank import PreferenceMachine
from arcrank._typing import Array, Mask
from arcrank.decompositions import Grouping
from arcrank.graphs import as_graphs
from arcrank.graphs.cut import insert_cut
from arcrank.model_selection import StratifiedFolds
from arcrank.rankers import label_effects
from arcrank.rankers.out_of_fold import out_of_fold_scores
from benchmarks.label_sets.corpora import load_task

COSTS = {"medical": 1.0, "enron": 0.1, "bibtex": 0.1, "yeast": 0.03, "reuters": 1.0}
FIXED = {"intercept": "regularised", "random_state": 0}
SPREADS = (0.1, 0.3, 0.5, 1.0, 3.0)


SINGLE_ARCS = Grouping("single arcs of the cut", lambda head, tail: np.where(head == 0, -1 - tail, head))


def with_learnt_cut(X: Any, Y: Any, C: float, decomposition: Any) -> Array:
    """Out-of-fold scores, relative to the cut, that is a label like the others of three-layer graphs."""
    graphs = insert_cut(as_graphs(Y)).with_labels(None)
    scores = np.empty(Y.shape)
    for train, test in StratifiedFolds(3, random_state=0).split(np.empty(len(Y)), as_graphs(Y)):
        machine = PreferenceMachine(decomposition, "squared-hinge", C=C * len(Y) / len(train), **FIXED)
        found = machine.fit(X[train], graphs[train]).score_labels(X[test])
        scores[test] = found[:, 1:] - found[:, :1]
    return scores


def with_constant_cut(X: Any, Y: Any, C: float) -> Array:
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


def best_macro_f1(scores: Array, relevant: Mask) -> float:
    return float(np.mean([best_offset(column, right)[1] for column, right in zip(scores.T, relevant.T, strict=True)]))


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
    titles = ["one piece", "learnt cut", "constant", "learnt, macro", "constant, macro", "no effects"]
    titles += [f"spread {spread:g}" for spread in SPREADS]
    print(f"{'corpus':<10}" + "".join(f"{title:>17}" for title in titles))
    for name in sys.argv[1:] or list(COSTS):
        task = load_task(name)
        Y = task.Y.toarray().astype(int)
        relevant = Y == 1
        data = task.X, Y, COSTS[name]
        learnt, scores = with_learnt_cut(*data, SINGLE_ARCS), with_constant_cut(*data)
        three = with_learnt_cut(*data, "domination"), learnt, scores
        values = [best_offset(one, relevant)[1] for one in three]
        values += [best_macro_f1(one, relevant) for one in (learnt, scores)]
        values += [halves(scores, relevant, spread) for spread in (None, *SPREADS)]
        print(f"{name:<10}" + "".join(f"{100 * value:17.1f}" for value in values), flush=True)


if __name__ == "__main__":
    main()

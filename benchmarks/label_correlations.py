"""What label correlations gain on held-out training documents, and what their settings were chosen by.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.label_correlations [medical enron yeast bibtex ...]

No test documents: training documents are divided at random into three parts, each of which is held out once. Machines
with the cut learn from the others: domination and disagreement with the squared hinge, and the average of both. Shown
are, for each setting, the gains of macro-F1 (with the offsets of `"macro_f1"`), micro-F1, average precision, one-error
and ranking loss (with those of `"micro_f1"`), in points, with standard errors over the held-out parts. `--settings`
compares settings (penalty, weight of rare labels, steps, parts); else only the present one is measured. `topics`,
`sections` and `domains` are the single labels of `benchmarks.single_labels`.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import KFold

from arcrank import PreferenceMachine
from arcrank._typing import Array, Mask
from arcrank.graphs import as_graphs
from arcrank.metrics import average_precision, one_error, ranking_loss
from arcrank.model_selection import StratifiedFolds
from arcrank.rankers import label_correlations
from arcrank.rankers.set_offsets import choose_offsets
from benchmarks import single_labels
from benchmarks.label_sets.cells import f1_of
from benchmarks.label_sets.corpora import load_task

FOLDS = 3
MOST_DOCUMENTS = {"rcv1": 6000, "debtags": 3000, "reuters": 6000}
COSTS = {"medical": 1.0, "enron": 0.3, "yeast": 0.1, "bibtex": 0.3, "reuters": 1.0, "rcv1": 0.3, "debtags": 0.3}
SINGLE = single_labels.CORPORA
NAMES = ("_PENALTY", "_RARE", "_STEPS", "_PARTS")
PRESENT = tuple(getattr(label_correlations, name) for name in NAMES)
SETTINGS = [
    PRESENT,
    *((penalty, 10, 5, 3) for penalty in (30.0, 300.0)),
    *((100.0, rare, 5, 3) for rare in (1, 20, 50)),
    *((100.0, 10, steps, 3) for steps in (1, 15)),
    (100.0, 10, 5, 10),
]
MEASURES = ("macro-F1", "micro-F1", "average precision", "one-error", "ranking loss")


class Part(NamedTuple):
    """Out-of-fold scores of documents to learn from, scores of held-out ones, and what is relevant in both."""

    scores: Array
    relevant: Mask
    new: Array
    truth: Mask


def machines(C: float) -> dict[str, PreferenceMachine]:
    options: dict[str, Any] = {"cut_label": True, "calibration_folds": 0, "random_state": 0, "tol": 1e-2}
    return {
        "domination": PreferenceMachine("domination", "squared-hinge", C=C, **options),
        "disagreement": PreferenceMachine("disagreement", "squared-hinge", C=C / 10, **options),
    }


def divided(name: str) -> Iterator[tuple[Any, Mask, Any, Mask, float]]:
    """Features and relevant labels of documents to learn from and of held-out ones, and C."""
    if name in SINGLE:
        texts, labels = SINGLE[name]()
        for seed in range(FOLDS):
            sample = single_labels.draw(texts, labels, single_labels.LEARNT_FROM[name], seed)
            known = np.unique(sample.y)
            yield sample.X, sample.y[:, None] == known, sample.Z, sample.truth[:, None] == known, 1.0
        return
    task = load_task(name)
    rows = np.random.default_rng(1).permutation(task.X.shape[0])[: MOST_DOCUMENTS.get(name)]
    X, Y = task.X[rows], task.Y[rows].toarray() > 0
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(Y):
        known = Y[train].any(axis=0)
        yield X[train], Y[train][:, known], X[test], Y[test][:, known], COSTS[name]


def parts_of(name: str) -> dict[str, list[Part]]:
    found: dict[str, list[Part]] = {}
    for X, relevant, Z, truth, C in divided(name):
        scored = {ranker: scores_of(X, relevant, Z, ranker, C) for ranker in machines(1.0)}
        scored["average"] = average_of(list(scored.values()))
        for ranker, (out_of_fold, new) in scored.items():
            found.setdefault(ranker, []).append(Part(out_of_fold, relevant, new, truth))
    return found


def average_of(scored: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The mean of both kinds of scores, in units of their spread within a document."""
    spreads = [np.sqrt(out_of_fold.var(axis=1).mean()) for out_of_fold, _ in scored]
    out_of_fold, new = (np.mean([pair[i] / s for pair, s in zip(scored, spreads, strict=True)], axis=0) for i in (0, 1))
    return out_of_fold, new


def scores_of(X: Any, relevant: Mask, Z: Any, ranker: str, C: float) -> tuple[Array, Array]:
    out_of_fold, Y = np.empty(relevant.shape), relevant.astype(int)
    for train, test in StratifiedFolds(FOLDS, random_state=0).split(X, as_graphs(Y)):
        fold = machines(C * len(Y) / len(train))[ranker].fit(X[train], Y[train])
        out_of_fold[test] = fold.score_labels(X[test])
    return out_of_fold, machines(C)[ranker].fit(X, Y).score_labels(Z)


def measures(part: Part) -> list[float]:
    judged = np.ones_like(part.relevant)
    macro, micro = (choose_offsets(part.scores, judged, part.relevant, name) for name in ("macro_f1", "micro_f1"))
    scores = part.new - micro
    rankings = [measure(part.truth, scores) for measure in (average_precision, one_error, ranking_loss)]
    return [100 * x for x in (f1_of(part.truth, part.new > macro)[1], f1_of(part.truth, scores > 0)[0], *rankings)]


def corrected(part: Part) -> Part:
    judged = np.ones_like(part.relevant)
    found, scores = label_correlations.fit_label_correlations(part.scores, judged, part.relevant)
    return part._replace(scores=scores, new=found.correct(part.new))


def show(title: str, values: Array) -> None:
    errors = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    shown = (f"{x:+6.2f} ± {e:.2f}" for x, e in zip(values.mean(axis=0), errors, strict=True))
    print(f"  {title:36}" + "   ".join(shown), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "corpora", nargs="*", metavar="corpus", help=f"of {', '.join([*COSTS, *SINGLE])}; all by default"
    )
    parser.add_argument("--settings", action="store_true", help="compare settings")
    arguments = parser.parse_args()
    if unknown := set(arguments.corpora) - {*COSTS, *SINGLE}:
        parser.error(f"there is no corpus {unknown.pop()!r}; choose from {', '.join([*COSTS, *SINGLE])}")
    warnings.simplefilter("ignore")  # about labels without a training document
    everything: dict[str, list[Array]] = {}
    for name in arguments.corpora or [*COSTS, *SINGLE]:
        print(f"{name}: {', '.join(MEASURES)}")
        for ranker, parts in parts_of(name).items():
            plain = np.array([measures(part) for part in parts])
            print(f"  {ranker:36}" + "   ".join(f"{x:6.2f}       " for x in plain.mean(axis=0)))
            for setting in SETTINGS if arguments.settings else [PRESENT]:
                for variable, value in zip(NAMES, setting, strict=True):
                    setattr(label_correlations, variable, value)
                gains = np.array([measures(corrected(part)) for part in parts]) - plain
                show(f"  {setting}", gains)
                everything.setdefault(str(setting), []).append(gains.mean(axis=0))
    print("mean over corpora and rankers")
    for title, gains in everything.items():
        show(f"  {title}", np.array(gains))


if __name__ == "__main__":
    main()

"""Whether a further family of rankers is worth its time in `AutoRanker`, on a quarter of the training documents.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.auto_families [medical enron bibtex reuters rcv1]

Processor time and measures without and with `PreferenceMachine("domination", "hinge")`. No test documents.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

from arcrank import AutoRanker
from arcrank.training import portfolio
from arcrank.training.plan import Learner, Plan
from benchmarks.label_sets.cells import ranking_measures, set_measures
from benchmarks.label_sets.corpora import load_task

CORPORA = ("medical", "enron", "bibtex", "reuters", "rcv1")
FURTHER = Plan(Learner.PREFERENCE_MACHINE, {"decomposition": "domination", "loss": "hinge"})
SHARE = 0.25


def main() -> None:
    warnings.simplefilter("ignore")  # about labels without a training document
    present = portfolio._LABEL_SETS
    for name in sys.argv[1:] or CORPORA:
        task = load_task(name)
        order = np.random.default_rng(5).permutation(task.X.shape[0])
        test, train = np.split(order, [round(SHARE * len(order))])
        known = np.flatnonzero(np.asarray(task.Y[train].sum(axis=0)).ravel())
        truth = task.Y[test][:, known].toarray()
        for title, families in {"as it is": present, "with the hinge": (*present, FURTHER)}.items():
            portfolio._LABEL_SETS = families
            start = time.process_time()
            auto = AutoRanker().fit(task.X[train], task.Y[train][:, known])
            seconds = time.process_time() - start
            scores = auto.score_labels(task.X[test])
            cell = ranking_measures(truth, scores) | set_measures(truth, scores > 0)
            shown = "  ".join(f"{measure} {100 * value:.2f}" for measure, value in cell.items())
            print(f"{name}, {title}: {seconds:.1f} s  {shown}\n  {auto.selected_}", flush=True)


if __name__ == "__main__":
    main()

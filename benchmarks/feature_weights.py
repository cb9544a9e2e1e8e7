"""What `AutoRanker` gains by comparing sparse features as given with tf-idf weights, on held-out training documents.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.feature_weights [medical enron bibtex]

Features are the zeros and ones of the files. The training documents are divided into three parts, each of which is
held out once. No test documents.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from sklearn.model_selection import KFold

from arcrank import AutoRanker
from arcrank.datasets import load_mulan
from benchmarks.label_sets.cells import ranking_measures, set_measures

FOLDS = 3
CORPORA = ("medical", "enron", "bibtex")
MEASURES = ("average_precision", "one_error", "ranking_loss", "micro_f1")


def main() -> None:
    warnings.simplefilter("ignore")  # about labels without a training document
    print(f"{'':<28}{'':<10}" + "".join(f"{name:>19}" for name in MEASURES))
    for name in sys.argv[1:] or CORPORA:
        corpus = load_mulan(name).split("train")
        X, Y = corpus.X, np.asarray(corpus.indicator().todense())
        for tfidf in (False, True):
            found, weighted = [], 0
            for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(Y):
                known = Y[train].any(axis=0)
                auto = AutoRanker(tfidf=tfidf).fit(X[train], Y[train][:, known])
                truth, scores = Y[test][:, known], auto.score_labels(X[test])
                cell = ranking_measures(truth, scores) | set_measures(truth, scores > 0)
                found.append([cell[measure] for measure in MEASURES])
                weighted += hasattr(auto.model_, "steps")
            shown = f"compared, {weighted} of {FOLDS} weighted" if tfidf else "as given"
            print(f"{shown:<28}{name:<10}" + "".join(f"{100 * x:19.2f}" for x in np.mean(found, axis=0)), flush=True)


if __name__ == "__main__":
    main()

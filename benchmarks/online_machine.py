"""One shuffled pass of OnlinePreferenceMachine beside MMP and one-vs-rest learners.

    OMP_NUM_THREADS=1 ARCRANK_DATA=... python -m benchmarks.online_machine [--choose] [--corpora Reuters RCV1 debtags]

1. `--choose`: decompositions, losses and C on training documents only: at most 12,000 of a corpus, drawn at random, of
   which a quarter is held out. The defaults of OnlinePreferenceMachine are the setting of the best mean rank over the
   corpora and the two measures, ranking loss and average precision.
2. All training documents in one shuffled pass, measured on test: MMP with its four losses, with and without average,
   and OnlinePreferenceMachine with its defaults. Times are CPU seconds of one thread, the best of several passes.
3. Micro-F1 on test: the cut label beside one-vs-rest Perceptron and PassiveAggressive, one pass each.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier

from arcrank import MMPRanker, OnlinePreferenceMachine, metrics
from arcrank.solvers.online import LOSSES
from tools.site.learners import CORPORA, Data, data

MOST, REPEATS = 12_000, 3


def shuffled(given: Data, seed: int = 0) -> Data:
    order = np.random.RandomState(seed).permutation(given.X.shape[0])
    return Data(given.X[order], given.Y[order], given.X_test, given.Y_test)


def held_out(given: Data) -> Data:
    """A quarter of some training documents in the place of the test documents."""
    X, Y = given.X[:MOST], given.Y[:MOST]
    split = X.shape[0] * 3 // 4
    seen = np.flatnonzero(np.asarray(Y[:split].sum(axis=0)).ravel())
    return Data(X[:split], Y[:split][:, seen], X[split:], Y[split:][:, seen])


def measure(ranker: Any, given: Data, repeats: int = 1) -> tuple[float, float, float]:
    """Ranking loss and average precision in percent, and CPU seconds of a pass."""
    ranker.fit(given.X[:20], given.Y[:20])  # compiles
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        ranker.fit(given.X, given.Y)
        seconds.append(time.process_time() - start)
    scores = ranker.score_labels(given.X_test)
    loss, precision = (f(given.Y_test, scores) for f in (metrics.ranking_loss, metrics.average_precision))
    return 100 * float(loss), 100 * float(precision), min(seconds)


def settings() -> Iterator[dict[str, Any]]:
    for decomposition in ("dominated", "disagreement", "domination", "identity"):
        for loss in ("squared-hinge", "hinge"):
            for C in (0.03, 0.1, 0.3, 1.0, 3.0):
                yield {"decomposition": decomposition, "loss": loss, "C": C}


def choose(corpora: list[str]) -> None:
    """Print the settings by their mean rank."""
    found = []
    for name in corpora:
        given = held_out(shuffled(data(name)))
        rows = np.array([measure(OnlinePreferenceMachine(**one), given)[:2] for one in settings()])
        found += [rows[:, 0], -rows[:, 1]]
    ranks = np.mean([rankdata(column) for column in found], axis=0)
    for at in np.argsort(ranks)[:12]:
        measures = "  ".join(f"{abs(column[at]):6.2f}" for column in found)
        print(f"  mean rank {ranks[at]:5.1f}  {list(settings())[at]}  {measures}")


def compare(name: str, given: Data) -> None:
    rows = []
    for loss in LOSSES:
        for average in (False, True):
            rows.append(
                (f"MMP {loss}{', average' * average}", *measure(MMPRanker(loss, average=average), given, REPEATS))
            )
    rows.append(("OnlinePreferenceMachine", *measure(OnlinePreferenceMachine(), given, REPEATS)))
    print(
        f"\n{name}: {given.X.shape[0]} documents, one shuffled pass\n  learner, ranking loss %, average precision %, s"
    )
    for title, loss, precision, seconds in rows:
        print(f"  {title:32} {loss:6.2f} {precision:6.2f} {seconds:7.3f}")
    mmp, own = rows[:-1], rows[-1]
    best = {"ranking loss": min(mmp, key=lambda r: r[1]), "average precision": max(mmp, key=lambda r: r[2])}
    for what, row in best.items():
        print(f"  best MMP by {what}: {row[0]}; the time is {own[3] / row[3]:.2f} times its time")


def compare_sets(given: Data) -> None:
    truth = np.asarray(given.Y_test.todense())
    peers = {
        "one-vs-rest Perceptron": Perceptron(max_iter=1, tol=None, random_state=0),
        "one-vs-rest PassiveAggressive": SGDClassifier(
            loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, max_iter=1, tol=None, random_state=0
        ),
    }
    print("  micro-F1 %")
    for title, peer in peers.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            predicted = OneVsRestClassifier(peer).fit(given.X, given.Y).predict(given.X_test)
        print(f"  {title:50} {100 * f1_score(truth, predicted.toarray(), average='micro'):6.2f}")
    for settings in ({"calibration_folds": 0}, {}, {"decomposition": "disagreement"}):
        ranker = OnlinePreferenceMachine(cut_label=True, **settings).fit(given.X, given.Y)
        title = f"OnlinePreferenceMachine, cut label {settings or ''}"
        print(f"  {title:50} {100 * f1_score(truth, ranker.predict(given.X_test), average='micro'):6.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--choose", action="store_true", help="compare settings on training documents")
    parser.add_argument("--corpora", nargs="+", default=["Reuters", "RCV1", "debtags"])
    options = parser.parse_args()
    names = [name for wanted in options.corpora for name in CORPORA if name.startswith(wanted)]
    if options.choose:
        choose(names)
        return
    for name in names:
        given = shuffled(data(name))
        compare(name, given)
        compare_sets(given)


if __name__ == "__main__":
    main()

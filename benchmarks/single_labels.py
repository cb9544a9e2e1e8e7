"""Whether offsets per label help where each document has one label.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.single_labels [topics sections domains]

No test documents: samples of training documents are divided at random into documents to learn from and 2,000 others.
`topics`: the first topic of Reuters-21578, ten of them, 800 documents to learn from; `sections`: the section of a
Debian package (2,500); `domains`: records of `subjects` with one of 28 domains (4,000). Shown are the share of wrong
first labels, average precision and ranking loss, in %, means over three samples: of three rankers as they were learnt,
with the offsets of `set_measure="micro_f1"` and of `"macro_f1"`, of AutoRanker, and of one-vs-rest LinearSVC, whose C
is chosen by 3-fold cross-validation. The last column is the calibration error of the first label, in %.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

from arcrank import AutoRanker, LogLinearRanker, PreferenceMachine
from arcrank._typing import Array
from arcrank.datasets import load_debtags, load_reuters21578, load_subjects
from arcrank.datasets.locate import find
from arcrank.io.compressed import open_binary
from arcrank.metrics import average_precision, first_label_calibration_error, one_error, ranking_loss
from arcrank.text import TextFeatures

SAMPLES = 3
HELD_OUT = 2000
LEARNT_FROM = {"topics": 800, "sections": 2500, "domains": 4000}
GRID = {"C": [0.1, 0.3, 1.0, 3.0, 10.0]}
SET_MEASURES = (None, "micro_f1", "macro_f1")


class Sample(NamedTuple):
    """Features and labels of documents to learn from, and of others."""

    X: Any
    y: Array
    Z: Any
    truth: Array


def topics() -> tuple[list[str], list[str]]:
    corpus = load_reuters21578("first-topic-top10")
    return list(corpus.texts), [names[0] for names in corpus.label_sets]


def sections() -> tuple[list[str], list[str]]:
    corpus = load_debtags().split("train")
    with open_binary(find("debtags.jsonl", what="debtags")) as lines:
        section = {(row := json.loads(line))["name"]: row["section"].split("/")[-1] for line in lines}
    return list(corpus.texts), [section[name] for name in corpus.ids]


def domains() -> tuple[list[str], list[str]]:
    corpus = load_subjects(labels="domains").split("train")
    rows = [row for row, names in enumerate(corpus.label_sets) if len(names) == 1]
    return [corpus.texts[row] for row in rows], [corpus.label_sets[row][0] for row in rows]


CORPORA = {"topics": topics, "sections": sections, "domains": domains}


def draw(texts: Sequence[str], labels: Sequence[str], n: int, seed: int) -> Sample:
    rows = np.random.default_rng(seed).permutation(len(texts))[: n + HELD_OUT]
    train, test = rows[:n], rows[n:]
    names = np.asarray(labels)
    test = test[np.isin(names[test], names[train])]
    words = TextFeatures()
    X = words.fit_transform([texts[row] for row in train])
    return Sample(X, names[train], words.transform([texts[row] for row in test]), names[test])


def measures(sample: Sample, classes: Array, scores: Array) -> list[float]:
    truth = (sample.truth[:, None] == classes).astype(int)
    return [100 * float(measure(truth, scores)) for measure in (one_error, average_precision, ranking_loss)]


def rankers() -> dict[str, Any]:
    machine = {"loss": "squared-hinge", "cut_label": True, "random_state": 0}
    single = {
        "machine, domination": PreferenceMachine("domination", **machine),
        "machine, disagreement": PreferenceMachine("disagreement", **machine),
        "log-linear, zero-one": LogLinearRanker("zero-one", cut_label=True, random_state=0),
    }
    found = {
        f"{name}, {measure}": type(one)(**{**one.get_params(), "set_measure": measure})
        for name, one in single.items()
        for measure in SET_MEASURES
    }
    return {**found, **{f"AutoRanker, {measure}": AutoRanker(set_measure=measure) for measure in SET_MEASURES[:2]}}


def peer(sample: Sample) -> list[float]:
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(LinearSVC(random_state=0), GRID, cv=folds).fit(sample.X, sample.y)
    return measures(sample, search.classes_, search.decision_function(sample.Z))


def fitted(ranker: Any, sample: Sample) -> list[float]:
    scores = ranker.fit(sample.X, sample.y).score_labels(sample.Z)
    truth = (sample.truth[:, None] == ranker.labels_).astype(int)
    error = 100 * first_label_calibration_error(truth, ranker.predict_proba(sample.Z))
    return [*measures(sample, ranker.labels_, scores), float(error)]


def main() -> None:
    warnings.simplefilter("ignore")  # about labels with fewer documents than folds
    for name in sys.argv[1:] or CORPORA:
        texts, labels = CORPORA[name]()
        samples = [draw(texts, labels, LEARNT_FROM[name], seed) for seed in range(SAMPLES)]
        print(f"\n{name:40}{'one-error':>12}{'avg. precision':>16}{'ranking loss':>14}{'calibration':>13}", flush=True)
        show("one-vs-rest LinearSVC", [peer(sample) for sample in samples])
        for title, ranker in rankers().items():
            show(title, [fitted(ranker, sample) for sample in samples])


def show(title: str, found: list[list[float]]) -> None:
    means = np.mean(found, axis=0)
    print(f"{title:40}" + "".join(f"{x:{w}.2f}" for x, w in zip(means, (12, 16, 14, 13), strict=False)), flush=True)


if __name__ == "__main__":
    main()

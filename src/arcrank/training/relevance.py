"""Train a ranker of documents from relevant, irrelevant and unlabelled ones."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from arcrank._typing import IntArray
from arcrank.datasets import Corpus
from arcrank.datasets.supervision import check_both_kinds
from arcrank.inference.feature_map import FeatureMap
from arcrank.metrics.bipartite import auc, uninterpolated_precision
from arcrank.text import TextFeatures
from arcrank.training.plan import Plan, minimum_document_frequency
from arcrank.training.reporter import SILENT, Reporter
from arcrank.training.result import TrainingResult

__all__ = ["fit_relevance"]

FEWEST_HELD_OUT = 2
"""With fewer relevant or irrelevant documents held out, the measures would be chance."""


def fit_relevance(
    corpus: Corpus, plan: Plan, *, validate: float, random_state: int, reporter: Reporter = SILENT
) -> TrainingResult:
    """Measure on held-out labelled documents if there are enough of them, then learn from all documents."""
    start = time.perf_counter()
    y = corpus.relevance()
    check_both_kinds(y, corpus.source)
    train, test = _split(y, validate, random_state)
    validation = _validate(corpus, y, plan, train, test, reporter) if len(test) else None
    with reporter.progress("training"):
        model = _fit(corpus, y, plan)
    counts = {"relevant": int((y == 1).sum()), "irrelevant": int((y == 0).sum()), "unlabelled": int((y < 0).sum())}
    return TrainingResult(
        model,
        plan,
        FeatureMap.of_corpus(corpus),
        len(corpus),
        corpus.skipped,
        validation,
        seconds=time.perf_counter() - start,
        extra={"relevance": counts},
    )


def _split(y: IntArray, share: float, random_state: int) -> tuple[IntArray, IntArray]:
    """Split off a share of the relevant and of the irrelevant documents; none if too few would be held out."""
    random = np.random.default_rng(random_state)
    held_out = np.zeros(len(y), dtype=bool)
    for grade in (0, 1):
        rows = random.permutation(np.flatnonzero(y == grade))
        n = round(share * len(rows))
        if n < FEWEST_HELD_OUT:
            return np.arange(len(y)), np.arange(0)
        held_out[rows[:n]] = True
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def _validate(
    corpus: Corpus, y: IntArray, plan: Plan, train: IntArray, test: IntArray, reporter: Reporter
) -> dict[str, Any]:
    with reporter.progress("validating"):
        scores = _fit(corpus[train], y[train], plan).decision_function(_instances(corpus[test]))
    measures = {
        "auc": auc(y[test], scores, ties="half"),
        "average_precision": uninterpolated_precision(y[test], scores),
    }
    return {"how": "held-out", "documents": len(test), "measures": measures}


def _fit(corpus: Corpus, y: IntArray, plan: Plan) -> Any:
    """Fit a ranker, or a pipeline of text features and a ranker."""
    if corpus.texts is None:
        return plan.ranker().fit(_instances(corpus), y)
    words = TextFeatures(**{"min_df": minimum_document_frequency(len(corpus)), **plan.text})
    return Pipeline([("features", words), ("ranker", plan.ranker())]).fit(corpus.texts, y)


def _instances(corpus: Corpus) -> Any:
    corpus.refuse_table("a ranker of documents")
    if corpus.texts is not None:
        return corpus.texts
    return FeatureMap.of_corpus(corpus).matrix(corpus.X, corpus.feature_names)

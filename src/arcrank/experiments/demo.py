"""The comparison that `arcrank demo` shows: `LogLinearRanker` and one-vs-rest on the same Debian packages."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from arcrank import LogLinearRanker, metrics
from arcrank.datasets import Corpus
from arcrank.evaluation import Evaluation, evaluate
from arcrank.text import TextFeatures

__all__ = ["MEASURES", "Comparison", "Fitted", "compare"]

MEASURES = {
    "average precision": metrics.average_precision,
    "ranking loss": metrics.ranking_loss,
    "coverage": metrics.coverage,
    "one-error": metrics.one_error,
}


class Fitted(NamedTuple):
    """A fitted pipeline, the seconds of its training, and its measures on the test part."""

    name: str
    model: Any
    seconds: float
    measures: dict[str, float]


class Comparison(NamedTuple):
    """The corpus's test part, both models, and the whole evaluation of the first."""

    test: Corpus
    ranker: Fitted
    one_vs_rest: Fitted
    evaluation: Evaluation


def compare(corpus: Corpus) -> Comparison:
    """Train both models on the training part and measure them on the test part."""
    train, test = corpus.split("train"), corpus.split("test")
    # C and the missing intercept were selected by 3-fold cross-validation on the training packages.
    ranker = LogLinearRanker(C=100, fit_intercept=False, tol=1e-2, random_state=0)
    model, seconds = _fit(ranker, train.texts, train.label_sets)
    found = evaluate(model, test, name="arcrank-demo.arcrank", data_name="the debtags sample")
    ours = Fitted("arcrank LogLinearRanker", model, seconds, found.measures)
    return Comparison(test, ours, _one_vs_rest(train, test), found)


def _one_vs_rest(train: Corpus, test: Corpus) -> Fitted:
    """Train the usual baseline, a support vector machine for each tag."""
    model, seconds = _fit(OneVsRestClassifier(LinearSVC()), train.texts, train.indicator())
    scores, truth = model.decision_function(test.texts), test.indicator()
    measures = {name: float(measure(truth, scores)) for name, measure in MEASURES.items()}
    return Fitted("one-vs-rest LinearSVC", model, seconds, measures)


def _fit(learner: Any, texts: Any, targets: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    model = make_pipeline(TextFeatures(), learner).fit(texts, targets)
    return model, time.perf_counter() - start

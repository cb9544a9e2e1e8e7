"""Words alone, or words and embeddings: whichever ranks held-out documents better."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arcrank.graphs import PreferenceGraphs
from arcrank.text import EmbeddingFeatures, TextAndEmbeddings
from arcrank.training.candidates import Sample, Trial
from arcrank.training.measures import loss_of
from arcrank.training.plan import Plan
from arcrank.training.selection import FEWEST_DOCUMENTS, FOLDS, RUNGS, sample_rows

__all__ = ["choose_text_features"]

WEIGHT = 0.5
"""Of embeddings beside words of unit length; `TextAndEmbeddings` has the figures."""
WORTH = 0.01
"""Embeddings must reduce the loss by more than this share: a model with them needs the extra wherever it ranks."""


def choose_text_features(
    words: Any,
    X: Any,
    texts: list[str],
    graphs: PreferenceGraphs,
    plan: Plan,
    measure: str,
    *,
    random_state: int,
    report: Callable[[float, str], None],
) -> tuple[Any, Any, list[Trial]]:
    """Return the transformer and the features that one plan is better with, and what was compared."""
    if len(texts) < FEWEST_DOCUMENTS:
        return words, X, []
    embeddings = EmbeddingFeatures().fit()
    both = TextAndEmbeddings.from_fitted(words, embeddings, WEIGHT)
    candidates = {"words": (words, X), "words and embeddings": (both, both.stack(X, embeddings.transform(texts)))}
    rows = sample_rows(np.arange(len(texts)), RUNGS[0], random_state)
    trials = []
    for name, (_, features) in candidates.items():
        sample = Sample(features, graphs, rows, measure, folds=FOLDS, random_state=random_state)
        trial = sample.try_plan(plan.with_parameters(C="scale"))
        report(0.0, f"{name} {trial.value:.4f}")
        trials.append(trial._replace(scores=None, plan=trial.plan.with_parameters(features=name)))
    plain, stacked = (loss_of(trial.value, measure) for trial in trials)
    chosen = "words and embeddings" if stacked < (1.0 - WORTH) * plain else "words"
    return *candidates[chosen], trials

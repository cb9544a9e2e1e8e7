"""Choose between several kinds of features of the same documents by cross-validation.

Texts become words, or words and embeddings. Sparse features that are never negative, such as word counts, are used as
given or as tf-idf weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from arcrank.graphs import PreferenceGraphs
from arcrank.text import EmbeddingFeatures, SignedTfIdf, TextAndEmbeddings, TextFeatures
from arcrank.training.candidates import Sample, Trial, at_default_cost
from arcrank.training.measures import loss_of
from arcrank.training.plan import Plan
from arcrank.training.portfolio import is_mostly_zero
from arcrank.training.selection import FEWEST_DOCUMENTS, FOLDS, RUNGS, sample_rows

__all__ = ["FeatureSet", "choose_feature_set", "text_candidates", "try_features", "weight_candidates"]

WEIGHT = 0.5
"""Of embeddings beside words of unit length; `TextAndEmbeddings` has the figures."""
WORTH = 0.01
"""Other features than the first must reduce the loss by more than this share: a model with embeddings needs the extra
wherever it ranks, and tf-idf weights are harder to read than the user's own features."""
CLEARLY = 2.0
"""They must also reduce it by more than this many standard errors of the difference; in small samples, chance would
often decide."""


class FeatureSet(NamedTuple):
    """Features of all documents, and the fitted transformer that makes them, None where they are as given."""

    name: str
    transformer: Any
    features: Any


def text_candidates(words: TextFeatures, X: Any, texts: list[str]) -> list[FeatureSet]:
    """Words, whose features are X, and words with embeddings."""
    embeddings = EmbeddingFeatures().fit()
    both = TextAndEmbeddings.from_fitted(words, embeddings, WEIGHT)
    return [
        FeatureSet("words", words, X),
        FeatureSet("words and embeddings", both, both.stack(X, embeddings.transform(texts))),
    ]


def weight_candidates(given: Any, X: Any) -> list[FeatureSet]:
    """Features X as given, and as tf-idf weights if they are mostly 0 and never negative.

    `given` are the same features as the user has them, with the names of a DataFrame's columns.
    """
    found = [FeatureSet("as given", None, X)]
    if not is_mostly_zero(X) or X.min() < 0.0:
        return found
    named = given if hasattr(given, "columns") else X
    weightings = {"tf-idf": SignedTfIdf()}
    if X.max() > 1.0:
        weightings["tf-idf of log counts"] = SignedTfIdf(sublinear=True)
    return found + [FeatureSet(name, one, one.fit_transform(named)) for name, one in weightings.items()]


def choose_feature_set(
    candidates: Sequence[FeatureSet],
    graphs: PreferenceGraphs,
    plan: Plan,
    measure: str,
    *,
    random_state: int,
    report: Callable[[float, str], None],
) -> tuple[FeatureSet, list[Trial]]:
    """Return the features that one plan is best with, the first ones unless others are clearly better, and the trials.

    Features depend on no label, so those of all documents are compared on slices of them.
    """
    if len(graphs) < FEWEST_DOCUMENTS or len(candidates) < 2:
        return candidates[0], []
    trials = []
    for one in candidates:
        trial = try_features(one.name, one.features, graphs, plan, measure, random_state=random_state)
        report(0.0, f"{one.name} {trial.value:.4f}")
        trials.append(trial)
    losses = [loss_of(trial.value, measure) for trial in trials]
    best = int(np.argmin(losses))
    clear = losses[best] < (1.0 - WORTH) * losses[0] and _differs(trials[best], trials[0])
    return candidates[best if clear else 0], trials


def try_features(
    name: str,
    X: Any,
    graphs: PreferenceGraphs,
    plan: Plan,
    measure: str,
    *,
    random_state: int,
    as_new: Any = None,
) -> Trial:
    """Cross-validate a plan, at its default C, on some documents with these features; for `as_new` see `Sample`."""
    rows = sample_rows(np.arange(len(graphs)), RUNGS[0], random_state)
    sample = Sample(X, graphs, rows, measure, folds=FOLDS, random_state=random_state, as_new=as_new)
    trial = sample.try_plan(at_default_cost(plan))
    return trial._replace(scores=None, plan=trial.plan.with_parameters(features=name))


def _differs(one: Trial, other: Trial) -> bool:
    """Whether the mean difference over documents is more than `CLEARLY` times its standard error."""
    differences = one.per_document - other.per_document
    known = differences[~np.isnan(differences)]
    return bool(abs(known.mean()) * np.sqrt(len(known)) > CLEARLY * known.std())

"""Automatic selection with unlabelled documents: what they are used for is compared on the labelled ones.

First what features are made of: labelled documents only, all documents, or all documents with latent directions. Then
rankers, as without unlabelled documents. Last the weight of tentative preferences. Not using unlabelled documents is
always among the candidates.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from arcrank._typing import Array, IntArray, Mask
from arcrank.graphs import LayeredGraphs, PreferenceGraphs
from arcrank.graphs.cut import insert_cut
from arcrank.rankers.average import AverageRanker
from arcrank.rankers.label_effects import fit_label_effects
from arcrank.rankers.out_of_fold import judgements
from arcrank.rankers.semisupervised import SemiSupervisedRanker, add_latent, latent_directions, sampled
from arcrank.text import TextFeatures
from arcrank.text.counts import frequency_limits
from arcrank.training.candidates import QUICK, Trial
from arcrank.training.feature_choice import try_features
from arcrank.training.measures import known_mean, loss_of, measure_documents
from arcrank.training.plan import Learner, Plan
from arcrank.training.portfolio import is_low_dimensional
from arcrank.training.selection import FEWEST_DOCUMENTS, FOLDS, RUNGS, Choice, sample_rows

__all__ = [
    "Features",
    "Usage",
    "choose_features",
    "choose_tentative_weight",
    "is_linear",
    "make_word_features",
    "of_labelled_documents",
    "take_rows",
]

DIRECTIONS = ((50, 1.0), (50, 2.0))
"""Numbers and weights of latent directions that are compared. With 200 of them rare labels gain, and so does the
cross-validation where labelled documents were picked for their labels, but held-out training documents of Reuters and
debtags lose."""
TENTATIVE = (0.0, 0.5)
WORTH = 0.01
"""Unlabelled documents must reduce the loss by more than this share at each step, else they are left out of it."""


class Usage(NamedTuple):
    """What unlabelled documents are used for."""

    name: str
    latent_weight: float = 0.0
    n_components: int = 1
    tentative_weight: float = 0.0

    @property
    def of_all(self) -> bool:
        """Whether features are made of all documents."""
        return self.name != LABELLED

    def transform(self, features: Features, random_state: int) -> Features:
        """Features with the latent ones beside them."""
        if not self.latent_weight:
            return features
        directions = latent_directions(features.values, self.n_components, random_state)
        return features.with_latent(self.latent_weight * directions)

    def ranker(self, selected: Any, random_state: int) -> SemiSupervisedRanker:
        """The selected ranker, or average of rankers, that learns from unlabelled documents in this way."""
        known = ("cut_label", "cut_level", "set_measure", "calibration_folds")
        named, weights = [("ranker", selected)], None
        if isinstance(selected, AverageRanker):
            named, weights = selected.rankers, selected.weights
        return SemiSupervisedRanker(
            named,
            weights,
            latent_weight=self.latent_weight,
            n_components=self.n_components,
            tentative_weight=self.tentative_weight,
            random_state=random_state,
            **{name: getattr(selected, name) for name in known},
        )

    def describe(self) -> str:
        """Name the usage in a sentence."""
        tentative = f", tentative preferences of weight {self.tentative_weight:g}" if self.tentative_weight else ""
        return f"features of {self.name}{tentative}"


LABELLED, ALL = "labelled documents", "all documents"


RARE = 1000
"""A term that no labelled document has must be in three documents, and in one of so many."""


class Features(NamedTuple):
    """Features of documents, which of them are labelled, and what those would have for features if they were new."""

    values: Any
    rows: IntArray
    as_new: Any
    """Of the labelled documents only, in their order."""

    @property
    def labelled(self) -> Any:
        """Those of labelled documents."""
        return self.values[self.rows]

    def with_latent(self, directions: Array) -> Features:
        """The same with latent features beside them."""
        return self._replace(values=add_latent(self.values, directions), as_new=add_latent(self.as_new, directions))


def make_word_features(
    texts: list[str], rows: IntArray, parameters: Mapping[str, Any]
) -> tuple[TextFeatures, Features]:
    """Return text features of all documents, of which `rows` are labelled.

    Terms of labelled documents are kept however rare they are: they help a ranker to satisfy a document without
    learning anything wrong about other terms. A new document would lack such terms of its own, so that it is not like a
    document of another fold unless they are left out of that.

    Examples
    --------
    >>> words, X = make_word_features(["rare oil", "oil price", "price of gold"], np.array([0]), {"ngrams": 1})
    >>> words.terms_
    ['oil', 'rare']
    """
    words = TextFeatures(**{"min_df": 1, **parameters})
    counts = words.count(texts)
    matrix = counts.matrix.copy()
    kept = np.bincount(matrix.indices, minlength=matrix.shape[1]) >= _fewest(len(texts))
    kept[matrix[rows].indices] = True
    matrix.data[~kept[matrix.indices]] = 0
    matrix.eliminate_zeros()
    X = words.fit_transform_counts(replace(counts, matrix=matrix))
    labelled = X[rows]
    frequent = _document_frequency(X) >= _fewest(len(texts))
    return words, Features(X, rows, without_terms(labelled, ~frequent & (_document_frequency(labelled) < 2)))


def _fewest(n_texts: int) -> int:
    return max(3, n_texts // RARE)


def _document_frequency(X: Any) -> IntArray:
    return np.bincount(X.indices, minlength=X.shape[1])


def of_labelled_documents(transformer: Any, X: Any) -> Features:
    """Features that were made of labelled documents only.

    Terms that a document shares with fewer than `min_df` others are not those of a new document.

    Examples
    --------
    >>> words = TextFeatures(min_df=1, ngrams=1)
    >>> X = words.fit_transform(["rare oil", "oil price", "oil"])
    >>> of_labelled_documents(words, X).as_new.toarray().tolist()  # oil is left
    [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """
    new = X
    if isinstance(transformer, TextFeatures):
        fewest = frequency_limits(transformer.min_df, transformer.max_df, X.shape[0])[0]
        new = without_terms(X, _document_frequency(X) <= fewest)
    return Features(X, np.arange(X.shape[0]), new)


def without_terms(X: Any, left_out: Mask) -> Any:
    """Rows without some columns, as long as they were before.

    Examples
    --------
    >>> without_terms(sp.csr_matrix([[3.0, 4.0], [2.0, 0.0]]), np.array([False, True])).toarray().tolist()
    [[5.0, 0.0], [2.0, 0.0]]
    """
    found = sp.csr_matrix((np.where(left_out[X.indices], 0.0, X.data), X.indices, X.indptr), shape=X.shape)
    before, left = (np.asarray(one.multiply(one).sum(axis=1)).ravel() for one in (X, found))
    found.data *= np.repeat(np.sqrt(before / np.where(left > 0, left, 1.0)), np.diff(found.indptr))
    found.eliminate_zeros()
    return found


def choose_features(
    of_labelled: Features | None,
    of_all: Features,
    graphs: PreferenceGraphs,
    plan: Plan,
    measure: str,
    *,
    random_state: int,
    report: Callable[[float, str], None],
) -> tuple[Usage, list[Trial]]:
    """Compare features of labelled documents with features of all of them, by one plan on the labelled documents.

    `of_labelled` are features made of labelled documents, None where features depend on no other document. Few dense
    features have no latent directions.
    """
    X = of_all.values
    if is_low_dimensional(X) or len(graphs) < FEWEST_DOCUMENTS:
        return Usage(ALL if of_labelled is None or is_low_dimensional(X) else LABELLED), []
    most = min(max(n for n, _ in DIRECTIONS), min(X.shape) - 1)
    directions = latent_directions(X, most, random_state)
    usages = [Usage(ALL), *(Usage(f"{ALL}, {n} latent x {by:g}", by, n) for n, by in DIRECTIONS if n <= most)]
    if of_labelled is not None:
        usages.insert(0, Usage(LABELLED))
    labelled = Features(of_all.labelled, np.arange(len(graphs)), of_all.as_new)
    found: list[tuple[Usage, Trial]] = []
    for usage in usages:
        features = labelled.with_latent(usage.latent_weight * directions[:, : usage.n_components])
        if not usage.of_all and of_labelled is not None:
            features = of_labelled
        settings: dict[str, Any] = {"random_state": random_state, "as_new": features.as_new}
        trial = try_features(usage.name, features.labelled, graphs, plan, measure, **settings)
        report(0.0, f"{usage.name} {trial.value:.4f}")
        found.append((usage, trial))
    best, trial = min(found, key=lambda pair: loss_of(pair[1].value, measure))
    worth = loss_of(trial.value, measure) < (1.0 - WORTH) * loss_of(found[0][1].value, measure)
    return best if worth else usages[0], [trial for _, trial in found]


def choose_tentative_weight(
    choice: Choice,
    features: Features,
    graphs: PreferenceGraphs,
    measure: str,
    *,
    random_state: int,
    report: Callable[[float, str], None],
) -> tuple[float, list[Trial]]:
    """Compare weights of tentative preferences, by the most important member, on the labelled documents."""
    plan = choice.plan
    tries = measure and plan.parameters.get("cut_label") and isinstance(graphs, LayeredGraphs) and is_linear(choice)
    if not tries:
        return 0.0, []
    Z, rows = features.values, features.rows
    unlabelled = sampled(np.setdiff1d(np.arange(Z.shape[0]), rows), random_state)
    some = sample_rows(np.arange(len(rows)), RUNGS[0], random_state)
    labelled, cut = graphs[some], insert_cut(graphs[some])
    trials = []
    for weight in TENTATIVE:
        start = time.perf_counter()
        scores = _scores(plan, weight, Features(Z[rows], some, features.as_new[some]), cut, Z[unlabelled])
        value = known_mean(measure_documents(measure, labelled, scores))
        report(0.0, f"tentative preferences of weight {weight:g} {value:.4f}")
        named = plan.with_parameters(tentative_weight=weight)
        trials.append(Trial(named, value, time.perf_counter() - start, documents=len(some)))
    losses = [loss_of(trial.value, measure) for trial in trials]
    best = int(np.argmin(losses))
    return TENTATIVE[best] if losses[best] < (1.0 - WORTH) * losses[0] else 0.0, trials


def _scores(plan: Plan, weight: float, features: Features, graphs: PreferenceGraphs, unlabelled: Any) -> Array:
    """Out-of-fold scores of one ranker with tentative preferences."""
    ranker = plan.ranker(tol=QUICK, calibration_folds=0)
    model = SemiSupervisedRanker([("one", ranker)], tentative_weight=weight, cut_label=True, calibration_folds=0)
    scores = model.out_of_fold(features.labelled, unlabelled, graphs, FOLDS, features.as_new)
    return scores + fit_label_effects(scores, *judgements(graphs)).effects


def is_linear(choice: Choice) -> bool:
    """Whether all members have weights of the features, which latent directions and tentative preferences need."""
    linear = (Learner.LOG_LINEAR, Learner.PREFERENCE_MACHINE)
    plans = [member.plan for member in choice.members]
    return all(one.learner in linear and one.parameters.get("kernel", "linear") == "linear" for one in plans)


def take_rows(X: Any, rows: IntArray) -> Any:
    """Return some documents of a list of texts, a DataFrame, a dict of columns or a matrix.

    Examples
    --------
    >>> take_rows(["tea", "milk", "beer"], np.array([0, 2]))
    ['tea', 'beer']
    """
    if isinstance(X, Mapping) and not sp.issparse(X):
        return {name: np.asarray(column)[rows] for name, column in X.items()}
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if sp.issparse(X):
        return sp.csr_matrix(X)[rows]
    if isinstance(X, np.ndarray):
        return X[rows]
    return [X[row] for row in rows]

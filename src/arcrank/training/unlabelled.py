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

from arcrank._typing import Array, IntArray
from arcrank.graphs import LayeredGraphs, PreferenceGraphs
from arcrank.graphs.cut import insert_cut
from arcrank.rankers.average import AverageRanker
from arcrank.rankers.label_effects import fit_label_effects
from arcrank.rankers.out_of_fold import judgements
from arcrank.rankers.semisupervised import SemiSupervisedRanker, add_latent, latent_directions, sampled
from arcrank.text import TextFeatures
from arcrank.training.candidates import QUICK, Sample, Trial
from arcrank.training.measures import known_mean, loss_of, measure_documents
from arcrank.training.plan import Learner, Plan, parameter_names
from arcrank.training.portfolio import is_low_dimensional
from arcrank.training.selection import FEWEST_DOCUMENTS, FOLDS, RUNGS, Choice, sample_rows

__all__ = ["Usage", "choose_features", "choose_tentative_weight", "is_linear", "make_word_features", "take_rows"]

DIRECTIONS = ((50, 1.0), (50, 2.0), (200, 1.0))
"""Numbers and weights of latent directions that are compared."""
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

    def transform(self, X: Any, random_state: int) -> Any:
        """Features with the latent ones beside them."""
        if not self.latent_weight:
            return X
        return add_latent(X, self.latent_weight * latent_directions(X, self.n_components, random_state))

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


def make_word_features(texts: list[str], rows: IntArray, parameters: Mapping[str, Any]) -> tuple[TextFeatures, Any]:
    """Return text features of all documents, of which `rows` are labelled, and their values.

    Terms of labelled documents are kept however rare they are: they help a ranker to satisfy a document without
    learning anything wrong about other terms.

    Examples
    --------
    >>> words, X = make_word_features(["rare oil", "oil price", "price of gold"], np.array([0]), {"ngrams": 1})
    >>> words.terms_
    ['oil', 'rare']
    """
    words = TextFeatures(**{"min_df": 1, **parameters})
    counts = words.count(texts)
    matrix = counts.matrix.copy()
    kept = np.bincount(matrix.indices, minlength=matrix.shape[1]) >= max(3, len(texts) // RARE)
    kept[matrix[rows].indices] = True
    matrix.data[~kept[matrix.indices]] = 0
    matrix.eliminate_zeros()
    return words, words.fit_transform_counts(replace(counts, matrix=matrix))


def choose_features(
    of_labelled: Any,
    of_all: Any,
    rows: IntArray,
    graphs: PreferenceGraphs,
    plan: Plan,
    measure: str,
    *,
    random_state: int,
    report: Callable[[float, str], None],
) -> tuple[Usage, list[Trial]]:
    """Compare features of labelled documents with features of all of them, by one plan on the labelled documents.

    `of_labelled` are features made of labelled documents, None where features depend on no other document; `of_all` are
    those of all documents, and `rows` the labelled ones. Few dense features have no latent directions.
    """
    if is_low_dimensional(of_all) or len(rows) < FEWEST_DOCUMENTS:
        return Usage(ALL if of_labelled is None or is_low_dimensional(of_all) else LABELLED), []
    most = min(max(n for n, _ in DIRECTIONS), min(of_all.shape) - 1)
    directions = latent_directions(of_all, most, random_state)
    usages = [Usage(ALL), *(Usage(f"{ALL}, {n} latent x {by:g}", by, n) for n, by in DIRECTIONS if n <= most)]
    if of_labelled is not None:
        usages.insert(0, Usage(LABELLED))
    found: list[tuple[Usage, Trial]] = []
    for usage in usages:
        features = of_labelled
        if usage.of_all:
            features = add_latent(of_all[rows], usage.latent_weight * directions[:, : usage.n_components])
        trial = _tried(features, graphs, plan, measure, random_state)
        report(0.0, f"{usage.name} {trial.value:.4f}")
        found.append((usage, trial._replace(scores=None, plan=trial.plan.with_parameters(features=usage.name))))
    best, trial = min(found, key=lambda pair: loss_of(pair[1].value, measure))
    worth = loss_of(trial.value, measure) < (1.0 - WORTH) * loss_of(found[0][1].value, measure)
    return best if worth else usages[0], [trial for _, trial in found]


def _tried(X: Any, graphs: PreferenceGraphs, plan: Plan, measure: str, random_state: int) -> Trial:
    rows = sample_rows(np.arange(len(graphs)), RUNGS[0], random_state)
    sample = Sample(X, graphs, rows, measure, folds=FOLDS, random_state=random_state)
    return sample.try_plan(plan.with_parameters(C="scale") if "C" in parameter_names(plan.learner) else plan)


def choose_tentative_weight(
    choice: Choice,
    Z: Any,
    rows: IntArray,
    graphs: PreferenceGraphs,
    measure: str,
    *,
    random_state: int,
    report: Callable[[float, str], None],
) -> tuple[float, list[Trial]]:
    """Compare weights of tentative preferences, by the most important member, on the labelled rows of features Z."""
    plan = choice.plan
    tries = measure and plan.parameters.get("cut_label") and isinstance(graphs, LayeredGraphs) and is_linear(choice)
    if not tries:
        return 0.0, []
    unlabelled = sampled(np.setdiff1d(np.arange(Z.shape[0]), rows), random_state)
    some = sample_rows(np.arange(len(rows)), RUNGS[0], random_state)
    labelled, cut = graphs[some], insert_cut(graphs[some])
    trials = []
    for weight in TENTATIVE:
        start = time.perf_counter()
        scores = _scores(plan, weight, Z[rows[some]], cut, Z[unlabelled])
        value = known_mean(measure_documents(measure, labelled, scores))
        report(0.0, f"tentative preferences of weight {weight:g} {value:.4f}")
        named = plan.with_parameters(tentative_weight=weight)
        trials.append(Trial(named, value, time.perf_counter() - start, documents=len(some)))
    losses = [loss_of(trial.value, measure) for trial in trials]
    best = int(np.argmin(losses))
    return TENTATIVE[best] if losses[best] < (1.0 - WORTH) * losses[0] else 0.0, trials


def _scores(plan: Plan, weight: float, Z: Any, graphs: PreferenceGraphs, unlabelled: Any) -> Array:
    """Out-of-fold scores of one ranker with tentative preferences."""
    ranker = plan.ranker(tol=QUICK, calibration_folds=0)
    model = SemiSupervisedRanker([("one", ranker)], tentative_weight=weight, cut_label=True, calibration_folds=0)
    scores = model.out_of_fold(Z, unlabelled, graphs, FOLDS)
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

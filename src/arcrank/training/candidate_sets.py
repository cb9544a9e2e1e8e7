"""Train a ranker of candidates from queries, each of which brings its own candidates with grades."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from arcrank._typing import Array
from arcrank._wording import count
from arcrank.datasets import Corpus
from arcrank.errors import GraphError, ParameterError
from arcrank.inference.feature_map import FeatureMap
from arcrank.metrics.candidates import candidate_measures
from arcrank.rankers.candidates import CandidateSets
from arcrank.training.plan import ONLINE, Learner, Plan
from arcrank.training.reporter import SILENT, Reporter
from arcrank.training.result import TrainingResult
from arcrank.training.selection import split_rows

__all__ = ["fit_candidate_corpus"]

LEARNERS = (Learner.AUTO, Learner.LOG_LINEAR, Learner.PREFERENCE_MACHINE, *ONLINE)
FACTORS = (0.01, 0.1, 1.0, 10.0, 100.0)
"""What --learner auto multiplies C="scale" by; cross-validation selects one of them and a decomposition."""
DECOMPOSITIONS = ("domination", "disagreement")
_FOLDS, _SHARE = 3, 0.1
_MEASURE = "ndcg_at_10"


def fit_candidate_corpus(
    corpus: Corpus,
    plan: Plan,
    *,
    validate: float | None,
    random_state: int,
    measure: str | None = None,
    reporter: Reporter = SILENT,
) -> TrainingResult:
    """Select C and the decomposition if the plan leaves them open, measure on held-out queries, and fit to all."""
    start = time.perf_counter()
    if measure is not None:
        raise ParameterError("--measure is for labels; settings of candidates are selected by NDCG.\nLeave it out.")
    if plan.learner not in LEARNERS:
        raise ParameterError(
            f"--learner {plan.learner} does not rank candidates.\nUse --learner {', '.join(map(str, LEARNERS))}."
        )
    assert corpus.ptr is not None
    assert corpus.grades is not None
    sets, grades = CandidateSets(corpus.X, corpus.ptr), corpus.grades
    if not sets.graphs(grades).n_arcs:
        raise GraphError(
            f"{corpus.source}: no candidate has a higher grade than another one of its query, so there is nothing to "
            "learn.\nProvide queries whose candidates differ in their grades."
        )
    share = _SHARE if validate is None else validate
    validation = None
    if share > 0 and len(sets) >= 2:
        train, test = split_rows(np.arange(len(sets)), share, random_state)
        model, _ = _fit(sets[train], _of(sets, grades, train), plan, random_state, "validating", reporter)
        measures = _measures(model, sets, grades, test)
        validation = {"how": "held-out", "documents": len(test), "measures": measures}
    model, plan = _fit(sets, grades, plan, random_state, "training", reporter)
    columns, seconds = FeatureMap.of_corpus(corpus), time.perf_counter() - start
    return TrainingResult(model, plan, columns, len(corpus), corpus.skipped, validation, seconds=seconds)


def _of(sets: CandidateSets, grades: Array, rows: Any) -> Array:
    """The grades of the candidates of these instances."""
    return np.concatenate([np.empty(0), *(grades[sets.ptr[i] : sets.ptr[i + 1]] for i in rows)])


def _measures(ranker: Any, sets: CandidateSets, grades: Array, rows: Any) -> dict[str, float | None]:
    part = sets[rows]
    return candidate_measures(_of(sets, grades, rows), ranker.score_labels(part), part.ptr)


def _fit(
    sets: CandidateSets, grades: Array, plan: Plan, random_state: int, title: str, reporter: Reporter
) -> tuple[Any, Plan]:
    with reporter.progress(title):
        if plan.learner is Learner.AUTO:
            return _select(sets, grades, plan, random_state, reporter)
        return plan.ranker().fit(sets, grades), plan


def _select(sets: CandidateSets, grades: Array, plan: Plan, random_state: int, reporter: Reporter) -> tuple[Any, Plan]:
    """A log-linear ranker of features of unit size, with the C and the decomposition of the best mean NDCG at 10."""
    sizes = _sizes(sets)
    scaled = CandidateSets(sets.features.multiply(1.0 / sizes).tocsr(), sets.ptr)
    names = [plan.parameters["decomposition"]] if "decomposition" in plan.parameters else DECOMPOSITIONS
    plans = [
        Plan(Learner.LOG_LINEAR, plan.parameters | {"decomposition": name, "C": cost})
        for name in names
        for cost in ([plan.parameters["C"]] if "C" in plan.parameters else _costs(scaled))
    ]
    folds = np.random.default_rng(random_state).permutation(len(sets)) % _FOLDS
    if len(plans) > 1 and len(sets) >= 2 * _FOLDS:
        values = [_cross_validate(one, scaled, grades, folds) for one in plans]
        best = plans[int(np.argmax(np.nan_to_num(values, nan=-1.0)))]
        tried = count(len(plans), "setting")
        reporter.note(
            f"Selected {best.describe()} of {tried} by NDCG at 10 of {_FOLDS} folds: {np.nanmax(values):.3f}."
        )
    else:
        best = plans[len(plans) // 2]
    ranker = best.ranker().fit(scaled, grades)
    ranker.coef_ = ranker.coef_ / sizes  # of the features as they come
    return ranker, best


def _costs(sets: CandidateSets) -> list[float]:
    from arcrank.rankers.candidate_ranker import candidate_scale

    return [factor * candidate_scale(sets, np.ones(len(sets))).cost("scale", 1.0, 1) for factor in FACTORS]


def _cross_validate(plan: Plan, sets: CandidateSets, grades: Array, folds: Any) -> float:
    values = []
    for fold in range(_FOLDS):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        ranker = plan.ranker(tol=1e-2).fit(sets[train], _of(sets, grades, train))
        values.append(_measures(ranker, sets, grades, test)[_MEASURE])
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else float("nan")


def _sizes(sets: CandidateSets) -> Array:
    """The root mean square of each feature, 1 where it is 0."""
    squares = np.asarray(sets.features.multiply(sets.features).mean(axis=0)).ravel()
    return np.where(squares > 0, np.sqrt(squares), 1.0)

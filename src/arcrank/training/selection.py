"""Learner selection, `--learner auto`: try log-linear domination and the preference machine on held-out documents.

Measured on the papers' corpora, the log-linear loss leads where documents have several labels (RCV1, debtags) and the
hinge loss where most have one (Reuters-21578); so both are tried, and the better one is used. C is the best of a grid,
which is extended if its best value is at an end.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from arcrank._typing import IntArray
from arcrank._wording import is_are
from arcrank.graphs import PreferenceGraphs
from arcrank.model_selection import StratifiedFolds
from arcrank.training.measures import GREATER_IS_BETTER, default_measure, known_mean, measure_documents
from arcrank.training.plan import Learner, Plan, metric_title

GRIDS = {Learner.LOG_LINEAR: (1.0, 10.0, 30.0, 100.0, 300.0), Learner.PREFERENCE_MACHINE: (0.1, 0.3, 1.0, 3.0, 10.0)}
MOST_DOCUMENTS = 4000
MOST_ARCS = 12_000_000  # only hierarchies and very many labels have more
FEWEST_DOCUMENTS = 20
FOLDS = 4  # one fold is held out to compare on
ALL_FOLDS = 1000  # up to so many documents each fold is held out in turn, since chance would decide otherwise
MORE_STEPS = 2  # by how many values a grid may be extended, since a large C takes long
FLAT = 0.02  # the next C must reduce the loss by more than this share
_SEVERAL_LABELS = 1.5
QUICK = 1e-2  # the gap at which candidates are compared; smaller gaps do not change the order of held-out documents


class Trial(NamedTuple):
    """One candidate with its measure: the mean, and the value per document (NaN where there is nothing to measure)."""

    plan: Plan
    value: float
    seconds: float
    per_document: Any = None


class Choice(NamedTuple):
    """The selected plan, the reason, and all candidates."""

    plan: Plan
    why: str
    measure: str
    trials: list[Trial]
    documents: int = 0
    """How many documents the candidates were measured on."""
    folds: int = 1
    """In how many parts."""

    def is_best_of_learner(self, trial: Trial) -> bool:
        """Whether no candidate of the same learner is better."""
        return any(trial.plan is best.plan for best in best_of_each(self.trials, self.measure))

    def report(self) -> dict[str, Any]:
        """Return what the command prints, as JSON types."""
        tried = [
            {"learner": str(one.plan.learner), "C": one.plan.parameters["C"], "value": one.value} for one in self.trials
        ]
        return {"why": self.why, "measure": self.measure or None, "tried": tried}


Features = Callable[[IntArray, IntArray], tuple[Any, Any]]
"""Features of the rows to learn from and of the rows to measure on; text features are learnt from the former."""


def select_learner(
    plan: Plan,
    features: Features,
    graphs: PreferenceGraphs,
    rows: IntArray,
    *,
    random_state: int,
    measure: str | None = None,
    complete: Callable[[Plan], Plan] = lambda plan: plan,
    report: Callable[[float, str], None] = lambda _done, _state: None,
) -> Choice:
    """Select the better of the two learners with its best C, by a quick validation within `rows`.

    They are compared by `measure`, or `default_measure` if it is None. `complete` adds to each candidate what the user
    leaves open. `report` is called with the number of
    candidates that are done and a line about the present one.
    """
    if len(rows) < FEWEST_DOCUMENTS:
        default = complete(Plan(Learner.LOG_LINEAR, {"C": 10.0} | plan.parameters, plan.text))
        return Choice(default, f"{is_are(len(rows), 'document')} too few to compare learners", "", [])
    measure = default_measure(graphs) if measure is None else measure
    parts = _parts(features, graphs, sample_rows(rows, _most_documents(graphs), random_state), random_state)
    trials: list[Trial] = []

    def run(candidate: Plan) -> Trial:
        state = f"{len(trials) + 1}: {candidate.describe()}"
        trials.append(_try_parts(candidate, parts, measure, progress_callback(report, len(trials), state)))
        report(len(trials), f"{state} {trials[-1].value:.4f}")
        return trials[-1]

    for candidate in candidates_of(plan):
        run(complete(candidate))
    if "C" not in plan.parameters:
        _extend_grids(trials, run, measure)
    best, why = _decide(trials, measure, _labels_per_document(parts[0].graphs))
    measured = sum(len(part.truth) for part in parts)
    return Choice(best.plan, why, measure, sorted(trials, key=_grid_position), measured, len(parts))


class Part(NamedTuple):
    """What to learn from and what to measure on."""

    X: Any
    graphs: PreferenceGraphs
    Z: Any
    truth: PreferenceGraphs


def _parts(features: Features, graphs: PreferenceGraphs, rows: IntArray, random_state: int) -> list[Part]:
    """One fold held out, or each in turn where documents are few."""
    folds = StratifiedFolds(FOLDS, random_state=random_state).split(rows, graphs[rows])
    parts = []
    for train, test in folds:
        X, Z = features(rows[train], rows[test])
        parts.append(Part(X, graphs[rows[train]], Z, graphs[rows[test]]))
        if len(rows) > ALL_FOLDS:
            break
    return parts


def _try_parts(plan: Plan, parts: list[Part], measure: str, on_pass: Callable[[dict[str, Any]], None]) -> Trial:
    """Measure a candidate on the documents of all parts together."""
    trials = [try_plan(plan, *part, measure, on_pass) for part in parts]
    per_document = np.concatenate([trial.per_document for trial in trials])
    return Trial(plan, known_mean(per_document), sum(trial.seconds for trial in trials), per_document)


def _extend_grids(trials: list[Trial], run: Callable[[Plan], Trial], measure: str) -> None:
    """Extend the grid of the better learner, and the other's unless it is clearly worse; `run` adds to the trials."""
    for learner in [trial.plan.learner for trial in best_of_each(trials, measure)]:
        first = ranked(trials, measure)[0]
        own = [trial for trial in trials if trial.plan.learner is learner]
        if first.plan.learner is learner or not _is_better(first, ranked(own, measure)[0], measure):
            _extend(own, run, measure)


def _extend(trials: list[Trial], run: Callable[[Plan], Trial], measure: str) -> None:
    """Try values of C beyond the end of the grid where the best one is, while they are clearly better."""
    for _ in range(MORE_STEPS):
        best = ranked(trials, measure)[0]
        end = end_of_grid(best, trials, measure)
        if end is None:
            return
        trials.append(run(best.plan.with_parameters(C=next_cost(best.plan.parameters["C"], end))))


def end_of_grid(best: Trial, trials: Sequence[Trial], measure: str) -> str | None:
    """Tell whether the best C is the "smallest" or "largest" tried and clearly better than its neighbour; else None."""
    ordered = sorted(trials, key=lambda trial: trial.plan.parameters["C"])
    place = [trial.plan for trial in ordered].index(best.plan)
    if len(ordered) < 2 or 0 < place < len(ordered) - 1:
        return None
    neighbour = ordered[1] if place == 0 else ordered[-2]
    clearly = (1 + FLAT) * _loss(best, measure) < _loss(neighbour, measure)
    return ("smallest" if place == 0 else "largest") if clearly and _loss(best, measure) > 0 else None


def _loss(trial: Trial, measure: str) -> float:
    """Turn the measure into a loss, 0 at best."""
    return 1.0 - trial.value if measure in GREATER_IS_BETTER else trial.value


def next_cost(cost: float, end: str) -> float:
    """Return the value before the smallest or after the largest C, in steps of about three.

    >>> [next_cost(C, "largest") for C in (10.0, 30.0, 300.0)], [next_cost(C, "smallest") for C in (1.0, 0.3, 0.1)]
    ([30.0, 100.0, 1000.0], [0.3, 0.1, 0.03])
    """
    half_decades = round(2 * math.log10(cost)) + (1 if end == "largest" else -1)
    return float(f"{10 ** (half_decades / 2):.0e}")


def _grid_position(trial: Trial) -> tuple[int, float]:
    return list(GRIDS).index(trial.plan.learner), trial.plan.parameters["C"]


def _most_documents(graphs: PreferenceGraphs) -> int:
    """Return how many documents to compare learners on: fewer if each of them has very many arcs."""
    affordable = MOST_ARCS * len(graphs) // max(1, graphs.n_arcs)
    return max(FEWEST_DOCUMENTS, min(MOST_DOCUMENTS, affordable))


def progress_callback(
    report: Callable[[float, str], None], done: float, state: str
) -> Callable[[dict[str, Any]], None]:
    """Make a callback that reports the passes of one fit."""
    return lambda entry: report(done, f"{state}, pass {entry['iteration']}")


def candidates_of(plan: Plan) -> list[Plan]:
    """List both learners with each C of their grids, or with the C that the user set."""
    return [
        Plan(learner, {**plan.parameters, "C": C}, plan.text)
        for learner, grid in GRIDS.items()
        for C in ((plan.parameters["C"],) if "C" in plan.parameters else grid)
    ]


def try_plan(
    plan: Plan,
    X: Any,
    graphs: PreferenceGraphs,
    Z: Any,
    truth: PreferenceGraphs,
    measure: str,
    on_pass: Callable[[dict[str, Any]], None] | None = None,
) -> Trial:
    """Fit a candidate to a rough tolerance and measure it."""
    start = time.perf_counter()
    quick: dict[str, Any] = {}
    if plan.learner in GRIDS:
        quick = {"tol": max(QUICK, plan.parameters.get("tol", QUICK)), "callback": on_pass, "calibration_folds": 0}
    ranker = plan.ranker(**quick).fit(X, graphs)
    per_document = measure_documents(measure, truth, ranker.score_labels(Z))
    return Trial(plan, known_mean(per_document), time.perf_counter() - start, per_document)


def ranked(trials: Sequence[Trial], measure: str) -> list[Trial]:
    """Sort trials from best to worst; equal ones stay in the order in which they were tried."""
    sign = _sign(measure)
    return sorted(trials, key=lambda trial: math.inf if math.isnan(trial.value) else -sign * trial.value)


def _sign(measure: str) -> float:
    return 1.0 if measure in GREATER_IS_BETTER else -1.0


def _decide(trials: list[Trial], measure: str, labels_per_document: float) -> tuple[Trial, str]:
    """Select the better learner with its best C, and say why.

    If the learners differ by less than the standard error, the one that has been better on such data is selected.
    """
    best = best_of_each(trials, measure)
    if len(best) == 1:
        return best[0], f"{metric_title(measure)} {best[0].value:.4f}{_at_the_end(best[0], trials, measure)}"
    first, second = best
    if _is_better(first, second, measure):
        why = f"{metric_title(measure)} {first.value:.4f}, best {second.plan.learner} {second.value:.4f}"
        return first, why + _at_the_end(first, trials, measure)
    favoured = Learner.LOG_LINEAR if labels_per_document >= _SEVERAL_LABELS else Learner.PREFERENCE_MACHINE
    selected, other = (first, second) if first.plan.learner is favoured else (second, first)
    why = (
        f"{metric_title(measure)} {selected.value:.4f}, best {other.plan.learner} {other.value:.4f}, equal within "
        f"the standard error; {labels_per_document:.1f} labels per document favour {favoured}"
    )
    return selected, why + _at_the_end(selected, trials, measure)


def _is_better(first: Trial, second: Trial, measure: str) -> bool:
    """Whether the difference is larger than its standard error."""
    return _sign(measure) * (first.value - second.value) > _standard_error(first.per_document - second.per_document)


def _at_the_end(selected: Trial, trials: list[Trial], measure: str) -> str:
    """Add that a C beyond those tried may be better still, where that is likely."""
    end = end_of_grid(selected, [trial for trial in trials if trial.plan.learner is selected.plan.learner], measure)
    if end is None:
        return ""
    return f"; {beyond_the_end(selected.plan.parameters['C'], end)}"


def beyond_the_end(cost: float, end: str) -> str:
    """Say that a C which was not tried may be better, and how to try it."""
    other = "larger" if end == "largest" else "smaller"
    return (
        f"C={cost:g} is the {end} value tried; a {other} one may be better "
        f"(compare with arcrank tune -C {cost:g} -C {next_cost(cost, end):g})"
    )


def best_of_each(trials: Sequence[Trial], measure: str) -> list[Trial]:
    """Return the best trial of each learner, the better learner first."""
    best: dict[Learner, Trial] = {}
    for trial in ranked(trials, measure):
        best.setdefault(trial.plan.learner, trial)
    return list(best.values())


def _standard_error(differences: Any) -> float:
    known = differences[~np.isnan(differences)]
    return float(known.std() / math.sqrt(len(known))) if len(known) else math.inf


def _labels_per_document(graphs: PreferenceGraphs) -> float:
    """Average the number of labels per document to which no other label is preferred."""
    rows = range(min(len(graphs), 200))
    tops = [len(np.setdiff1d(*graphs.arcs(row))) for row in rows]
    return float(np.mean([count for count in tops if count] or [1]))


def sample_rows(rows: IntArray, most: int, random_state: int) -> IntArray:
    """Draw at most so many of the rows at random, in their order."""
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(random_state).choice(rows, most, replace=False))


def split_rows(rows: IntArray, share: float, random_state: int) -> tuple[IntArray, IntArray]:
    """Split rows into those to learn from and a random share to measure on; each part has at least one."""
    held_out = np.zeros(len(rows), dtype=bool)
    count = min(max(1, round(share * len(rows))), len(rows) - 1)
    held_out[np.random.default_rng(random_state).permutation(len(rows))[:count]] = True
    return rows[~held_out], rows[held_out]

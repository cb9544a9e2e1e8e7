"""Automatic selection: compare families of rankers on a growing sample of the documents, and average the best.

Successive halving: all families are compared on a few documents, the better half of them again on more, each with the
values of C around the best one so far.
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
from arcrank.training.averaging import MOST_MEMBERS, WORTH, WORTH_OF_FEW, Member, select_average
from arcrank.training.candidates import SCALE, Sample, Trial, cheapest_cost, walk_costs
from arcrank.training.compile_ahead import compile_ahead
from arcrank.training.measures import all_measures, default_measure, loss_of
from arcrank.training.plan import Learner, Plan, metric_title

__all__ = ["Choice", "progress_callback", "ranked", "sample_rows", "select", "shown_parameters", "split_rows"]

RUNGS = (1000, 4000)
"""How many documents families are compared on, and how many the better half of them."""
KEEP = 0.5
MOST_ARCS = 12_000_000  # only hierarchies and very many labels have more
FEWEST_DOCUMENTS = 20
FOLDS = 3


class Choice(NamedTuple):
    """The selected members, the reason, and all candidates."""

    members: list[Member]
    why: str
    measure: str
    trials: list[Trial]
    """Without their scores."""
    documents: int = 0
    """How many documents the members were measured on."""
    folds: int = 1
    measures: dict[str, float] | None = None
    """Out-of-fold measures of the selected average."""

    @property
    def plan(self) -> Plan:
        """The plan of the most important member."""
        return self.members[0].plan

    def describe(self) -> str:
        """Name the members, e.g. `log-linear (C=10)` or `the average of ... and ...`."""
        names = [member.plan.describe() for member in self.members]
        return names[0] if len(names) == 1 else f"the average of {', '.join(names[:-1])} and {names[-1]}"

    def is_member(self, trial: Trial) -> bool:
        """Whether this candidate was selected."""
        return any(trial.plan is member.plan for member in self.members)

    def records(self) -> list[dict[str, Any]]:
        """Return what was compared, as JSON types, in the order in which it was tried."""
        return [
            {
                "learner": str(one.plan.learner),
                "parameters": shown_parameters(one.plan),
                "measure": self.measure,
                "value": one.value,
                "documents": one.documents,
                "seconds": round(one.seconds, 3),
                "selected": self.is_member(one),
            }
            for one in self.trials
        ]

    def validation(self) -> dict[str, Any] | None:
        """Return the out-of-fold measures, as JSON types; None if nothing was compared."""
        if self.measures is None:
            return None
        known = {name: None if math.isnan(value) else value for name, value in self.measures.items()}
        return {"how": "cross-validation", "documents": self.documents, "measures": known}

    def report(self) -> dict[str, Any]:
        """Return what the command prints, as JSON types."""
        members = [
            {"learner": str(one.plan.learner), "parameters": shown_parameters(one.plan), "weight": one.weight}
            for one in self.members
        ]
        return {"why": self.why, "measure": self.measure or None, "members": members, "tried": self.records()}


def shown_parameters(plan: Plan) -> dict[str, Any]:
    """The parameters of a plan that a table shows: those that the model depends on, but for the seed."""
    return {name: value for name, value in plan.parameters.items() if name not in ("random_state", "n_jobs")}


def select(
    families: Sequence[Plan],
    X: Any,
    graphs: PreferenceGraphs,
    *,
    measure: str | None = None,
    budget: float | None = None,
    most_members: int = MOST_MEMBERS,
    random_state: int = 0,
    n_jobs: int = 1,
    as_new: Any = None,
    report: Callable[[float, str], None] = lambda _done, _state: None,
) -> Choice:
    """Select the best ranker, or the best average of rankers, by `measure` or `default_measure`.

    After `budget` seconds no further family is tried; the first one always is. `report` is called with the number of
    candidates that are done and a line about the present one. `n_jobs` folds are fitted at a time. For `as_new` see
    `Sample`.
    """
    if len(graphs) < FEWEST_DOCUMENTS or not families:
        why = f"{is_are(len(graphs), 'document')} too few to compare learners"
        return Choice([Member(families[0], 1.0)], why, "", [])
    if families[0].learner is Learner.SHORTLIST:
        why = f"{graphs.n_labels:,} labels are too many to compare learners"
        return Choice([Member(families[0], 1.0)], why, "", [])
    measure = default_measure(graphs) if measure is None else measure
    search = _Search(measure, report, math.inf if budget is None else time.monotonic() + budget)
    with compile_ahead(families, X, graphs):
        for n, last in _rungs(graphs):
            rows = sample_rows(np.arange(len(graphs)), n, random_state)
            settings: dict[str, Any] = {"random_state": random_state, "n_jobs": n_jobs, "as_new": as_new}
            sample = Sample(X, graphs, rows, measure, folds=FOLDS, **settings)
            best = search.compare(sample, families)
            if not last:
                families = [family for family, _ in best[: max(2, math.ceil(KEEP * len(best)))]]
            if search.is_over():
                break
    worth = WORTH_OF_FEW if len(sample) == len(graphs) else WORTH
    average = select_average([trial for _, trial in best], sample, most_members, worth)
    return Choice(
        average.members,
        _why(average.value, best, measure, len(average.members)),
        measure,
        [trial._replace(scores=None) for trial in search.trials],
        len(sample),
        FOLDS,
        all_measures(sample.graphs, average.scores),
    )


class _Search:
    """All trials so far, and where the walks along C have ended."""

    def __init__(self, measure: str, report: Callable[[float, str], None], deadline: float) -> None:
        self.trials: list[Trial] = []
        self._measure, self._report, self._deadline = measure, report, deadline
        self._starts: dict[str, float | str] = {}

    def is_over(self) -> bool:
        """Whether the time for comparing is spent."""
        return time.monotonic() >= self._deadline

    def compare(self, sample: Sample, families: Sequence[Plan]) -> list[tuple[Plan, Trial]]:
        """Return each family with its best trial on this sample, the best family first; equal ones keep their order."""
        found: list[tuple[Plan, Trial]] = []
        best_loss = math.inf
        for family in families:
            if found and self.is_over():
                break
            key, run = family.describe(), lambda plan: self._run(sample, plan)
            trials = walk_costs(self._measure, family, run, self._starts.get(key, SCALE), best_loss)
            best = ranked(trials, self._measure)[0]
            best_loss = min(best_loss, loss_of(best.value, self._measure))
            self._starts[key] = cheapest_cost(trials, self._measure)
            sample.forget()
            found.append((family, best))
        return sorted(found, key=lambda pair: loss_of(pair[1].value, self._measure))

    def _run(self, sample: Sample, plan: Plan) -> Trial:
        state = f"{len(self.trials) + 1}: {plan.describe()}"
        trial = sample.try_plan(plan, progress_callback(self._report, len(self.trials), state))
        self.trials.append(trial)
        self._report(len(self.trials), f"{state} {trial.value:.4f}")
        return trial


def _rungs(graphs: PreferenceGraphs) -> list[tuple[int, bool]]:
    """How many documents to compare on, and whether that is the last time; fewer if each of them has very many arcs."""
    affordable = max(FEWEST_DOCUMENTS, MOST_ARCS * len(graphs) // max(1, graphs.n_arcs))
    most = min(len(graphs), RUNGS[-1], affordable)
    first = min(RUNGS[0], most)
    return [(most, True)] if most < 2 * first else [(first, False), (most, True)]


def _why(value: float, best: list[tuple[Plan, Trial]], measure: str, n_members: int) -> str:
    title = metric_title(measure)
    if n_members > 1:
        first = best[0][1]
        return f"{title} {value:.4f}, best single {first.plan.learner} {first.value:.4f}"
    others = [trial for _, trial in best[1:]]
    return f"{title} {value:.4f}" + (f", next best {others[0].plan.learner} {others[0].value:.4f}" if others else "")


def ranked(trials: Sequence[Trial], measure: str) -> list[Trial]:
    """Sort trials from best to worst; equal ones stay in the order in which they were tried."""
    return sorted(trials, key=lambda trial: loss_of(trial.value, measure))


def progress_callback(
    report: Callable[[float, str], None], done: float, state: str
) -> Callable[[dict[str, Any]], None]:
    """Make a callback that reports the passes of one fit."""
    return lambda entry: report(done, f"{state}, pass {entry['iteration']}")


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

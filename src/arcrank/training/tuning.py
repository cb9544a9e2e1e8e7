"""Compare learners, decompositions and C by cross-validation; what `arcrank tune` does."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from arcrank._wording import is_are
from arcrank.errors import ParameterError
from arcrank.training.candidates import Sample, Trial
from arcrank.training.fit import TrainingSet, read_training_file
from arcrank.training.measures import check_measure, default_measure, loss_of
from arcrank.training.plan import BIPARTITE, ONLINE, Learner, Plan, check_plan, make_plan
from arcrank.training.reporter import SILENT, Reporter
from arcrank.training.result import TrainingResult
from arcrank.training.selection import progress_callback, ranked
from arcrank.training.stream import ReadOptions, note_first_compile

__all__ = ["TuningResult", "candidate_plans", "cross_validate", "tune_file"]

GRIDS = {Learner.LOG_LINEAR: (1.0, 10.0, 30.0, 100.0, 300.0), Learner.PREFERENCE_MACHINE: (0.1, 0.3, 1.0, 3.0, 10.0)}
FLAT = 0.02  # a C at the end of the grid is noted if its neighbour's loss is larger by more than this share
_DEFAULT_DECOMPOSITIONS = {Learner.LOG_LINEAR: "domination", Learner.PREFERENCE_MACHINE: "identity"}


@dataclass
class TuningResult:
    """All candidates, best first, and the data they were compared on."""

    trials: list[Trial]
    measure: str
    folds: int
    training_set: TrainingSet

    def report(self) -> dict[str, Any]:
        """Return what the command prints, as JSON types."""
        corpus = self.training_set.corpus
        return {
            "measure": self.measure,
            "folds": self.folds,
            "documents": len(corpus),
            "skipped": corpus.skipped,
            "candidates": [_entry(trial) for trial in self.trials],
        }

    def note(self) -> str | None:
        """Return a note if the best C is the smallest or the largest that its learner was tried with."""
        best = self.trials[0]
        rivals = [one for one in self.trials if one.plan.with_parameters(C=None) == best.plan.with_parameters(C=None)]
        end = end_of_grid(best, rivals, self.measure) if "C" in best.plan.parameters else None
        return None if end is None else f"{beyond_the_end(best.plan.parameters['C'], end)}."

    def fit_best(self, reporter: Reporter = SILENT) -> TrainingResult:
        """Train the best candidate on all documents."""
        start = time.perf_counter()
        best, data = self.trials[0], self.training_set
        model, _ = data.fit(data.complete(best.plan), reporter=reporter)
        measures = {self.measure: best.value}
        validation = {"how": "cross-validation", "documents": len(data.corpus), "measures": measures}
        result = data.result(model, best.plan, validation)
        result.seconds = time.perf_counter() - start
        return result


def _entry(trial: Trial) -> dict[str, Any]:
    parameters = {name: value for name, value in trial.plan.parameters.items() if name != "random_state"}
    return {
        "learner": str(trial.plan.learner),
        "parameters": parameters,
        "value": trial.value,
        "seconds": trial.seconds,
    }


def tune_file(
    path: str,
    plans: list[Plan],
    read: ReadOptions,
    *,
    hierarchy: Path | None = None,
    measure: str | None = None,
    folds: int = 3,
    random_state: int = 0,
    reporter: Reporter = SILENT,
) -> TuningResult:
    """Compare plans by cross-validation on a file that is read into memory."""
    corpus, parents = read_training_file(path, read, hierarchy, reporter)
    training_set = TrainingSet(corpus, plans[0], parents)
    for plan in plans:
        training_set.check_learner(plan.learner)
    for plan in {plan.learner: plan for plan in plans}.values():
        training_set.check_memory(plan)
    measure = default_measure(training_set.graphs) if measure is None else measure
    check_measure(measure, training_set.graphs)
    note_first_compile(reporter)
    trials = cross_validate(training_set, plans, measure, folds, random_state, reporter)
    return TuningResult(ranked(trials, measure), measure, folds, training_set)


def cross_validate(
    training_set: TrainingSet,
    plans: list[Plan],
    measure: str,
    folds: int,
    random_state: int,
    reporter: Reporter = SILENT,
) -> list[Trial]:
    """Measure each plan on all documents, each of them left out of the training data in its turn."""
    _check_folds(len(training_set.corpus), folds)
    X, graphs = training_set.features(plans[0])[1], training_set.graphs
    sample = Sample(X, graphs, np.arange(len(graphs)), measure, folds=folds, random_state=random_state)
    trials: list[Trial] = []
    with reporter.progress("tuning", len(plans)) as move:
        for plan in plans:
            state = f"{len(trials) + 1}/{len(plans)} {plan.describe()}"
            trial = sample.try_plan(training_set.complete(plan), progress_callback(move, len(trials), state))
            trials.append(trial._replace(plan=plan, scores=None))
            sample.forget()
            move(len(trials), state)
    return trials


def _check_folds(n: int, folds: int) -> None:
    if n < 2 * folds:
        raise ParameterError(
            f"{is_are(n, 'document')} too few for {folds} folds.\nProvide more documents or use fewer --folds."
        )


def candidate_plans(
    learners: Sequence[Learner] | None,
    decompositions: Sequence[str] | None,
    costs: Sequence[float] | None,
    settings: dict[str, Any],
    random_state: int,
) -> list[Plan]:
    """Combine every learner with every decomposition and every C that it has, and check the plans."""
    if any(name in BIPARTITE for name in learners or ()):
        raise ParameterError("tune compares rankers of labels.\nUse arcrank train for learners that rank documents.")
    chosen = [one for name in learners or GRIDS for one in (list(GRIDS) if name is Learner.AUTO else [name])]
    _check_use(chosen, decompositions, costs, settings)
    plans: list[Plan] = []
    for name in dict.fromkeys(chosen):
        for decomposition in _decompositions(name, decompositions):
            base = make_plan(name, decomposition, settings, random_state)
            values = _costs(name, costs, settings)
            plans += [base if value is None else base.with_parameters(C=value) for value in values]
    if any(plan.learner in ONLINE for plan in plans) and not all(plan.learner in ONLINE for plan in plans):
        raise ParameterError("mmp and perceptron hash their features, the others do not.\nTune them separately.")
    for plan in plans:
        check_plan(plan)
    return plans


def _check_use(
    learners: list[Learner],
    decompositions: Sequence[str] | None,
    costs: Sequence[float] | None,
    settings: dict[str, Any],
) -> None:
    """Refuse an option that no candidate uses."""
    for option, given, users in (
        ("-C", costs, GRIDS),
        ("--decomposition", decompositions, _DEFAULT_DECOMPOSITIONS),
    ):
        if given and not any(name in users for name in learners):
            names = " and ".join(dict.fromkeys(learners))
            raise ParameterError(
                f"{option} has no meaning for {names}.\nLeave it out, or use --learner {' or '.join(users)}."
            )
    if costs and "C" in settings:
        raise ParameterError(f"-C and --set C={settings['C']} contradict each other.\nGive one of them.")


def _decompositions(learner: Learner, given: Sequence[str] | None) -> list[str | None]:
    if learner not in _DEFAULT_DECOMPOSITIONS:
        return [None]
    return list(given or [_DEFAULT_DECOMPOSITIONS[learner]])


def _costs(learner: Learner, costs: Sequence[float] | None, settings: dict[str, Any]) -> list[float | None]:
    if learner not in GRIDS or "C" in settings:
        return [None]
    return list(costs or GRIDS[learner])


def end_of_grid(best: Trial, trials: Sequence[Trial], measure: str) -> str | None:
    """Tell whether the best C is the "smallest" or "largest" tried and clearly better than its neighbour; else None."""
    ordered = sorted(trials, key=lambda trial: trial.plan.parameters["C"])
    place = [trial.plan for trial in ordered].index(best.plan)
    if len(ordered) < 2 or 0 < place < len(ordered) - 1:
        return None
    neighbour = ordered[1] if place == 0 else ordered[-2]
    clearly = (1 + FLAT) * loss_of(best.value, measure) < loss_of(neighbour.value, measure)
    return ("smallest" if place == 0 else "largest") if clearly and loss_of(best.value, measure) > 0 else None


def next_cost(cost: float, end: str) -> float:
    """Return the value before the smallest or after the largest C, in steps of about three.

    >>> [next_cost(C, "largest") for C in (10.0, 30.0, 300.0)], [next_cost(C, "smallest") for C in (1.0, 0.3, 0.1)]
    ([30.0, 100.0, 1000.0], [0.3, 0.1, 0.03])
    """
    half_decades = round(2 * math.log10(cost)) + (1 if end == "largest" else -1)
    return float(f"{10 ** (half_decades / 2):.0e}")


def beyond_the_end(cost: float, end: str) -> str:
    """Say that a C which was not tried may be better, and how to try it."""
    other = "larger" if end == "largest" else "smaller"
    return (
        f"C={cost:g} is the {end} value tried; a {other} one may be better "
        f"(compare with arcrank tune -C {cost:g} -C {next_cost(cost, end):g})"
    )

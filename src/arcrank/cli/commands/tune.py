"""`arcrank tune`: learner, decomposition and C by cross-validation."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import arcrank
from arcrank._wording import count, is_are, number
from arcrank.cli.console import cell, console, say, table, warnings_to_stderr, write_json
from arcrank.cli.files import check_input, check_output, read_all
from arcrank.cli.options import (
    DataPath,
    DecompositionName,
    HierarchyOption,
    JsonOption,
    OnError,
    OnErrorOption,
    SeedOption,
    SetOption,
)
from arcrank.cli.progress import Meter
from arcrank.cli.reading import Reading, reads_data
from arcrank.cli.reporter import ConsoleReporter
from arcrank.errors import ParameterError
from arcrank.training.plan import ONLINE, Learner, Plan, check_plan, make_plan, parse_settings
from arcrank.training.selection import (
    GRIDS,
    Measure,
    Trial,
    beyond_the_end,
    check_measure,
    default_measure,
    end_of_grid,
    metric_title,
    progress_callback,
    ranked,
    try_plan,
)

if TYPE_CHECKING:
    from arcrank.training.fit import TrainingSet

_DEFAULT_CUTS = {
    Learner.LOG_LINEAR: DecompositionName.DOMINATION,
    Learner.PREFERENCE_MACHINE: DecompositionName.IDENTITY,
}


@reads_data
def tune(
    data: DataPath,
    reading: Reading,
    model: Annotated[
        Path | None, typer.Option("--model", "-m", help="Keep the winner, trained on all documents.")
    ] = None,
    measure: Annotated[Measure | None, typer.Option(help="What to sort by; ranking_loss for label sets.")] = None,
    learner: Annotated[list[Learner] | None, typer.Option(help="May be repeated; by default both of auto's.")] = None,
    decomposition: Annotated[
        list[DecompositionName] | None, typer.Option(help="May be repeated; each learner's own.")
    ] = None,
    cost: Annotated[list[float] | None, typer.Option("-C", "--cost", help="Values of C; may be repeated.")] = None,
    folds: Annotated[int, typer.Option(min=2, help="Parts of the cross-validation.")] = 3,
    set: SetOption = None,
    hierarchy: HierarchyOption = None,
    on_error: OnErrorOption = OnError.RAISE,
    random_state: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Compare learners, decompositions and C by cross-validation, best first; --model keeps the winner."""
    from arcrank.datasets.hierarchy_file import check_hierarchy, read_tree
    from arcrank.training.fit import TrainingSet, note_first_compile

    check_input(data)
    if model is not None:
        check_output(model, data, hierarchy)
    settings = parse_settings(set or [])
    plans = candidates(learner or list(GRIDS), decomposition, cost, settings, random_state)
    for plan in plans:
        check_plan(plan)
    parents = None if hierarchy is None else read_tree(hierarchy)
    corpus = read_all(data, reading, on_error)
    read = f"{count(len(corpus), 'document')} with {count(len(corpus.labels), 'label')}"
    say(f"read {read}; {count(len(plans), 'candidate')}.")
    if parents is not None and hierarchy is not None:
        check_hierarchy(parents, hierarchy, corpus)
    room = TrainingSet(corpus, plans[0], parents)
    for plan in plans:
        room.check_learner(plan.learner)
    for plan in {plan.learner: plan for plan in plans}.values():
        room.check_memory(plan)
    by = default_measure(room.graphs) if measure is None else str(measure)
    check_measure(by, room.graphs)
    note_first_compile(ConsoleReporter())
    trials = ranked(cross_validate(room, plans, by, folds, random_state), by)
    report: dict[str, Any] = {"measure": by, "folds": folds, "documents": len(corpus), "skipped": corpus.skipped}
    report |= {"candidates": [_entry(trial) for trial in trials], "model": None if model is None else str(model)}
    if model is not None:
        _keep(room, trials[0], by, folds, model, data)
    if json:
        write_json(report)
    else:
        _show(report)
    _note_the_end(trials, by)


def _note_the_end(trials: list[Trial], measure: str) -> None:
    """Say where the best C is the smallest or the largest of those that its learner was tried with."""
    best = trials[0]
    rivals = [trial for trial in trials if trial.plan.with_parameters(C=None) == best.plan.with_parameters(C=None)]
    end = end_of_grid(best, rivals, measure) if "C" in best.plan.parameters else None
    if end is not None:
        say(f"Note: {beyond_the_end(best.plan.parameters['C'], end)}.")


def candidates(
    learners: list[Learner],
    cuts: list[DecompositionName] | None,
    costs: list[float] | None,
    settings: dict[str, Any],
    random_state: int,
) -> list[Plan]:
    """Every learner with every decomposition and C that it has."""

    chosen = [one for name in learners for one in (list(GRIDS) if name is Learner.AUTO else [name])]
    _check_use(chosen, cuts, costs, settings)
    plans: list[Plan] = []
    for name in dict.fromkeys(chosen):
        for cut in _cuts(name, cuts):
            base = make_plan(name, cut, settings, random_state)
            values = _costs(name, costs, settings)
            plans += [base if value is None else base.with_parameters(C=value) for value in values]
    if any(plan.learner in ONLINE for plan in plans) and not all(plan.learner in ONLINE for plan in plans):
        raise ParameterError("mmp and perceptron hash their features, the others do not.\nTune them apart.")
    return plans


def _check_use(
    learners: list[Learner], cuts: list[DecompositionName] | None, costs: list[float] | None, settings: dict[str, Any]
) -> None:
    """Refuse an option that no candidate would see."""

    for option, given, takers in (("-C", costs, GRIDS), ("--decomposition", cuts, _DEFAULT_CUTS)):
        if given and not any(name in takers for name in learners):
            names = " and ".join(dict.fromkeys(learners))
            raise ParameterError(f"{option}: {names} has none.\nLeave it out, or take --learner {' or '.join(takers)}.")
    if costs and "C" in settings:
        raise ParameterError(f"-C and --set C={settings['C']} say two things.\nGive one of them.")


def _cuts(learner: Learner, cuts: list[DecompositionName] | None) -> list[DecompositionName | None]:
    if learner not in _DEFAULT_CUTS:
        return [None]
    return list(cuts or [_DEFAULT_CUTS[learner]])


def _costs(learner: Learner, costs: list[float] | None, settings: dict[str, Any]) -> list[float | None]:
    if learner not in GRIDS or "C" in settings:
        return [None]
    return list(costs or GRIDS[learner])


def cross_validate(room: TrainingSet, plans: list[Plan], measure: str, folds: int, random_state: int) -> list[Trial]:
    """Each plan's mean measure over the folds; features are made once a fold."""
    import numpy as np

    parts = _folds(room, folds, random_state)
    values, seconds = np.zeros((len(plans), len(parts))), np.zeros(len(plans))
    with warnings_to_stderr(), Meter("tuning", len(parts) * len(plans), "fits") as meter:
        for fold, (learn, judge) in enumerate(parts):
            X, Z = room.features(plans[0], learn, judge)
            for row, plan in enumerate(plans):
                state = f"{meter.done + 1:.0f}/{values.size} {plan.describe()}"
                on_pass = progress_callback(meter.move, meter.done, state)
                trial = try_plan(plan, X, room.graphs[learn], Z, room.graphs[judge], measure, on_pass)
                values[row, fold] = trial.value
                seconds[row] += trial.seconds
                meter.advance(1, state)
    return [
        Trial(plan, float(np.mean(row)), float(spent)) for plan, row, spent in zip(plans, values, seconds, strict=True)
    ]


def _folds(room: TrainingSet, folds: int, random_state: int) -> list[tuple[Any, Any]]:
    from arcrank.model_selection import StratifiedFolds

    n = len(room.corpus)
    if n < 2 * folds:
        raise ParameterError(
            f"{is_are(n, 'document')} too few for {folds} folds.\nGive more documents or fewer --folds."
        )
    return list(StratifiedFolds(folds, random_state=random_state).split(range(n), room.graphs))


def _keep(room: TrainingSet, best: Trial, measure: str, folds: int, model: Path, data: str) -> None:
    from arcrank.training.fit import TrainingResult

    start = time.perf_counter()
    fitted = room.fit(best.plan, ConsoleReporter())
    validation = {"how": "cross-validation", "documents": len(room.corpus), "measures": {measure: best.value}}
    lesson = TrainingResult(fitted, best.plan, room.columns, len(room.corpus), room.corpus.skipped, validation)
    lesson.hierarchy = room.hierarchy
    lesson.seconds = time.perf_counter() - start
    arcrank.save(fitted, model, card={**lesson.card(data), "folds": folds})
    say(f"kept {best.plan.describe()} as {model}.")


def _entry(trial: Trial) -> dict[str, Any]:
    parameters = {name: value for name, value in trial.plan.parameters.items() if name != "random_state"}
    return {
        "learner": str(trial.plan.learner),
        "parameters": parameters,
        "value": trial.value,
        "seconds": trial.seconds,
    }


def _show(report: dict[str, Any]) -> None:
    title = f"{report['folds']}-fold cross-validation of {count(report['documents'], 'document')}"
    names = list(dict.fromkeys(name for entry in report["candidates"] for name in entry["parameters"]))
    shown = table(title, "learner", *names, metric_title(report["measure"]), "seconds", numbers=2)
    for entry in report["candidates"]:
        settings = [_setting(entry["parameters"].get(name, "")) for name in names]
        shown.add_row(entry["learner"], *settings, number(entry["value"]), f"{entry['seconds']:.1f}")
    console(beside_file=report["model"] is not None).print(shown)


def _setting(value: Any) -> Any:
    return number(value) if isinstance(value, float) else cell(value)

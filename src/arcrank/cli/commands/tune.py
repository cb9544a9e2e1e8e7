"""`arcrank tune`: learner, decomposition and C by cross-validation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from arcrank._wording import count, number
from arcrank.cli import options
from arcrank.cli.console import cell, console, say, table, write_json
from arcrank.cli.files import check_input, check_model_output
from arcrank.cli.reading import Reading, reads_data
from arcrank.cli.reporter import ConsoleReporter
from arcrank.training.plan import Learner, Measure, metric_title, parse_settings


@reads_data
def tune(
    data: options.DataPath,
    reading: Reading,
    model: Annotated[
        Path | None, typer.Option("--model", "-m", help="Save the winner, trained on all documents, to this file.")
    ] = None,
    measure: Annotated[Measure | None, typer.Option(help="Measure to sort by (label sets: ranking_loss).")] = None,
    learner: Annotated[list[Learner] | None, typer.Option(help="May be repeated (default: both of auto's).")] = None,
    decomposition: Annotated[
        list[options.DecompositionName] | None, typer.Option(help="May be repeated (default: that of each learner).")
    ] = None,
    cost: Annotated[list[float] | None, typer.Option("-C", "--cost", help="Values of C; may be repeated.")] = None,
    folds: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 3,
    set: options.SetOption = None,
    hierarchy: options.HierarchyOption = None,
    on_error: options.OnErrorOption = options.OnError.RAISE,
    random_state: options.SeedOption = 0,
    json: options.JsonOption = False,
) -> None:
    """Compare learners, decompositions and C by cross-validation, best first; --model saves the winner."""
    from arcrank.training.tuning import candidate_plans, tune_file

    check_input(data)
    if model is not None:
        check_model_output(model, data, hierarchy)
    plans = candidate_plans(learner, decomposition, cost, parse_settings(set or []), random_state)
    say(f"{count(len(plans), 'candidate')} to compare.")
    reporter = ConsoleReporter(on_error)
    # train passes the same options to another function
    result = tune_file(
        data,
        plans,
        reading.options(data, on_error),
        hierarchy=hierarchy,
        measure=measure,
        folds=folds,
        random_state=random_state,
        reporter=reporter,
    )
    if model is not None:
        result.fit_best(reporter).save(model, data, folds=folds)
        say(f"Saved {result.trials[0].plan.describe()} to {model}.")
    report = {**result.report(), "model": None if model is None else str(model)}
    if json:
        write_json(report)
    else:
        _show(report)
    if (note := result.note()) is not None:
        say(f"Note: {note}")


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

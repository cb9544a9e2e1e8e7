"""`arcrank train`: a model from a file of documents with preferences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from arcrank._wording import count, format_counts, note_few_documents, number, printable
from arcrank.cli import options
from arcrank.cli.console import console, say, write_json
from arcrank.cli.files import STANDARD_INPUT, check_input, check_model_output
from arcrank.cli.reading import Reading, reads_data
from arcrank.cli.reporter import ConsoleReporter
from arcrank.errors import ParameterError
from arcrank.training.advice import memory_in_flags
from arcrank.training.plan import ONLINE, Learner, Measure, Plan, metric_title

_BIG = 20_000_000
_ONLINE_LOSSES = {
    "indicator_loss": " (share of documents not in perfect order)",
    "size_loss": " (wrongly ordered pairs per document)",
    "ranking_loss": " (share of wrongly ordered pairs)",
}
_HOW = {"held-out": " held out", "cross-validation": ", cross-validated"}
_ORDERS = {"shuffled": " in random order", "file": " in file order"}


@reads_data
def train(
    data: options.DataPath,
    model: Annotated[Path, typer.Option("--model", "-m", help="The model file to write.")],
    reading: Reading,
    learner: Annotated[
        Learner,
        typer.Option(help="auto compares rankers by cross-validation and averages the best."),
    ] = Learner.AUTO,
    measure: Annotated[
        Measure | None,
        typer.Option(help="Measure that auto selects by (default for label sets: balanced)."),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0.0, metavar="SECONDS", help="Time that auto may take to compare rankers; the fit comes on top."
        ),
    ] = None,
    decomposition: Annotated[
        options.DecompositionName | None, typer.Option(help="How preference graphs are split into subgraphs.")
    ] = None,
    set: options.SetOption = None,
    hierarchy: options.HierarchyOption = None,
    feedback: Annotated[
        Path | None, typer.Option(help="Also learn the feedback that `arcrank serve` wrote to this file.")
    ] = None,
    validate: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=0.9,
            help="Share of documents to hold out for measuring; 0 for none (default: 0.1; auto cross-validates).",
        ),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(help="Memory for a folder of shards, such as 2GB (default: 2GB).", metavar="SIZE")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Train a folder of shards on the Dask cluster at this address.", metavar="ADDRESS"),
    ] = None,
    on_error: options.OnErrorOption = options.OnError.RAISE,
    random_state: options.SeedOption = 0,
    json: options.JsonOption = False,
) -> None:
    """Learn to rank labels from documents with preferences, and save the model.

    By default several rankers are compared by cross-validation, and the best of them, or their average, is trained on
    all documents. Other learners are measured on held-out documents first. The online
    learners mmp and perceptron read the file as a stream, in constant memory, and learn its documents in random order;
    --set shuffle=false keeps the order of the file.

    The learners few-labels, rankboost, semi-supervised-rankboost, transductive-svm and semi-supervised-logistic rank
    documents, not labels. They learn from "relevant": true, false or null (in a table 1, 0 or an empty cell).

    Of queries with candidates, qid files and JSON lines with "candidates", the candidates of each query are ranked, by
    auto, log-linear, preference-machine or the online learners.

    The language of texts, for stems and stop words, is found in the texts; --set language=german sets it. The online
    learners assume English.

    DATA may be a folder of shards, as `arcrank data convert` writes it: the log-linear ranker is then trained block by
    block within --memory, or by a cluster with --scheduler. Nothing is held out.
    """
    from arcrank.training.fit import fit_file

    check_model_output(model, data, hierarchy)
    if Path(data).is_dir() or memory is not None or scheduler is not None:
        _train_folder(
            data, model, Plan.from_options(learner, decomposition, set or [], random_state), memory, scheduler, json
        )
        return
    check_input(data)
    plan = Plan.from_options(learner, decomposition, set or [], random_state)
    _check_options(plan, data, measure, budget)
    if feedback is not None:
        _check_feedback(feedback, data, hierarchy)
    with memory_in_flags(learner):
        result = fit_file(
            data,
            plan,
            reading.options(data, on_error),
            hierarchy=hierarchy,
            validate=validate,
            random_state=random_state,
            measure=measure,
            budget=budget,
            reporter=ConsoleReporter(on_error),
        )
    more = {} if feedback is None else {"feedback": _learn_feedback(result, feedback, data, reading, on_error)}
    report = result.save(model, data, **more)
    if json:
        write_json(report)
    else:
        show_report(report)
    for note in [*_notes(report), *_notes_on_order(result)]:
        say(f"Note: {note}")


def _train_folder(data: str, model: Path, plan: Plan, memory: str | None, scheduler: str | None, json: bool) -> None:
    from arcrank.training.folder import fit_folder

    if not Path(data).is_dir():
        raise ParameterError("--memory and --scheduler are for a folder of shards.\nWrite one: arcrank data convert.")
    reporter = ConsoleReporter(options.OnError.RAISE)
    report = fit_folder(data, plan, memory=memory, scheduler=scheduler, reporter=reporter).save(model, data)
    if json:
        write_json(report)
    else:
        show_report(report)


def _check_options(plan: Plan, data: str, measure: Measure | None, budget: float | None) -> None:
    """Refuse options that contradict each other."""
    if measure is not None and plan.learner is not Learner.AUTO:
        raise ParameterError(
            f"--measure is what auto selects by, and --learner {plan.learner} leaves nothing to select.\n"
            f"Leave one of them out, or use arcrank tune --learner {plan.learner} --measure {measure}."
        )
    if budget is not None and plan.learner is not Learner.AUTO:
        raise ParameterError(
            f"--budget is the time that auto may take, and --learner {plan.learner} leaves nothing to compare.\n"
            "Leave one of them out."
        )
    if data == STANDARD_INPUT and plan.parameters.get("epochs", 1) != 1:
        raise ParameterError("--set epochs: standard input can be read only once.\nGive a file, or use 1 epoch.")


def _check_feedback(feedback: Path, data: str, hierarchy: Path | None) -> None:
    from arcrank.training.feedback import check_feedback_file

    if data == STANDARD_INPUT:
        raise ParameterError("--feedback: standard input can be read only once.\nGive a file.")
    check_feedback_file(feedback, hierarchy)


def _learn_feedback(
    result: Any, feedback: Path, data: str, reading: Reading, on_error: options.OnError
) -> dict[str, Any]:
    from arcrank.training.feedback import learn_feedback

    return learn_feedback(result, feedback, data, reading.options(data, on_error), ConsoleReporter(on_error))


def _notes_on_order(result: Any) -> Iterator[str]:
    from arcrank.training.stream import about_order, forgetting

    if result.order is not None and result.order.in_runs:
        shuffled = result.validation["order"] == "shuffled"
        yield about_order(
            result.order,
            "It was shuffled before learning." if shuffled else forgetting("Leave shuffle at its default, true."),
        )


def _notes(report: dict[str, Any]) -> Iterator[str]:
    """Yield what to keep in mind when reading the report."""
    if report["validation"] and note_few_documents(report["validation"]["documents"]):
        yield note_few_documents(report["validation"]["documents"])
    if report["learner"] in ONLINE and report["bytes"] > _BIG:
        yield (
            f"The model file grows with labels and features; --set n_features={report['features'] // 4} "
            f"(now {report['features']}) makes it smaller, at some cost in accuracy."
        )


def show_report(report: dict[str, Any]) -> None:
    """Print the report in a few lines for people."""
    from rich.text import Text

    of_what = count(report["labels"], "label")
    if "relevance" in report:
        of_what = ", ".join(f"{n:,} {name}" for name, n in report["relevance"].items())
    elif not report["labels"]:
        of_what = "each with its own candidates"
    lines = [
        f"{report['learner']}: {count(report['documents'], 'document')}, {of_what}, "
        f"{count(report['features'], 'feature')}, {report['seconds']:.1f} s"
    ]
    if report["skipped"]:
        lines.append(f"skipped {format_counts(report['skipped'])}")
    if report["duality_gap"] is not None:
        lines.append(f"relative duality gap {report['duality_gap']:.1e}")
    if report["validation"]:
        lines.append(describe_validation(report["validation"]))
    lines.append(f"saved to {printable(report['model'])} ({size_in_words(report['bytes'])})")
    console(beside_file=True).print(Text("\n".join(lines)), soft_wrap=True)


def describe_validation(validation: dict[str, Any]) -> str:
    """Format validation measures on one line."""
    n, how = validation["documents"], _HOW.get(validation["how"])
    meanings = {} if how else _ONLINE_LOSSES
    how = how or f"{_ORDERS[validation['order']]}, each measured before it was learnt"
    measures = ", ".join(
        f"{metric_title(name)} {number(value)}{meanings.get(name, '')}"
        for name, value in validation["measures"].items()
    )
    return f"on {count(n, 'document')}{how}: {measures}"


def size_in_words(n: int) -> str:
    """Format the size of a file.

    >>> size_in_words(1), size_in_words(2500), size_in_words(58_400_000)
    ('1 byte', '2.5 kB', '58.4 MB')
    """
    if n < 1000:
        return count(n, "byte")
    return f"{n / 1e3:,.1f} kB" if n < 1e6 else f"{n / 1e6:,.1f} MB"

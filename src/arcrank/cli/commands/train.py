"""`arcrank train`: a model from a file of documents with preferences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

import arcrank
from arcrank._wording import count, note_few_documents, number, printable
from arcrank.cli.console import console, say, write_json
from arcrank.cli.files import STANDARD_INPUT, check_input, check_output, read_all
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
from arcrank.cli.reading import Reading, reads_data
from arcrank.cli.reporter import ConsoleReporter
from arcrank.errors import ParameterError
from arcrank.training.estimate import memory_in_flags
from arcrank.training.plan import ONLINE, Learner, Plan, check_plan, make_plan, parse_settings
from arcrank.training.selection import Measure, metric_title

_BIG = 20_000_000
_ONLINE_LOSSES = {
    "indicator_loss": " (share of documents not in perfect order)",
    "size_loss": " (wrongly ordered pairs a document)",
    "ranking_loss": " (share of wrongly ordered pairs)",
}
_ORDERS = {"shuffled": " in random order", "file": " in file order"}


@reads_data
def train(
    data: DataPath,
    model: Annotated[Path, typer.Option("--model", "-m", help="The model file to write.")],
    reading: Reading,
    learner: Annotated[Learner, typer.Option(help="auto compares log-linear and preference-machine.")] = Learner.AUTO,
    measure: Annotated[
        Measure | None, typer.Option(help="What auto compares learners and C by; ranking_loss for label sets.")
    ] = None,
    decomposition: Annotated[
        DecompositionName | None, typer.Option(help="How preferences are cut into pieces.")
    ] = None,
    set: SetOption = None,
    hierarchy: HierarchyOption = None,
    validate: Annotated[
        float, typer.Option(min=0.0, max=0.9, help="Share of documents to measure on; 0 for none.")
    ] = 0.1,
    on_error: OnErrorOption = OnError.RAISE,
    random_state: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Learn to rank labels from documents with preferences, and keep the model.

    The measures are of documents that were held out; the model that is kept then learns from all of them. The online
    learners mmp and perceptron read the file as a stream, in constant memory, and learn its documents in random order;
    --set shuffle=false keeps the order of the file.

    Texts are taken for English; for German ones, say, give --set stem=german --set stop_words=null.
    """

    check_output(model, data, hierarchy)
    check_input(data)
    plan = make_plan(learner, decomposition, parse_settings(set or []), random_state)
    check_plan(plan)
    if measure is not None and learner is not Learner.AUTO:
        raise ParameterError(
            f"--measure is what auto chooses by, and --learner {learner} leaves nothing to choose.\n"
            f"Leave one of them out, or use arcrank tune --learner {learner} --measure {measure}."
        )
    if data == STANDARD_INPUT and plan.parameters.get("epochs", 1) != 1:
        raise ParameterError("--set epochs: standard input can be read once.\nGive a file, or leave epochs at 1.")
    with memory_in_flags(learner):
        if learner in ONLINE and hierarchy is None:
            from arcrank.training.stream import fit_stream

            lesson = fit_stream(data, plan, reading.stream(data, on_error), ConsoleReporter(on_error))
        else:
            lesson = _learn_whole(data, reading, plan, on_error, hierarchy, validate, random_state, measure)
    keep(lesson, model, data, as_json=json)


def _learn_whole(
    data: str,
    reading: Reading,
    plan: Plan,
    on_error: str,
    hierarchy: Path | None,
    validate: float,
    random_state: int,
    measure: Measure | None,
) -> Any:
    """A model of a file that is read into memory."""
    from arcrank.datasets.hierarchy_file import check_hierarchy, read_tree
    from arcrank.training.fit import fit_corpus

    parents = None if hierarchy is None else read_tree(hierarchy)
    corpus = read_all(data, reading, on_error)
    say(f"read {count(len(corpus), 'document')} with {count(len(corpus.labels), 'label')}.")
    if parents is not None and hierarchy is not None:
        check_hierarchy(parents, hierarchy, corpus)
    return fit_corpus(
        corpus,
        plan,
        validate=validate,
        random_state=random_state,
        hierarchy=parents,
        measure=measure,
        reporter=ConsoleReporter(on_error),
    )


def keep(lesson: Any, model: Path, data: str, *, as_json: bool) -> None:
    """Save the model, atomically, and tell what it is."""
    arcrank.save(lesson.model, model, card=lesson.card(data))
    report = {"model": str(model), "bytes": model.stat().st_size, **lesson.report()}
    if as_json:
        write_json(report)
    else:
        show_report(report)
    for note in [*_notes(report), *_notes_on_order(lesson)]:
        say(f"Note: {note}")


def _notes_on_order(lesson: Any) -> Iterator[str]:
    from arcrank.training.stream import about_order, forgetting

    if lesson.order is not None and lesson.order.in_runs:
        shuffled = lesson.validation["order"] == "shuffled"
        yield about_order(
            lesson.order,
            "It was shuffled before learning." if shuffled else forgetting("Leave shuffle at its default, true."),
        )


def _notes(report: dict[str, Any]) -> Iterator[str]:
    """What to keep in mind when reading the report."""
    if report["validation"] and note_few_documents(report["validation"]["documents"]):
        yield note_few_documents(report["validation"]["documents"])
    if report["learner"] in ONLINE and report["bytes"] > _BIG:
        yield (
            f"The file grows with labels and features met; --set n_features={report['features'] // 4} "
            f"(now {report['features']}) makes it smaller, at some cost in accuracy."
        )


def show_report(report: dict[str, Any]) -> None:
    """What was learnt, in a few lines for people."""
    from rich.text import Text

    lines = [
        f"{report['learner']}: {count(report['documents'], 'document')}, {count(report['labels'], 'label')}, "
        f"{count(report['features'], 'feature')}, {report['seconds']:.1f} s"
    ]
    if report["skipped"]:
        lines.append("skipped " + ", ".join(f"{count:,} x {reason}" for reason, count in report["skipped"].items()))
    if report["duality_gap"] is not None:
        lines.append(f"relative duality gap {report['duality_gap']:.1e}")
    if report["validation"]:
        lines.append(describe_validation(report["validation"]))
    lines.append(f"kept as {printable(report['model'])} ({size_in_words(report['bytes'])})")
    console(beside_file=True).print(Text("\n".join(lines)), soft_wrap=True)


def describe_validation(validation: dict[str, Any]) -> str:
    """The measures in one line."""
    n, held_out = validation["documents"], validation["how"] == "held-out"
    how = " held out to measure" if held_out else f"{_ORDERS[validation['order']]}, each judged before it was learnt"
    meanings = {} if held_out else _ONLINE_LOSSES
    measures = ", ".join(
        f"{metric_title(name)} {number(value)}{meanings.get(name, '')}"
        for name, value in validation["measures"].items()
    )
    return f"on {count(n, 'document')}{how}: {measures}"


def size_in_words(n: int) -> str:
    """The size of a file.

    >>> size_in_words(1), size_in_words(2500), size_in_words(58_400_000)
    ('1 byte', '2.5 kB', '58.4 MB')
    """
    if n < 1000:
        return count(n, "byte")
    return f"{n / 1e3:,.1f} kB" if n < 1e6 else f"{n / 1e6:,.1f} MB"

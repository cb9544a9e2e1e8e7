"""`arcrank evaluate`: all measures of a model on a file, in a table, as JSON, or as a page to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcrank.cli.learners import FileFormat, OnError

if TYPE_CHECKING:
    from arcrank.cli.evaluation import Evaluation, LabelRow

_BATCH, _SHOWN = 2048, 12


def evaluate(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as `arcrank train` writes it.")],
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="Documents with their labels or other preferences; - reads JSON lines."),
    ],
    report: Annotated[Path | None, typer.Option(help="Write a page for people to this file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    format: Annotated[
        FileFormat | None, typer.Option(help="The format of DATA, where its ending does not tell.")
    ] = None,
    on_error: Annotated[OnError, typer.Option(help="Stop at a row that cannot be read, or skip it.")] = OnError.RAISE,
) -> None:
    """Measure a model on documents whose labels are known."""
    from arcrank.cli.output import say, write_json
    from arcrank.cli.showing import check_place

    if report is not None:
        check_place(report, "--report")
    found = measure(model, data, format, on_error)
    if report is not None:
        write_report(found, model.name, Path(data).name, report)
        say(f"The report is in {report}")
    if json:
        from arcrank.cli.report import to_json

        write_json(to_json(found, str(model), data))
    else:
        show(found)


def measure(model: Path, data: str, format: str | None = None, on_error: str = "raise") -> Evaluation:
    """Load the model, then go through the file in blocks."""
    import arcrank
    from arcrank.cli.blocks import blocks_of
    from arcrank.cli.evaluation import evaluate as judge
    from arcrank.cli.inputs import check_input
    from arcrank.errors import FormatError

    check_input(str(model))
    check_input(data)
    loaded = arcrank.load(model)
    with blocks_of(data, format, "evaluating", batch_rows=_BATCH, on_error=on_error) as blocks:
        found = judge(loaded, blocks)
    if not found.n_documents:
        reasons = ", ".join(f"{why} ({n:,})" for why, n in found.skipped.items())
        raise FormatError(f"{data}: no row could be read: {reasons}.\nCorrect the file.")
    return found


def write_report(found: Evaluation, model: str, data: str, path: Path, **more: Any) -> None:
    """Write the page, whole or not at all."""
    from arcrank.cli.output import printable
    from arcrank.cli.report import report
    from arcrank.modelfile.atomic import write_atomically

    write_atomically(path, [report(found, printable(model), printable(data), **more).encode()])


def show(found: Evaluation) -> None:
    """The measures and the most frequent labels on standard output; what was left out on standard error."""
    from arcrank.cli.output import console, say
    from arcrank.cli.showing import clipped, count

    console().print(_measures_table(found))
    if any(row.support for row in found.per_label):
        console().print(_label_table(found.per_label))
    if found.skipped:
        say("Left out: " + ", ".join(f"{count(n, 'row')} ({why})" for why, n in found.skipped.items()))
    if found.unknown_labels:
        names = ", ".join(clipped(name, 30) for name in list(found.unknown_labels)[:3])
        say(f"Left out: {count(len(found.unknown_labels), 'label')} that the model does not know, such as {names}")


def _measures_table(found: Evaluation) -> Any:
    from arcrank.cli.evaluation import MEANINGS
    from arcrank.cli.output import number, table
    from arcrank.cli.showing import count

    title = f"{count(found.n_documents, 'document')}, {count(len(found.labels), 'label')}"
    made = table(title, "measure", "value", "what it says")
    made.columns[1].justify = "right"
    for name, value in found.measures.items():
        made.add_row(name, number(value), MEANINGS[name])
    return made


def _label_table(rows: list[LabelRow]) -> Any:
    """The most frequent labels: a terminal is no place for hundreds."""
    from arcrank.cli.output import cell, table
    from arcrank.cli.showing import clipped

    used = sorted((row for row in rows if row.support), key=lambda row: (-row.support, row.label))
    title = "Labels" if len(used) <= _SHOWN else f"The {_SHOWN} most frequent of {len(used):,} labels (--json has all)"
    made = table(title, "label", "documents", "first", "in first 5", "average rank", numbers=4)
    for row in used[:_SHOWN]:
        numbers = f"{row.support:,}", f"{row.top1:.0%}", f"{row.top5:.0%}", f"{row.average_rank:.1f}"
        made.add_row(cell(clipped(row.label, 48)), *numbers)
    return made

"""`arcrank evaluate`: all measures of a model on a file, in a table, as JSON, or as a page to read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcrank._wording import count, display_path, format_counts, number, printable, some_names, truncate
from arcrank.cli.blocks import blocks_of
from arcrank.cli.console import cell, console, say, table, write_json
from arcrank.cli.files import check_input, check_order, check_writable, is_html_file, load_model
from arcrank.cli.options import OnError
from arcrank.cli.reading import Reading, reads_data
from arcrank.errors import FormatError
from arcrank.evaluation.caveats import cautions, has_learnt_from
from arcrank.io.atomic import write_atomically

if TYPE_CHECKING:
    from arcrank.evaluation.evaluate import Evaluation, LabelRow

_BATCH, _SHOWN = 2048, 12


@reads_data
def evaluate(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, as `arcrank train` writes it.")],
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="Documents with their labels or other preferences; - reads JSON lines."),
    ],
    reading: Reading,
    report: Annotated[Path | None, typer.Option(help="Write a page for people to this file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    on_error: Annotated[OnError, typer.Option(help="Stop at a row that cannot be read, or skip it.")] = OnError.RAISE,
) -> None:
    """Measure a model on documents whose labels are known."""

    check_order(model, data, "evaluate")
    if report is not None:
        check_writable(report, "--report", inputs=(model, data), may_replace=is_html_file)
    found = measure(model, data, reading, on_error)
    if report is not None:
        write_report(found, model.name, Path(display_path(data)).name, report)
    if json:
        from arcrank.evaluation.report.report import to_json

        write_json(to_json(found, str(model), data))
    else:
        show(found, beside_file=report is not None)
    for sentence in cautions(found):
        say(f"Note: {sentence}")
    if report is not None:
        say(f"The report is in {report}")


def measure(model: Path, data: str, reading: Reading, on_error: str = "raise") -> Evaluation:
    """Load the model, then go through the file in blocks."""
    from arcrank.evaluation.evaluate import evaluate as judge

    check_input(data)
    loaded = load_model(model)
    with blocks_of(data, reading, "evaluating", batch_rows=_BATCH, on_error=on_error) as blocks:
        found = judge(loaded, blocks)
    _check_worth(found, data)
    found.learnt = has_learnt_from(getattr(loaded, "model_card_", None) or {}, data, found.n_documents)
    return found


def _check_worth(found: Evaluation, data: str) -> None:
    """Refuse what no document can be judged by: measures of nothing would look perfect."""
    name = display_path(data)
    if not found.n_documents:
        reasons = format_counts(found.skipped)
        raise FormatError(f"{name}: no row could be read: {reasons}.\nCorrect the file.")
    if found.n_judged:
        return
    if not found.unknown_labels:
        raise FormatError(f"{name}: no document has a label to judge by.\nGive every document its labels.")
    raise FormatError(
        f"{name}: no document can be judged by the labels that the model knows.\n"
        f"The file has {count(len(found.unknown_labels), 'unknown label')} ({some_names(found.unknown_labels)}); "
        f"the model knows {count(len(found.labels), 'label')} ({some_names(found.labels)}).\n"
        "Give documents with the model's labels, or train a model on labels like these."
    )


def write_report(found: Evaluation, model: str, data: str, path: Path, **more: Any) -> None:
    """Write the page, whole or not at all."""
    from arcrank.evaluation.report.report import report

    write_atomically(path, [report(found, printable(model), printable(data), **more).encode()])


def show(found: Evaluation, *, beside_file: bool = False) -> None:
    """The measures and the most frequent labels on standard output."""
    screen = console(beside_file=beside_file)
    screen.print(_measures_table(found))
    if any(row.support for row in found.per_label):
        screen.print(_label_table(found.per_label))


def _measures_table(found: Evaluation) -> Any:
    from arcrank.evaluation.evaluate import BEST, DESCRIPTIONS

    title = f"{count(found.n_documents, 'document')}, {count(len(found.labels), 'label')}"
    made = table(title, "measure", "value", "best", "what it says")
    made.columns[1].justify = "right"
    for name, value in found.measures.items():
        made.add_row(name, number(value), BEST[name], DESCRIPTIONS[name])
    return made


def _label_table(rows: list[LabelRow]) -> Any:
    """The most frequent labels: a terminal is no place for hundreds."""
    used = sorted((row for row in rows if row.support), key=lambda row: (-row.support, row.label))
    title = "Labels" if len(used) <= _SHOWN else f"The {_SHOWN} most frequent of {len(used):,} labels (--json has all)"
    made = table(title, "label", "documents", "first", "in first 5", "average rank", numbers=4)
    for row in used[:_SHOWN]:
        numbers = f"{row.support:,}", f"{row.top1:.0%}", f"{row.top5:.0%}", f"{row.average_rank:.1f}"
        made.add_row(cell(truncate(row.label, 48)), *numbers)
    return made

"""`arcrank evaluate`: the measures of a model on a file, or of two models side by side; tables, JSON or a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcrank import evaluation
from arcrank._wording import count, number, truncate
from arcrank.cli.blocks import blocks_of
from arcrank.cli.console import cell, console, say, table, write_json
from arcrank.cli.files import check_input, check_order, check_writable, is_html_file, is_model_file, load_model
from arcrank.cli.options import OnError
from arcrank.cli.reading import Reading, reads_data
from arcrank.errors import ParameterError
from arcrank.evaluation.bands import frequency_bands
from arcrank.evaluation.comparison import Comparison
from arcrank.evaluation.measures import BEST, DESCRIPTIONS
from arcrank.evaluation.report.probabilities import calibration_sentence

if TYPE_CHECKING:
    from arcrank.evaluation.candidates import CandidateEvaluation
    from arcrank.evaluation.documents import DocumentEvaluation
    from arcrank.evaluation.results import Evaluation, LabelRow

_BATCH, _SHOWN = 2048, 12
_CELLS = 1 << 23  # scores in memory at a time
_MANY = 200  # labels from which they are also summed up by frequency


@reads_data
def evaluate(
    model: Annotated[
        list[Path],
        typer.Argument(metavar="MODEL", help="A model file, as `arcrank train` writes it; two models are compared."),
    ],
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="Documents with their labels or other preferences; - reads JSON lines."),
    ],
    reading: Reading,
    report: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    on_error: Annotated[OnError, typer.Option(help="Stop at a row that cannot be read, or skip it.")] = OnError.RAISE,
) -> None:
    """Measure a model on documents whose labels are known, or compare two models on them.

    Of a model that ranks documents (--learner few-labels and the like), the order of the documents is measured.

    Of a model of candidates, the order of the candidates of each query: NDCG and the errors.

    Two models are compared by a paired permutation test for each measure: arcrank evaluate MODEL MODEL DATA.
    """
    _check_arguments(model, data)
    if report is not None:
        check_writable(report, "--report", inputs=(*model, data), may_replace=is_html_file)
    found = _measure(model, data, reading, on_error)
    if report is not None:
        found.to_html(report)
    if json:
        write_json(found.to_dict())
    else:
        _show(found, beside_file=report is not None)
    for sentence in found.caveats:
        say(f"Note: {sentence}")
    if report is not None:
        say(f"The report is in {report}")


def _check_arguments(models: list[Path], data: str) -> None:
    for one in models:
        check_order(one, data, "evaluate")
    if len(models) > 2:
        raise ParameterError(
            f"evaluate takes one model, or two to compare, but got {len(models)}.\n"
            "Compare them two at a time: arcrank evaluate MODEL MODEL DATA"
        )
    for one in models[1:]:
        if one.is_file() and not is_model_file(one):
            raise ParameterError(
                f"{one}: this is not a model file.\n"
                "evaluate takes one file of documents, after one model or two: arcrank evaluate MODEL [MODEL] DATA"
            )


def _measure(
    models: list[Path], data: str, reading: Reading, on_error: str
) -> Evaluation | Comparison | DocumentEvaluation | CandidateEvaluation:
    """Load the models, then go through the file in blocks."""
    from arcrank.inference.model_parts import split_model
    from arcrank.inference.predictor import ranks_candidates, ranks_documents

    check_input(data)
    first, *others = [load_model(path) for path in models]
    of_documents = [ranks_documents(one) for one in (first, *others)]
    of_candidates = [ranks_candidates(one) for one in (first, *others)]
    if any(of_documents + of_candidates) and others:
        raise ParameterError("Only models that rank labels can be compared.\nEvaluate the others one by one.")
    labels = (
        1 if of_documents[0] or of_candidates[0] else max(len(split_model(one)[1].labels_) for one in (first, *others))
    )
    rows = max(16, min(_BATCH, _CELLS // labels))
    with blocks_of(data, reading, "evaluating", batch_rows=rows, on_error=on_error) as blocks:
        if of_documents[0]:
            return evaluation.evaluate_documents(first, blocks, name=str(models[0]), data_name=data)
        if of_candidates[0]:
            return evaluation.evaluate_candidates(first, blocks, name=str(models[0]), data_name=data)
        if not others:
            return evaluation.evaluate(first, blocks, name=str(models[0]), data_name=data)
        return evaluation.compare(first, others[0], blocks, names=(str(models[0]), str(models[1])), data_name=data)


def _show(found: Evaluation | Comparison | DocumentEvaluation | CandidateEvaluation, *, beside_file: bool) -> None:
    """Print the tables on standard output."""
    from arcrank.evaluation.candidates import CandidateEvaluation
    from arcrank.evaluation.documents import DocumentEvaluation

    screen = console(beside_file=beside_file)
    if isinstance(found, Comparison):
        screen.print(_comparison_table(found))
        first = _short_names(found.names)[0]
        screen.print(cell(f"Labels that {first} ranks better / equally / worse where they are right: {found.labels}"))
        screen.print(cell(found.verdict))
        return
    if isinstance(found, DocumentEvaluation):
        screen.print(_documents_table(found))
        return
    if isinstance(found, CandidateEvaluation):
        screen.print(_candidates_table(found))
        return
    screen.print(_measures_table(found))
    if any(row.support for row in found.per_label):
        screen.print(_label_table(found.per_label, with_f1=found.calibration is not None))
    if sum(row.support > 0 for row in found.per_label) >= _MANY:
        screen.print(_band_table(found.per_label))
    if found.calibration is not None:
        screen.print(cell(calibration_sentence(found.calibration)))


def _documents_table(found: DocumentEvaluation) -> Any:
    title = f"{found.n_relevant:,} relevant, {found.n_irrelevant:,} irrelevant"
    made = table(title, "measure", "value", numbers=1)
    for name, value in found.measures.items():
        made.add_row(name, number(value))
    return made


def _candidates_table(found: CandidateEvaluation) -> Any:
    title = f"{count(found.n_instances, 'instance')}, {count(found.n_candidates, 'candidate')}"
    made = table(title, "measure", "value", numbers=1)
    for name, value in found.measures.items():
        made.add_row(name, number(value))
    return made


def _measures_table(found: Evaluation) -> Any:
    title = f"{count(found.n_documents, 'document')}, {count(len(found.labels), 'label')}"
    made = table(title, "measure", "value", "best", "what it says")
    made.columns[1].justify = "right"
    for name, value in found.measures.items():
        made.add_row(name, number(value), BEST[name], DESCRIPTIONS[name])
    return made


def _label_table(rows: list[LabelRow], *, with_f1: bool) -> Any:
    """The most frequent labels: hundreds of rows do not fit on a terminal."""
    used = sorted((row for row in rows if row.support), key=lambda row: (-row.support, row.label))
    title = "Labels" if len(used) <= _SHOWN else f"The {_SHOWN} most frequent of {len(used):,} labels (--json has all)"
    heads = ["documents", "first", "in first 5", "average rank", *(["F1"] if with_f1 else [])]
    made = table(title, "label", *heads, numbers=len(heads))
    for row in used[:_SHOWN]:
        numbers = f"{row.support:,}", f"{row.top1:.0%}", f"{row.top5:.0%}", f"{row.average_rank:.1f}"
        f1 = () if row.f1 is None else (f"{row.f1:.2f}",)
        made.add_row(cell(truncate(row.label, 48)), *numbers, *f1)
    return made


def _band_table(rows: list[LabelRow]) -> Any:
    """Labels by the number of their documents."""
    made = table("Labels by frequency", "documents of the label", "labels", "first", "in first 5", numbers=3)
    for band in frequency_bands(rows):
        made.add_row(band.name, f"{band.labels:,}", f"{band.top1:.0%}", f"{band.top5:.0%}")
    return made


def _comparison_table(found: Comparison) -> Any:
    """The measures of both models; p is adjusted for the number of measures."""
    from rich.markup import escape

    title = f"{count(found.a.n_documents, 'document')}, {count(len(found.a.labels), 'label')}"
    heads = [escape(truncate(name, 30)) for name in _short_names(found.names)]
    made = table(title, "measure", "best", *heads, "wins / ties / losses", "p (adjusted)", numbers=4)
    for one in found.measures.values():
        values = [number(one.a), number(one.b)]
        if one.significant:
            place = 0 if one.first_is_better else 1
            values[place] = f"[bold]{values[place]}[/]"
        documents = "-" if one.documents is None else str(one.documents)
        made.add_row(one.name, BEST[one.name], *values, documents, number(one.p_adjusted))
    return made


def _short_names(paths: tuple[str, str]) -> list[str]:
    """Names without folders, where that distinguishes them."""
    names = [Path(path).name for path in paths]
    return names if names[0] != names[1] else list(paths)

"""`arcrank rank`: labels in order for each document, as a stream."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcrank._wording import count, display_path, truncate
from arcrank.cli.blocks import blocks_of, documents_of
from arcrank.cli.commands.explain import show_explanation
from arcrank.cli.console import cell, console, on_terminal, say, table, write_data
from arcrank.cli.files import STANDARD_INPUT, check_input, check_order, load_for_ranking
from arcrank.cli.options import OnError
from arcrank.cli.reading import Reading, reads_documents
from arcrank.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from arcrank.datasets import Corpus
    from arcrank.inference.predictor import Predictor
    from arcrank.inference.ranked_document import RankedDocument

_PARTS_SHOWN = 5

ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file that `arcrank train` wrote.")]


@reads_documents
def rank(
    model: ModelPath,
    reading: Reading,
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="Documents; labels are not needed. - reads standard input.")
    ] = "-",
    top: Annotated[
        int | None, typer.Option(min=0, help="Number of labels (default: 5), or of documents; 0 for all.")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Predict the labels of at least this probability.")
    ] = None,
    recall: Annotated[
        float | None,
        typer.Option(min=0.01, max=0.99, help="Predict as many labels as find this share of the relevant ones."),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Add why the first label is above the second.")] = False,
    on_error: Annotated[OnError, typer.Option(help="Stop at a row that cannot be read, or skip it.")] = OnError.RAISE,
    json: Annotated[bool, typer.Option("--json", help="JSON lines also for one document on a terminal.")] = False,
) -> None:
    """Rank labels for documents: JSON lines as the documents come, a table for one document on a terminal.

    A line that is not JSON is taken as a text, a blank one as a text without words, so each line gets its ranking.

    In .jsonl and .json files, and with --format jsonl, every line must be a JSON object, or the whole file one JSON
    array of objects; blank lines are left out.

    "known_features" is the number of features of the document that the model knows.

    Models trained on label sets or single labels add "probability", one for each label of the ranking, and "predicted",
    the labels that the model predicts; in the table a line separates them from the others. --recall goes by the
    cross-validation of the training documents.

    A model that ranks documents (--learner few-labels and the like) puts the documents in order, best first.

    A model of candidates takes queries, qid files or JSON lines with "candidates", and ranks the candidates of each:
    "ranking" lists their numbers within the query, from 0 on. Grades are not needed in JSON, and not looked at.
    """
    from arcrank.inference.predictor import Predictor, ranks_candidates, ranks_documents

    _check_data(model, data)
    loaded = load_for_ranking(model)  # before the input, so that a wrong model is reported at once
    if ranks_documents(loaded):
        _refuse_label_sets(threshold, recall)
        _rank_documents(loaded, data, reading, top, on_error, as_json=json, explain=explain)
        return
    if ranks_candidates(loaded):
        _refuse_label_sets(threshold, recall)
        _rank_candidates(loaded, data, reading, top, on_error, as_json=json, explain=explain)
        return
    predictor, top = Predictor(loaded), 5 if top is None else top
    least = predictor.threshold(threshold, recall)
    typed = data == STANDARD_INPUT and sys.stdin.isatty()
    if typed:
        say("Type one document per line; Ctrl-D ends the input.")
    batches = documents_of(
        data,
        reading,
        takes=predictor.takes,
        quiet=on_terminal() or typed,
        on_error=on_error,
        blank_lines=not typed,
    )
    tally: Counter[str] = Counter()
    ranked = _ranked(predictor, batches, top or None, _PARTS_SHOWN if explain else 0, least, tally)
    _write(predictor, ranked, for_people=on_terminal() and not json, typed=typed)
    if not tally["documents"]:
        raise _no_documents(data)
    _note_unknown(predictor, tally["unknown"])


def _refuse_label_sets(threshold: float | None, recall: float | None) -> None:
    if threshold is not None or recall is not None:
        raise ParameterError("--threshold and --recall choose labels, and this model has none.\nLeave them out.")


def _rank_documents(
    model: Any,
    data: str,
    reading: Reading,
    top: int | None,
    on_error: str,
    *,
    as_json: bool,
    explain: bool,
) -> None:
    """Read all documents, and write them best first."""
    from arcrank.inference.document_predictor import DocumentPredictor

    if explain:
        raise ParameterError("--explain compares two labels, and this model ranks documents.\nUse arcrank explain.")
    predictor = DocumentPredictor(model)
    documents = documents_of(data, reading, takes=predictor.takes, on_error=on_error)
    ranked = predictor.rank(documents, top or None)
    if not ranked:
        raise _no_documents(data)
    if as_json or not on_terminal():
        write_data("".join(f"{document.to_json()}\n" for document in ranked))
        return
    shown = table("", "rank", "row", "id", "score", numbers=1)
    for one in ranked:
        shown.add_row(str(one.rank), str(one.row), cell(one.id or ""), f"{one.score:.4f}")
    console().print(shown)


def _rank_candidates(
    model: Any,
    data: str,
    reading: Reading,
    top: int | None,
    on_error: str,
    *,
    as_json: bool,
    explain: bool,
) -> None:
    """Write the candidates of each query, best first."""
    from arcrank.inference.candidate_predictor import CandidatePredictor

    if explain:
        raise ParameterError("--explain compares two labels, and this model ranks candidates.\nLeave it out.")
    predictor, found = CandidatePredictor(model), 0
    with blocks_of(data, reading, "ranking", on_error=on_error) as blocks:
        for block in blocks:
            ranked = list(predictor.rank(block, top or None))
            found += len(ranked)
            if not as_json and on_terminal() and len(ranked) == 1:
                _show(ranked)
            elif ranked:
                write_data("".join(f"{one.to_json()}\n" for one in ranked))
    if not found:
        raise _no_documents(data)


def _ranked(
    predictor: Predictor,
    batches: Iterator[Corpus],
    top: int | None,
    parts: int,
    threshold: float | None,
    tally: Counter[str],
) -> Iterator[list[RankedDocument]]:
    """Yield the rankings of each batch; the tally counts documents, and those of which the model knows nothing."""
    for batch in batches:
        documents = list(predictor.rank(batch, top, explain=parts, threshold=threshold))
        tally["documents"] += len(documents)
        tally["unknown"] += sum(not document.known_features for document in documents)
        yield documents


def _note_unknown(predictor: Predictor, unknown: int) -> None:
    if predictor.columns.ignored:
        say(f"Ignored {count(predictor.columns.ignored, 'value')} of features that the model does not know.")
    if unknown:
        what = "word" if predictor.takes_text else "feature"
        say(f"{count(unknown, 'document')} without any {what} that the model knows, ranked like an empty document.")


def _check_data(model: Path, data: str) -> None:
    """Refuse a text in place of a file, and say how to rank it."""
    if data != STANDARD_INPUT and not os.path.exists(data):
        text = shlex.quote(data) if len(data) <= 60 and data.isprintable() else '"your text"'
        raise FormatError(
            f"{truncate(data)}: there is no such file.\nGive the path of a file; to rank a text, write\n"
            f"echo {text} | arcrank rank {shlex.quote(str(model))} -"
        )
    check_order(model, data, "rank")
    check_input(data)


def _no_documents(data: str) -> Exception:
    return FormatError(f"{display_path(data)} contains no document.\nGive one text or JSON object per line.")


def _write(predictor: Predictor, ranked: Iterator[list[RankedDocument]], *, for_people: bool, typed: bool) -> None:
    """JSON lines; for people a table where there is one document, and for each document that is typed."""
    waiting = next(ranked, []) if for_people and not typed else []
    if len(waiting) > 1:
        ranked, waiting = chain([waiting], ranked), []
    for documents in ranked:
        if for_people and typed:
            _show(documents)
            continue
        lines = [document.to_json(predictor.written_labels) for document in [*waiting, *documents]]
        write_data("\n".join([*lines, ""]))
        waiting = []
    _show(waiting)


def _show(documents: list[RankedDocument]) -> None:
    for document in documents:
        columns = ["rank", "label", "score"] + ([] if document.probabilities is None else ["probability"])
        shown = table("" if document.id is None else document.id, *columns, numbers=len(columns) - 2)
        for row, (place, label, *numbers) in enumerate(document.to_table(), start=1):
            # a line below the labels that are predicted
            shown.add_row(place, cell(label), *numbers, end_section=row == document.n_predicted)
        console().print(shown)
        if document.explanation is not None:
            show_explanation(document.explanation)

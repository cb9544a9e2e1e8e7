"""`arcrank rank`: labels in order for each document, as a stream."""

from __future__ import annotations

import json as jsons
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcrank._wording import as_json, count, truncate
from arcrank.cli.blocks import documents_of
from arcrank.cli.console import cell, console, on_terminal, say, table, write_data
from arcrank.cli.files import STANDARD_INPUT, check_input, check_order, load_model
from arcrank.cli.options import OnError
from arcrank.cli.reading import Reading, reads_documents
from arcrank.errors import FormatError
from arcrank.inference.feature_names import FeatureNames
from arcrank.inference.predictor import Predictor, known_features

if TYPE_CHECKING:
    from arcrank.datasets import Corpus
    from arcrank.inference.predictor import Predictor

_PARTS_SHOWN = 5

ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file that `arcrank train` wrote.")]


@reads_documents
def rank(
    model: ModelPath,
    reading: Reading,
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="Documents, without labels if you like; - reads standard input.")
    ] = "-",
    top: Annotated[int, typer.Option(min=0, help="How many labels; 0 for all.")] = 5,
    explain: Annotated[bool, typer.Option("--explain", help="Add why the first label is above the second.")] = False,
    on_error: Annotated[OnError, typer.Option(help="Stop at a row that cannot be read, or skip it.")] = OnError.RAISE,
    json: Annotated[bool, typer.Option("--json", help="JSON lines also for one document on a terminal.")] = False,
) -> None:
    """Rank labels for documents: JSON lines as the documents come, a table for one document on a terminal.

    A line that is not JSON is taken as a text, a blank one as a text without words, so each line gets its ranking.

    In .jsonl and .json files, and with --format jsonl, every line must be a JSON object, or the whole file one JSON
    array of objects; blank lines are left out.

    "known_features" tells how many features of a document the model knows.
    """

    _check_data(model, data)
    server = Predictor(load_model(model))  # before the input, so that a wrong model is told at once
    lines = Lines(server, top or None, explain=explain)
    typed = data == STANDARD_INPUT and sys.stdin.isatty()
    if typed:
        say("One document a line; Ctrl-D ends.")
    batches = documents_of(
        data,
        reading,
        takes_text=server.takes_text,
        quiet=on_terminal() or typed,
        on_error=on_error,
        blank_lines=not typed,
    )
    if json or not on_terminal():
        documents = _write_lines(lines, batches)
    else:
        documents = _write_for_people(lines, batches, typed=typed)
    if not documents:
        raise _no_documents(data)
    if server.columns.ignored:
        say(f"left out {count(server.columns.ignored, 'value')} of features that the model has not seen.")
    if lines.unknown:
        what = "word" if server.takes_text else "feature"
        say(f"{count(lines.unknown, 'document')} without any {what} that the model knows: ranked like an empty one.")


def _check_data(model: Path, data: str) -> None:
    """Whoever gives a text where a file belongs is told how to give it."""
    if data != STANDARD_INPUT and not os.path.exists(data):
        text = shlex.quote(data) if len(data) <= 60 and data.isprintable() else '"your text"'
        raise FormatError(
            f"{truncate(data)}: there is no such file.\nGive the path of a file; to rank a text, write\n"
            f"echo {text} | arcrank rank {shlex.quote(str(model))} -"
        )
    check_order(model, data, "rank")
    check_input(data)


def _no_documents(data: str) -> Exception:

    name = "standard input" if data == "-" else data
    return FormatError(f"{name}: there is no document in it.\nGive a text or a JSON object a line.")


def _write_lines(lines: Lines, batches: Iterator[Corpus]) -> int:
    documents = 0
    for batch in batches:
        write_data(lines.of(batch))
        documents += len(batch)
    return documents


def _write_for_people(lines: Lines, batches: Iterator[Corpus], *, typed: bool) -> int:
    """A table for one document, JSON lines for many; whoever types gets a table for each line."""
    documents, waiting = 0, None
    for batch in batches:
        documents += len(batch)
        if typed or (documents == 1 and waiting is None):
            if typed:
                _show(lines, batch)
            else:
                waiting = batch
            continue
        for one in [batch] if waiting is None else [waiting, batch]:
            write_data(lines.of(one))
        waiting = None
    if waiting is not None:
        _show(lines, waiting)
    return documents


def _show(lines: Lines, batch: Corpus) -> None:
    for row in map(jsons.loads, lines.of(batch).splitlines()):
        shown = table(row.get("id", ""), "rank", "label", "score", numbers=1)
        for place, (label, score) in enumerate(zip(row["ranking"], row["scores"], strict=True), start=1):
            shown.add_row(str(place), cell(label), f"{score:.4f}")
        console().print(shown)
        if row.get("why"):
            from arcrank.cli.commands.explain import show_explanation

            show_explanation(row["why"])


class Lines:
    """JSON lines of rankings, built from labels that were written as JSON once."""

    def __init__(self, server: Predictor, top: int | None, *, explain: bool = False) -> None:
        self._server = server
        self._top = top
        self._labels = [as_json(label) for label in server.labels]
        self._explainer = _explainer(server) if explain else None
        self.unknown = 0
        """Documents of which the model knows nothing, so far."""

    def of(self, documents: Corpus) -> str:
        """The lines of a batch."""
        start, parts = 0, []
        for X, order, scores in self._server.ranked(documents, self._top):
            stop = start + len(order)
            heads = _heads(documents, start, stop)
            tails = self._tails(documents, start, X, order)
            known = known_features(X).tolist()
            self.unknown += known.count(0)
            labels = self._labels
            parts += [
                f'{{{head}"ranking": [{", ".join([labels[j] for j in places])}], "scores": {values}, '
                f'"known_features": {n_known}{tail}}}\n'
                for head, places, values, n_known, tail in zip(
                    heads, order.tolist(), scores.tolist(), known, tails, strict=True
                )
            ]
            start = stop
        return "".join(parts)

    def _tails(self, documents: Corpus, start: int, X: Any, order: Any) -> list[str]:
        if self._explainer is None or order.shape[1] < 2:
            return [""] * len(order)
        return [
            f', "why": {as_json(self._explainer(documents, start + row, X[row : row + 1], places))}'
            for row, places in enumerate(order[:, :2].tolist())
        ]


def _heads(documents: Corpus, start: int, stop: int) -> list[str]:
    if documents.ids is None:
        return [""] * (stop - start)
    return ["" if name is None else f'"id": {as_json(name)}, ' for name in documents.ids[start:stop]]


def _explainer(server: Predictor) -> Any:
    """A function (documents, number, features, first two columns) -> why the first is above the second."""
    from arcrank.cli.commands.explain import explanation_report

    wording = FeatureNames(server.model, server.columns)

    def explain(documents: Corpus, number: int, x: Any, places: list[int]) -> dict[str, Any]:
        text = None if documents.texts is None else documents.texts[number]
        return explanation_report(server.explain(x, *places), wording, text, _PARTS_SHOWN)

    return explain

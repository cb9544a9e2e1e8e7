"""`arcrank explain`: why one label is above another for a document."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arcrank._wording import printable
from arcrank.cli.blocks import documents_of
from arcrank.cli.console import cell, console, say, table, write_json
from arcrank.cli.files import check_input, load_for_ranking
from arcrank.cli.reading import Reading, reads_documents
from arcrank.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from arcrank.datasets import Corpus
    from arcrank.inference.document_predictor import DocumentPredictor
    from arcrank.inference.predictor import Predictor

_SHOWN_TO = Decimal("0.0001")
_WORDS_SHOWN = 3


@reads_documents
def explain(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file that `arcrank train` wrote.")],
    reading: Reading,
    text: Annotated[str | None, typer.Option(help="The document.")] = None,
    file: Annotated[
        str | None, typer.Option(help="A file; its first document is explained. - reads standard input.")
    ] = None,
    above: Annotated[str | None, typer.Option(help="The upper label; by default the first of the ranking.")] = None,
    below: Annotated[str | None, typer.Option(help="The lower label; by default the best of the others.")] = None,
    cut: Annotated[bool, typer.Option("--cut", help="Explain why the upper label is predicted, or is not.")] = False,
    top: Annotated[int, typer.Option(min=0, help="Number of words to list; 0 for all.")] = 20,
    json: Annotated[bool, typer.Option("--json", help="Report as one line of JSON.")] = False,
) -> None:
    """Explain why label A is above label B: the words and their weights, largest first, which sum to the margin.

    Of a model that ranks documents, the score of the document is explained.

    The model uses stems; the words of the document are shown as written, followed by the stem.
    """
    from arcrank.inference.document_predictor import DocumentPredictor
    from arcrank.inference.predictor import Predictor, ranks_candidates, ranks_documents

    _check_one_document(text, file)
    loaded = load_for_ranking(model)
    if ranks_candidates(loaded):
        raise ParameterError("This model ranks candidates.\nExplain it in Python: load(path).explain(sets[[i]], 0, 1).")
    predictor = DocumentPredictor(loaded) if ranks_documents(loaded) else Predictor(loaded)
    document = _document(predictor, text, file, reading)
    x = predictor.features(document)[:1]
    content = None if document.texts is None else document.texts[0]
    if isinstance(predictor, DocumentPredictor):
        _refuse_labels(above, below, cut=cut)
        report = predictor.explain(x, content, top or None)
    else:
        upper, lower = (_label_and_cut if cut else _pair)(predictor, x, above, below)
        report = predictor.explain(x, upper, lower, content, top or None)
    thing, of_labels = "feature" if content is None else "word", isinstance(predictor, Predictor)
    nothing = _nothing_to_show(report, is_known=bool(x.nnz), thing=thing, of_labels=of_labels)
    if json:
        write_json(report)
    elif isinstance(predictor, DocumentPredictor):
        _show_score(report, nothing)
    else:
        show_explanation(report, nothing)
    if nothing and json:
        say(nothing)


def _refuse_labels(above: str | None, below: str | None, *, cut: bool) -> None:
    if above is not None or below is not None or cut:
        raise ParameterError(
            "--above, --below and --cut are about labels, and this model ranks documents.\nLeave them out."
        )


def _nothing_to_show(report: dict[str, Any], *, is_known: bool, thing: str, of_labels: bool) -> str:
    """Why there is no part of the margin to show; empty if there is one."""
    if not is_known:
        return f"The model knows no {thing} of this document, so the result says nothing about it."
    if not any(part["weight"] for part in report["parts"]):  # the largest come first
        does = "distinguishes these two labels" if of_labels else "contributes to its score"
        return f"No {thing} of this document {does}."
    return ""


def _check_one_document(text: str | None, file: str | None) -> None:
    if text is None and file is None:
        raise ParameterError("A document is needed: give either --text or --file.")
    if text is not None and file is not None:
        raise ParameterError(
            "Both --text and --file are given, but only one document can be explained.\nGive one of them."
        )
    if file is not None:
        check_input(file)


def _document(predictor: Predictor | DocumentPredictor, text: str | None, file: str | None, reading: Reading) -> Corpus:
    from arcrank.datasets import Corpus

    if text is not None:
        return Corpus(labels=[], texts=[text], label_sets=[[]])
    for batch in documents_of(str(file), reading, takes=predictor.takes, quiet=True):
        if len(batch) > 1:
            say(f"{file}: explaining the first document.")
        return batch
    raise FormatError(f"{file} contains no document.\nGive one text or JSON object per line.")


def _pair(predictor: Predictor, x: Any, above: str | None, below: str | None) -> tuple[int, int]:
    """The columns of the two labels; the default is the best of the others."""
    given = [None if label is None else predictor.column_of(label) for label in (above, below)]
    ranking = [place for place in predictor.places(x)[0].tolist() if place not in given]
    upper = given[0] if given[0] is not None else ranking.pop(0)
    lower = given[1] if given[1] is not None else ranking.pop(0) if ranking else upper
    if upper == lower:
        raise ParameterError("--above and --below are the same label.\nGive two different labels.")
    return upper, lower


def _label_and_cut(predictor: Predictor, x: Any, above: str | None, below: str | None) -> tuple[int, None]:
    """The column of the upper label, by default the first of the ranking, and None for the cut."""
    if below is not None:
        raise ParameterError("--cut compares a label with the cut, and --below with another one.\nGive one of them.")
    return (predictor.places(x)[0].tolist()[0] if above is None else predictor.column_of(above)), None


def show_explanation(report: dict[str, Any], nothing: str = "") -> None:
    """Print the margin and a table of its parts, or why there is `nothing` to show."""
    relation = "above" if report["margin"] > 0 else "not above"
    above, below = (printable(report[name]) for name in ("above", "below"))
    console().print(cell(f"{above} is {relation} {below}: margin {_rounded(report['margin']):+}"))
    console().print(cell(nothing) if nothing else _parts_table(report, "margin"))


def _show_score(report: dict[str, Any], nothing: str) -> None:
    """Print the score of a document and a table of its parts: 0 is no threshold, only the order counts."""
    console().print(cell(f"score of the document: {_rounded(report['margin']):+}"))
    console().print(cell(nothing) if nothing else _parts_table(report, "score"))


def _parts_table(report: dict[str, Any], what: str) -> Any:
    """The parts of the margin or of the score; the row of the rest, if there is one, absorbs the rounding errors."""
    margin = _rounded(report["margin"])
    has_stems = any(_has_stem(part) for part in report["parts"])
    shown = table("", "word (its stem in the model)" if has_stems else "", f"part of the {what}", numbers=1)
    left = margin - _rounded(report["intercept"])
    for part in report["parts"]:
        value = _rounded(part["weight"])
        left -= value
        shown.add_row(cell(_as_written(part)), f"{value:+}")
    if report["intercept"]:
        shown.add_row("(intercept)", f"{_rounded(report['intercept']):+}")
    if report["rest_count"]:
        shown.add_row(f"({report['rest_count']:,} more)", f"{left:+}")
    return shown


def _has_stem(part: dict[str, Any]) -> bool:
    return any(word.casefold() != part["feature"] for word in part["words"])


def _as_written(part: dict[str, Any]) -> str:
    """`flights, flight (flight)`, the first few; the name alone if it is the word of the document."""
    if not _has_stem(part):
        return str(part["feature"])
    more = ", ..." if len(part["words"]) > _WORDS_SHOWN else ""
    return f"{', '.join(part['words'][:_WORDS_SHOWN])}{more} ({part['feature']})"


def _rounded(value: float) -> Decimal:
    return Decimal(value).quantize(_SHOWN_TO)

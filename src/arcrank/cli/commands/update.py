"""`arcrank update`: go on learning from new documents."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

import arcrank
from arcrank._wording import count, format_counts, printable
from arcrank.cli.commands.train import describe_validation
from arcrank.cli.console import console, say, write_json
from arcrank.cli.files import check_input, check_model_output, check_order, load_model
from arcrank.cli.options import OnError
from arcrank.cli.reading import Reading, reads_data
from arcrank.cli.reporter import ConsoleReporter
from arcrank.errors import InputError
from arcrank.inference.feature_map import FeatureMap
from arcrank.inference.model_parts import split_model, takes_text
from arcrank.training.advice import memory_in_flags

_LOST = (
    "The probabilities and label sets were fitted to documents held out, and are lost by the update.\n"
    "Train the model again to have them, or call its calibrate in Python."
)


@reads_data
def update(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model of an online learner or of shortlists; it is replaced.")
    ],
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="New documents with preferences; - reads standard input.")
    ],
    reading: Reading,
    on_error: Annotated[OnError, typer.Option(help="Stop at a row that cannot be read, or skip it.")] = OnError.RAISE,
    json: Annotated[bool, typer.Option("--json", help="Report as one line of JSON.")] = False,
) -> None:
    """Update an online model, or one of --learner shortlist, with new documents, which may have new labels.

    Documents are learnt in the order of the file.
    """
    check_order(model, data, "update")
    check_input(data)
    loaded = load_model(model)
    check_model_output(model, data)
    with memory_in_flags(None):
        learnt, note = _learn(loaded, data, reading, on_error)
    report = {"model": str(model), **learnt}
    arcrank.save(loaded, model, card=_card(loaded, report, data))
    if json:
        write_json(report)
    else:
        _show(report)
    if note:
        say(f"Note: {note}")


def _learn(loaded: Any, data: str, reading: Reading, on_error: str) -> tuple[dict[str, Any], str]:
    """What is reported, and a note on the order of the documents."""
    from arcrank.training.stream import about_order, forgetting, losses_of, progress_of, stream_into

    words, ranker = _parts(loaded)
    known, before = len(ranker.labels_), losses_of(ranker)
    is_online = hasattr(ranker, "n_rounds_")  # a ranker of very many labels does not measure documents as it meets them
    calibrated = getattr(ranker, "calibration_", None) is not None
    start = time.perf_counter()
    told = stream_into(ranker, words, data, reading.options(data, on_error), ConsoleReporter(on_error))
    _check_kind(loaded, data, texts=told.texts)
    report = {
        "documents": told.documents,
        "skipped": told.skipped,
        "labels": len(ranker.labels_),
        "new_labels": [str(label) for label in ranker.labels_[known:].tolist()],
        "seconds": round(time.perf_counter() - start, 3),
        "validation": progress_of(ranker, before, shuffled=False) if is_online else None,
    }
    if not is_online:
        return report, _LOST if calibrated else ""
    return report, about_order(told.order, forgetting("Shuffle the file first."))


def _check_kind(loaded: Any, data: str, *, texts: bool) -> None:
    """Refuse texts for a model of features, and the reverse: they would share columns. Nothing is saved then."""
    if texts != takes_text(loaded):
        wanted, got = ("features", "texts") if texts else ("texts", "features")
        raise InputError(f"{data}: the model takes {wanted}, but this file holds {got}.\nThe model was not changed.")


def _parts(loaded: Any) -> tuple[Any, Any]:
    """The text features, or columns that features are folded into, and the ranker."""
    from arcrank.text import HashedTextFeatures

    transformers, ranker = split_model(loaded)
    if not hasattr(ranker, "partial_fit"):
        online = ", or train with --learner mmp or perceptron" if hasattr(ranker, "score_labels") else ""
        raise InputError(
            f"{type(ranker).__name__} learns from all documents at once and cannot be updated.\n"
            f"Train it again with all of them{online}."
        )
    columns = FeatureMap.of_model(loaded)
    if columns.kind not in ("text", "folded"):
        raise InputError(
            "This model was not made by `arcrank train`, so the meaning of its columns is not known.\n"
            "Call its partial_fit in Python."
        )
    return (HashedTextFeatures(n_features=columns.width) if transformers is None else transformers), ranker


def _card(loaded: Any, report: dict[str, Any], data: str) -> dict[str, Any]:
    """The card of the loaded model, with totals that include the new documents."""
    card = dict(getattr(loaded, "model_card_", None) or {})
    if getattr(split_model(loaded)[1], "calibration_", None) is None:
        card.pop("calibration", None)
    entry = {"when": datetime.now(UTC).isoformat(timespec="seconds"), "data": data, "documents": report["documents"]}
    return {
        **card,
        "documents": card.get("documents", 0) + report["documents"],
        "labels": report["labels"],
        "validation": report["validation"] or card.get("validation"),
        "updates": [*card.get("updates", []), entry],
    }


def _show(report: dict[str, Any]) -> None:
    from rich.text import Text

    new = [printable(label)[:60] for label in report["new_labels"]]
    named = f", {len(new):,} new: {', '.join(new[:5])}{', ...' if len(new) > 5 else ''}" if new else ""
    lines = [
        f"learnt {count(report['documents'], 'document')} in {report['seconds']:.1f} s; "
        f"{count(report['labels'], 'label')}{named}"
    ]
    if report["skipped"]:
        lines.append("skipped " + format_counts(report["skipped"]))
    lines += [] if report["validation"] is None else [describe_validation(report["validation"])]
    lines.append(f"saved to {printable(report['model'])}")
    console(beside_file=True).print(Text("\n".join(lines)), soft_wrap=True)

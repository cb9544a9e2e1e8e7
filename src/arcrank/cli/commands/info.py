"""`arcrank info`: what a model file holds, without loading it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import arcrank
from arcrank._wording import count, format_counts, number
from arcrank.cli.console import cell, console, table, write_json
from arcrank.cli.files import check_model_path
from arcrank.modelfile import read_card
from arcrank.training.plan import metric_title


def info(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")],
    check: Annotated[bool, typer.Option("--check", help="Also read the arrays and check every byte.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the whole card as one line of JSON.")] = False,
) -> None:
    """Show a model's card: learner, labels, features, how it was trained and measured.

    The card is checked; with --check the whole model is, which takes as long as loading it.
    """
    check_model_path(model)
    card = {"model": str(model), **read_card(model), "checked": check}
    if check:
        arcrank.load(model)
    if json:
        write_json(card)
        return
    shown = table("", "", str(model))
    for name, value in _rows(card):
        shown.add_row(name, cell(value))
    console().print(shown)


def _rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    card = facts.get("card") or {}
    rows = [("learner", facts["learner"]), ("labels", _count(facts["labels"])), ("features", _count(facts["features"]))]
    rows += [(part["name"], _listed(part["parameters"])) for part in facts["parts"]]
    rows += [(name, str(card[name])) for name in ("trained", "data") if card.get(name)]
    rows += [(name, _count(card[name])) for name in ("documents",) if card.get(name) is not None]
    rows += [("skipped", format_counts(card["skipped"]))] if card.get("skipped") else []
    rows += [("hierarchy", count(len(card["hierarchy"]), "label"))] if card.get("hierarchy") else []
    rows += [("duality gap", number(card["duality_gap"]))] if card.get("duality_gap") is not None else []
    rows += [("chosen", card["chosen"]["why"])] if card.get("chosen") else []
    rows += [("probabilities", _calibration(card["calibration"]))] if card.get("calibration") else []
    rows += _measures(card.get("validation"))
    rows += [("updates", _count(len(card["updates"])))] if card.get("updates") else []
    rows += [(str(name), str(value)[:200]) for name, value in card.items() if name not in _KNOWN]
    rows += [("file", f"{count(facts['bytes'], 'byte')}, format {facts['format']}, arcrank {facts['arcrank']}")]
    return [
        *rows,
        ("checked", "every byte" if facts["checked"] else "the manifest only; use --check to check the arrays too"),
    ]


_KNOWN = {
    "trained", "data", "learner", "parameters", "documents", "labels", "features", "skipped", "duality_gap", "seconds",
    "chosen", "validation", "columns", "hierarchy", "updates", "calibration",
}  # fmt: skip


def _calibration(calibration: dict[str, Any]) -> str:
    """How probabilities were calibrated, on one line."""
    folds = calibration["folds"]
    how = f"{folds}-fold cross-validation" if folds else "held-out documents"
    measure = calibration["set_measure"]
    title = "" if measure is None else metric_title(measure)
    if calibration["method"] == "softmax":
        # What single labels take each measure for: see `Probabilities._calibration_on`.
        chosen = title and f"; best label by {title if measure == 'macro_f1' else 'accuracy'}"
    else:
        chosen = title and f"; label sets by {title}"
    return f"{calibration['method']}, {how} of {count(calibration['documents'], 'document')}{chosen}"


def _measures(validation: dict[str, Any] | None) -> list[tuple[str, str]]:
    if not validation:
        return []
    in_order = ", in file order" if validation.get("order") == "file" else ""
    how = {"held-out": "held out", "progressive": f"each measured before it was learnt{in_order}"}.get(
        validation["how"], "by cross-validation"
    )
    rows = [("measured on", f"{count(validation['documents'], 'document')}, {how}")]
    return rows + [(metric_title(name), number(value)) for name, value in validation["measures"].items()]


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _listed(parameters: dict[str, Any]) -> str:
    hidden = ("callback", "verbose", "warm_start")
    return ", ".join(
        f"{name}={value}" for name, value in parameters.items() if value is not None and name not in hidden
    )

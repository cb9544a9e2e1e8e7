"""What a manifest must contain, and whether its parts agree with each other and with the fields of the whole model.

This module does not import NumPy, so that cards are read quickly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from arcrank.modelfile.values import decode

__all__ = ["check_agreement", "check_manifest", "read_stored_card"]


def check_manifest(manifest: Mapping[str, Any]) -> None:
    """Raise ValueError unless all required fields are present and of the right type."""
    _expect(isinstance(manifest["arcrank"], str), "the version of arcrank is not text")
    _expect(_is_count(manifest["features"]), "the number of features is not a whole number")
    _expect(manifest["labels"] is None or _is_count(manifest["labels"]), "the number of labels is not a whole number")
    _expect(type(manifest["pipeline"]) is bool, "the field pipeline is neither true nor false")
    parts = manifest["parts"]
    _expect(isinstance(parts, list) and len(parts) > 0, "there are no parts")
    for part in parts:
        _expect(isinstance(part, dict) and isinstance(part["name"], str), "a part has no name")
        _expect(isinstance(part["parameters"], dict), "the parameters of a part are not an object")
        _expect(isinstance(part["learnt"], dict), "what a part has learnt is not an object")
    _expect(manifest["learner"] == parts[-1]["name"], "the learner is not the last part")
    _check_steps([part["step"] for part in parts], manifest["pipeline"])
    _expect(isinstance(manifest["card"], dict), "the card is not an object")


def _check_steps(steps: Sequence[Any], pipeline: bool) -> None:
    if not pipeline:
        _expect(list(steps) == [None], "a model without a pipeline has one part, without the name of a step")
        return
    _expect(all(isinstance(step, str) and step and "__" not in step for step in steps), "a step has no valid name")
    _expect(len(set(steps)) == len(steps), "two steps have the same name")


def check_agreement(manifest: Mapping[str, Any], parts: Sequence[Any], sizes: Sequence[Mapping[str, int]]) -> None:
    """Raise ValueError unless each part reads what the previous one produces, and the last agrees with the manifest."""
    _expect(parts[-1].ranks and not any(part.ranks for part in parts[:-1]), "the ranker is not the last part")
    _expect(not any(part.texts for part in parts[1:]), "a part that reads texts is not the first")
    for before, after in pairwise(sizes):
        made = before.get("out", before["d"])
        _expect(made == after["d"], f"a part produces {made:,} features, but the next one reads {after['d']:,}")
    _expect(manifest["features"] == sizes[-1]["d"], "the number of features is not that of the ranker")
    _expect(manifest["labels"] == sizes[-1].get("k"), "the number of labels is not that of the ranker")


def read_stored_card(manifest: Mapping[str, Any]) -> dict[Any, Any]:
    """Return the card that a manifest holds, decoded."""
    card = decode(manifest["card"])
    if not isinstance(card, dict):
        raise ValueError("the card is not a dict")
    return card


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _expect(fits: bool, what: str) -> None:
    if not fits:
        raise ValueError(what)

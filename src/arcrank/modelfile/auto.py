"""An AutoRanker in a model file: the model that it selected, and in the card how it was selected."""

from __future__ import annotations

from typing import Any

from arcrank.errors import ModelFileError
from arcrank.modelfile.parts import import_home

__all__ = ["auto_entry", "is_auto", "restore_auto"]

KEY = "AutoRanker"
_HOME = "arcrank.training.auto:AutoRanker"
_FIELDS: dict[str, Any] = {
    "parameters": dict,
    "trials": list,
    "measure": str,
    "selected": str,
    "validation": (dict, type(None)),
}


def is_auto(model: Any) -> bool:
    """Whether a model is an AutoRanker; a subclass may do anything."""
    cls = type(model)
    return f"{cls.__module__}:{cls.__qualname__}" == _HOME


def auto_entry(auto: Any) -> dict[str, Any]:
    """Return what the card holds about a fitted AutoRanker, as JSON types."""
    if not hasattr(auto, "model_"):
        raise ModelFileError("AutoRanker cannot be saved before it is fitted; call fit first.")
    fields = {name: getattr(auto, f"{name}_") for name in _FIELDS if name != "parameters"}
    return {KEY: {"parameters": auto.get_params(deep=False), **fields, "trials": list(auto.trials_)}}


def restore_auto(model: Any, card: dict[str, Any]) -> Any:
    """Return the AutoRanker that selected this model, or the model itself if it was not saved with one."""
    stored = card.get(KEY)
    if not isinstance(stored, dict):
        return model
    for name, kind in _FIELDS.items():
        if not isinstance(stored.get(name), kind):
            raise ValueError(f"the card of the AutoRanker has no valid {name}")
    cls = import_home(_HOME)
    auto = cls(**stored["parameters"])
    auto.check_parameters()
    auto.model_, auto.trials_ = model, cls.trials_of(stored["trials"])
    first = model.steps[0][1] if hasattr(model, "steps") else model
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(first, name):
            setattr(auto, name, getattr(first, name))
    auto.measure_, auto.selected_, auto.validation_ = (stored[name] for name in ("measure", "selected", "validation"))
    auto.model_card_ = {name: value for name, value in card.items() if name != KEY}
    return auto

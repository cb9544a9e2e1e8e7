"""Estimators within estimators: their parts as values of the outer part."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from arcrank.modelfile.forms import Form, MisfitError, Sizes

__all__ = ["Nested", "build_nested", "pack_nested"]

_ENTRIES = {"name", "parameters", "learnt"}


def _registry() -> Any:
    """The registry, which itself needs the forms that need this module."""
    return import_module("arcrank.modelfile.registry")


def pack_nested(estimator: Any) -> dict[str, Any]:
    """Return the part of an inner estimator, as a value that can be stored."""
    part = _registry().part_of(estimator)
    return {"name": part.name, "parameters": part.parameters(estimator), "learnt": part.learnt(estimator)}


def build_nested(value: dict[str, Any]) -> Any:
    """Return the inner estimator of a value that was checked and expanded."""
    return _registry().part_named(value["name"]).build(value["parameters"], value["learnt"])


class Nested(Form):
    """A part with one of some names; the number of its features is the size `symbol`."""

    def __init__(self, *names: str, symbol: str) -> None:
        self.names, self.symbol = names, symbol
        self.says = f"a part {' or '.join(map(repr, names))}"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        same = isinstance(value, dict) and set(value) == _ENTRIES and value["name"] in self.names
        if not same or not isinstance(value["parameters"], dict) or not isinstance(value["learnt"], dict):
            return False
        inner = _registry().part_named(value["name"]).check(value["parameters"], value["learnt"])
        return sizes.setdefault(self.symbol, inner["d"]) == inner["d"]

    def check_closely(self, value: Any, where: str) -> None:
        try:
            _registry().part_named(value["name"]).check_closely(value["parameters"], value["learnt"])
        except MisfitError as error:
            raise MisfitError(f"in {where}, {error}") from None

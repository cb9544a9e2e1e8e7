"""What is worth knowing about data before training on it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arcrank.datacheck.checker import check
    from arcrank.datacheck.findings import Finding

__all__ = ["Finding", "check"]

_HOME = {"Finding": "findings", "check": "checker"}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

"""What is worth knowing about data before training on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arcrank._lazy import lazy_names

if TYPE_CHECKING:
    from arcrank.datacheck.checker import check
    from arcrank.datacheck.findings import Finding

__all__ = ["Finding", "check"]

__getattr__, __dir__ = lazy_names(__name__, {"Finding": "findings", "check": "checker"})

"""Tables with columns of numbers, categories, dates and texts -> features."""

from __future__ import annotations

from arcrank.tables.features import TableFeatures

__all__ = ["TableFeatures"]

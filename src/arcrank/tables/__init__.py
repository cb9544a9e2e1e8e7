"""Tables with columns of numbers, categories, dates and texts -> features."""

from __future__ import annotations

from arcrank.tables.features import TableFeatures
from arcrank.tables.scaling import DenseScaler

__all__ = ["DenseScaler", "TableFeatures"]

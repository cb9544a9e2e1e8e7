"""Labels grouped by how frequent they are: rare ones are ranked worse, and an average over documents hides it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arcrank.evaluation.results import LabelRow

__all__ = ["FrequencyBand", "frequency_bands"]

_LIMITS = (1, 5, 20, 100, 500)


@dataclass(frozen=True)
class FrequencyBand:
    """The labels that are right for `least` to `most` documents, and how they are ranked there."""

    least: int
    most: int | None
    labels: int
    support: int
    top1: float
    top5: float

    @property
    def name(self) -> str:
        """The limits in words."""
        if self.most is None:
            return f"more than {self.least - 1:,}"
        return f"{self.least:,}" if self.least == self.most else f"{self.least:,} to {self.most:,}"


def frequency_bands(rows: Sequence[LabelRow]) -> list[FrequencyBand]:
    """Group labels by their number of documents; shares are averages over (document, label) pairs.

    >>> rows = [LabelRow("a", 1, 0.0, 1.0, 2.0), LabelRow("b", 8, 0.5, 1.0, 1.5), LabelRow("c", 10, 0.2, 0.8, 3.0)]
    >>> [(band.name, band.labels, band.support, round(band.top1, 2)) for band in frequency_bands(rows)]
    [('1', 1, 1, 0.0), ('6 to 20', 2, 18, 0.33)]
    """
    bands = []
    lows, highs = (1, *(limit + 1 for limit in _LIMITS)), (*_LIMITS, None)
    for low, high in zip(lows, highs, strict=True):
        inside = [row for row in rows if row.support >= low and (high is None or row.support <= high)]
        support = sum(row.support for row in inside)
        if inside:
            first, five = (sum(row.support * getattr(row, at) for row in inside) / support for at in ("top1", "top5"))
            bands.append(FrequencyBand(low, high, len(inside), support, first, five))
    return bands

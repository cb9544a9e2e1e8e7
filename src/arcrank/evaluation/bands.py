"""Labels grouped by how frequent they are: rare ones are ranked worse, and an average over documents hides it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arcrank.evaluation.results import LabelRow

__all__ = ["FrequencyBand", "extreme_labels", "frequency_bands"]

_LIMITS = (1, 5, 20, 100, 500)
_ENOUGH = 5
"""Documents from which the share of a label says something about it."""


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

    >>> from arcrank.evaluation.results import LabelRow
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


def extreme_labels(rows: Sequence[LabelRow], n: int) -> tuple[int, list[LabelRow], list[LabelRow]]:
    """The n labels that are least and most often among the first five, and how many documents they have at least.

    >>> from arcrank.evaluation.results import LabelRow
    >>> rows = [LabelRow("a", 5, 0.0, 0.2, 2.0), LabelRow("b", 8, 0.5, 0.9, 1.5), LabelRow("c", 1, 0.0, 0.0, 3.0)]
    >>> least, hardest, easiest = extreme_labels(rows, 1)
    >>> least, hardest[0].label, easiest[0].label
    (5, 'a', 'b')
    """
    least = _ENOUGH if any(row.support >= _ENOUGH for row in rows) else 1
    ordered = sorted((row for row in rows if row.support >= least), key=lambda row: (row.top5, -row.support, row.label))
    easiest = sorted(ordered, key=lambda row: (-row.top5, -row.support, row.label))
    return least, ordered[:n], easiest[:n]

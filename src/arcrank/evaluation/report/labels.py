"""The sections of a report about labels: all of them, or of very many the most frequent, hardest and easiest ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arcrank._wording import is_are
from arcrank.evaluation.bands import extreme_labels, frequency_bands
from arcrank.evaluation.report.html import Cell, label_html, section, table

if TYPE_CHECKING:
    from arcrank.evaluation.results import Evaluation, LabelRow

__all__ = ["label_sections"]

_MOST_LABELS = 500
_EXTREMES = 15


def label_sections(found: Evaluation) -> list[str]:
    """The table of labels; of more than 500 also the groups by frequency, and the hardest and easiest labels."""
    rows = [row for row in found.per_label if row.support]
    return [*(_overview(rows) if len(rows) > _MOST_LABELS else []), _all_labels(found, rows)]


def _overview(rows: Sequence[LabelRow]) -> list[str]:
    bands = [
        [Cell(band.name), Cell(f"{band.labels:,}", band.labels), Cell(f"{band.support:,}", band.support),
         Cell(f"{band.top1:.0%}", band.top1), Cell(f"{band.top5:.0%}", band.top5)]
        for band in frequency_bands(rows)
    ]  # fmt: skip
    heads = ["documents of the label", "labels", "right labels", "first", "in first 5"]
    by_frequency = section(
        "Labels by frequency", table(heads, bands), intro="How often right labels are found, rare and frequent ones."
    )
    least, hardest, easiest = extreme_labels(rows, _EXTREMES)
    intro = f"Of the labels that are right for {least:,} documents or more: how often they are among the first five."
    tables = [f"<h3>{title}</h3>{_label_table(some, with_f1=False)}" for title, some in
              (("Hardest", hardest), ("Easiest", easiest))]  # fmt: skip
    return [by_frequency, section("The hardest and the easiest labels", *tables, intro=intro)]


def _all_labels(found: Evaluation, rows: Sequence[LabelRow]) -> str:
    ordered = sorted(rows, key=lambda row: (-row.support, row.label))
    intro = (
        "For the documents that a label is right for: how often it comes first, how often among the first five, and "
        "its average rank."
    )
    with_f1 = found.calibration is not None
    if with_f1:
        intro += " F1 is that of its predictions for all documents."
    more = len(ordered) - _MOST_LABELS
    after = f'<p class="soft">{is_are(more, "rarer label")} in the data block only.</p>' if more > 0 else ""
    return section("Label by label", _label_table(ordered[:_MOST_LABELS], with_f1=with_f1), after, intro=intro)


def _label_table(rows: Sequence[LabelRow], *, with_f1: bool) -> str:
    heads = ["label", "documents", "first", "in first 5", "average rank", *(["F1"] if with_f1 else [])]
    return table(heads, [_cells(row, with_f1=with_f1) for row in rows], sortable=True)


def _cells(row: LabelRow, *, with_f1: bool) -> list[Cell]:
    cells = [
        Cell(label_html(row.label)),
        Cell(f"{row.support:,}", row.support),
        Cell(f"{row.top1:.0%}", row.top1),
        Cell(f"{row.top5:.0%}", row.top5),
        Cell(f"{row.average_rank:.1f}", row.average_rank),
    ]
    return [*cells, Cell(f"{row.f1:.2f}", row.f1)] if with_f1 and row.f1 is not None else cells

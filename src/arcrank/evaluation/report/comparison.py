"""The HTML report of a comparison: the verdict, the measures, the labels."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from arcrank._wording import count, number, printable
from arcrank.evaluation.measures import BEST
from arcrank.evaluation.report.html import Cell, label_html, notes, page, section, table
from arcrank.evaluation.report.report import FOOTER, file_name

if TYPE_CHECKING:
    from arcrank.evaluation.comparison import Comparison, MeasureComparison

__all__ = ["comparison_page", "comparison_table"]

_MOST_LABELS = 500
_INTRO = (
    "Wins, ties and losses count documents from the side of the first model. p is the p-value of a paired permutation "
    "test on the documents, and p adjusted is corrected by Holm's method for the number of measures."
)


def comparison_page(found: Comparison) -> str:
    """The whole page."""
    found = replace(found, names=_short_names(found.names))
    (a, b), data = found.names, file_name(found.a.data)
    size = f"{count(found.a.n_documents, 'document')}, {count(len(found.a.labels), 'label')} that both models know."
    body = [
        f"<h1>{escape(f'{a} or {b} for {data}?')}</h1>",
        f'<p class="soft">{escape(size)}</p>',
        f"<p><b>{escape(found.verdict)}</b></p>",
        notes(found.caveats),
        section("Measures", _measures(found), intro=_INTRO),
        section("Label by label", _labels(found), intro=f"Labels won, tied and lost by {a}: {found.labels}."),
    ]
    return page(f"{a} or {b}", body, FOOTER, found.to_dict() | {"data": data})


def _short_names(paths: tuple[str, str]) -> tuple[str, str]:
    """Names without folders, where that distinguishes the models."""
    a, b = map(file_name, paths)
    return (a, b) if a != b else (printable(paths[0]), printable(paths[1]))


def comparison_table(found: Comparison) -> str:
    """What a notebook shows."""
    return f"<p><b>{escape(found.verdict)}</b></p>{notes(found.caveats)}{_measures(found)}"


def _measures(found: Comparison) -> str:
    a, b = found.names
    heads = ["measure", "best", a, b, "wins / ties / losses", "p", "p adjusted"]
    return table(heads, [_measure_row(one) for one in found.measures.values()])


def _measure_row(one: MeasureComparison) -> list[Cell]:
    first, second = ("good", "") if one.first_is_better else ("", "good")
    styles = (first, second) if one.significant else ("", "")
    return [
        Cell(escape(one.name)),
        Cell(BEST[one.name]),
        Cell(number(one.a), one.a, styles[0]),
        Cell(number(one.b), one.b, styles[1]),
        Cell("-" if one.documents is None else str(one.documents)),
        Cell(number(one.p), one.p),
        Cell(number(one.p_adjusted), one.p_adjusted),
    ]


def _labels(found: Comparison) -> str:
    a, b = found.names
    used = sorted((row for row in found.per_label if row.support), key=lambda row: (-row.support, row.label))
    rows = [
        [
            Cell(label_html(row.label)),
            Cell(f"{row.support:,}", row.support),
            Cell(str(row.documents)),
            Cell(f"{row.average_rank_a:.1f}", row.average_rank_a),
            Cell(f"{row.average_rank_b:.1f}", row.average_rank_b),
        ]
        for row in used[:_MOST_LABELS]
    ]
    heads = ["label", "documents", "wins / ties / losses", f"average rank, {a}", f"average rank, {b}"]
    return table(heads, rows, sortable=True)

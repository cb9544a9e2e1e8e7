"""The HTML report of an evaluation: the summary first, then measures, labels and the worst documents."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from arcrank import __version__
from arcrank._wording import count, display_path, number, printable
from arcrank.evaluation.measures import BEST, DESCRIPTIONS, describe
from arcrank.evaluation.report.html import Cell, cards, label_html, notes, page, section, table
from arcrank.evaluation.report.labels import label_sections
from arcrank.evaluation.report.probabilities import probabilities_section
from arcrank.evaluation.report.svg import Axis, Series, bar_plot, line_plot

if TYPE_CHECKING:
    from arcrank.evaluation.results import Document, Evaluation, LabelRow

__all__ = ["FOOTER", "file_name", "measures_table", "report"]

_MOST_POINTS = 200  # of a curve
FOOTER = f"Written by arcrank {escape(__version__)}. The numbers are also in this page as JSON (#arcrank-data)."


def report(found: Evaluation, title: str = "", sections: Iterable[str] = ()) -> str:
    """The page; `sections` are shown above the table of measures."""
    model, data = file_name(found.model), file_name(found.data)
    body = [
        f"<h1>{escape(title or f'How well {model} ranks {data}')}</h1>",
        f'<p class="soft">{escape(_summary(found))}</p>',
        notes(found.caveats),
        cards((name, number(value), describe(name)) for name, value in found.headlines.items()),
        *sections,
        section("All measures", _measures(found), intro=_rule(found)),
        *_plots(found),
        *probabilities_section(found.calibration),
        *label_sections(found),
        *_worst(found),
    ]
    return page(title or f"{model} on {data}", body, FOOTER, found.to_dict() | {"model": model, "data": data})


def measures_table(found: Evaluation) -> str:
    """What a notebook shows: the size of the data, the caveats and the measures."""
    return f"<p>{escape(_summary(found))}</p>{notes(found.caveats)}{_measures(found)}"


def file_name(path: str) -> str:
    """A path without its folders, for pages that are passed on.

    >>> file_name("runs/model.arcrank"), file_name("-")
    ('model.arcrank', 'standard input')
    """
    return printable(Path(display_path(path)).name)


def _summary(found: Evaluation) -> str:
    used = sum(row.support > 0 for row in found.per_label)
    some = "" if used == len(found.labels) else f", {used:,} of which are right for some document"
    return f"{count(found.n_documents, 'document')}, {count(len(found.labels), 'label')}{some}."


def _rule(found: Evaluation) -> str:
    rule = "A tie counts as an error: the rank of a label is the number of labels that score no less."
    if found.n_sets:
        rule += (
            " So one-error and precision at 1 need not add up to 1: where two right labels tie for first place, "
            "whichever comes first is right, but neither is alone there."
        )
    if 0 < found.n_sets < found.n_measured:
        rule += f" Measures of label sets are over the {_sets(found.n_sets)} neither empty nor full."
    return rule


def _sets(n: int) -> str:
    return "one document whose label set is" if n == 1 else f"{n:,} documents whose label sets are"


def _measures(found: Evaluation) -> str:
    rows = [
        [Cell(escape(name)), Cell(number(value), value), Cell(BEST[name]),
         Cell(f"<small>{escape(DESCRIPTIONS[name])}</small>")]
        for name, value in found.measures.items()
    ]  # fmt: skip
    return table(["measure", "value", "best", "what it says"], rows)


def _plots(found: Evaluation) -> list[str]:
    if not found.precision:
        return []
    shown = _places(len(found.recall))
    curve = Series("precision", [found.recall[r] for r in shown], [found.precision[r] for r in shown])
    unit = (0.0, 1.0)
    by_rank = _supported(found)
    intro = "Precision and recall when the first r labels of every ranking are taken, r = 1, 2, 3 and so on."
    plots = [line_plot([curve], Axis("recall", range=unit), Axis("precision", range=unit), "Precision by recall")]
    if by_rank:
        shares, names = _share_by_frequency(by_rank)
        intro += (
            " Then how often a right label is among the first 5, for rare and for frequent labels: "
            f"{names[0]} are labels of {names[0].rstrip('+')} documents or more, up to the next bar."
        )
        plots.append(
            bar_plot(shares, names, Axis("documents that a label is right for"), Axis("in the first 5", range=unit))
        )
    return [
        section(
            "How many labels to show, and which labels are hard",
            f'<div class="plots">{"".join(plots)}</div>',
            intro=intro,
        )
    ]


def _places(n: int) -> list[int]:
    """The numbers of labels that a curve shows: all, or of very many the first ones and some further down."""
    if n <= _MOST_POINTS:
        return list(range(n))
    half = _MOST_POINTS // 2
    return sorted({*range(half), *(min(n - 1, int(half * (n / half) ** (i / half))) for i in range(half + 1))})


def _supported(found: Evaluation) -> list[LabelRow]:
    return [row for row in found.per_label if row.support]


def _share_by_frequency(rows: list[LabelRow]) -> tuple[list[float], list[str]]:
    """The share of right labels among the first five, for labels of similar support: from 1, 3, 10, 30, ... on."""
    edges = {1: "1+", 3: "3+", 10: "10+", 30: "30+", 100: "100+", 300: "300+", 1000: "1k+", 3000: "3k+", 10_000: "10k+"}
    shares, names = [], []
    for low, high in zip(edges, [*list(edges)[1:], math.inf], strict=True):
        inside = [row for row in rows if low <= row.support < high]
        if inside:
            total = sum(row.support for row in inside)
            shares.append(sum(row.top5 * row.support for row in inside) / total)
            names.append(edges[low])
    return shares, names


def _worst(found: Evaluation) -> list[str]:
    if not found.worst:
        return ['<h2>Worst documents</h2><p class="good">None: every document is ranked correctly.</p>']
    intro = (
        "The documents with the largest share of preferences in the wrong order: mistakes of the model, or of the data."
    )
    return [section("Worst documents", *(_document(one) for one in found.worst), intro=intro)]


def _document(one: Document) -> str:
    name = f"row {one.row:,}" if one.name is None else f"{one.name} (row {one.row:,})"
    text = "" if one.text is None else f"<blockquote>{escape(one.text)}</blockquote>"
    right = " ".join(
        f"{label_html(label, 'tag')}<small>rank {rank:,}</small>" for label, rank in one.right[:30]
    ) or "<small>no label is preferred to all others</small>"  # fmt: skip
    ranked = " ".join(label_html(label, "tag good" if good else "tag bad") for label, _, good in one.ranking)
    return (
        f"<article><h3>{escape(name)} <small>{one.wrong:.0%} of its preferences in the wrong order</small></h3>{text}"
        f"<p><b>should be on top:</b> {right}</p><p><b>ranked first:</b> {ranked}</p></article>"
    )

"""The report of `arcrank reproduce` in HTML or Markdown: measured and published values, verdicts and plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from arcrank import __version__
from arcrank._wording import number
from arcrank.evaluation.report.html import Cell, cards, page, section, table
from arcrank.evaluation.report.svg import Axis, Series, bar_plot, line_plot
from arcrank.experiments.environment import machine, today, versions
from arcrank.experiments.outcomes import MARKS, RULE, Outcome, Plot, Value, format_verdicts

__all__ = ["markdown", "report", "to_json"]

_STYLES = {"at or better": "good", "within 15 %": "warn", "worse": "bad", "no verdict": ""}
_CARD_TEXTS = {
    "at or better": "than the published value",
    "within 15 %": "of the published value",
    "worse": "by more than 15 %",
    "no verdict": "no published value, or different data",
}


def to_json(outcomes: Sequence[Outcome], left_out: dict[str, str]) -> dict[str, Any]:
    """Return what `--json` prints, as in schemas/reproduce.json."""
    return {"rule": RULE, "experiments": [one.to_json() for one in outcomes], "left_out": left_out}


def report(outcomes: Sequence[Outcome], left_out: dict[str, str]) -> str:
    """Return the report as an HTML page."""
    totals = {name: sum(one.verdicts()[name] for one in outcomes) for name in MARKS}
    body = [
        "<h1>The papers' experiments, reproduced</h1>",
        f'<p class="soft">{escape(RULE)}</p>',
        cards((name, f"{n:,}", _CARD_TEXTS[name]) for name, n in totals.items()),
        *(_section(one) for one in outcomes),
    ]
    if left_out:
        rows = [[Cell(escape(name)), Cell(escape(why))] for name, why in left_out.items()]
        body.append(section("Skipped", table(["experiment", "reason"], rows)))
    footer = f"Written by arcrank {escape(__version__)}. The numbers are also in this page as JSON (#arcrank-data)."
    return page("arcrank: the papers' experiments", body, footer, to_json(outcomes, left_out))


def _section(one: Outcome) -> str:
    counts = f"<p>{escape(format_verdicts(one.verdicts()))}</p>"
    return section(one.full_title, counts, _values(one), _plots(one), intro=one.note)


def _plots(one: Outcome) -> str:
    return f'<div class="plots">{"".join(map(_figure, one.plots))}</div>' if one.plots else ""


def _figure(plot: Plot) -> str:
    x, y = Axis(plot.x, "x" in plot.log, plot.x_range), Axis(plot.y, "y" in plot.log, plot.y_range)
    if plot.bars:
        bars = plot.lines[0]
        figure = bar_plot(bars.y, [f"{v:g}" for v in bars.x], x, y, plot.title)
    else:
        figure = line_plot([Series(*line) for line in plot.lines], x, y, plot.title)
    caption = f"<figcaption>{escape(plot.title)}</figcaption>" if plot.title else ""
    return figure.removesuffix("</figure>") + caption + "</figure>"


def _values(one: Outcome) -> str:
    """Return a table; a cell has the measured value, its spread, the verdict, and below them the published value."""
    columns, rows = one.table()
    return table(["", *columns], [[Cell(escape(row)), *map(_cell, values)] for row, values in rows.items()])


def _cell(value: Value | None) -> Cell:
    if value is None:
        return Cell("")
    text = f"<b>{number(value.measured)}</b>{_spread(value)}{value.arrow} {MARKS[value.verdict]}{_published(value)}"
    return Cell(text, value.measured, _STYLES[value.verdict])


def _spread(value: Value) -> str:
    return "" if value.spread is None else f" <small>± {value.spread:.2g}</small>"


def _published(value: Value) -> str:
    return "" if value.published is None else f"<br><small>published {number(value.published)}</small>"


def markdown(outcomes: Sequence[Outcome], left_out: dict[str, str]) -> str:
    """Return the report as part of a page of the site: second-level headings, tables, and plots as SVG.

    Colours and the layout of the plots come from docs/assets/site.css.
    """
    names = " ".join(one.name for one in outcomes)
    of_one_paper = len({one.paper for one in outcomes}) == 1  # the page is about this paper, so titles omit it
    parts = [
        "<!-- written by `arcrank reproduce`: do not edit -->",
        f"Measured with `arcrank reproduce {names}`; written on {today()} with {versions()} on {machine()}.",
        f"{_totals(outcomes)} {RULE}",
        *(_markdown_section(one, one.title if of_one_paper else one.full_title) for one in outcomes),
    ]
    if left_out:
        rows = [[_plain(name), _plain(why)] for name, why in left_out.items()]
        parts.append("## Skipped\n\n" + _markdown_table(["experiment", "reason"], rows))
    return "\n\n".join(parts) + "\n"


def _totals(outcomes: Sequence[Outcome]) -> str:
    counts = {name: sum(one.verdicts()[name] for one in outcomes) for name in MARKS}
    return f"{_counts(counts)}."


def _counts(verdicts: Mapping[str, int]) -> str:
    return format_verdicts(verdicts, {name: _mark(name) for name in MARKS})


def _mark(verdict: str) -> str:
    return f'<span class="{_STYLES[verdict]}">{MARKS[verdict]}</span>' if MARKS[verdict] else ""


def _markdown_section(one: Outcome, title: str) -> str:
    columns, rows = one.table()
    cells = [[_plain(row), *map(_markdown_cell, values)] for row, values in rows.items()]
    note = f" {_plain(one.note)}" if one.note else ""
    parts = [f"## {_plain(title)}", f"`{one.name}`: {_counts(one.verdicts())}.{note}"]
    table = _markdown_table(["", *map(_plain, columns)], cells)
    return "\n\n".join(filter(None, [*parts, _plots(one), table]))


def _markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["--:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, rule, *rows])


def _markdown_cell(value: Value | None) -> str:
    if value is None:
        return ""
    return f"{number(value.measured)}{_spread(value)}{value.arrow} {_mark(value.verdict)}".rstrip() + _published(value)


def _plain(text: str) -> str:
    """Escape text for Markdown and HTML, on one line."""
    marks = str.maketrans({mark: f"&#{ord(mark)};" for mark in "|*_`[]\\#"})
    return escape(" ".join(text.split()), quote=False).translate(marks)

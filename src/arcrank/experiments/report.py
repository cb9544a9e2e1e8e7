"""The report of `arcrank reproduce`, HTML or Markdown: measured beside published, with verdicts and plots."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from arcrank import __version__
from arcrank._wording import number
from arcrank.evaluation.report.html import Cell, cards, page, section, table
from arcrank.evaluation.report.svg import Axis, Series, bar_plot, line_plot
from arcrank.experiments.circumstances import machine, today, versions
from arcrank.experiments.outcomes import MARKS, RULE, Outcome, Plot, Value

__all__ = ["markdown", "report", "to_json"]

_STYLES = {"at or better": "good", "within 15 %": "warn", "worse": "bad", "no verdict": ""}
_WORDS = {
    "at or better": "than the published value",
    "within 15 %": "of the published value",
    "worse": "by more than 15 %",
    "no verdict": "nothing published, or other data",
}


def to_json(outcomes: Sequence[Outcome], left_out: dict[str, str]) -> dict[str, Any]:
    """What `--json` prints: see schemas/reproduce.json."""
    return {"rule": RULE, "experiments": [one.to_json() for one in outcomes], "left_out": left_out}


def report(outcomes: Sequence[Outcome], left_out: dict[str, str]) -> str:
    """The page."""
    totals = {name: sum(one.verdicts()[name] for one in outcomes) for name in MARKS}
    body = [
        "<h1>The papers' experiments, measured again</h1>",
        f'<p class="soft">{escape(RULE)}</p>',
        cards((name, f"{n:,}", _WORDS[name]) for name, n in totals.items()),
        *(_section(one) for one in outcomes),
    ]
    if left_out:
        rows = [[Cell(escape(name)), Cell(escape(why))] for name, why in left_out.items()]
        body.append(section("Left out", table(["experiment", "why"], rows)))
    footer = f"Written by arcrank {escape(__version__)}. The numbers are also in this page as JSON (#arcrank-data)."
    return page("arcrank: the papers' experiments", body, footer, to_json(outcomes, left_out))


def _section(one: Outcome) -> str:
    return section(one.full_title, _values(one.values), _plots(one), intro=one.note)


def _plots(one: Outcome) -> str:
    return f'<div class="plots">{"".join(map(_drawn, one.plots))}</div>' if one.plots else ""


def _drawn(plot: Plot) -> str:
    x, y = Axis(plot.x, "x" in plot.log, plot.x_range), Axis(plot.y, "y" in plot.log, plot.y_range)
    if plot.bars:
        bars = plot.lines[0]
        figure = bar_plot(bars.y, [f"{v:g}" for v in bars.x], x, y, plot.title)
    else:
        figure = line_plot([Series(*line) for line in plot.lines], x, y, plot.title)
    caption = f"<figcaption>{escape(plot.title)}</figcaption>" if plot.title else ""
    return figure.removesuffix("</figure>") + caption + "</figure>"


def _values(values: Sequence[Value]) -> str:
    """Rows by columns; a cell is ours, the spread, and theirs below."""
    columns = list(dict.fromkeys(value.column for value in values))
    placed = {(value.row, value.column): value for value in values}
    rows = [
        [Cell(escape(row)), *(_cell(placed.get((row, column))) for column in columns)]
        for row in dict.fromkeys(value.row for value in values)
    ]
    return table(["", *columns], rows)


def _cell(value: Value | None) -> Cell:
    if value is None:
        return Cell("")
    spread = "" if value.spread is None else f" <small>± {value.spread:.2g}</small>"
    paper = "" if value.published is None else f"<br><small>published {number(value.published)}</small>"
    mark = MARKS[value.verdict]
    return Cell(f"<b>{number(value.measured)}</b>{spread} {mark}{paper}", value.measured, _STYLES[value.verdict])


def markdown(outcomes: Sequence[Outcome], left_out: dict[str, str]) -> str:
    """The same as part of a site's page: headings of the second level, tables, and the plots as SVG.

    Colours and the layout of the plots are the site's, as in docs/assets/site.css.
    """
    names = " ".join(one.name for one in outcomes)
    of_one_paper = len({one.paper for one in outcomes}) == 1  # then its name is the page's own
    parts = [
        "<!-- written by `arcrank reproduce`: do not edit -->",
        f"Measured with `arcrank reproduce {names}`; written on {today()} with {versions()} on {machine()}.",
        f"{_totals(outcomes)} {RULE}",
        *(_markdown_section(one, one.title if of_one_paper else one.full_title) for one in outcomes),
    ]
    if left_out:
        rows = [[_plain(name), _plain(why)] for name, why in left_out.items()]
        parts.append("## Left out\n\n" + _markdown_table(["experiment", "why"], rows))
    return "\n\n".join(parts) + "\n"


def _totals(outcomes: Sequence[Outcome]) -> str:
    counts = {name: sum(one.verdicts()[name] for one in outcomes) for name in MARKS}
    told = [f"**{n:,}** {name} {_mark(name)}".strip() for name, n in counts.items() if n]
    return f"{', '.join(told)}."


def _mark(verdict: str) -> str:
    return f'<span class="{_STYLES[verdict]}">{MARKS[verdict]}</span>' if MARKS[verdict] else ""


def _markdown_section(one: Outcome, title: str) -> str:
    columns = list(dict.fromkeys(value.column for value in one.values))
    placed = {(value.row, value.column): value for value in one.values}
    rows = [
        [_plain(row), *(_markdown_cell(placed.get((row, column))) for column in columns)]
        for row in dict.fromkeys(value.row for value in one.values)
    ]
    parts = [f"## {_plain(title)}", f"`{one.name}`" + (f": {_plain(one.note)}" if one.note else "")]
    table = _markdown_table(["", *map(_plain, columns)], rows)
    return "\n\n".join(filter(None, [*parts, _plots(one), table]))


def _markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["--:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, rule, *rows])


def _markdown_cell(value: Value | None) -> str:
    if value is None:
        return ""
    spread = "" if value.spread is None else f" <small>± {value.spread:.2g}</small>"
    paper = "" if value.published is None else f"<br><small>published {number(value.published)}</small>"
    return f"{number(value.measured)}{spread} {_mark(value.verdict)}".rstrip() + paper


def _plain(text: str) -> str:
    """Text that neither Markdown nor HTML takes for something else, on one line."""
    marks = str.maketrans({mark: f"&#{ord(mark)};" for mark in "|*_`[]\\#"})
    return escape(" ".join(text.split()), quote=False).translate(marks)

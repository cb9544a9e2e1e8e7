"""The HTML report of votes: the order of the labels with intervals, who beats whom, slices and judges."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from arcrank._wording import count
from arcrank.evaluation.report.html import Cell, label_html, notes, page, section, table
from arcrank.evaluation.report.report import FOOTER
from arcrank.evaluation.report.svg import Axis, Interval, interval_plot

if TYPE_CHECKING:
    from arcrank.evaluation.leaderboard import JudgeAgreement, LeaderboardReport, Standing

__all__ = ["leaderboard_page"]

_MOST_PLOTTED = 60
_MOST_DUELS = 30
_ORDER = (
    "A label is preferred to another one with the probability 1 / (1 + exp(-d)), where d is the difference of their "
    "strengths. Places are those that the label takes when votes are resampled."
)
_JUDGES = (
    "How often a judge agrees with a model of all other votes, how often that model expects it, and the difference in "
    "standard deviations, if the judge has enough votes to say anything."
)


def leaderboard_page(found: LeaderboardReport, title: str = "") -> str:
    """The whole page."""
    shown = found.standings[:_MOST_PLOTTED]
    plot = interval_plot(
        [Interval(str(one.label), one.low, one.strength, one.high) for one in shown],
        Axis(f"strength, {found.level:.0%} interval"),
    )
    heading = title or "Leaderboard"
    body = [
        f"<h1>{escape(heading)}</h1>",
        f'<p class="soft">{count(found.n_votes, "vote")} over {count(len(found.labels), "label")}.</p>',
        notes(found.notes()),
        section("Order", plot, _standings(found), intro=_ORDER),
        section("Who beats whom", _duels(found), intro=_duels_intro(len(found.labels))),
        *_slices(found),
        *_judges(found.judges),
    ]
    return page(heading, body, FOOTER, found.to_dict())


def _standings(found: LeaderboardReport) -> str:
    heads = ["place", "label", "strength", "from", "to", "places", "won", "lost", "tied", "neither"]
    return table(heads, (_standing(place, one) for place, one in enumerate(found.standings, 1)), sortable=True)


def _standing(place: int, one: Standing) -> list[Cell]:
    strengths = [Cell(f"{value:.2f}", value) for value in (one.strength, one.low, one.high)]
    counts = [Cell(f"{value:g}", value) for value in (one.wins, one.losses, one.ties, one.neither)]
    return [Cell(str(place), place), Cell(label_html(str(one.label))), *strengths, Cell(one.places), *counts]


def _duels_intro(n_labels: int) -> str:
    some = f" The first {_MOST_DUELS} labels are shown." if n_labels > _MOST_DUELS else ""
    return f"How often the label of the row was preferred to that of the column.{some}"


def _duels(found: LeaderboardReport) -> str:
    names = [str(label) for label in found.labels[:_MOST_DUELS]]
    rows = [
        [Cell(label_html(name)), *(Cell(f"{n:g}" if n else "", n) for n in row[:_MOST_DUELS].tolist())]
        for name, row in zip(names, found.wins, strict=False)
    ]
    return table(["", *names], rows)


def _slices(found: LeaderboardReport) -> list[str]:
    rows = [
        [Cell(escape(str(name))), Cell(escape(", ".join(str(one.label) for one in standings)))]
        for name, standings in found.slices.items()
    ]
    return [section("Slices", table(["slice", "order"], rows))] if rows else []


def _judges(judges: Iterable[JudgeAgreement]) -> list[str]:
    rows = [_judge(one) for one in judges]
    heads = ["judge", "votes", "agrees", "expected", "deviations"]
    return [section("Judges", table(heads, rows, sortable=True), intro=_JUDGES)] if rows else []


def _judge(one: JudgeAgreement) -> list[Any]:
    score = Cell("-") if one.score is None else Cell(f"{one.score:.1f}", one.score, "bad" if one.disagrees else "")
    shares = [Cell(f"{value:.0%}", value) for value in (one.agreement, one.expected)]
    return [Cell(label_html(str(one.judge))), Cell(f"{one.votes:,}", one.votes), *shares, score]

"""What an experiment of the papers gives: numbers beside the published ones, verdicts, and plots as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["MARKS", "NEAR", "RULE", "Line", "Outcome", "Plot", "Value", "verdict"]

NEAR = 0.15
MARKS = {"at or better": "✓", "within 15 %": "~", "worse": "✗", "no verdict": ""}
RULE = (
    "Verdicts compare the mean, rounded to the published value's decimals (two at least), with that value: at or "
    "better; within 15 % of it; worse. There is no verdict where nothing was published, or where the paper's data is "
    "not the data at hand."
)


class Value(NamedTuple):
    """One number of a table: measured, its spread where there are several runs, and published."""

    row: str
    column: str
    measured: float
    published: float | None = None
    spread: float | None = None
    higher_is_better: bool = False
    comparable: bool = True

    @property
    def verdict(self) -> str:
        return verdict(self)


def verdict(value: Value) -> str:
    """How a measured value stands beside the published one.

    >>> [verdict(Value("", "", x, 10.0)) for x in (9.0, 11.0, 12.0)]
    ['at or better', 'within 15 %', 'worse']
    >>> verdict(Value("", "", 12.0, 10.0, higher_is_better=True)), verdict(Value("", "", 12.0))
    ('at or better', 'no verdict')
    """
    if value.published is None or not value.comparable:
        return "no verdict"
    decimals = max(2, len(f"{value.published:.10g}".partition(".")[2]))
    lead = round(value.measured, decimals) - value.published
    lead = lead if value.higher_is_better else -lead
    if lead >= 0:
        return "at or better"
    return "within 15 %" if -lead <= NEAR * abs(value.published) else "worse"


class Line(NamedTuple):
    """One line of a plot, or all its bars."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


class Plot(NamedTuple):
    """Lines with the names of the axes; `log` names the logarithmic ones, ranges hold where data should not decide."""

    lines: Sequence[Line]
    x: str
    y: str
    title: str = ""
    log: str = ""
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    bars: bool = False


@dataclass
class Outcome:
    """The values and plots of one experiment."""

    name: str
    title: str
    note: str = ""
    paper: str = ""
    values: list[Value] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def full_title(self) -> str:
        """The paper, and what it is in the paper."""
        return ", ".join(filter(None, [self.paper, self.title]))

    def verdicts(self) -> dict[str, int]:
        """How many values have each verdict."""
        counted = Counter(value.verdict for value in self.values)
        return {name: counted[name] for name in MARKS}

    def to_json(self) -> dict[str, Any]:
        """See schemas/reproduce.json."""
        return {
            "name": self.name,
            "title": self.full_title,
            "note": self.note,
            "values": [{**value._asdict(), "verdict": value.verdict} for value in self.values],
            "verdicts": self.verdicts(),
            "seconds": self.seconds,
        }

"""The outcome of an experiment: measured and published numbers, verdicts, and plots as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["MARKS", "NEAR", "RULE", "Line", "Outcome", "Plot", "Value", "format_verdicts", "verdict"]

NEAR = 0.15
NO_VERDICT = "no verdict"
MARKS = {"at or better": "✓", "within 15 %": "~", "worse": "✗", NO_VERDICT: ""}
RULE = (
    "Verdicts compare the mean, rounded to the decimals of the published value (at least two), with that value: at or "
    "better; within 15 % of it; worse. There is no verdict where no value was published, or where the note on the data "
    "says so."
)


class Value(NamedTuple):
    """One number of a table: the measured value, its spread over runs if there are several, and the published value."""

    row: str
    column: str
    measured: float
    published: float | None = None
    spread: float | None = None
    higher_is_better: bool = False
    comparable: bool = True
    significantly_worse: bool = False
    """Than the best of its table, by the paper's own test."""

    @property
    def arrow(self) -> str:
        """The paper's mark of a value that is significantly worse than the best."""
        return " ↓" if self.significantly_worse else ""

    @property
    def verdict(self) -> str:
        """How the measured value compares with the published one."""
        return verdict(self)


def verdict(value: Value) -> str:
    """Return how a measured value compares with the published one.

    Examples
    --------
    >>> [verdict(Value("", "", x, 10.0)) for x in (9.0, 11.0, 12.0)]
    ['at or better', 'within 15 %', 'worse']
    >>> verdict(Value("", "", 12.0, 10.0, higher_is_better=True)), verdict(Value("", "", 12.0))
    ('at or better', 'no verdict')
    """
    if value.published is None or not value.comparable:
        return NO_VERDICT
    decimals = max(2, len(f"{value.published:.10g}".partition(".")[2]))
    lead = round(value.measured, decimals) - value.published
    lead = lead if value.higher_is_better else -lead
    if lead >= 0:
        return "at or better"
    return "within 15 %" if -lead <= NEAR * abs(value.published) else "worse"


def format_verdicts(counts: Mapping[str, int], marks: Mapping[str, str] = MARKS) -> str:
    """Return the numbers of cells that are at or better, within 15 % and worse, zeros included, and of the others.

    Examples
    --------
    >>> format_verdicts({"at or better": 3, "within 15 %": 0, "worse": 1, "no verdict": 2})
    '3 at or better ✓, 0 within 15 % ~, 1 worse ✗, 2 without a verdict'
    >>> format_verdicts({"at or better": 0, "within 15 %": 0, "worse": 0, "no verdict": 2})
    '2 without a verdict'
    """
    found = {name: n for name, n in counts.items() if name != NO_VERDICT}
    texts = [f"{n:,} {name} {marks[name]}" for name, n in found.items() if any(found.values())]
    rest = counts[NO_VERDICT]
    return ", ".join([*texts, f"{rest:,} without a verdict"] if rest else texts)


class Line(NamedTuple):
    """One line of a plot, or all of its bars."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


class Plot(NamedTuple):
    """Lines and the names of the axes; `log` names the logarithmic axes, a range of None follows the data."""

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
        """The paper, and the table or figure in it."""
        return ", ".join(filter(None, [self.paper, self.title]))

    def table(self) -> tuple[list[str], dict[str, list[Value | None]]]:
        """Return the names of the columns, and for each row its values in that order, None where there is none.

        Examples
        --------
        >>> Outcome("name", "title", values=[Value("MMP", "loss", 0.5), Value("Rocchio", "F1", 0.8)]).table()[0]
        ['loss', 'F1']
        """
        columns = list(dict.fromkeys(value.column for value in self.values))
        placed = {(value.row, value.column): value for value in self.values}
        rows = dict.fromkeys(value.row for value in self.values)
        return columns, {row: [placed.get((row, column)) for column in columns] for row in rows}

    def verdicts(self) -> dict[str, int]:
        """Return the number of values with each verdict."""
        counted = Counter(value.verdict for value in self.values)
        return {name: counted[name] for name in MARKS}

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as in schemas/reproduce.json."""
        return {
            "name": self.name,
            "title": self.full_title,
            "note": self.note,
            "values": [_value_to_json(value) for value in self.values],
            "verdicts": self.verdicts(),
            "seconds": self.seconds,
        }


def _value_to_json(value: Value) -> dict[str, Any]:
    facts = {**value._asdict(), "verdict": value.verdict}
    del facts["significantly_worse"]  # a mark for readers of tables
    return facts

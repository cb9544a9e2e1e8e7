"""What votes say as a whole: the order of the labels, how sure it is, and where voters disagree."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, NamedTuple

import numpy as np

from arcrank._typing import Array
from arcrank._validation import check_int, check_real
from arcrank._wording import count
from arcrank.errors import InputError
from arcrank.graphs.votes import NEITHER, TIE, Votes
from arcrank.io.atomic import write_atomically
from arcrank.rankers.bradley_terry import BradleyTerry, connected_parts

__all__ = ["Cycle", "JudgeAgreement", "LeaderboardReport", "Standing"]

_FEWEST_VOTES = 10
"""A judge with fewer votes cannot be said to disagree."""
_DISAGREES = -3.0
"""The standard score of the agreement of a judge with the others below which the judge is named."""
_MOST_REFITS = 200
_MOST_CYCLES = 10


class Standing(NamedTuple):
    """A label in the order: its strength with an interval, the places it takes in the interval, and its votes."""

    label: Any
    strength: float
    low: float
    high: float
    best_place: int
    worst_place: int
    wins: float
    losses: float
    ties: float
    neither: float

    @property
    def places(self) -> str:
        """The places as text, such as "2" or "1-3"."""
        return str(self.best_place) if self.best_place == self.worst_place else f"{self.best_place}-{self.worst_place}"


class Cycle(NamedTuple):
    """Three labels of which each was preferred to the next by most voters, and the smallest of these majorities."""

    labels: tuple[Any, Any, Any]
    smallest_lead: float


class JudgeAgreement(NamedTuple):
    """How often a judge agrees with a model of the others' votes, and how often the model expects it.

    `score` is the difference in standard deviations, None if the judge has too few votes to say anything.
    """

    judge: Any
    votes: int
    agreement: float
    expected: float
    score: float | None

    @property
    def disagrees(self) -> bool:
        """Whether the judge disagrees with the others more than chance explains."""
        return self.score is not None and self.score < _DISAGREES


@dataclass(frozen=True, repr=False)
class LeaderboardReport:
    """The order of the labels by all votes, with intervals, within slices, and what contradicts it.

    Build it with `from_votes`.

    Attributes
    ----------
    standings : list of Standing
        The labels, strongest first, with bootstrap intervals of their strengths.
    slices : dict of lists of Standing
        The same for some of the votes, by the name of the slice.
    labels : list
        The labels in the order of the standings.
    wins : (k, k) array
        How often the label of the row was preferred to that of the column, in the order of the standings.
    contradicted : int
        The number of cases about which voters contradict each other on a pair of labels.
    self_contradictions : dict
        The number of pairs in a case that a judge voted on both ways, by judge.
    cycles : list of Cycle
        Cycles of three labels by majority, the clearest first; no order agrees with all majorities of a cycle.
    judges : list of JudgeAgreement
        Each judge against the others, the largest disagreement first; empty if the votes name no judges.
    parts : list of lists
        Groups of labels that no vote connects; more than one means that strengths cannot be compared between them.

    Examples
    --------
    >>> from arcrank.graphs import Votes
    >>> votes = Votes.from_columns(["tea"] * 8 + ["milk"] * 2 + ["milk"] * 6, ["milk"] * 8 + ["tea"] * 2 + ["hay"] * 6)
    >>> report = LeaderboardReport.from_votes(votes, n_samples=50)
    >>> [one.label for one in report.standings]
    ['tea', 'milk', 'hay']
    """

    standings: list[Standing]
    labels: list[Any]
    wins: Array
    n_votes: int
    level: float
    slices: dict[Any, list[Standing]] = field(default_factory=dict)
    contradicted: int = 0
    self_contradictions: dict[Any, int] = field(default_factory=dict)
    cycles: list[Cycle] = field(default_factory=list)
    judges: list[JudgeAgreement] = field(default_factory=list)
    parts: list[list[Any]] = field(default_factory=list)

    @classmethod
    def from_votes(
        cls,
        votes: Votes,
        *,
        slices: Any = None,
        C: float = 1.0,
        level: float = 0.9,
        n_samples: int = 200,
        random_state: Any = 0,
    ) -> LeaderboardReport:
        """Fit Bradley-Terry models (Davidson's, if there are ties) and look for contradictions.

        Parameters
        ----------
        votes : Votes
            As `read_votes` or `Votes.from_columns` returns them.
        slices : sequence with a name for each vote, or dict of masks, optional
            Parts of the votes whose order is shown too, such as languages or topics.
        C : float
            Weight of the votes, as in `BradleyTerry`.
        level : float
            Of the intervals.
        n_samples : int
            Bootstrap samples.
        random_state : int
            Of the bootstrap.
        """
        check_real("level", level, above=0, below=1)
        check_int("n_samples", n_samples, at_least=2)
        options = {"C": C, "level": level, "n_samples": n_samples, "random_state": random_state}
        standings = _standings(votes, **options)
        labels = [one.label for one in standings]
        place = {label: j for j, label in enumerate(votes.labels.tolist())}
        order = [place[label] for label in labels]
        contradicted, by_judge = _contradictions(votes)
        return cls(
            standings,
            labels,
            votes.wins()[np.ix_(order, order)],
            len(votes),
            level,
            {name: _standings(part, **options) for name, part in _sliced(votes, slices).items()},
            contradicted,
            by_judge,
            _cycles(votes),
            _judges(votes, C),
            connected_parts(votes),
        )

    def to_text(self) -> str:
        """Return the report as plain text."""
        lines = [f"{count(self.n_votes, 'vote')} over {count(len(self.labels), 'label')}", "", *self._table_lines()]
        for name, standings in self.slices.items():
            lines += ["", f"{name}: {', '.join(str(one.label) for one in standings)}"]
        return "\n".join([*lines, "", *self.notes()])

    def _table_lines(self) -> list[str]:
        width = max(5, *(len(str(label)) for label in self.labels))
        head = f"{'label':{width}}  strength  {self.level:.0%} interval  places    won   lost   tied"
        rows = [
            f"{one.label!s:{width}}  {one.strength:8.2f}  {one.low:6.2f} {one.high:6.2f}  "
            f"{one.places:>6}  {one.wins:5g}  {one.losses:5g}  {one.ties:5g}"
            for one in self.standings
        ]
        return [head, *rows]

    def notes(self) -> list[str]:
        """Return what a reader should know, one sentence each."""
        found = []
        if len(self.parts) > 1:
            found.append(f"No vote connects {len(self.parts)} groups of labels: their strengths cannot be compared.")
        if not self.wins.any():
            found.append("All votes are ties or for neither label: they say nothing about the order.")
        if self.contradicted:
            found.append(f"Voters contradict each other on {count(self.contradicted, 'case')}.")
        for judge, n in self.self_contradictions.items():
            found.append(f"{judge} voted both ways on {count(n, 'pair')} of a case.")
        for cycle in self.cycles:
            a, b, c = cycle.labels
            votes = f"{cycle.smallest_lead:g} {'vote' if cycle.smallest_lead == 1 else 'votes'}"
            found.append(f"Cycle: {a} > {b} > {c} > {a}, by majorities of at least {votes}.")
        few = sum(one.score is None for one in self.judges)
        found += [
            f"{one.judge} agrees with the others in {one.agreement:.0%} of {one.votes} votes, "
            f"{one.expected:.0%} expected."
            for one in self.judges
            if one.disagrees
        ]
        if few:
            found.append(f"{count(few, 'judge')} with fewer than {_FEWEST_VOTES} votes: too few to be compared.")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON: what `arcrank leaderboard --json` prints."""
        judges = [{**one._asdict(), "judge": str(one.judge), "disagrees": one.disagrees} for one in self.judges]
        return {
            "votes": self.n_votes,
            "labels": [str(label) for label in self.labels],
            "level": self.level,
            "standings": _standings_dict(self.standings),
            "wins": self.wins.tolist(),
            "slices": {str(name): _standings_dict(standings) for name, standings in self.slices.items()},
            "contradicted_cases": self.contradicted,
            "self_contradictions": {str(judge): n for judge, n in self.self_contradictions.items()},
            "cycles": [{**one._asdict(), "labels": [*map(str, one.labels)]} for one in self.cycles],
            "judges": judges,
            "groups": [[*map(str, part)] for part in self.parts],
            "notes": self.notes(),
        }

    def to_html(self, path: str | os.PathLike[str], *, title: str = "") -> None:
        """Write the report as one self-contained HTML page; it is written completely or not at all."""
        from arcrank.evaluation.report.leaderboard import leaderboard_page

        write_atomically(path, [leaderboard_page(self, title).encode()])

    def plot(self, ax: Any = None) -> Any:
        """Draw the strengths with their intervals with matplotlib; return the axes."""
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(figsize=(6, 0.4 * len(self.labels) + 1), layout="constrained").subplots()
        y = np.arange(len(self.standings))[::-1]
        middle = np.array([one.strength for one in self.standings])
        ends = np.array([[one.low, one.high] for one in self.standings]).T
        ax.errorbar(middle, y, xerr=np.abs(ends - middle), fmt="o", capsize=3)
        ax.set_yticks(y, [str(label) for label in self.labels])
        ax.set_xlabel(f"strength, {self.level:.0%} interval")
        return ax

    def _repr_html_(self) -> str:
        columns = ("label", "strength", f"{self.level:.0%} interval", "places", "won", "lost", "tied")
        rows = [
            (one.label, f"{one.strength:.2f}", f"{one.low:.2f} to {one.high:.2f}", one.places, *one[6:9])
            for one in self.standings
        ]
        names = [str(label) for label in self.labels]
        duels = [(name, *(f"{n:g}" if n else "" for n in row)) for name, row in zip(names, self.wins, strict=True)]
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes())
        slices = [(name, *(one.label for one in standings)) for name, standings in self.slices.items()]
        places = tuple(str(j + 1) for j in range(len(names)))
        parts = [_html_table(columns, rows), "<p>Who beats whom (row against column)</p>"]
        parts += [_html_table(("", *names), duels)]
        parts += [_html_table(("slice", *places), slices)] if slices else []
        return "".join([*parts, f"<ul>{notes}</ul>" if notes else ""])

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"LeaderboardReport({count(self.n_votes, 'vote')}, {count(len(self.labels), 'label')})"


def _standings_dict(standings: list[Standing]) -> list[dict[str, Any]]:
    return [{**one._asdict(), "label": str(one.label)} for one in standings]


def _html_table(head: tuple[Any, ...], rows: list[tuple[Any, ...]]) -> str:
    def line(cells: tuple[Any, ...], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(_shown(cell))}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


def _shown(cell: Any) -> str:
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


def _sliced(votes: Votes, slices: Any) -> dict[Any, Votes]:
    if slices is None:
        return {}
    if not isinstance(slices, Mapping):
        names = list(slices)
        if len(names) != len(votes):
            raise InputError(f"slices has {len(names)} names for {len(votes)} votes; give one for each vote.")
        slices = {name: [one == name for one in names] for name in dict.fromkeys(names)}
    parts = {name: _seen(votes[np.asarray(mask, dtype=bool)]) for name, mask in slices.items()}
    return {name: part for name, part in parts.items() if len(part)}


def _seen(votes: Votes) -> Votes:
    """The votes over the labels that they mention."""
    names = votes.labels.tolist()
    used = [names[j] for j in np.union1d(votes.a, votes.b)]
    if not used:
        return votes
    a, b = ([names[j] for j in column] for column in (votes.a, votes.b))
    return replace(Votes.from_columns(a, b, weights=votes.weight, labels=used), outcome=votes.outcome)


def _standings(votes: Votes, *, C: float, level: float, n_samples: int, random_state: Any) -> list[Standing]:
    model = BradleyTerry(C).fit(votes)
    samples = model.bootstrap(votes, n_samples, random_state)
    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(samples, tails, axis=0)
    ranks = np.array([_places(sample) for sample in samples])
    best, worst = np.quantile(ranks, tails, axis=0, method="nearest")
    wins = votes.wins()
    tied = (_counts(votes, code) for code in (TIE, NEITHER))
    columns = (votes.labels.tolist(), model.strengths_, low, high, best, worst, wins.sum(1), wins.sum(0), *tied)
    rows = [
        Standing(label, float(s), float(a), float(b), int(first), int(last), *map(float, counts))
        for label, s, a, b, first, last, *counts in zip(*columns, strict=True)
    ]
    return sorted(rows, key=lambda one: -one.strength)


def _places(strengths: Array) -> Array:
    """1 + the number of labels that are stronger: equal labels share a place."""
    k = len(strengths)
    return np.asarray(k + 1 - np.searchsorted(np.sort(strengths), strengths, side="right"))


def _counts(votes: Votes, code: int) -> Array:
    """How many votes of an outcome each label has."""
    at = votes.outcome == code
    ends = np.concatenate([votes.a[at], votes.b[at]])
    counts: Array = np.bincount(ends, np.tile(votes.weight[at], 2), len(votes.labels))  # type: ignore[assignment]
    return counts


def _contradictions(votes: Votes) -> tuple[int, dict[Any, int]]:
    """Cases with both directions of a pair, by different votes; and the pairs that a judge voted on both ways."""
    at, head, tail = votes.arcs()
    k, case = len(votes.labels), votes.case[at]
    both = _both_ways(case, head, tail, k)
    by_judge: dict[Any, int] = {}
    if votes.judge is not None and votes.judges is not None:
        own = _both_ways(case * len(votes.judges) + votes.judge[at], head, tail, k)
        for judge in (own % len(votes.judges)).tolist():
            name = votes.judges[judge]
            by_judge[name] = by_judge.get(name, 0) + 1
        by_judge.pop(None, None)
    return len(np.unique(both)), by_judge


def _both_ways(group: Any, head: Any, tail: Any, k: int) -> Any:
    """The group of each pair that has votes in both directions within it."""
    forward = np.unique((group * k + head) * k + tail)
    backward = np.unique((group * k + tail) * k + head)
    shared = np.intersect1d(forward, backward)
    shared = shared[(shared // k) % k < shared % k]  # every pair once
    return shared // (k * k)


def _cycles(votes: Votes) -> list[Cycle]:
    """Cycles of three labels by majority, the largest of the smallest leads first."""
    lead = votes.wins() - votes.wins().T
    beats, names = lead > 0, votes.labels.tolist()
    found = []
    for a in range(len(names)):
        closing = beats[a][:, None] & beats & beats[:, a][None, :]
        for b, c in np.argwhere(closing).tolist():
            if a < b and a < c:
                smallest = min(lead[a, b], lead[b, c], lead[c, a])
                found.append(Cycle((names[a], names[b], names[c]), float(smallest)))
    return sorted(found, key=lambda one: -one.smallest_lead)[:_MOST_CYCLES]


def _judges(votes: Votes, C: float) -> list[JudgeAgreement]:
    if votes.judge is None or votes.judges is None:
        return []
    everyone = BradleyTerry(C, ties="ignore").fit(votes)
    found = []
    for number, judge in enumerate(votes.judges):
        own = votes.judge == number
        if judge is None or not (votes.outcome[own] < TIE).any():
            continue
        others = votes[~own]
        alone = len(votes.judges) <= _MOST_REFITS and len(others)
        model = BradleyTerry(C, ties="ignore").fit(others) if alone else everyone
        found.append(_agreement(judge, votes[own], model))
    return sorted(found, key=lambda one: (one.score is None, one.score or 0.0))


def _agreement(judge: Any, votes: Votes, model: BradleyTerry) -> JudgeAgreement:
    """Compare the votes of a judge with the label that the model of the others prefers in each pair."""
    _, head, tail = votes.arcs()
    margin = model.strengths_[head] - model.strengths_[tail]
    certain = 1.0 / (1.0 + np.exp(-np.abs(margin)))  # how often others agree with the model in such a pair
    agrees = np.where(margin == 0, 0.5, margin > 0)
    spread = float(np.sqrt((certain * (1 - certain)).sum()))
    score = float((agrees - certain).sum() / spread) if len(head) >= _FEWEST_VOTES and spread > 0 else None
    return JudgeAgreement(judge, len(head), float(agrees.mean()), float(certain.mean()), score)

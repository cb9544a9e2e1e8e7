"""Amini, Truong & Goutte 2008: Tables 2 and 3 and Figures 1-3 with the published values.

    ARCRANK_DATA=... python -m arcrank.experiments.amini2008 [--collection Reuters-21578] [--splits 10] [--rounds 100]
                                                             [table2 table3 figure1 figure2 figure3 pairs beyond]

Collection: the documents of Reuters-21578 that have a topic, by their first topic, the 10 most frequent topics (9,509
documents). OHSUMED uses the same code where its records are on the machine.
Preprocessing: lower case, each run of digits one token, a stop list, no stems, terms of at least 3 documents (10,751
terms; the paper does not give its number). The paper does not say how it weights terms; here weights are
`(log tf + 1) idf` in rows of unit length, with idf learnt from the training part.
Splits: 10 times a random third of the documents for the test (numpy's default_rng([2008, split])).
Label sets: for each topic and split 9 relevant and 81 irrelevant random documents of the training part
(default_rng([2008, split, topic])); its other documents are unlabelled. Smaller sets are subsets of larger ones.
Measures are means over topics, then over splits; +- is the standard error over splits. Ties count as errors in all of
them, as the paper writes its AUC; "random ties" is the mean over all orders of tied documents. The mark "v" (an arrow
in reports) means worse than the best of the paper's methods by a Wilcoxon rank sum test over splits, p < 0.01.
The constants of "ssRB latent" were selected by its results on RCV1 and debtags; two earlier selections, also made
there, had been measured here before (mAUP 75.07 and 75.48, AUC 98.62 and 98.71). The constants of the logistic
regressions on latent dimensions that it is compared with are the best of a grid on the test documents themselves.
Finished cells are stored in the user's cache folder, so an interrupted run resumes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from itertools import count

from arcrank.datasets import load_ohsumed
from arcrank.errors import MissingDataError
from arcrank.experiments.amini2008 import tables
from arcrank.experiments.amini2008.study import RECALLS, Cell, Study
from arcrank.experiments.amini2008.tables import Point, Row
from arcrank.experiments.outcomes import Line, Outcome, Plot, Value
from arcrank.experiments.progress import Tick

__all__ = ["count_cells", "figure1", "figure2", "figure3", "table2", "table3"]


SIGNIFICANCE = (
    "The arrow ↓ marks values that are significantly worse than the best of the paper's methods, by the paper's test "
    "(Wilcoxon's rank sums over splits, p < 0.01)."
)
RANDOM = ", random ties"


def table2(outcome: Outcome, tick: Tick) -> None:
    """Add mAUP and mT9P of every method, also on OHSUMED if its records are on this machine."""
    _explain(outcome, f"Ties are errors; the columns with{RANDOM[1:]} are the means over all orders of tied documents.")
    for collection in _available():
        before = "" if collection == "Reuters-21578" else f"{collection}, "
        rows = tables.table2(Study(collection, tick=tick), _silent)
        outcome.values += [_table_value(before + row.method, row.measure, row) for row in rows]
        outcome.values += [_random_ties(before + row.method, row.measure, row) for row in rows]


def table3(outcome: Outcome, tick: Tick) -> None:
    """Add the AUC of every topic and method; of the ssRB columns only k = 2 is in the paper."""
    _explain(
        outcome, f"Ties are errors; columns with{RANDOM[1:]} (each counts half) have the values that change verdict."
    )
    others = []
    for row in tables.table3(Study(tick=tick), _silent):
        topic = row.measure.removeprefix("AUC ")
        value = _table_value(topic, row.method, row)
        outcome.values.append(value)
        if value._replace(measured=row.random_ties).verdict != value.verdict:
            others.append(_random_ties(topic, row.method, row))
    outcome.values += others


def _explain(outcome: Outcome, ties: str) -> None:
    outcome.note = " ".join(filter(None, [outcome.note, SIGNIFICANCE, ties]))


def _table_value(row: str, column: str, found: Row) -> Value:
    return Value(
        row,
        column,
        found.mean,
        found.published,
        found.error,
        higher_is_better=True,
        significantly_worse=found.worse,
    )


def _random_ties(row: str, column: str, found: Row) -> Value:
    """Return the other reading of a value, without a verdict: one published value is compared once."""
    return Value(row, column + RANDOM, found.random_ties, higher_is_better=True)


def figure1(outcome: Outcome, tick: Tick) -> None:
    """Add the AUC by the number of relevant documents."""
    points = tables.figure1(Study(tick=tick), _silent)
    outcome.values += [_value(point, "relevant documents") for point in points]
    outcome.plots.append(Plot(_lines(points), "relevant documents", "AUC in %"))


def figure2(outcome: Outcome, tick: Tick) -> None:
    """Add precision by recall, and mAUP by the number of labelled documents."""
    points = tables.figure2(Study(tick=tick), _silent)
    curves = [point for point in points if point.of == "precision by recall"]
    growing = [point for point in points if point.of != "precision by recall"]
    outcome.values += [_value(point, "labelled documents") for point in growing]
    outcome.plots.append(Plot(_lines(curves), "recall", "precision in %", y_range=(0.0, 100.0)))
    outcome.plots.append(Plot(_lines(growing), "labelled documents", "mAUP in %", log="x"))


def figure3(outcome: Outcome, tick: Tick) -> None:
    """Add mAUP by the discount, with a line for each number of labelled documents."""
    points = [point._replace(method=point.of) for point in tables.figure3(Study(tick=tick), _silent)]
    outcome.values += [_value(point, "discount") for point in points]
    outcome.plots.append(Plot(_lines(points), "discount", "mAUP in %"))


def count_cells(part: str) -> int:
    """Return the number of cells of a table or figure on Reuters-21578, by making it from cells without measures."""
    counter = count()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the significance tests warn about equal values
        getattr(tables, part)(_EmptyStudy(tick=lambda: next(counter)), _silent)
    return next(counter)


class _EmptyStudy(Study):
    """A study that runs nothing: every measure is 0."""

    def finished(self, cell: Cell) -> Cell:
        cell.precision = [0.0] * len(RECALLS)
        return cell


def _available() -> list[str]:
    """Return Reuters-21578, and OHSUMED if it is on this machine."""
    try:
        load_ohsumed()
    except MissingDataError:
        return ["Reuters-21578"]
    return ["Reuters-21578", "OHSUMED"]


def _silent(line: str) -> None:
    """Print nothing: the progress bar already shows how far a run is."""


def _value(point: Point, what: str) -> Value:
    return Value(f"{point.x:g} {what}", point.method, point.y, spread=point.error, higher_is_better=True)


def _lines(points: Iterable[Point]) -> list[Line]:
    """Return a line for each method, its points from left to right."""
    by_method: dict[str, list[Point]] = {}
    for point in points:
        by_method.setdefault(point.method, []).append(point)
    ordered = {name: sorted(some, key=lambda point: point.x) for name, some in by_method.items()}
    return [Line(name, [p.x for p in some], [p.y for p in some]) for name, some in ordered.items()]

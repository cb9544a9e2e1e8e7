"""Amini, Truong & Goutte 2008: from `arcrank.experiments.bipartite_tables` to values and plots."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from arcrank.errors import MissingDataError
from arcrank.experiments.outcomes import Line, Outcome, Plot, Value
from arcrank.experiments.paper_runs import Tick

if TYPE_CHECKING:
    from arcrank.experiments.bipartite_runs import Study
    from arcrank.experiments.bipartite_tables import Point


def _study(tick: Tick, collection: str = "Reuters-21578") -> Study:
    """The paper's study, telling every cell."""
    from arcrank.experiments.bipartite_runs import Study as Silent

    class StreamPass(Silent):
        def cell(self, *arguments: Any, **settings: Any) -> Any:
            found = super().cell(*arguments, **settings)
            tick()
            return found

    return StreamPass(collection)


def cells_of(part: str) -> Callable[[], int]:
    """How many cells a table or figure asks for: it is made once of cells that cost nothing."""

    def count() -> int:

        from arcrank.experiments import bipartite_tables
        from arcrank.experiments.bipartite_runs import RECALLS, Cell, Study

        asked = 0

        class Counted(Study):
            def cell(self, name: str, topic: str, number: int, n_relevant: int = 0, n_irrelevant: int = 0) -> Cell:
                nonlocal asked
                asked += 1
                precision = [0.0] * len(RECALLS)
                return Cell(name, topic, number, n_relevant, n_irrelevant, self.n_rounds, precision=precision)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tests on equal numbers have nothing to say
            getattr(bipartite_tables, part)(Counted(), _silent)
        return asked

    return count


def _silent(line: str) -> None:
    """The bar tells how far a run is; lines of their own would break it."""


def table2(outcome: Outcome, tick: Tick) -> None:
    """mAUP and mT9P of every method; OHSUMED too where its records are."""
    from arcrank.experiments import bipartite_tables as tables

    for collection in _collections():
        before = "" if collection == "Reuters-21578" else f"{collection}, "
        outcome.values += [
            Value(before + row.method, row.measure, row.mean, row.published, row.error, higher_is_better=True)
            for row in tables.table2(_study(tick, collection), _silent)
        ]


def _collections() -> list[str]:
    from arcrank.datasets import load_ohsumed

    try:
        load_ohsumed()
    except MissingDataError:
        return ["Reuters-21578"]
    return ["Reuters-21578", "OHSUMED"]


def table3(outcome: Outcome, tick: Tick) -> None:
    """The AUC of every topic, methods side by side; of the ssRB only k = 2 is in the paper."""
    from arcrank.experiments import bipartite_tables as tables

    outcome.values += [
        Value(row.measure.removeprefix("AUC "), row.method, row.mean, row.published, row.error, higher_is_better=True)
        for row in tables.table3(_study(tick), _silent)
    ]


def figure1(outcome: Outcome, tick: Tick) -> None:
    """AUC by the number of relevant documents."""
    from arcrank.experiments import bipartite_tables as tables

    points = tables.figure1(_study(tick), _silent)
    outcome.values += [_at(point, "relevant documents") for point in points]
    outcome.plots.append(Plot(_lines(points), "relevant documents", "AUC in %"))


def figure2(outcome: Outcome, tick: Tick) -> None:
    """Precision by recall, then mAUP by the number of labelled documents."""
    from arcrank.experiments import bipartite_tables as tables

    points = tables.figure2(_study(tick), _silent)
    curves = [point for point in points if point.of == "precision by recall"]
    growing = [point for point in points if point.of != "precision by recall"]
    outcome.values += [_at(point, "labelled documents") for point in growing]
    outcome.plots.append(Plot(_lines(curves), "recall", "precision in %", y_range=(0.0, 100.0)))
    outcome.plots.append(Plot(_lines(growing), "labelled documents", "mAUP in %", log="x"))


def figure3(outcome: Outcome, tick: Tick) -> None:
    """mAUP by the discount, a line for each number of labelled documents."""
    from arcrank.experiments import bipartite_tables as tables

    points = [point._replace(method=point.of) for point in tables.figure3(_study(tick), _silent)]
    outcome.values += [_at(point, "discount") for point in points]
    outcome.plots.append(Plot(_lines(points), "discount", "mAUP in %"))


def _at(point: Point, what: str) -> Value:
    return Value(f"{point.x:g} {what}", point.method, point.y, spread=point.error, higher_is_better=True)


def _lines(points: Iterable[Point]) -> list[Line]:
    """A line for each method, its points from left to right."""
    by_method: dict[str, list[Point]] = {}
    for point in points:
        by_method.setdefault(point.method, []).append(point)
    ordered = {name: sorted(some, key=lambda point: point.x) for name, some in by_method.items()}
    return [Line(name, [p.x for p in some], [p.y for p in some]) for name, some in ordered.items()]

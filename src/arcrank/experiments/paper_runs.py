"""The tables and figures of three papers: from the runs to values and plots of one form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from arcrank.errors import MissingDataError
from arcrank.experiments.outcomes import Line, Outcome, Plot, Value

T = TypeVar("T")
Tick = Callable[[], None]
Run = Callable[[Outcome, Tick], None]


def _ticked(cells: Iterable[T], tick: Tick) -> Iterator[T]:
    for cell in cells:
        yield cell
        tick()


def dekel_figure4(outcome: Outcome, tick: Tick) -> None:
    """The mean over folds of every loss and error; other documents than the paper's."""
    import numpy as np

    from arcrank.experiments.leaf_ranking import DECOMPOSITIONS, FEATURES, PUBLISHED, SOLVERS, rows

    for features in FEATURES:
        for solver in SOLVERS:
            found = list(_ticked(rows(features, solver), tick))
            for loss in DECOMPOSITIONS:
                errors = np.array([one["errors"] for one in found if one["loss"] == loss])
                outcome.values += [
                    Value(f"{loss} ({features}, {solver})", f"{judge} error", mean, paper, spread, comparable=False)
                    for judge, mean, spread, paper in zip(
                        DECOMPOSITIONS, errors.mean(axis=0).tolist(), errors.std(axis=0, ddof=1).tolist(),
                        PUBLISHED[loss], strict=True,
                    )
                ]  # fmt: skip


def aiolli_table1(outcome: Outcome, tick: Tick) -> None:
    """Every mapping with the C that cross-validation chooses."""
    from arcrank.datasets import load_reuters21578
    from arcrank.experiments.cells import cell
    from arcrank.experiments.preference_table import GRID, MEASURES, Row, table

    def compute() -> list[Row]:
        return list(_ticked(table(load_reuters21578("modapte-top10")), tick))

    key = {"version": 1, "grid": list(GRID), "measures": list(MEASURES)}
    for row in (Row(*one) for one in cell("preference-table", key, compute)):
        name = row.method if row.C is None else f"{row.method} (C = {row.C:g})"
        outcome.values += [
            Value(name, measure, ours, theirs, higher_is_better=measure.startswith("AvgP"))
            for measure, ours, theirs in zip(MEASURES, row.measured, row.published, strict=True)
        ]


def crammer_table(number: int) -> Run:
    """Tables 1 and 3 hold the losses, 2 and 4 the retrieval measures."""

    def run(outcome: Outcome, tick: Tick) -> None:
        from arcrank.experiments.category_ranking import rows
        from arcrank.experiments.category_ranking_runs import MEASURES, cells

        corpus = "Reuters-21578" if number < 3 else "RCV1"
        chosen = list(MEASURES)[:3] if number % 2 else list(MEASURES)[3:]
        higher = {"avg. precision", "max F1"}
        outcome.values += [
            Value(
                row.ranker, row.measure, row.mean, row.published, row.deviation if number < 3 else None,
                row.measure in higher, comparable=number < 3,
            )
            for row in rows(_ticked(cells(corpus), tick))
            if row.measure in chosen
        ]  # fmt: skip

    return run


def crammer_figure3(outcome: Outcome, tick: Tick) -> None:
    """The share of documents with 1, 2, ... topics."""
    import numpy as np

    from arcrank.experiments.category_ranking_runs import label_sets

    for corpus in _corpora():
        sizes = np.diff(label_sets(corpus).indptr)
        share = (np.bincount(sizes, minlength=11) / len(sizes)).tolist()
        outcome.values.append(Value(corpus, "topics a document", float(sizes.mean())))
        line = Line(corpus, list(range(1, 11)), share[1:11])
        outcome.plots.append(Plot([line], "number of topics", "share of documents", corpus, bars=True))
        tick()


def _corpora() -> list[str]:
    """Reuters, and RCV1 where it is on this machine."""
    from arcrank.datasets import load_rcv1

    try:
        load_rcv1()
    except MissingDataError:
        return ["Reuters-21578"]
    return ["Reuters-21578", "RCV1"]


def crammer_losses(corpus: str) -> Run:
    """The round-averaged losses of the online learners, the mean over folds."""

    def run(outcome: Outcome, tick: Tick) -> None:
        import numpy as np

        from arcrank.experiments.category_ranking_runs import RANKERS, cells

        found = [cell for cell in _ticked(cells(corpus), tick) if cell.rounds]
        for which in range(3):
            lines = []
            for name in RANKERS:
                folds = [cell for cell in found if cell.ranker == name]
                if folds:
                    last = min(cell.rounds[-1] for cell in folds)
                    rounds = [r for r in folds[0].rounds if r <= last]
                    curves = [np.interp(rounds, cell.rounds, np.array(cell.losses)[:, which]) for cell in folds]
                    lines.append(Line(name, rounds, np.mean(curves, axis=0).tolist()))
                    outcome.values.append(Value(name, f"loss {which + 1} in the end", lines[-1].y[-1]))
            title = f"averaged loss {which + 1}"
            outcome.plots.append(Plot(lines, "round", title, f"{corpus}: {title}", log="xy"))

    return run


def crammer_figure6(outcome: Outcome, tick: Tick) -> None:
    """Precision at r against recall at r, the mean over folds."""
    import numpy as np

    from arcrank.experiments.category_ranking_runs import RANKERS, cells

    for corpus in _corpora():
        found, lines = list(_ticked(cells(corpus), tick)), []
        for name in RANKERS:
            folds = [cell for cell in found if cell.ranker == name]
            recall, precision = (np.mean([getattr(c, part) for c in folds], axis=0) for part in ("recall", "precision"))
            lines.append(Line(name, recall.tolist(), precision.tolist()))
            outcome.values.append(Value(f"{corpus}, {name}", "precision of the first label", float(precision[0])))
        unit = (0.0, 1.0)
        outcome.plots.append(Plot(lines, "recall", "precision", corpus, x_range=unit, y_range=unit))

"""Crammer & Singer 2002: Tables 1-4 and Figures 3-6 with the published values.

    ARCRANK_DATA=... python -m arcrank.experiments.crammer2002 [--corpus ...] [--plots FOLDER] [--fresh]

Reuters-21578: 10,789 documents, five folds, one pass; pivoted length normalisation and Rocchio's selection of terms are
learnt from each training part. RCV1: the tf-idf vectors of a different part of the corpus, so its published values are
shown without a verdict. Finished cells are stored in the user's cache folder, so an interrupted run resumes.
"""

from __future__ import annotations

import numpy as np

from arcrank.datasets import load_rcv1
from arcrank.errors import MissingDataError
from arcrank.experiments.crammer2002.figures import losses_plots, precision_recall_plot, topics_plot
from arcrank.experiments.crammer2002.runs import MEASURES, cells, label_sets
from arcrank.experiments.crammer2002.tables import rows
from arcrank.experiments.outcomes import Outcome, Value
from arcrank.experiments.progress import Tick, ticked

__all__ = ["figure3", "figure6", "losses", "table"]


def table(number: int, outcome: Outcome, tick: Tick) -> None:
    """Add the losses (Tables 1 and 3) or the retrieval measures (Tables 2 and 4) of every ranker."""
    on_reuters = number < 3
    shown = list(MEASURES)[:3] if number % 2 else list(MEASURES)[3:]
    outcome.values += [
        Value(
            row.ranker,
            row.measure,
            row.mean,
            row.published,
            row.deviation if on_reuters else None,  # RCV1 has a single split
            higher_is_better=row.measure in ("avg. precision", "max F1"),
            comparable=on_reuters,
        )
        for row in rows(ticked(cells("Reuters-21578" if on_reuters else "RCV1"), tick))
        if row.measure in shown
    ]


def losses(corpus: str, outcome: Outcome, tick: Tick) -> None:
    """Add the averaged losses of the online rankers by round (Figures 4 and 5)."""
    for which, plot in enumerate(losses_plots(corpus, list(ticked(cells(corpus), tick)))):
        outcome.plots.append(plot)
        outcome.values += [Value(line.name, f"loss {which + 1} in the end", line.y[-1]) for line in plot.lines]


def figure3(outcome: Outcome, tick: Tick) -> None:
    """Add the distribution of the number of topics per document."""
    for corpus in _available():
        outcome.values.append(Value(corpus, "topics per document", float(np.diff(label_sets(corpus).indptr).mean())))
        outcome.plots.append(topics_plot(corpus))
        tick()


def figure6(outcome: Outcome, tick: Tick) -> None:
    """Add precision at r by recall at r of every ranker."""
    for corpus in _available():
        plot = precision_recall_plot(corpus, list(ticked(cells(corpus), tick)))
        outcome.plots.append(plot)
        outcome.values += [
            Value(f"{corpus}, {line.name}", "precision of the first label", line.y[0]) for line in plot.lines
        ]


def _available() -> list[str]:
    """Return Reuters-21578, and RCV1 if it is on this machine."""
    try:
        load_rcv1()
    except MissingDataError:
        return ["Reuters-21578"]
    return ["Reuters-21578", "RCV1"]

"""Figures 3-6 of Crammer & Singer 2002 as data, for the report and for matplotlib."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arcrank.experiments.crammer2002.runs import RANKERS, Cell, label_sets
from arcrank.experiments.outcomes import Line, Plot

__all__ = ["losses_plots", "precision_recall_plot", "topics_plot"]

_MOST_TOPICS = 10


def topics_plot(corpus: str) -> Plot:
    """Return Figure 3: the distribution of the number of topics per document."""
    sizes = np.diff(label_sets(corpus).indptr)
    share = (np.bincount(sizes, minlength=_MOST_TOPICS + 1) / len(sizes)).tolist()
    line = Line(corpus, list(range(1, _MOST_TOPICS + 1)), share[1 : _MOST_TOPICS + 1])
    return Plot([line], "number of topics", "share of documents", corpus, bars=True)


def losses_plots(corpus: str, found: Sequence[Cell]) -> list[Plot]:
    """Return Figures 4 and 5: the three losses averaged over rounds, as means over folds."""
    plots = []
    for which in range(3):
        folds = {name: [cell for cell in found if cell.ranker == name and cell.rounds] for name in RANKERS}
        lines = [_mean_loss(name, cells, which) for name, cells in folds.items() if cells]
        title = f"averaged loss {which + 1}"
        plots.append(Plot(lines, "round", title, f"{corpus}: {title}", log="xy"))
    return plots


def _mean_loss(name: str, folds: Sequence[Cell], which: int) -> Line:
    """Average over folds, up to the last round that all folds have."""
    last = min(cell.rounds[-1] for cell in folds)
    rounds = [number for number in folds[0].rounds if number <= last]
    curves = [np.interp(rounds, cell.rounds, np.array(cell.losses)[:, which]) for cell in folds]
    return Line(name, rounds, np.mean(curves, axis=0).tolist())


def precision_recall_plot(corpus: str, found: Sequence[Cell]) -> Plot:
    """Return Figure 6: precision at r by recall at r, as means over folds."""
    lines = []
    for name in RANKERS:
        folds = [cell for cell in found if cell.ranker == name]
        recall = np.mean([cell.recall for cell in folds], axis=0)
        precision = np.mean([cell.precision for cell in folds], axis=0)
        lines.append(Line(name, recall.tolist(), precision.tolist()))
    return Plot(lines, "recall", "precision", corpus, x_range=(0.0, 1.0), y_range=(0.0, 1.0))

"""Figures 3-6 of Crammer & Singer 2002; matplotlib comes with the extra `report`."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from arcrank.experiments.category_ranking_runs import RANKERS, Cell, label_sets
from arcrank.io.atomic import write_atomically

__all__ = ["draw"]


def draw(results: Mapping[str, list[Cell]], folder: str | Path) -> list[Path]:
    """Draw the figures of the corpora in `results` (cells by corpus) as PNG files and return their paths."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    paths = []
    for corpus, found in results.items():
        number = {"Reuters-21578": 4, "RCV1": 5}[corpus]
        for figure, name in (
            (topics_figure(corpus), f"figure3-{corpus}.png"),
            (losses_figure(found), f"figure{number}-{corpus}.png"),
            (precision_recall_figure(found), f"figure6-{corpus}.png"),
        ):
            drawn = io.BytesIO()
            figure.savefig(drawn, dpi=120)
            write_atomically(place / name, [drawn.getvalue()])
            paths.append(place / name)
    return paths


def _figure(columns: int) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5 * columns, 4), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def topics_figure(corpus: str) -> Any:
    """Figure 3: the distribution of the number of relevant topics."""
    figure, (axes,) = _figure(1)
    share = np.bincount(np.diff(label_sets(corpus).indptr)) / label_sets(corpus).shape[0]
    axes.bar(np.arange(len(share)), share)
    axes.set(xlabel="number of topics", ylabel="fraction of the documents", title=corpus, xlim=(0, 10.5))
    return figure


def losses_figure(found: list[Cell]) -> Any:
    """Figures 4 and 5: round-averaged losses while learning, the mean over folds."""
    figure, all_axes = _figure(3)
    for which, axes in enumerate(all_axes):
        for name in RANKERS:
            folds = [cell for cell in found if cell.ranker == name and cell.rounds]
            if folds:
                last = min(cell.rounds[-1] for cell in folds)
                rounds = [r for r in folds[0].rounds if r <= last]
                curves = [np.interp(rounds, cell.rounds, np.array(cell.losses)[:, which]) for cell in folds]
                axes.plot(rounds, np.mean(curves, axis=0), label=name)
        axes.set(xscale="log", yscale="log", xlabel="round", ylabel=f"averaged cumulative loss {which + 1}")
        axes.legend()
    return figure


def precision_recall_figure(found: list[Cell]) -> Any:
    """Figure 6: precision at r against recall at r, the mean over folds."""
    figure, (axes,) = _figure(1)
    for name in RANKERS:
        folds = [cell for cell in found if cell.ranker == name]
        if folds:
            recall, precision = (
                np.mean([getattr(cell, key) for cell in folds], axis=0) for key in ("recall", "precision")
            )
            axes.plot(recall, precision, label=name)
    axes.set(xlabel="recall", ylabel="precision", title=found[0].corpus if found else "")
    axes.legend()
    return figure

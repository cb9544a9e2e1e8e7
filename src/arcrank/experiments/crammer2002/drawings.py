"""PNG files of Figures 3-6 of Crammer & Singer 2002; matplotlib comes with the extra `report`."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from arcrank.experiments.crammer2002.figures import losses_plots, precision_recall_plot, topics_plot
from arcrank.experiments.crammer2002.runs import Cell
from arcrank.experiments.outcomes import Plot
from arcrank.io.atomic import write_atomically

__all__ = ["draw", "figure"]


def draw(results: Mapping[str, list[Cell]], folder: str | Path) -> list[Path]:
    """Draw the figures of the corpora in `results` (cells by corpus) as PNG files and return their paths."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    paths = []
    for corpus, found in results.items():
        number = {"Reuters-21578": 4, "RCV1": 5}[corpus]
        for name, plots in (
            (f"figure3-{corpus}.png", [topics_plot(corpus)]),
            (f"figure{number}-{corpus}.png", losses_plots(corpus, found)),
            (f"figure6-{corpus}.png", [precision_recall_plot(corpus, found)]),
        ):
            png = io.BytesIO()
            figure(plots).savefig(png, dpi=120)
            write_atomically(place / name, [png.getvalue()])
            paths.append(place / name)
    return paths


def figure(plots: Sequence[Plot]) -> Any:
    """Return a matplotlib figure with the plots side by side."""
    drawn = Figure(figsize=(5 * len(plots), 4), layout="constrained")
    FigureCanvasAgg(drawn)
    for axes, plot in zip(drawn.subplots(1, len(plots), squeeze=False)[0], plots, strict=True):
        _draw_plot(axes, plot)
    return drawn


def _draw_plot(axes: Any, plot: Plot) -> None:
    for line in plot.lines:
        if plot.bars:
            axes.bar(line.x, line.y)
        else:
            axes.plot(line.x, line.y, label=line.name)
    axes.set(xlabel=plot.x, ylabel=plot.y, title=plot.title, **{f"{axis}scale": "log" for axis in plot.log})
    ranges = {"xlim": plot.x_range, "ylim": plot.y_range}
    axes.set(**{name: limits for name, limits in ranges.items() if limits is not None})
    if not plot.bars:
        axes.legend()

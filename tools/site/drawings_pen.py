"""Draw small graphs with matplotlib: labels as rounded boxes, arcs as arrows, layers as bands."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tools.site.pictures import Palette

__all__ = ["Pen", "beside", "pens"]

Place = tuple[float, float]


@dataclass
class Pen:
    """Draws on one panel in the colours of a page."""

    axes: Any
    palette: Palette

    def frame(self, places: Mapping[Any, Place], title: str = "", margin: float = 0.4, colour: str = "ink") -> None:
        """Make room for labels at these places, without axes."""
        x, y = zip(*places.values(), strict=True)
        self.axes.set(xlim=(min(x) - margin, max(x) + margin), ylim=(min(y) - margin, max(y) + margin))
        self.axes.set_axis_off()
        if title:
            self.axes.set_title(title, fontsize=11, color=getattr(self.palette, colour))

    def graph(
        self,
        places: Mapping[int, Place],
        arcs: Iterable[tuple[int, int]],
        *,
        wrong: Collection[tuple[int, int]] = (),
        bends: Mapping[tuple[int, int], float] | None = None,
        small: bool = False,
    ) -> None:
        """All labels, and these arcs; wrong ones are dashed. In a small graph labels without arcs are faint."""
        arcs = list(arcs)
        touched = {label for arc in arcs for label in arc}
        for arc in arcs:
            bad = arc in wrong
            colour = self.palette.bad if bad else self.palette.series[0]
            bend = (bends or {}).get(arc, 0.0)
            shrink = 8 if small else 11
            self.arrow(places[arc[0]], places[arc[1]], colour, shrink=shrink, dashed=bad, bend=bend)
        for label, place in places.items():
            self.label(place, str(label), quiet=small and label not in touched, size=9 if small else 11)

    def label(self, place: Place, text: str, *, colour: str = "", quiet: bool = False, size: float = 11) -> None:
        """A label in a rounded box; a quiet one is only named."""
        edge = colour or self.palette.soft
        box = {"boxstyle": "round,pad=0.35", "facecolor": self.palette.card, "edgecolor": edge, "linewidth": 1.4}
        ink = self.palette.soft if quiet else self.palette.ink
        faint = {"bbox": {**box, "edgecolor": "none", "facecolor": "none"}, "alpha": 0.75 if size < 11 else 1.0}
        style = faint if quiet else {"bbox": box}
        self.axes.text(*place, text, ha="center", va="center", fontsize=size, color=ink, zorder=3, **style)

    def arrow(
        self,
        start: Place,
        end: Place,
        colour: str,
        *,
        shrink: float = 11,
        width: float = 1.5,
        dashed: bool = False,
        bend: float = 0.0,
    ) -> None:
        """An arrow from one label's box to another's."""
        from matplotlib.patches import FancyArrowPatch

        style = {"linestyle": (0, (4, 2.5)) if dashed else "-", "connectionstyle": f"arc3,rad={bend}"}
        ends = {"shrinkA": shrink, "shrinkB": shrink, "mutation_scale": 10 + width}
        self.axes.add_patch(
            FancyArrowPatch(start, end, arrowstyle="-|>", color=colour, linewidth=width, zorder=2, **style, **ends)
        )

    def line(self, start: Place, end: Place) -> None:
        """A branch of a tree."""
        self.axes.plot(*zip(start, end, strict=True), color=self.palette.rule, linewidth=1.6, zorder=1)

    def band(self, y: float, text: str, left: float, right: float) -> None:
        """A layer: a band across the panel, with its name at the right end."""
        from matplotlib.patches import FancyBboxPatch

        shape = FancyBboxPatch(
            (left, y - 0.36),
            right - left,
            0.72,
            boxstyle="round,pad=0,rounding_size=0.12",
            facecolor=self.palette.rule,
            alpha=0.45,
            linewidth=0,
            zorder=0,
        )
        self.axes.add_patch(shape)
        self.note((right - 0.08, y), text, ha="right")

    def note(self, place: Place, text: str, ha: str = "left") -> None:
        """Small text beside a label."""
        self.axes.text(*place, text, ha=ha, va="center", fontsize=9, color=self.palette.soft, zorder=4)


def pens(figure: Any, palette: Palette, rows: int, columns: int, heights: Iterable[float] | None = None) -> list[Pen]:
    """A pen for each panel of a grid, row by row; panels that are not drawn on stay empty."""
    grid = figure.subplots(rows, columns, squeeze=False, height_ratios=None if heights is None else list(heights))
    for axes in grid.flat:
        axes.set_axis_off()
    return [Pen(axes, palette) for axes in grid.flat]


def beside(place: Place, places: Mapping[Any, Place]) -> Place:
    """Where a note on a label overlaps no arc: above the top row, below the bottom row, outside between them."""
    x, y = place
    rows = [other[1] for other in places.values()]
    if y == max(rows):
        return x, y + 0.34 * (max(rows) - min(rows)) / 2 + 0.1
    if y == min(rows):
        return x, y - 0.34 * (max(rows) - min(rows)) / 2 - 0.1
    middle = sum(other[0] for other in places.values()) / len(places)
    return (x - 0.36 if x < middle else x + 0.36), y

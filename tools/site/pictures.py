"""Pictures of the documentation: each is drawn twice, for a light and for a dark page, and saved as SVG.

A page shows a pair with Material's own marks:

    ![What it shows](../pictures/NAME-light.svg#only-light)
    ![What it shows](../pictures/NAME-dark.svg#only-dark)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["DARK", "LIGHT", "PICTURES", "Palette", "save"]

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


@dataclass(frozen=True)
class Palette:
    """The colours of one kind of page; `series` can be distinguished by colour-blind readers."""

    name: str
    ink: str
    soft: str
    rule: str
    card: str
    good: str
    bad: str
    series: tuple[str, ...]


LIGHT = Palette(
    name="light",
    ink="#1c2330",
    soft="#5c6675",
    rule="#d9d6cf",
    card="#f4f2ec",
    good="#1b7f4b",
    bad="#b3372c",
    series=("#2b6cb0", "#c05621", "#2f855a", "#97266d", "#6b46c1", "#718096"),
)
DARK = Palette(
    name="dark",
    ink="#e6e8ec",
    soft="#a3adbb",
    rule="#434a57",
    card="#262b36",
    good="#5fd08f",
    bad="#ff8a7a",
    series=("#6cb2f7", "#f6a368", "#6fd3a0", "#f08ac4", "#b39bf5", "#a9b4c2"),
)


def save(name: str, draw: Callable[[Any, Palette], None], width: float = 7.0, height: float = 3.6) -> list[Path]:
    """Draw a picture into a fresh matplotlib figure for each palette, and write both files.

    The same drawing gives the same bytes: no date, and ids from a fixed salt. Text stays text, in the reader's font.
    """
    import matplotlib

    matplotlib.use("svg")
    from matplotlib.figure import Figure

    paths = []
    for palette in (LIGHT, DARK):
        with matplotlib.rc_context(_settings(name, palette)):
            figure = Figure(figsize=(width, height), layout="constrained")
            draw(figure, palette)
            path = PICTURES / f"{name}-{palette.name}.svg"
            path.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        paths.append(path)
    return paths


def _settings(name: str, palette: Palette) -> dict[str, Any]:
    from cycler import cycler

    return {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "font.family": "sans-serif",
        "font.size": 11,
        "text.color": palette.ink,
        "axes.labelcolor": palette.ink,
        "axes.edgecolor": palette.soft,
        "axes.titlecolor": palette.ink,
        "axes.prop_cycle": cycler(color=palette.series),
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": palette.rule,
        "grid.linewidth": 0.8,
        "xtick.color": palette.soft,
        "ytick.color": palette.soft,
        "legend.frameon": False,
        "lines.linewidth": 2.0,
    }

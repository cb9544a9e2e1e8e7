"""Plots as inline SVG: they use the colours of the page, light or dark, and need no plotting library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

__all__ = ["Axis", "Interval", "Series", "bar_plot", "interval_plot", "line_plot"]

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 480, 310, 58, 14, 12, 46
_N_COLOURS = 8
_WIDEST_BAR = 70
_ROW, _NAMES, _LONGEST_NAME = 22, 170, 20


class Series(NamedTuple):
    """One line of a plot."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


class Interval(NamedTuple):
    """A named value between two ends."""

    name: str
    low: float
    value: float
    high: float


class Axis(NamedTuple):
    """A name, a scale and, where it does not follow the data, a range."""

    name: str
    log: bool = False
    range: tuple[float, float] | None = None


class _Scale:
    """Maps values to positions between two ends, linearly or logarithmically."""

    def __init__(self, values: Sequence[float], axis: Axis, start: float, end: float) -> None:
        usable = [v for v in values if math.isfinite(v) and (v > 0 or not axis.log)]
        low, high = axis.range or (min(usable, default=0.0), max(usable, default=1.0))
        if not low < high:
            low, high = (low / 2, high * 2) if axis.log and low > 0 else (low - 0.5, high + 0.5)
        self.log, self.start, self.end = axis.log, start, end
        self.low, self.high = low, high

    def __call__(self, value: float) -> float:
        low, high, at = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    def shows(self, value: float) -> bool:
        return math.isfinite(value) and (value > 0 or not self.log)

    def ticks(self) -> list[float]:
        if self.log:
            exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            steps = (1,) if len(exponents) > 3 else (1, 2, 5)
            found = [m * 10.0**e for e in exponents for m in steps]
            return [v for v in found if self.low * 0.999 <= v <= self.high * 1.001]
        step = _step(self.high - self.low)
        first = math.ceil(self.low / step - 1e-9)
        return [round(step * i, 10) for i in range(first, math.floor(self.high / step + 1e-9) + 1)]


def _step(span: float) -> float:
    """A round step that divides the span into about five."""
    size = 10.0 ** math.floor(math.log10(span / 5))
    return next(size * m for m in (1, 2, 2.5, 5, 10) if span / (size * m) <= 6)


def line_plot(series: Sequence[Series], x: Axis, y: Axis, title: str = "") -> str:
    """Lines with a legend; points that a logarithmic axis cannot show are left out."""
    across = _Scale([v for one in series for v in one.x], x, _LEFT, _WIDTH - _RIGHT)
    up = _Scale([v for one in series for v in one.y], y, _HEIGHT - _BOTTOM, _TOP)
    parts = [*_frame(across, up, x, y)]
    for number, one in enumerate(series):
        points = [(across(a), up(b)) for a, b in zip(one.x, one.y, strict=True) if across.shows(a) and up.shows(b)]
        style = f"c{number % _N_COLOURS}"
        parts.append(f'<polyline class="line {style}" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}"/>')
        if len(points) <= 30:
            parts += [f'<circle class="dot {style}" cx="{a:.1f}" cy="{b:.1f}" r="3"/>' for a, b in points]
    legend = _legend([one.name for one in series]) if len(series) > 1 else ""
    return f"<figure>{_svg(parts, title or f'{y.name} by {x.name}')}{legend}</figure>"


def bar_plot(values: Sequence[float], names: Sequence[str], x: Axis, y: Axis, title: str = "") -> str:
    """One bar per value, with its name below."""
    up = _Scale([0.0, *values], y, _HEIGHT - _BOTTOM, _TOP)
    wide = (_WIDTH - _LEFT - _RIGHT) / max(1, len(values))
    parts = [*_grid(up), *_names_of_axes(x, y)]
    for i, (value, name) in enumerate(zip(values, names, strict=True)):
        middle, top, width = _LEFT + wide * (i + 0.5), up(value), min(wide * 0.76, _WIDEST_BAR)
        size = f'width="{width:.1f}" height="{max(0.0, up.start - top):.1f}"'
        bar = (
            f'<rect class="bar c0" x="{middle - width / 2:.1f}" y="{top:.1f}" {size}><title>{value:.4g}</title></rect>'
        )
        parts += [bar, _text(middle, _HEIGHT - _BOTTOM + 17, name, "middle")]
        if not value:  # a bar of no height looks as if it were missing
            parts.append(_text(middle, top - 5, "0", "middle"))
    return f"<figure>{_svg(parts, title or y.name)}</figure>"


def interval_plot(intervals: Sequence[Interval], x: Axis) -> str:
    """One row for each interval: its name, a line from end to end, and a dot at the value."""
    across = _Scale([end for one in intervals for end in one[1:]], x, _NAMES, _WIDTH - _RIGHT)
    base = _TOP + _ROW * len(intervals)
    parts = []
    for value in across.ticks():
        at = f"{across(value):.1f}"
        parts.append(f'<line class="grid" x1="{at}" x2="{at}" y1="{_TOP}" y2="{base}"/>')
        parts.append(_text(across(value), base + 17, f"{value:g}", "middle"))
    for row, one in enumerate(intervals):
        y = _TOP + _ROW * (row + 0.5)
        low, middle, high = (f"{across(value):.1f}" for value in one[1:])
        parts.append(_text(_NAMES - 8, y + 4, _clipped(one.name), "end", "name"))
        parts.append(f'<line class="line c0" x1="{low}" x2="{high}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<circle class="dot c0" cx="{middle}" cy="{y:.1f}" r="4"><title>{one.value:.4g}</title></circle>')
    parts.append(_text((_NAMES + _WIDTH - _RIGHT) / 2, base + 36, x.name, "middle", "name"))
    return f"<figure>{_svg(parts, x.name, base + _BOTTOM)}</figure>"


def _clipped(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _frame(across: _Scale, up: _Scale, x: Axis, y: Axis) -> list[str]:
    marks = [_text(across(v), _HEIGHT - _BOTTOM + 17, f"{v:g}", "middle") for v in across.ticks()]
    return [*_grid(up), *marks, *_names_of_axes(x, y)]


def _grid(up: _Scale) -> list[str]:
    parts = []
    for value in up.ticks():
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{up(value):.1f}" y2="{up(value):.1f}"/>'
        )
        parts.append(_text(_LEFT - 8, up(value) + 4, f"{value:g}", "end"))
    base = _HEIGHT - _BOTTOM
    parts.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{base}" y2="{base}"/>')
    return parts


def _names_of_axes(x: Axis, y: Axis) -> list[str]:
    middle = (_TOP + _HEIGHT - _BOTTOM) / 2
    place = f'transform="translate(15 {middle}) rotate(-90)" text-anchor="middle"'
    turned = f'<text class="name" {place}>{escape(y.name)}</text>'
    return [_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, x.name, "middle", "name"), turned]


def _text(x: float, y: float, text: str, anchor: str, style: str = "tick") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(parts: list[str], title: str, height: int = _HEIGHT) -> str:
    inside = f"<title>{escape(title)}</title>" + "".join(parts)
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">{inside}</svg>'


def _legend(names: Sequence[str]) -> str:
    entries = [f'<li><i class="key c{i % _N_COLOURS}"></i>{escape(name)}</li>' for i, name in enumerate(names)]
    return f'<ul class="legend">{"".join(entries)}</ul>'

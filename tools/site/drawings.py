"""The drawings of the Concepts pages: `python -m tools.site.drawings` writes all of them.

A drawing is a function of a matplotlib figure and a palette; `DRAWINGS` gives its name and size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tools.site import pictures
from tools.site.drawings_pen import Pen, beside, pens
from tools.site.pictures import Palette

__all__ = ["CYCLIC", "DRAWINGS", "DRAWN_WITH", "SCORES", "write"]

DRAWN_WITH = "3.11.2"
"""The matplotlib version that wrote the committed files; others may write different bytes for the same drawing."""

Arcs = Sequence[tuple[int, int]]
Places = dict[int, tuple[float, float]]

SCORES = {1: 2.0, 2: 0.5, 3: 1.0, 4: 0.5, 5: -1.0}
"""The scoring that the pages work with; a test reads it from there."""
SINGLE = [(1, 2), (1, 3), (1, 4), (1, 5)]
SETS = [(head, tail) for head in (1, 2) for tail in (3, 4, 5)]
LAYERED = [(1, 2), (1, 3), (1, 4), (1, 5), (2, 4), (2, 5), (3, 4), (3, 5)]
CYCLIC = [(1, 2), (1, 4), (1, 5), (2, 3), (3, 1), (3, 5), (5, 2), (5, 4)]
"""One of the four graphs that fit what is left of Dekel et al.'s Figure 2."""

ONE_ABOVE: Places = {1: (1.5, 1), 2: (0, 0), 3: (1, 0), 4: (2, 0), 5: (3, 0)}
TWO_ABOVE: Places = {1: (0.6, 1), 2: (2.0, 1), 3: (0, 0), 4: (1.3, 0), 5: (2.6, 0)}
THREE_ROWS: Places = {1: (1.2, 2), 2: (0.1, 1), 3: (2.3, 1), 4: (0.65, 0), 5: (1.75, 0)}
PENTAGON: Places = {1: (0, 1.05), 2: (0.55, 2), 3: (1.75, 2), 5: (2.3, 1.05), 4: (1.15, 0.1)}

KINDS: list[tuple[str, Arcs, Places]] = [
    ("(a) one right label", SINGLE, ONE_ABOVE),
    ("(b) a set of right labels", SETS, TWO_ABOVE),
    ("(c) three layers", LAYERED, THREE_ROWS),
    ("(d) any arcs, cycles too", CYCLIC, PENTAGON),
]


def wrong_arcs(arcs: Arcs, scores: dict[int, float]) -> list[tuple[int, int]]:
    """The arcs whose head does not score above its tail; a tie is wrong."""
    return [(head, tail) for head, tail in arcs if scores[head] <= scores[tail]]


def kinds(figure: Any, palette: Palette) -> None:
    """Dekel et al., Figure 1."""
    for pen, (title, arcs, places) in zip(pens(figure, palette, 2, 2), KINDS, strict=True):
        pen.frame(places, title=title)
        pen.graph(places, arcs)


def kinds_scored(figure: Any, palette: Palette) -> None:
    """The same graphs under one scoring, wrong arcs dashed."""
    for pen, (title, arcs, places) in zip(pens(figure, palette, 2, 2), KINDS, strict=True):
        wrong = wrong_arcs(arcs, SCORES)
        pen.frame(places, title=f"{title[:3]} {len(wrong)} of {len(arcs)} arcs wrong", margin=0.6)
        pen.graph(places, arcs, wrong=wrong)
        for label, place in places.items():
            pen.note(beside(place, places), f"{SCORES[label]:g}".replace("-", "−"), ha="center")


def layers(figure: Any, palette: Palette) -> None:
    """A layered graph is its bands: the arcs on the right are implied."""
    left, right = pens(figure, palette, 1, 2)
    left.frame({**THREE_ROWS, 0: (3.2, 1)}, title="stored: a layer per label", margin=0.6)
    for row in range(3):
        left.band(2 - row, f"layer {row}", -0.45, 3.7)
    left.graph(THREE_ROWS, [])
    right.frame(THREE_ROWS, title="meant: 8 arcs", margin=0.6)
    right.graph(THREE_ROWS, LAYERED)


CUT_PLACES: Places = {1: (0.2, 2), 2: (1.4, 2), 0: (2.6, 1), 3: (0.2, 0), 4: (1.4, 0)}
"""Labels 1 and 2 are relevant, 0 is the cut."""
STAR_PLACES: Places = {**CUT_PLACES, 0: (0.8, 1)}
EMPTY_PLACES: Places = {0: (1.2, 1.6), 1: (0, 0.4), 2: (0.8, 0.4), 3: (1.6, 0.4), 4: (2.4, 0.4)}
OF_THE_CUT = [(1, 0), (2, 0), (0, 3), (0, 4)]


def cut_label(figure: Any, palette: Palette) -> None:
    """A label set with the cut, an empty one, and the arcs that one-vs-rest learns from."""
    bands, arcs, empty, star = pens(figure, palette, 2, 2)
    bands.frame({**CUT_PLACES, 9: (3.3, 1)}, title="(a) stored: three layers", margin=0.6)
    for y, name in ((2, "relevant"), (1, ""), (0, "irrelevant")):
        bands.band(y, name, -0.25, 3.8)
    with_cut(bands, STAR_PLACES, [])
    arcs.frame(CUT_PLACES, title="(b) meant: 8 arcs", margin=0.6)
    with_cut(arcs, CUT_PLACES, [*OF_THE_CUT, (1, 3), (1, 4), (2, 3), (2, 4)])
    empty.frame({**EMPTY_PLACES, 8: (0, 0), 9: (0, 2)}, title="(c) an empty set", margin=0.6)
    with_cut(empty, EMPTY_PLACES, [(0, label) for label in range(1, 5)])
    star.frame(STAR_PLACES, title="(d) one-vs-rest: a star", margin=0.6)
    with_cut(star, STAR_PLACES, OF_THE_CUT)


def with_cut(pen: Pen, places: Places, arcs: Arcs) -> None:
    """A graph whose label 0 is the cut."""
    for head, tail in arcs:
        pen.arrow(places[head], places[tail], pen.palette.series[0], shrink=16)
    for label, place in places.items():
        pen.label(place, str(label) if label else "CUT", colour="" if label else pen.palette.series[1])


TREE = {"C": None, "C1": "C", "C2": "C", "E": None, "E1": "E", "E2": "E"}
TREE_PLACES = {
    "": (2.5, 3),
    "C": (1.0, 2),
    "E": (4.0, 2),
    "C (other)": (0.0, 1),
    "C1": (1.0, 0.55),
    "C2": (2.0, 1),
    "E (other)": (3.0, 0.55),
    "E1": (4.0, 1),
    "E2": (5.0, 0.55),
}


def hierarchy(figure: Any, palette: Palette) -> None:
    """A tree of labels, one right leaf, and the layers by distance from it."""
    from arcrank.graphs import Hierarchy

    tree = Hierarchy(TREE)
    levels = tree.leaf_graphs([["C", "C1"]]).levels()[0]
    level = dict(zip(tree.leaves, levels.tolist(), strict=True))
    top, bottom = pens(figure, palette, 2, 1, heights=(1.25, 1))
    top.frame(TREE_PLACES, title="a tree; the document is about C1", margin=0.5)
    for name, parent in {**TREE, "C (other)": "C", "E (other)": "E"}.items():
        top.line(TREE_PLACES[parent or ""], TREE_PLACES[name])
    for name in ("", "C", "E"):
        top.label(TREE_PLACES[name], name or "all", colour=palette.rule)
    for leaf in tree.leaves:
        top.label(TREE_PLACES[leaf], leaf, colour=palette.series[level[leaf]])
    rows = [[leaf for leaf in tree.leaves if level[leaf] == row] for row in range(3)]
    places = {leaf: (j * 1.4, 2 - row) for row, leaves in enumerate(rows) for j, leaf in enumerate(leaves)}
    bottom.frame({**places, "": (3.6, 1)}, title="its leaves in three layers", margin=0.7)
    for row in range(3):
        bottom.band(2 - row, f"layer {row}", -0.65, 4.2)
    for leaf, place in places.items():
        bottom.label(place, leaf, colour=palette.series[level[leaf]])


def figure_2(figure: Any, palette: Palette) -> None:
    """The whole graph; its wrong arcs under the order 1 2 3 4 5."""
    order = {label: -float(label) for label in PENTAGON}
    (pen,) = pens(figure, palette, 1, 1)
    pen.frame(PENTAGON)
    pen.graph(PENTAGON, CYCLIC, wrong=wrong_arcs(CYCLIC, order))


def pieces(figure: Any, palette: Palette, cut: list[tuple[str, Arcs]], columns: int) -> None:
    """Pieces side by side, those that disagree with the order 1 2 3 4 5 marked."""
    order = {label: -float(label) for label in PENTAGON}
    rows = -(-len(cut) // columns)
    for pen, (title, arcs) in zip(pens(figure, palette, rows, columns), cut, strict=False):
        wrong = wrong_arcs(arcs, order)
        pen.frame(PENTAGON, title=f"{title}\n{'wrong' if wrong else 'right'}", colour="bad" if wrong else "good")
        pen.graph(PENTAGON, arcs, wrong=wrong, small=True)


def disagreement(figure: Any, palette: Palette) -> None:
    pieces(figure, palette, [(f"{head} above {tail}", [(head, tail)]) for head, tail in CYCLIC], 4)


def domination(figure: Any, palette: Palette) -> None:
    heads = sorted({head for head, _ in CYCLIC})
    pieces(figure, palette, [(f"head {one}", [arc for arc in CYCLIC if arc[0] == one]) for one in heads], 4)


def dominated(figure: Any, palette: Palette) -> None:
    tails = sorted({tail for _, tail in CYCLIC})
    pieces(figure, palette, [(f"tail {one}", [arc for arc in CYCLIC if arc[1] == one]) for one in tails], 3)


MAPPED = {1: 0.9, 2: 0.4, 3: 0.6, 4: 0.4, 5: 0.1}
"""The scoring of the page's example with Aiolli & Sperduti's Figure 1 (a) to (c)."""


def mappings(figure: Any, palette: Palette) -> None:
    """Aiolli & Sperduti, Figure 1 (a) to (c)."""
    cut: list[tuple[str, Arcs]] = [("(a) identity", SETS)]
    cut += [(f"(b) domination, {head}", [arc for arc in SETS if arc[0] == head]) for head in (1, 2)]
    cut += [(f"(c) {head} above {tail}", [(head, tail)]) for head, tail in SETS]
    for pen, (title, arcs) in zip(pens(figure, palette, 3, 3), cut, strict=True):
        wrong = wrong_arcs(arcs, MAPPED)
        pen.frame(TWO_ABOVE, title=title, colour="bad" if wrong else "good")
        pen.graph(TWO_ABOVE, arcs, wrong=wrong, small=True)


def orders(figure: Any, palette: Palette) -> None:
    """Aiolli & Sperduti, Figure 1 (d) to (f), with the costs of the ranking 3 1 2."""
    places: Places = {1: (0, 2), 2: (0, 1), 3: (0, 0)}
    scores = {1: 2.0, 2: 1.0, 3: 3.0}
    every, near = [(1, 2), (2, 3), (1, 3)], [(1, 2), (2, 3)]
    shown = [("(d) one graph\ncost 1", every), ("(e) every arc\ncost 2", every), ("(f) neighbours\ncost 1", near)]
    for pen, (title, arcs) in zip(pens(figure, palette, 1, 3), shown, strict=True):
        pen.frame({**places, 0: (0.9, 1), 9: (-0.7, 1)}, title=title)
        pen.graph(places, arcs, wrong=wrong_arcs(arcs, scores), bends={(1, 3): -0.5})


def losses(figure: Any, palette: Palette) -> None:
    """Losses of one margin, all of them 1 at 0 and above the error."""
    from arcrank.losses.margin import get_margin_loss

    axes = figure.add_subplot()
    m = np.linspace(-2, 3, 201)
    named = [
        ("hinge", get_margin_loss("hinge"), "-"),
        ("squared-hinge", get_margin_loss("squared-hinge"), "--"),
        ("logistic, log-linear", get_margin_loss("logistic"), "-."),
        ("exponential", get_margin_loss("exponential"), ":"),
        ("beta-perceptron, β = 2", get_margin_loss("beta-perceptron", beta=2.0), (0, (6, 2, 1, 2, 1, 2))),
    ]
    for (name, loss, style), colour in zip(named, palette.series, strict=False):
        axes.plot(m, loss.value(m), linestyle=style, color=colour, label=name)
    axes.step([-2, 0, 3], [1, 1, 0], where="pre", color=palette.ink, linewidth=1.4, label="the error")
    axes.set(xlim=(-2, 3), ylim=(-0.08, 4), xlabel="margin of the arc", ylabel="charge")
    axes.legend(loc="upper right")


def many_arcs(figure: Any, palette: Palette) -> None:
    """What a piece of equal margins costs: the sum of the log-linear loss sees every arc, the maximum does not."""
    axes = figure.add_subplot()
    m = np.linspace(-2, 5, 201)
    for n, style, colour in zip((1, 3, 10, 100), ("-", "--", "-.", ":"), palette.series, strict=False):
        name = f"{n} arcs" if n > 1 else "1 arc; any number under the maximum"
        axes.plot(m, np.log2(1 + n * np.exp(-m)), linestyle=style, color=colour, label=name)
    axes.axhline(1, color=palette.ink, linewidth=1)
    axes.set(xlim=(-2, 5), ylim=(0, 13), xlabel="margin of all arcs of the piece", ylabel="loss / ln 2")
    axes.legend(loc="upper right")


def margins(figure: Any, palette: Palette) -> None:
    """Crammer & Singer, Figure 1: scores on a line, right labels filled; the arrow is the smallest margin."""
    shown = [
        ("perfect: margin 0.5", [2.4, 2.0, 1.5], [1.0, 0.6, 0.3, -0.2, -0.6, -1.0]),
        ("not perfect: margin −0.7", [2.2, 1.7, 0.5], [1.2, 0.9, 0.1, -0.3, -0.6, -1.0]),
    ]
    for pen, (title, right, others) in zip(pens(figure, palette, 1, 2), shown, strict=True):
        pen.axes.set(xlim=(-1.1, 1.6), ylim=(-1.3, 2.7))
        pen.axes.set_axis_off()
        pen.axes.set_title(title, fontsize=11)
        pen.axes.plot([0, 0], [-1.2, 2.6], color=palette.rule, linewidth=2, zorder=0)
        pen.axes.plot([0] * len(right), right, "o", markersize=10, color=palette.series[0])
        plain = {"markerfacecolor": palette.card, "markeredgewidth": 2, "color": palette.series[1]}
        pen.axes.plot([0] * len(others), others, "s", markersize=9, **plain)
        low, high = min(right), max(others)
        for value, text in ((low, "lowest right label"), (high, "highest other label")):
            pen.axes.plot([0.1, 0.45], [value, value], color=palette.soft, linewidth=1)
            pen.axes.text(-0.16, value, text.replace(" ", "\n", 1), ha="right", va="center", fontsize=9)
        pen.arrow((0.4, high), (0.4, low), palette.good if low > high else palette.bad, shrink=0, width=2.2)
        pen.axes.text(0.52, (low + high) / 2, f"{low - high:g}".replace("-", "−"), va="center")


def flows(figure: Any, palette: Palette) -> None:
    """Domination's flows on the graph of label sets: an arc's width is its flow."""
    from arcrank.decompositions import get_decomposition
    from arcrank.graphs import ArcGraphs
    from arcrank.losses import LogLinearLoss

    graph = ArcGraphs.from_arcs([[(head - 1, tail - 1) for head, tail in SETS]], 5)
    scores = np.array([[SCORES[label] for label in range(1, 6)]])
    _, outflow, inflow = LogLinearLoss(graph, get_decomposition("domination")).flows(scores)
    (pen,) = pens(figure, palette, 1, 1)
    places = {label: (2 * x, 1.3 * y) for label, (x, y) in TWO_ABOVE.items()}
    pen.frame(places, margin=0.65)
    for head in (1, 2):
        charge = {tail: np.exp(SCORES[tail] - SCORES[head]) for tail in (3, 4, 5)}
        for tail, value in charge.items():
            share = value / (1 + sum(charge.values())) / 2
            wrong = SCORES[head] <= SCORES[tail]
            colour = palette.bad if wrong else palette.series[0]
            pen.arrow(places[head], places[tail], colour, width=0.8 + 22 * share)
    for label, (x, y) in places.items():
        pen.label((x, y), str(label))
        out, into = outflow[0, label - 1], inflow[0, label - 1]
        text = f"out {out:.3f}" if label in (1, 2) else f"in {into:.3f}"
        pen.axes.text(x, y + (0.38 if label in (1, 2) else -0.38), text, ha="center", va="center")


def gap(figure: Any, palette: Palette) -> None:
    """Primal and dual of one arc as functions of its flow: they meet at the optimum only."""
    axes = figure.add_subplot()
    C, T = 2.0, np.linspace(0.001, 1.6, 200)
    primal = T**2 / 2 + C * np.log1p(np.exp(-T))
    share = T / C
    dual = -C * (share * np.log(share) + (1 - share) * np.log1p(-share)) - T**2 / 2
    axes.plot(T, primal, color=palette.series[0])
    axes.plot(T, dual, color=palette.series[1], linestyle="--")
    axes.fill_between(T, dual, primal, color=palette.soft, alpha=0.15, linewidth=0)
    best = primal.argmin()
    axes.plot(T[best], primal[best], "o", color=palette.ink)
    axes.text(T[best], primal[best] + 0.1, "optimum", ha="center")
    axes.text(1.18, 1.46, "primal", color=palette.series[0])
    axes.text(1.2, 0.3, "dual", color=palette.series[1])
    axes.text(0.12, 0.97, "gap", color=palette.soft)
    axes.set(xlim=(0, 1.6), ylim=(0, 1.6), xlabel="flow of the arc", ylabel="objective")


DRAWINGS = {
    "concept-kinds": (kinds, 5.4, 4.6),
    "concept-kinds-scored": (kinds_scored, 5.4, 4.8),
    "concept-layers": (layers, 5.4, 2.9),
    "concept-cut": (cut_label, 5.4, 4.6),
    "concept-hierarchy": (hierarchy, 5.4, 5.2),
    "concept-figure-2": (figure_2, 3.0, 2.7),
    "concept-disagreement": (disagreement, 5.4, 3.7),
    "concept-domination": (domination, 5.4, 1.9),
    "concept-dominated": (dominated, 5.4, 4.4),
    "concept-mappings": (mappings, 5.4, 4.6),
    "concept-orders": (orders, 5.4, 3.0),
    "concept-losses": (losses, 5.4, 3.9),
    "concept-many-arcs": (many_arcs, 5.4, 3.6),
    "concept-margins": (margins, 5.4, 3.6),
    "concept-flows": (flows, 5.4, 3.2),
    "concept-gap": (gap, 5.4, 3.2),
}


def write() -> list[Any]:
    """Write every drawing, light and dark; the paths."""
    return [path for name, (draw, w, h) in DRAWINGS.items() for path in pictures.save(name, draw, w, h)]


if __name__ == "__main__":
    for path in write():
        print(path)

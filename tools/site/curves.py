"""Draw what was measured: the pictures of docs/learners.md and of the first page.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m tools.site.curves [NAME...] [--fresh]

Solver runs and the figures of `tools.site.learners` are stored in the user's cache folder; `--fresh` runs the solvers
again.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.textpath import TextPath
from sklearn.exceptions import ConvergenceWarning

from arcrank import LogLinearRanker
from arcrank.datasets import load_debtags_sample, load_reuters21578
from arcrank.experiments.cache import cached
from arcrank.experiments.crammer2002.runs import cells as online_cells
from arcrank.text import TextFeatures
from tools.site import learners
from tools.site.pictures import Palette, save

__all__ = ["PICTURES", "main"]

REUTERS, RCV1, DEBTAGS = learners.CORPORA
LOG_LINEAR, MACHINE, MMP, PERCEPTRON, ROCCHIO, SVM, LOGISTIC, AUTO = learners.LEARNERS
COLOURS = {name: i for i, name in enumerate((LOG_LINEAR, SVM, MACHINE, MMP, PERCEPTRON, ROCCHIO))}
SHORT = {LOG_LINEAR: "log-linear", MACHINE: "preference machine", MMP: "MMP", PERCEPTRON: "perceptron",
         ROCCHIO: "Rocchio", SVM: "one-vs-rest SVM", LOGISTIC: "one-vs-rest logistic", AUTO: "AutoRanker"}  # fmt: skip

# --- solvers


C, SOLVERS = 10.0, {"dual": 1000, "lbfgs": 80, "boosting": 40}


def solver_runs(*, fresh: bool) -> dict[str, list[dict[str, float]]]:
    """The histories of the three solvers on Reuters-21578, domination, words as features."""

    def compute(solver: str) -> list[dict[str, float]]:
        X, Y = _reuters()
        settings = {"C": C, "max_iter": SOLVERS[solver], "fit_intercept": False, "random_state": 0}
        tol = 1e-12 if solver == "boosting" else 1e-4
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            LogLinearRanker(solver=solver, **{**settings, "max_iter": 1}).fit(X[:50], Y[:50])  # compiles
            ranker = LogLinearRanker(solver=solver, tol=tol, **settings).fit(X, Y)
        scale = X.shape[0] * (1.0 if solver == "boosting" else C)
        return [{**entry, "loss": entry["loss"] / scale} for entry in ranker.history_]

    return {
        name: cached("site-curves", {"version": 1, "solver": name, "n": n, "C": C}, partial(compute, name), fresh=fresh)
        for name, n in SOLVERS.items()
    }


@cache
def _reuters() -> tuple[Any, Any]:
    train = load_reuters21578("modapte").split("train")
    return TextFeatures(ngrams=1).fit_transform(train.texts), train.indicator()


def draw_solvers(runs: dict[str, list[dict[str, float]]], figure: Any, palette: Palette) -> None:  # noqa: ARG001
    gaps, losses = figure.subplots(1, 2)
    names = {"dual": "dual ascent", "lbfgs": "L-BFGS", "boosting": "boosting"}
    for i, (solver, name) in enumerate(names.items()):
        run = runs[solver]
        style = {"color": f"C{i}", "label": name, "marker": "o", "markersize": 3.5}
        if solver != "boosting":
            shown = [entry for entry in run if 0 < entry["gap"] < 10]
            gaps.plot([e["seconds"] for e in shown], [e["gap"] for e in shown], **style)
        losses.plot([e["iteration"] for e in run], [e["loss"] for e in run], **style)
    gaps.set(xscale="log", yscale="log", xlabel="seconds", title="relative duality gap")
    losses.set(yscale="log", xlim=(0, 42), xlabel="passes", title="mean training loss", ylim=(None, 6))
    losses.legend()


# --- rankings


def draw_precision_recall(figure: Any, palette: Palette) -> None:  # noqa: ARG001
    for axes, corpus in zip(figure.subplots(1, 2, sharey=True), (RCV1, DEBTAGS), strict=True):
        for name in (LOG_LINEAR, SVM, MACHINE, MMP):
            found = learners.accuracy(corpus, name)
            axes.plot(found["recall"], found["precision"], color=f"C{COLOURS[name]}", label=SHORT[name])
        axes.set(xlabel="recall", title=corpus.partition(",")[0], xlim=(0.27, 1.01), ylim=(0, 1.02))
    figure.axes[0].set_ylabel("precision")
    figure.axes[0].legend(loc="lower left")


def draw_online(figure: Any, palette: Palette) -> None:  # noqa: ARG001
    for axes, (corpus, title) in zip(
        figure.subplots(1, 2, sharey=True), {"Reuters-21578": "Reuters-21578", "RCV1": "RCV1-v2"}.items(), strict=True
    ):
        found = [one for one in online_cells(corpus) if one.rounds and one.fold == 0]
        for i, one in enumerate(found):
            axes.plot(one.rounds, 100 * np.array(one.losses)[:, 2], color=f"C{i}", label=one.ranker)
        axes.set(xscale="log", yscale="log", xlabel="documents seen", title=title)
    figure.axes[0].set_ylabel("mean loss 3 so far, %")
    figure.axes[0].legend(loc="lower left")


def draw_times(figure: Any, palette: Palette) -> None:
    """Training time against average precision, one point per learner, on the corpora whose times are known."""
    found = {corpus: timed["seconds"] for corpus in learners.CORPORA if (timed := learners.known_times(corpus))}
    for axes, (corpus, timed) in zip(figure.subplots(1, len(found), squeeze=False)[0], found.items(), strict=True):
        for i, (name, (seconds, _)) in enumerate(timed.items()):
            value = learners.accuracy(corpus, name)["measures"]["avg. precision %"]
            style = {
                "color": (*palette.series, palette.ink, palette.ink)[i],
                "marker": "oD^vPsX*"[i],
                "linestyle": "none",
            }
            axes.plot(seconds, value, markersize=12 if name == AUTO else 8, label=SHORT[name], **style)
        axes.margins(0.12)
        axes.set(xscale="log", xlabel="training, seconds", title=corpus.partition(",")[0])
    figure.axes[0].set_ylabel("average precision, %")
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=10)


# --- words


class Explained(NamedTuple):
    """A package of the debtags sample: its text, scores of all labels in order, and words' parts of a margin."""

    text: str
    ranking: list[tuple[str, float]]
    words: list[tuple[str, float]]
    margin: float


@cache
def _model() -> tuple[Any, Any, Any]:
    corpus = load_debtags_sample()
    train, features = corpus.split("train"), TextFeatures()
    ranker = LogLinearRanker(C=100, fit_intercept=False, random_state=0)
    ranker.fit(features.fit_transform(train.texts), train.label_sets)
    return corpus.split("test"), features, ranker


def explained(package: str, above: str, below: str) -> Explained:
    """What the README's model says about a package; a word has its term's part and half of those of its pairs."""
    test, features, ranker = _model()
    text = test.texts[test.ids.index(package)]
    x = features.transform([text])
    why = ranker.explain(x, above, below)
    part = {features.terms_[j]: value for j, value in why.parts}
    order = ranker.rank(x)[0]
    scores = dict(zip(ranker.labels_.tolist(), ranker.score_labels(x)[0].tolist(), strict=True))
    return Explained(text, [(name, scores[name]) for name in order], _words(text, part, features), why.margin)


def _words(text: str, part: dict[str, float], features: Any) -> list[tuple[str, float]]:
    tokenizer = features.make_tokenizer()
    words = text.split()
    stems = [(i, stem) for i, word in enumerate(words) for stem in tokenizer(word)]
    value = np.zeros(len(words))
    for i, stem in stems:
        value[i] += part.get(stem, 0.0)
    for (i, first), (j, second) in pairwise(stems):
        both = part.get(f"{first} {second}", 0.0)
        value[[i, j]] += both / 2
    return list(zip(words, value.tolist(), strict=True))


def width(text: str, size: float) -> float:
    """About the width of a text in points; a reader's font may differ a little."""
    return float(TextPath((0, 0), text, size=size).get_extents().width) if text.strip() else 0.0


def canvas(figure: Any) -> Any:
    """Axes over the whole figure, in points."""
    axes = figure.add_axes((0, 0, 1, 1))
    w, h = figure.get_size_inches() * 72
    axes.set(xlim=(0, w), ylim=(0, h))
    axes.set_axis_off()
    return axes


def draw_words(figure: Any, palette: Palette) -> None:
    """A description with its words marked: for or against one label above another."""
    figure.set_layout_engine("none")
    axes, size, line = canvas(figure), 12.5, 24.0
    right, top = axes.get_xlim()[1] - 8, axes.get_ylim()[1]
    found = explained("luakit", *PAIR)
    strongest = max(abs(value) for _, value in found.words)
    title = f"Why the package luakit is {PAIR[0]} rather than {PAIR[1]}"
    axes.text(8, top - 16, title, fontsize=12, fontweight="bold", va="center")
    x, y = 8.0, top - 48
    for word, value in found.words:
        w = width(word, size) + 8
        if x + w > right:
            x, y = 8.0, y - line
        _mark(axes, (x, y), (w, 19), value / strongest, palette)
        axes.text(x + w / 2, y, word, fontsize=size, ha="center", va="center")
        x += w + 2
    y -= line + 8
    axes.text(190, y, f"sum of all parts: {found.margin:+.2f}", fontsize=11, va="center", color=palette.soft)
    for name, sign, at in (("for it", 1, 8.0), ("against it", -1, 84.0)):
        _mark(axes, (at, y), (22, 14), sign, palette)
        axes.text(at + 28, y, name, fontsize=11, va="center", color=palette.soft)


PAIR = ("role::program", "role::shared-lib")


def _mark(axes: Any, place: tuple[float, float], size: tuple[float, float], share: float, palette: Palette) -> None:
    if abs(share) < 0.03:
        return
    colour = palette.good if share > 0 else palette.bad
    box = FancyBboxPatch(
        (place[0], place[1] - size[1] / 2), *size, boxstyle="round,pad=0,rounding_size=3", linewidth=0,
        facecolor=colour, alpha=0.08 + 0.42 * abs(share), linestyle="--" if share < 0 else "-",
    )  # fmt: skip
    axes.add_patch(box)
    if share < 0:  # visible without colour too
        axes.plot([place[0] + 2, place[0] + size[0] - 2], [place[1] - size[1] / 2] * 2, color=colour, linewidth=1.4)


# --- the first page


LETTERS = "abcd"


def draw_first(figure: Any, palette: Palette) -> None:
    """Preferences of several kinds, the function that is learnt, and all labels of a new document in order."""
    figure.set_layout_engine("none")
    axes = canvas(figure)
    top = axes.get_ylim()[1]
    for x, text in ((78, "preferences"), (222, "learn"), (386, "all labels in order")):
        axes.text(x, top - 14, text, fontsize=13.5, fontweight="bold", ha="center", va="center")
    _examples(axes, palette)
    _function(axes, palette)
    _result(axes, palette)


def _card(axes: Any, place: tuple[float, float], size: tuple[float, float], palette: Palette, **style: Any) -> None:
    look = {"facecolor": palette.card, "edgecolor": palette.rule, "linewidth": 1.2, **style}
    axes.add_patch(FancyBboxPatch(place, *size, boxstyle="round,pad=0,rounding_size=6", **look))


def _arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], colour: str, shrink: float = 10) -> None:
    style = {"arrowstyle": "-|>", "mutation_scale": 11, "linewidth": 1.5, "color": colour}
    axes.add_patch(FancyArrowPatch(start, end, shrinkA=shrink, shrinkB=shrink, **style))


def _examples(axes: Any, palette: Palette) -> None:
    kinds = {
        "a set": ({"a": (62, 17), "b": (104, 17), "c": (62, -19), "d": (104, -19)}, ["ac", "ad", "bc", "bd"]),
        "an order": ({"c": (44, 2), "a": (75, 2), "d": (106, 2), "b": (137, 2)}, ["ca", "ad", "db"]),
        "arcs": ({"b": (62, 16), "d": (62, -16), "a": (104, 16), "c": (104, -16)}, ["bd", "ad"]),
    }
    for y, (name, (places, arcs)) in zip((212, 132, 52), kinds.items(), strict=True):
        _card(axes, (4, y - 36), (150, 72), palette)
        _page(axes, (10, y + 8), palette)
        axes.text(10, y - 26, name, fontsize=12, va="center", color=palette.soft)
        at = {label: (dx + 4, y + dy + 2) for label, (dx, dy) in places.items()}
        for head, tail in arcs:
            _arrow(axes, at[head], at[tail], palette.soft, shrink=9)
        for label, place in at.items():
            _dot(axes, place, label, palette)


def _page(axes: Any, corner: tuple[float, float], palette: Palette) -> None:
    """A small document."""
    x, y = corner
    axes.add_patch(FancyBboxPatch((x, y - 8), 20, 28, boxstyle="round,pad=0,rounding_size=2", linewidth=1.2,
                                  facecolor="none", edgecolor=palette.soft))  # fmt: skip
    for i, long in enumerate((12, 12, 8)):
        axes.plot([x + 4, x + 4 + long], [y + 14 - 7 * i] * 2, color=palette.soft, linewidth=1.2)


def _dot(axes: Any, place: tuple[float, float], label: str, palette: Palette) -> None:
    colour = palette.series[LETTERS.index(label)]
    axes.plot(*place, marker="o", markersize=17, markerfacecolor=palette.card, markeredgecolor=colour,
              markeredgewidth=2.2, zorder=3)  # fmt: skip
    axes.text(*place, label, fontsize=12, ha="center", va="center_baseline", zorder=4)


def _function(axes: Any, palette: Palette) -> None:
    blue, middle = palette.series[0], 132
    for y in (212, 132, 52):
        _arrow(axes, (158, y), (186, middle + (y - middle) * 0.22), palette.soft, shrink=0)
    _card(axes, (188, middle - 40), (70, 80), palette, edgecolor=blue, linewidth=2.2)
    axes.text(223, middle + 16, "f(x)", fontsize=18, fontstyle="italic", ha="center", va="center")
    axes.text(223, middle - 10, "a score for", fontsize=11, ha="center", va="center", color=palette.soft)
    axes.text(223, middle - 24, "every label", fontsize=11, ha="center", va="center", color=palette.soft)
    _arrow(axes, (260, middle), (280, middle), palette.soft, shrink=0)


def _result(axes: Any, palette: Palette) -> None:
    found = explained("gnurobbo", *PAIR)
    left, right = 284, axes.get_xlim()[1] - 4
    _card(axes, (left, 16), (right - left, 232), palette)
    _page(axes, (left + 10, 222), palette)
    first = found.text.split("\n")[0].split(" ported")[0]
    axes.text(left + 38, 228, f"new: “{first} …”", fontsize=12.5, va="center")
    full = right - left - 52
    for i, (name, score) in enumerate(found.ranking[:5]):
        y = 196 - 23 * i
        long = full * score / found.ranking[0][1]
        axes.add_patch(FancyBboxPatch((left + 10, y - 9), long, 18, boxstyle="round,pad=0,rounding_size=3", linewidth=0,
                                      facecolor=palette.series[0], alpha=0.3))  # fmt: skip
        axes.text(left + 15, y, name, fontsize=12, va="center")
        axes.text(right - 10, y, f"{score:.1f}", fontsize=12, va="center", ha="right", color=palette.soft)
    axes.text(left + 15, 82, f"… and {len(found.ranking) - 5} more", fontsize=11.5, va="center", color=palette.soft)
    axes.text(left + 10, 57, "why the first one:", fontsize=12, va="center", fontweight="bold")
    x = left + 10.0
    for word, value in _strongest(found.words, 2):
        text = f"{word} {value:+.1f}"
        w = width(text, 12) + 10
        _mark(axes, (x, 34), (w, 20), 0.8 if value > 0 else -0.8, palette)
        axes.text(x + w / 2, 34, text, fontsize=12, ha="center", va="center")
        x += w + 5


def _strongest(words: Iterable[tuple[str, float]], n: int) -> list[tuple[str, float]]:
    """The words of the largest parts, each once."""
    once = {re.sub(r"\W+$", "", word).lower(): (re.sub(r"\W+$", "", word), value) for word, value in words}
    return sorted(once.values(), key=lambda pair: -abs(pair[1]))[:n]


# ---


class Picture(NamedTuple):
    """How it is drawn, and its size in inches."""

    draw: Callable[[bool], Callable[[Any, Palette], None]]
    width: float = 7.0
    height: float = 3.4


def _always(draw: Callable[[Any, Palette], None]) -> Callable[[bool], Callable[[Any, Palette], None]]:
    return lambda fresh: draw  # noqa: ARG005 - nothing to run again


PICTURES = {
    "curve-solvers": Picture(lambda fresh: partial(draw_solvers, solver_runs(fresh=fresh))),
    "curve-precision-recall": Picture(_always(draw_precision_recall)),
    "curve-online": Picture(_always(draw_online)),
    "curve-words": Picture(_always(draw_words), height=2.9),
    "learner-times": Picture(_always(draw_times), width=7.6, height=3.7),
    "first": Picture(_always(draw_first), height=3.85),
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)}; all if none")
    parser.add_argument("--fresh", action="store_true", help="run the solvers again")
    options = parser.parse_args(arguments)
    for name in options.names or PICTURES:
        picture = PICTURES[name]
        for path in save(name, picture.draw(options.fresh), picture.width, picture.height):
            print(path)


if __name__ == "__main__":
    main()

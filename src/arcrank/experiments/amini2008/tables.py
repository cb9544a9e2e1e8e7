"""Tables 2 and 3 and Figures 1-3 of Amini, Truong & Goutte 2008 as rows and points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import ranksums, wilcoxon

from arcrank._typing import Array
from arcrank.experiments.amini2008.methods import LATENT_GRID
from arcrank.experiments.amini2008.study import RECALLS, Cell, Study

__all__ = ["Paired", "Point", "Row", "beyond", "figure1", "figure2", "figure3", "pairs", "table2", "table3"]

METHODS = ("RB", "TSVM", "ssLR", "ssRB k=1", "ssRB k=2", "ssRB k=3")
MORE_METHODS = ("ssRB k=5", "naive k=2", "naive k=5", "TSVM prior", "LR", "ssRB latent")
"""Not in the paper's table."""
PAPER_K = "ssRB k=2"
"""The paper's best k in Table 2, which it uses after it."""
BEST_K = "ssRB k=5"
"""Our best k in Table 2, chosen after seeing the test figures."""
PAIRS = (
    ("ssRB k=2", "naive k=2"),
    ("ssRB k=5", "naive k=5"),
    ("ssRB k=2", "TSVM"),
    ("ssRB k=2", "ssLR"),
    ("LR", "ssLR"),
)
"""The paper argues against mixing (section 2), for ssRB against both baselines, and for unlabelled documents (4.1)."""
SIGNIFICANT = 0.01
TABLE2 = {
    "RB": (40.85, 64.51),
    "TSVM": (51.6, 71.01),
    "ssLR": (50.23, 70.83),
    "ssRB k=1": (57.32, 74.82),
    "ssRB k=2": (59.36, 76.57),
    "ssRB k=3": (57.6, 73.21),
}
TABLE2_OHSUMED = {
    "RB": (23.5, 33.6),
    "TSVM": (26.2, 36.4),
    "ssLR": (25.3, 35.2),
    "ssRB k=1": (30.3, 40.4),
    "ssRB k=2": (28.9, 38.6),
    "ssRB k=3": (27.2, 36.5),
}
TABLE3 = {
    "RB": (85.6, 81.3, 83.8, 83.4, 84.5, 84.9, 79.9, 81.2, 80.2, 78.6),
    "TSVM": (95.9, 91.6, 90.3, 94.5, 91.1, 91.2, 87.6, 85.1, 86.2, 86.6),
    "ssLR": (95.4, 92.1, 89.7, 93.5, 92.4, 90.4, 88.3, 84.3, 87.3, 85.3),
    "ssRB k=2": (94.8, 91.5, 92.8, 95.5, 93.1, 92.4, 90.5, 89.7, 91.3, 90.3),
}
"""AUC in the order of the corpus's labels, the most frequent topic first."""
Report = Callable[[str], None]


class Row(NamedTuple):
    """One number of a table, in percent."""

    method: str
    measure: str
    mean: float
    error: float
    worse: bool
    """Whether it is significantly worse than the best of the paper's methods."""
    random_ties: float
    """The mean with tied documents in random order; in `mean` they count as errors."""
    published: float | None


class Point(NamedTuple):
    """One point of a figure; `y` in percent."""

    method: str
    x: float
    y: float
    error: float
    of: str = ""


class Paired(NamedTuple):
    """Two methods over all topics and splits: their means in percent and the p-value of Wilcoxon's test."""

    measure: str
    method: str
    other: str
    mean: float
    other_mean: float
    p_value: float
    won: int
    n: int


def table2(study: Study, report: Report, methods: Sequence[str] = (*METHODS, *MORE_METHODS)) -> list[Row]:
    """Return mAUP and mT9P of every method."""
    cells = study.cells(methods, study.topics, report)
    published = TABLE2 if study.name == "Reuters-21578" else TABLE2_OHSUMED
    rows = []
    for number, measure in enumerate(("aup", "t9p")):
        paper = {name: published[name][number] for name in published}
        rows += _rows(cells, methods, measure, "mAUP" if measure == "aup" else "mT9P", paper)
    return rows


def table3(
    study: Study, report: Report, methods: Sequence[str] = ("RB", "TSVM", "ssLR", PAPER_K, "ssRB k=3", BEST_K)
) -> list[Row]:
    """Return the AUC of every topic and method."""
    cells = study.cells(methods, study.topics, report)
    rows = []
    for number, topic in enumerate(study.topics):
        mine = [cell for cell in cells if cell.topic == topic]
        paper = {name: aucs[number] for name, aucs in TABLE3.items()} if study.name == "Reuters-21578" else {}
        rows += _rows(mine, methods, "auc", f"AUC {topic}", paper)
    return rows


def figure1(study: Study, report: Report, topic: str = "acq", counts: Iterable[int] = range(9, 2, -1)) -> list[Point]:
    """Return the AUC on one topic as relevant documents are removed from its label set."""
    points = []
    for count in counts:
        report(f"Figure 1: {count} relevant documents of {topic}")
        for name in ("TSVM", "ssLR", PAPER_K, BEST_K):
            cells = [study.cell(name, topic, number, n_relevant=count) for number in range(study.n_splits)]
            points.append(_point(name, count, [cell.auc for cell in cells]))
    return points


def figure2(study: Study, report: Report, factors: Iterable[int] = (1, 2, 4, 8)) -> list[Point]:
    """Return precision by recall with the paper's label sets, and mAUP with larger ones of the same proportion."""
    names = ("RB", "TSVM", "ssLR", PAPER_K, BEST_K)
    cells = study.cells((*names, "RB full"), study.topics, report)
    points = []
    for name in (*names, "RB full"):
        curve = np.mean([cell.precision for cell in cells if cell.method == name], axis=0)
        points += [Point(name, x, 100.0 * y, 0.0, "precision by recall") for x, y in zip(RECALLS, curve, strict=True)]
    for factor in factors:
        points += _growing(study, report, names, factor)
    bound = _by_split(cells, "RB full", "aup")
    return [*points, _point("RB full", len(study.split(0).train), bound, "mAUP by labelled documents")]


def _growing(study: Study, report: Report, names: Iterable[str], factor: int) -> list[Point]:
    relevant, irrelevant = factor * study.collection.n_relevant, factor * study.collection.n_irrelevant
    report(f"Figure 2: {relevant + irrelevant} labelled documents")
    points = []
    for name in names:
        values = [_mean_aup(study, name, number, relevant, irrelevant) for number in range(study.n_splits)]
        points.append(_point(name, relevant + irrelevant, values, "mAUP by labelled documents"))
    return points


def figure3(
    study: Study,
    report: Report,
    discounts: Iterable[float] = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0),
    factors: Iterable[int] = (1, 2, 4),
) -> list[Point]:
    """Return mAUP by the discount for label sets of several sizes; the paper has this figure for OHSUMED only."""
    points = []
    for factor in factors:
        relevant, irrelevant = factor * study.collection.n_relevant, factor * study.collection.n_irrelevant
        report(f"Figure 3: {relevant + irrelevant} labelled documents")
        for discount in discounts:
            name = PAPER_K if discount == 1.0 else f"{PAPER_K} lambda={discount:g}"  # 1 is the default
            values = [_mean_aup(study, name, number, relevant, irrelevant) for number in range(study.n_splits)]
            points.append(_point(PAPER_K, discount, values, f"{relevant + irrelevant} labelled documents"))
    return points


def pairs(study: Study, report: Report, compared: Sequence[tuple[str, str]] = PAIRS) -> list[Paired]:
    """Compare two methods at a time over all topics and splits, by every measure."""
    cells = study.cells(dict.fromkeys(name for pair in compared for name in pair), study.topics, report)
    return [_paired(cells, *pair, measure) for pair in compared for measure in ("aup", "t9p", "auc")]


def beyond(study: Study, report: Report, method: str = "ssRB latent") -> list[Paired]:
    """Compare with logistic regression on terms and on latent dimensions, the best of the grid for each measure.

    The best is taken twice: over the plain dimensions of the SVD, and over these and rows of unit length.
    """
    cells = study.cells((method, "LR", *LATENT_GRID), study.topics, report)
    plain = [name for name in LATENT_GRID if not name.endswith("unit")]
    found = []
    for measure in ("aup", "auc", "t9p"):
        means = {name: float(_values(cells, name, measure).mean()) for name in LATENT_GRID}
        best = [max(names, key=means.__getitem__) for names in (plain, LATENT_GRID)]
        found += [_paired(cells, method, other, measure) for other in dict.fromkeys(("LR", *best))]
    return found


def _paired(cells: Sequence[Cell], method: str, other: str, measure: str) -> Paired:
    mine, theirs = _values(cells, method, measure), _values(cells, other, measure)
    p_value = float(wilcoxon(mine, theirs).pvalue) if (mine != theirs).any() else 1.0
    return Paired(
        measure, method, other, 100 * mine.mean(), 100 * theirs.mean(), p_value, int((mine > theirs).sum()), len(mine)
    )


def _values(cells: Iterable[Cell], method: str, measure: str) -> Array:
    """Return one value per topic and split, in the same order for all methods."""
    return np.array([getattr(cell, measure) for cell in cells if cell.method == method])


def _by_split(cells: Iterable[Cell], method: str, measure: str) -> Array:
    """Return the mean over topics for each split."""
    mine = [cell for cell in cells if cell.method == method]
    return np.array(
        [
            np.mean([getattr(c, measure) for c in mine if c.split == number])
            for number in sorted({c.split for c in mine})
        ]
    )


def _mean_aup(study: Study, name: str, number: int, relevant: int, irrelevant: int) -> float:
    return float(np.mean([study.cell(name, t, number, relevant, irrelevant).aup for t in study.topics]))


def _rows(
    cells: Sequence[Cell], methods: Iterable[str], measure: str, title: str, published: dict[str, float]
) -> list[Row]:
    values = {name: _by_split(cells, name, measure) for name in methods}
    best = values[_best_of_the_paper(values, published)]
    return [
        Row(
            name,
            title,
            100 * float(found.mean()),
            100 * _error(found),
            _is_worse(found, best),
            100 * float(_by_split(cells, name, f"{measure}_random").mean()),
            published.get(name),
        )
        for name, found in values.items()
    ]


def _best_of_the_paper(values: dict[str, Array], published: dict[str, float]) -> str:
    """Return the method of the highest mean among the paper's, or among all where the paper has none of them."""
    return max([name for name in values if name in published] or values, key=lambda name: float(values[name].mean()))


def _is_worse(values: Array, best: Array) -> bool:
    """Apply the paper's test: Wilcoxon's rank sums over splits at p < 0.01."""
    return bool(values.mean() < best.mean() and ranksums(values, best).pvalue < SIGNIFICANT)


def _point(name: str, x: float, values: Sequence[float] | Array, of: str = "") -> Point:
    return Point(name, x, 100 * float(np.mean(values)), 100 * _error(np.asarray(values)), of)


def _error(values: Array) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0

"""Tables 1-4 of Crammer & Singer 2002: means over folds with the published values, as rows and as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import ttest_rel

from arcrank.experiments.crammer2002.runs import MEASURES, RANKERS, Cell

__all__ = ["PUBLISHED", "TABLES", "Comparison", "Row", "compare", "format_comparisons", "format_tables", "rows"]

PUBLISHED: dict[str, dict[str, Sequence[float | None]]] = {
    "Reuters-21578": {
        "Rocchio": (None, None, None, 14.48, 1.29, 0.90, 0.85),
        "Perceptron": (15.71, 4.87, 3.13, 9.59, 4.27, 0.91, 0.89),
        "MMP loss 3": (19.13, 0.92, 0.60, 14.51, 0.96, 0.90, 0.84),
    },
    "RCV1": {
        "Rocchio": (70.71, 12.42, 3.33, 24.42, 9.89, 0.73, 0.63),
        "Perceptron": (38.86, 10.43, 2.64, 6.04, 9.45, 0.87, 0.86),
        "MMP loss 3": (34.57, 2.90, 0.75, 6.49, 3.98, 0.91, 0.87),
    },
}
"""In the order of MEASURES; the other rows cannot be read in our copy of the paper."""
TABLES = {"Reuters-21578": (1, 2), "RCV1": (3, 4)}
_LOSSES = {"MMP loss 1": "loss 1 %", "MMP loss 2": "loss 2", "MMP loss 3": "loss 3 %"}


class Row(NamedTuple):
    """One number of a table: the mean and standard deviation over folds, and the published value."""

    ranker: str
    measure: str
    mean: float
    deviation: float
    published: float | None


class Comparison(NamedTuple):
    """MMP with one loss compared to MMP with another, measured by the loss of the first."""

    measure: str
    ranker: str
    other: str
    difference: float
    folds_won: int
    n_folds: int
    p_value: float


def rows(results: Iterable[Cell]) -> list[Row]:
    """Return the rows of both tables of a corpus, the losses and the retrieval measures."""
    by_ranker = _by_ranker(results)
    found = []
    for name, folds in by_ranker.items():
        published = PUBLISHED[folds[0].corpus].get(name, [None] * len(MEASURES))
        for measure, value in zip(MEASURES, published, strict=True):
            values = [cell.measures[measure] for cell in folds]
            deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
            found.append(Row(name, measure, float(np.mean(values)), deviation, value))
    return found


def compare(results: Iterable[Cell]) -> list[Comparison]:
    """Compare each variant of MMP at its own loss with the others, paired over folds; negative means better."""
    by_ranker = _by_ranker(results)
    found = []
    for ranker, measure in _LOSSES.items():
        own = np.array([cell.measures[measure] for cell in by_ranker[ranker]])
        for other in _LOSSES:
            if other != ranker:
                difference = own - np.array([cell.measures[measure] for cell in by_ranker[other]])
                # The t-test divides by the spread.
                spread = len(own) > 1 and np.ptp(difference) > 0
                p = float(ttest_rel(own, own - difference).pvalue) if spread else float("nan")
                won = int((difference < 0).sum())
                found.append(Comparison(measure, ranker, other, float(difference.mean()), won, len(own), p))
    return found


def _by_ranker(results: Iterable[Cell]) -> dict[str, list[Cell]]:
    by_ranker: dict[str, list[Cell]] = {name: [] for name in RANKERS}
    for cell in results:
        by_ranker[cell.ranker].append(cell)
    return {name: found for name, found in by_ranker.items() if found}


def format_tables(corpus: str, found: list[Row]) -> str:
    """Format both tables of a corpus, with published values in brackets."""
    measures = list(MEASURES)
    lines = []
    for number, chosen in zip(TABLES[corpus], (measures[:3], measures[3:]), strict=True):
        lines.append(f"\nTable {number}: {corpus}, measured [published]")
        lines.append(f"{'':12}" + "".join(f"{measure:>26}" for measure in chosen))
        for ranker in dict.fromkeys(row.ranker for row in found):
            texts = [_format(row) for row in found if row.ranker == ranker and row.measure in chosen]
            lines.append(f"{ranker:12}" + "".join(f"{text:>26}" for text in texts))
    return "\n".join(lines) + "\n"


def _format(row: Row) -> str:
    published = "    -" if row.published is None else f"{row.published:5.2f}"
    return f"{row.mean:.3f} ± {row.deviation:.3f} [{published}]"


def format_comparisons(found: list[Comparison]) -> str:
    """Format one line per comparison."""
    lines = [
        "\nEach variant at its own loss compared to the others, paired over folds (negative: better than the other)"
    ]
    for one in found:
        lines.append(
            f"{one.measure:9} {one.ranker} - {one.other}: {one.difference:+.4f}, better in {one.folds_won} of "
            f"{one.n_folds} folds, p = {one.p_value:.2g}"
        )
    return "\n".join(lines) + "\n"

"""Crammer & Singer 2002: Tables 1-4 and Figures 3-6, measured beside the published values.

    ARCRANK_DATA=... python -m arcrank.experiments.category_ranking [--corpus ...] [--plots FOLDER] [--fresh]

Reuters-21578: 10,789 documents, five folds, pivoted length normalization and Rocchio's selection of terms learnt in
each training part, one pass. RCV1: the tf-idf vectors of a part of the corpus, so its published values are only shown
beside ours. Finished cells are kept in the user's cache folder; a run that was stopped goes on there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import ttest_rel

from arcrank.experiments.category_ranking_runs import CORPORA, MEASURES, RANKERS, Cell, cells

__all__ = ["Comparison", "Row", "compare", "main", "rows"]

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
"""In the order of MEASURES; the other rows did not survive in the text at hand."""
TABLES = {"Reuters-21578": (1, 2), "RCV1": (3, 4)}
_LOSSES = {"MMP loss 1": "loss 1 %", "MMP loss 2": "loss 2", "MMP loss 3": "loss 3 %"}


class Row(NamedTuple):
    """One number of a table: the mean over folds, its standard deviation over folds, and the paper's."""

    ranker: str
    measure: str
    mean: float
    deviation: float
    published: float | None


class Comparison(NamedTuple):
    """MMP with a loss against MMP with another, judged by the first one's loss."""

    measure: str
    ranker: str
    other: str
    difference: float
    folds_won: int
    n_folds: int
    p_value: float


def rows(results: Iterable[Cell]) -> list[Row]:
    """The rows of two tables (the losses; the retrieval measures) from the cells of one corpus."""
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
    """Is each variant of MMP best at its own loss? Paired over folds; a negative difference says yes."""
    by_ranker = _by_ranker(results)
    found = []
    for ranker, measure in _LOSSES.items():
        own = np.array([cell.measures[measure] for cell in by_ranker[ranker]])
        for other in _LOSSES:
            if other != ranker:
                difference = own - np.array([cell.measures[measure] for cell in by_ranker[other]])
                # Without a spread the test has nothing to divide by.
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
    """Ours, and the paper's in brackets."""
    measures = list(MEASURES)
    lines = []
    for number, chosen in zip(TABLES[corpus], (measures[:3], measures[3:]), strict=True):
        lines.append(f"\nTable {number}: {corpus}, ours [published]")
        lines.append(f"{'':12}" + "".join(f"{measure:>26}" for measure in chosen))
        for ranker in dict.fromkeys(row.ranker for row in found):
            texts = [_format(row) for row in found if row.ranker == ranker and row.measure in chosen]
            lines.append(f"{ranker:12}" + "".join(f"{text:>26}" for text in texts))
    return "\n".join(lines) + "\n"


def _format(row: Row) -> str:
    published = "    -" if row.published is None else f"{row.published:5.2f}"
    return f"{row.mean:.3f} ± {row.deviation:.3f} [{published}]"


def format_comparisons(found: list[Comparison]) -> str:
    """One line a comparison."""
    lines = [
        "\nEach variant at its own loss against the others, paired over folds (negative: the own variant is better)"
    ]
    for one in found:
        lines.append(
            f"{one.measure:9} {one.ranker} - {one.other}: {one.difference:+.4f}, better in {one.folds_won} of "
            f"{one.n_folds} folds, p = {one.p_value:.2g}"
        )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, and draw the figures where a folder for them is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", choices=[*CORPORA, "all"], default="all")
    parser.add_argument("--plots", metavar="FOLDER", help="draw Figures 3-6 into this folder")
    parser.add_argument("--fresh", action="store_true", help="run everything again")
    options = parser.parse_args(arguments)
    results = {}
    for corpus in CORPORA if options.corpus == "all" else [options.corpus]:
        results[corpus] = list(cells(corpus, fresh=options.fresh))
        sys.stdout.write(format_tables(corpus, rows(results[corpus])))
        if CORPORA[corpus][0] > 1:
            sys.stdout.write(format_comparisons(compare(results[corpus])))
    if options.plots:
        from arcrank.experiments.category_ranking_plots import draw

        for path in draw(results, options.plots):
            sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()

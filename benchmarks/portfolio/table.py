"""Tables of results, mean ranks and their critical difference."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

Values = dict[str, dict[str, float]]
"""Row -> learner -> value."""


def show_table(title: str, rows: Values, learners: list[str], *, factor: float = 100.0) -> None:
    width = max(14, *(len(name) + 2 for name in learners))
    print(f"\n{title:<24}" + "".join(f"{name:>{width}}" for name in learners))
    for row, cells in rows.items():
        shown = [f"{factor * cells[name]:.2f}" if name in cells else "-" for name in learners]
        print(f"{row:<24}" + "".join(f"{cell:>{width}}" for cell in shown))


def mean_ranks(losses: list[dict[str, float]], learners: list[str]) -> dict[str, float]:
    """Mean rank of each learner over rows that have a value of all of them, 1 = best."""
    table = np.array([[row[name] for name in learners] for row in losses if all(name in row for name in learners)])
    return dict(zip(learners, rankdata(table, axis=1).mean(axis=0).tolist(), strict=True)) if len(table) else {}


def critical_difference(n_learners: int, n_rows: int, level: float = 0.05) -> float:
    """Mean ranks that differ by less are not significantly different (Nemenyi).

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    q = studentized_range.ppf(1 - level, n_learners, math.inf) / math.sqrt(2)
    return float(q * math.sqrt(n_learners * (n_learners + 1) / (6 * n_rows)))


def show_ranks(title: str, losses: list[dict[str, float]], learners: list[str]) -> None:
    ranks = mean_ranks(losses, learners)
    if len(learners) < 3 or not ranks:
        return
    complete = [row for row in losses if all(name in row for name in learners)]
    p = friedmanchisquare(*([row[name] for row in complete] for name in learners)).pvalue
    print(f"\n{title}: mean rank over {len(complete)} rows (Friedman p = {p:.2g})")
    for name, rank in sorted(ranks.items(), key=lambda item: item[1]):
        print(f"  {rank:5.2f}  {name}")
    print(f"  critical difference {critical_difference(len(learners), len(complete)):.2f}")


def show_distances(title: str, losses: dict[str, dict[str, float]], ours: str, goal: float) -> None:
    """How far we are behind the best peer, where it is more than the goal."""
    behind = {
        row: cells[ours] - min(value for name, value in cells.items() if name != ours)
        for row, cells in losses.items()
        if ours in cells and len(cells) > 1
    }
    missed = {row: value for row, value in behind.items() if value > goal}
    kept = len(behind) - len(missed)
    print(f"\n{title}: at most {100 * goal:.1f} points behind the best peer in {kept} of {len(behind)}")
    for row, value in sorted(missed.items(), key=lambda item: -item[1]):
        print(f"  {row}: {100 * value:.2f} behind")

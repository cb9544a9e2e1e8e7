"""Print Tables 2 and 3 and Figures 1-3 of Amini, Truong & Goutte 2008."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from arcrank.experiments import amini2008
from arcrank.experiments.amini2008 import tables
from arcrank.experiments.amini2008.study import COLLECTIONS, Study
from arcrank.experiments.amini2008.tables import Paired, Point, Row

__all__ = ["PARTS", "lines", "main"]

PARTS: dict[str, Callable[..., Sequence[Any]]] = {
    "table2": tables.table2,
    "table3": tables.table3,
    "figure1": tables.figure1,
    "figure2": tables.figure2,
    "figure3": tables.figure3,
    "pairs": tables.pairs,
    "beyond": tables.beyond,
}


def lines(rows: Iterable[Row | Point | Paired]) -> list[str]:
    """Format each row or point as a line of text.

    Examples
    --------
    >>> for line in lines([Row("RB", "mAUP", 51.3, 0.61, True, 54.1, 40.85), Point("RB", 90.0, 51.3, 0.6, "mAUP")]):
    ...     print(line)
    mAUP               RB              51.30 +- 0.61 v  random ties 54.10  published 40.85
    RB              90     51.30 +- 0.60  mAUP
    """
    return [_line(row) for row in rows]


def _line(row: Row | Point | Paired) -> str:
    if isinstance(row, Row):
        paper = "" if row.published is None else f"  published {row.published:.2f}"
        mark = "v" if row.worse else " "
        found = f"{row.mean:5.2f} +- {row.error:4.2f} {mark}  random ties {row.random_ties:5.2f}"
        return f"{row.measure:18} {row.method:15} {found}{paper}"
    if isinstance(row, Point):
        return f"{row.method:15} {row.x:<6g} {row.y:5.2f} +- {row.error:4.2f}  {row.of}"
    return (
        f"{row.measure:4} {row.method} {row.mean:.2f} against {row.other} {row.other_mean:.2f}: "
        f"p = {row.p_value:.2g}, above in {row.won} of {row.n}"
    )


def _progress(line: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the chosen parts, by default all, and print them with the published values."""
    parser = argparse.ArgumentParser(
        prog="python -m arcrank.experiments.amini2008",
        description=amini2008.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", help=f"any of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--collection", choices=list(COLLECTIONS), default="Reuters-21578")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args(arguments)
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}; choose from {', '.join(PARTS)}")
    study = Study(options.collection, options.splits, options.rounds)
    for part in options.parts or PARTS:
        found = lines(PARTS[part](study, _progress))
        sys.stdout.write(
            "\n".join([f"== {part}: {study.name}, {study.n_splits} splits, {study.n_rounds} rounds", *found, ""])
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()

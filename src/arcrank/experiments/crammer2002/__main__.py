"""Print Tables 1-4 of Crammer & Singer 2002 and draw Figures 3-6."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from arcrank.experiments import crammer2002
from arcrank.experiments.crammer2002.runs import CORPORA, cells
from arcrank.experiments.crammer2002.tables import compare, format_comparisons, format_tables, rows

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, and draw the figures if a folder is given for them."""
    parser = argparse.ArgumentParser(
        prog="python -m arcrank.experiments.crammer2002",
        description=crammer2002.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--corpus", choices=[*CORPORA, "all"], default="all")
    parser.add_argument("--plots", metavar="FOLDER", help="draw Figures 3-6 into this folder")
    parser.add_argument("--fresh", action="store_true", help="recompute stored cells")
    options = parser.parse_args(arguments)
    results = {}
    for corpus in CORPORA if options.corpus == "all" else [options.corpus]:
        results[corpus] = list(cells(corpus, fresh=options.fresh))
        sys.stdout.write(format_tables(corpus, rows(results[corpus])))
        if CORPORA[corpus][0] > 1:
            sys.stdout.write(format_comparisons(compare(results[corpus])))
    if options.plots:
        from arcrank.experiments.crammer2002.drawings import draw  # matplotlib is an extra

        for path in draw(results, options.plots):
            sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()

"""Run some or all parts of the comparison."""

from __future__ import annotations

import argparse
import warnings

from benchmarks.portfolio import __doc__ as description
from benchmarks.portfolio import algorithms, orders, sets

PARTS = {"sets": sets.run, "orders": orders.run, "algorithms": algorithms.run, "votes": algorithms.run_votes}


def main() -> None:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}; all but votes by default")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these data sets")
    parser.add_argument(
        "--splits",
        type=int,
        default=0,
        metavar="N",
        help="of sets, the mean over N random thirds of the training documents instead of the test documents",
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"there is no part {unknown.pop()!r}; choose from {', '.join(PARTS)}")
    for name in arguments.parts or ("sets", "orders", "algorithms"):
        PARTS[name](arguments.only, **({"splits": arguments.splits} if name == "sets" else {}))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # from scikit-learn, about labels without a training document in a fold
        main()

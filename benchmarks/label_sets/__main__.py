"""Print a table per measure, corpora by learners."""

from __future__ import annotations

import argparse
import sys
import warnings

from benchmarks.label_sets import __doc__ as description
from benchmarks.label_sets.cells import Cell, choose_regularization, measured
from benchmarks.label_sets.corpora import CORPORA, Task, load_task
from benchmarks.label_sets.learners import ARCRANK, PEERS, Learner

# measure, title, factor, and the measure by which C is chosen
TABLES = [
    ("micro_f1", "micro-F1, %", 100, "micro_f1"),
    ("macro_f1", "macro-F1, %", 100, "macro_f1"),
    ("subset_accuracy", "subset accuracy, %, C of micro-F1", 100, "micro_f1"),
    ("ranking_loss", "ranking loss, %", 100, "average_precision"),
    ("average_precision", "average precision, %", 100, "average_precision"),
    ("one_error", "one-error, %", 100, "average_precision"),
    ("C", "C by micro-F1", 1, "micro_f1"),
    ("C", "C by macro-F1", 1, "macro_f1"),
    ("C", "C by average precision", 1, "average_precision"),
    ("seconds", "seconds to fit and score, C by micro-F1", 1, "micro_f1"),
    ("seconds", "seconds to fit and score, C by average precision", 1, "average_precision"),
]


def results(task: Task, learner: Learner) -> dict[str, Cell]:
    """The test cell of each way to choose C."""
    found = {}
    for measure in ("micro_f1", "macro_f1", "average_precision") if learner.has_sets else ("average_precision",):
        C = choose_regularization(task, learner, measure)
        set_measure = "macro_f1" if measure == "macro_f1" else "micro_f1"
        found[measure] = measured(task, learner, C, part="test", set_measure=set_measure) | {"C": C}
    return found


def results_where_installed(task: Task, learner: Learner) -> dict[str, Cell]:
    try:
        return results(task, learner)
    except ModuleNotFoundError as error:
        print(f"{task.name} {learner.name}: {error}", file=sys.stderr, flush=True)
        return {}


def show(found: dict[str, dict[str, dict[str, Cell]]], learners: list[Learner]) -> None:
    for measure, title, factor, chosen_by in TABLES:
        print(f"\n{title:<52}" + "".join(f"{learner.name:>17}" for learner in learners))
        for corpus, rows in found.items():
            cells = [rows[learner.name].get(chosen_by, {}).get(measure) for learner in learners]
            print(f"{corpus:<52}" + "".join(f"{'-' if x is None else f'{factor * x:.4g}':>17}" for x in cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", metavar="corpus", help=f"of {', '.join(CORPORA)}; all by default")
    known = {learner.name: learner for learner in PEERS + ARCRANK}
    parser.add_argument(
        "--learners", nargs="+", choices=known, default=[*known], metavar="NAME", help=f"of {list(known)}"
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.corpora) - set(CORPORA):
        parser.error(f"there is no corpus {unknown.pop()!r}; choose from {', '.join(CORPORA)}")
    learners = [known[name] for name in arguments.learners]
    found = {}
    for task in map(load_task, arguments.corpora or CORPORA):
        found[task.name] = {learner.name: results_where_installed(task, learner) for learner in learners}
    show(found, learners)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # from scikit-learn, about labels without a training document in a fold
        main()

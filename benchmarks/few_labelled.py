"""AutoRanker with five labelled documents per label: what unlabelled documents change.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.few_labelled [debtags] [reuters] [--draws 10] [--one]

Labels with fewer than 20 training documents are left out. A draw visits the training documents in random order and
labels each that has a label with fewer than five labelled documents so far; the labelled documents have all their
labels. All other training documents are the unlabelled ones, and all test documents are measured. `AutoRanker` with its
defaults learns from the labelled documents, and from both. Everything is selected by cross-validation on labelled
documents. With `--one` both models have one family of rankers to select from (`PreferenceMachine` with domination and
the squared hinge, any C), which takes a quarter of the time.

Shown are means over the draws, the difference with the p-value of Fisher's randomization test over the draws, in how
many draws unlabelled documents made the measure worse, and what they were used for. Cells are stored.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from arcrank import AutoRanker
from arcrank.datasets import Corpus, load_debtags, load_reuters21578
from arcrank.evaluation.significance import permutation_p_values
from arcrank.experiments.cache import cached
from arcrank.graphs import as_graphs
from arcrank.metrics import average_precision, ranking_loss

CORPORA = {"debtags": load_debtags, "reuters": lambda: load_reuters21578("modapte")}
FEWEST, LABELLED = 20, 5
REVISION = 4
MEASURES = {"ranking loss %": ranking_loss, "average precision %": average_precision}
HIGHER_IS_BETTER = {"average precision %"}


class Task:
    """A corpus with its frequent labels only."""

    def __init__(self, name: str) -> None:
        corpus = CORPORA[name]()
        counts = Counter(label for one in corpus.split("train").label_sets for label in one)
        self.name = name
        self.labels = sorted(label for label, count in counts.items() if count >= FEWEST)
        self.train, self.test = (self._documents(corpus.split(part)) for part in ("train", "test"))

    def _documents(self, corpus: Corpus) -> list[tuple[str, list[str]]]:
        known = set(self.labels)
        pairs = zip(corpus.texts, corpus.label_sets, strict=True)
        found = [(text, [label for label in labels if label in known]) for text, labels in pairs]
        return [pair for pair in found if pair[1]]


def draw(sets: Sequence[list[str]], seed: int) -> tuple[Any, Any]:
    """Rows of labelled and of unlabelled documents."""
    random, need, chosen = np.random.default_rng(seed), Counter(), []
    order = random.permutation(len(sets))
    for row in order:
        if any(need[label] < LABELLED for label in sets[row]):
            chosen.append(row)
            need.update(sets[row])
    return np.sort(chosen), np.setdiff1d(order, chosen)


ONE: dict[str, Any] = {
    "learners": ["preference-machine"],
    "parameters": {"decomposition": "domination", "loss": "squared-hinge"},
}


def measure(task: Task, seed: int, *, unlabelled: bool, one: bool) -> dict[str, Any]:
    labelled, rest = draw([labels for _, labels in task.train], seed)
    rows = [*labelled, *rest] if unlabelled else [*labelled]
    texts = [task.train[row][0] for row in rows]
    y = [task.train[row][1] for row in labelled] + [None] * (len(rows) - len(labelled))
    start = time.process_time()
    auto = AutoRanker(**(ONE if one else {})).fit(texts, y)
    seconds = time.process_time() - start
    scores = auto.score_labels([text for text, _ in task.test])
    graphs = as_graphs([labels for _, labels in task.test], kind="sets", labels=auto.labels_)
    cell = {name: 100 * function(graphs, scores) for name, function in MEASURES.items()}
    return {**cell, "seconds": seconds, "selected": auto.selected_, "labelled": len(labelled), "all": len(rows)}


def cell(task: Task, seed: int, *, unlabelled: bool, one: bool) -> dict[str, Any]:
    key = {"corpus": task.name, "seed": seed, "unlabelled": unlabelled, "one": one, "revision": REVISION}
    found: dict[str, Any] = cached("few-labelled", key, lambda: measure(task, seed, unlabelled=unlabelled, one=one))
    return found


def show(task: Task, first: int, draws: int, *, one: bool) -> None:
    cells: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
    for seed in range(first, first + draws):
        for unlabelled, found in cells.items():
            found.append(cell(task, seed, unlabelled=unlabelled, one=one))
            shown = ", ".join(f"{name} {found[-1][name]:.3f}" for name in MEASURES)
            print(f"  draw {seed}, {'both' if unlabelled else 'labelled'}: {shown}", flush=True)
    without, beside = cells[False], cells[True]
    print(
        f"{task.name}: {len(task.labels)} labels, {np.mean([one['labelled'] for one in without]):.0f} labelled and "
        f"{np.mean([one['all'] - one['labelled'] for one in beside]):.0f} unlabelled documents, {draws} draws"
    )
    print(f"{'':22}{'labelled':>10}{'both':>10}{'change':>10}{'p':>9}{'worse in':>10}")
    for name in MEASURES:
        old, new = (np.array([one[name] for one in found]) for found in (without, beside))
        change = new - old
        p = permutation_p_values(change[:, None], 10_000, 0)[0]
        worse = int(((change < 0) == (name in HIGHER_IS_BETTER))[change != 0].sum())
        print(f"{name:22}{old.mean():10.3f}{new.mean():10.3f}{change.mean():+10.3f}{p:9.4f}{worse:>7} of {draws}")
    for title, found in (("labelled", without), ("both", beside)):
        print(f"seconds of processor time, {title}: {np.mean([one['seconds'] for one in found]):.0f}")
    used = Counter(one["selected"].rpartition("; ")[2].rstrip(")") for one in beside)
    for what, count in used.most_common():
        print(f"  {count} times: {what}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="*", metavar="corpus", help=f"of {', '.join(CORPORA)}; all by default")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first draw")
    parser.add_argument("--one", action="store_true", help="one family of rankers")
    arguments = parser.parse_args()
    if unknown := set(arguments.corpora) - set(CORPORA):
        parser.error(f"there is no corpus {unknown.pop()!r}; choose from {', '.join(CORPORA)}")
    for name in arguments.corpora or CORPORA:
        show(Task(name), arguments.first, arguments.draws, one=arguments.one)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about labels without a training document in a fold
        main()

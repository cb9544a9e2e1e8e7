"""AutoRanker: its time beside a grid search, and how often it selects the same rankers.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.auto [time] [command] [stability] [--corpora NAME ...]

`time`: `AutoRanker().fit` and `GridSearchCV(OneVsRestClassifier(LinearSVC()), 4 values of C, cv=3)` on the same
features, one thread each, in processor time; by default on Reuters-21578 (ModApte). RCV1 and debtags take tens of
minutes.
`command`: the whole of `arcrank train FILE`, beside reading the file, `TfidfVectorizer` and the same grid search: on
the features that `arcrank train` uses (pairs of words too), and on those of `TfidfVectorizer()`, which are fewer; in
processor time, for corpora of texts.
`stability`: 20 bootstrap samples of the training documents (medical by default): how often which rankers are selected,
and that the same seed gives the same scores to the last bit.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

from arcrank import AutoRanker
from arcrank.text import TextFeatures
from benchmarks.label_sets.corpora import CORPORA, Task, load_task
from benchmarks.timing import report

SAMPLES = 20


def grid_search() -> Any:
    grid = {"estimator__C": [0.1, 1.0, 10.0, 100.0]}
    folds = KFold(3, shuffle=True, random_state=0)
    return GridSearchCV(OneVsRestClassifier(LinearSVC()), grid, cv=folds, scoring="f1_micro")


def processor_time(model: Any, X: Any, Y: Any) -> float:
    start = time.process_time()
    model.fit(X, Y)
    return time.process_time() - start


def compare_time(task: Task) -> None:
    AutoRanker().fit(task.X[:200], task.Y[:200])  # compiles
    ours, theirs = (processor_time(model, task.X, task.Y) for model in (AutoRanker(), grid_search()))
    print(f"{task.name}: AutoRanker {ours:.1f} s, GridSearchCV {theirs:.1f} s of processor time")
    report(f"{task.name}, AutoRanker / GridSearchCV", ours / theirs, 1.0)


def compare_command(name: str) -> None:
    load, _ = CORPORA[name]
    corpus = load().split("train")
    rows = zip(corpus.texts, corpus.label_sets, strict=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.jsonl"
        path.write_text("".join(json.dumps({"text": text, "labels": list(names)}) + "\n" for text, names in rows))
        command = [sys.executable, "-m", "arcrank", "train", str(path), "--model", str(path.with_suffix(".arcrank"))]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        ours = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        same, fewer = search_from_file(path)
    print(f"{name}: arcrank train {ours:.1f} s, GridSearchCV {same:.1f} s, on fewer features {fewer:.1f} s")
    report(f"{name}, arcrank train / reading, TfidfVectorizer, GridSearchCV", ours / same, 1.0)


def search_from_file(path: Path) -> tuple[float, float]:
    """Processor time of what users write today, on the features of `arcrank train` and on fewer ones."""
    start = time.process_time()
    with path.open() as lines:
        rows = [json.loads(line) for line in lines]
    texts = [row["text"] for row in rows]
    X = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
    Y = MultiLabelBinarizer().fit_transform(row["labels"] for row in rows)
    read = time.process_time()
    found = []
    for features in (TextFeatures().fit_transform(texts), X):
        begin = time.process_time()
        grid_search().fit(features, Y)
        found.append(time.process_time() - begin + read - start)
    return found[0], found[1]


def show_stability(task: Task) -> None:
    learners, members = Counter(), Counter()
    n = task.X.shape[0]
    for seed in range(SAMPLES):
        rows = np.random.default_rng(seed).integers(0, n, n)
        auto = AutoRanker().fit(task.X[rows], task.Y[rows])
        chosen = [one.plan.with_parameters(C=0).describe().replace(", C=0", "") for one in auto.choice_.members]
        learners.update([chosen[0]])
        members.update(chosen)
    print(f"{task.name}: {SAMPLES} bootstrap samples")
    for name, count in members.most_common():
        print(f"  {count:3} times a member, {learners[name]:3} times the first: {name}")
    first, second = (AutoRanker(random_state=1).fit(task.X, task.Y).score_labels(task.Z) for _ in range(2))
    print(f"  the same seed gives the same scores: {np.array_equal(first, second)}")


PARTS: dict[str, tuple[Callable[[Any], None], list[str]]] = {
    "time": (compare_time, ["reuters"]),
    "command": (compare_command, ["reuters"]),
    "stability": (show_stability, ["medical"]),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA)
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"there is no part {unknown.pop()!r}; choose from {', '.join(PARTS)}")
    for name in arguments.parts or PARTS:
        run, corpora = PARTS[name]
        for corpus in arguments.corpora or corpora:
            run(corpus if name == "command" else load_task(corpus))


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about labels without a training document in a fold
        main()

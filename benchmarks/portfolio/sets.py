"""Label sets: AutoRanker beside one-vs-rest classifiers and trees of extreme classification.

AutoRanker has its defaults. The macro-F1 is that of `AutoRanker(set_measure="macro_f1")`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from arcrank import AutoRanker
from arcrank.datasets import load_subjects
from arcrank.experiments.cache import cached
from arcrank.metrics import coverage, zero_one_error
from arcrank.text import TextFeatures
from benchmarks.label_sets.cells import choose_regularization, digest, ranking_measures, set_measures
from benchmarks.label_sets.corpora import CORPORA, Task, load_task
from benchmarks.label_sets.learners import PEERS
from benchmarks.portfolio.table import show_distances, show_ranks, show_table

REVISION = 6
"""Raise it when a change of AutoRanker changes its results."""
MEASURES = {
    "zero_one": "zero-one error, %",
    "one_error": "one-error, %",
    "coverage": "coverage",
    "ranking_loss": "ranking loss, %",
    "average_precision": "average precision, %",
    "micro_f1": "micro-F1, %",
    "macro_f1": "macro-F1, %",
}
MACRO = "AutoRanker, macro"
GREATER = ("average_precision", "micro_f1", "macro_f1")
Fitted = Callable[[Any], tuple[Any, Any]]
"""From features to scores and label sets; the sets may be None."""


def subjects_task() -> Task:
    """The 28 domains of `subjects`; titles only, dev as test."""
    corpus = load_subjects(labels="domains")
    train, test = corpus.split("train"), corpus.split("dev")
    words = TextFeatures()
    X, Z = words.fit_transform(train.texts), words.transform(test.texts)
    return Task("subjects", X, train.indicator(), Z, test.indicator())


def auto(X: Any, Y: Any, _: str, **options: Any) -> Fitted:
    model = AutoRanker(**options).fit(X, Y)
    print(model.selected_, file=sys.stderr)
    return lambda Z: (model.score_labels(Z), model.predict(Z) > 0)


auto_for_macro = partial(auto, set_measure="macro_f1")


def peer(learner: Any, task: Task) -> Callable[..., Fitted]:
    def fit(X: Any, Y: Any, _: str) -> Fitted:
        score = learner.fit(X, Y, choose_regularization(task, learner, "average_precision"))
        return lambda Z: ((scores := score(Z)), scores > 0)

    return fit


def omikuji(X: Any, Y: Any, folder: str) -> Fitted:
    import omikuji as library  # optional

    path = Path(folder) / "train.txt"
    _write_xc(path, X, Y)
    model = library.Model.train_on_data(str(path), library.Model.default_hyper_param(), n_threads=1)
    return lambda Z: (
        _dense_scores([model.predict(_pairs(Z, i), top_k=Y.shape[1]) for i in range(Z.shape[0])], Y),
        None,
    )


def napkinxc(X: Any, Y: Any, folder: str) -> Fitted:
    from napkinxc.models import PLT  # optional

    model = PLT(str(Path(folder) / "plt"), threads=1)
    model.fit(X, [row.indices.tolist() for row in csr_matrix(Y)])
    return lambda Z: (_dense_scores(model.predict_proba(Z, top_k=Y.shape[1]), Y), None)


def _pairs(Z: Any, row: int) -> list[tuple[int, float]]:
    at = slice(Z.indptr[row], Z.indptr[row + 1])
    return list(zip(Z.indices[at].tolist(), Z.data[at].tolist(), strict=True))


def _dense_scores(found: Any, Y: Any) -> Any:
    scores = np.full((len(found), Y.shape[1]), -1e9)
    for row, pairs in enumerate(found):
        for label, score in pairs:
            scores[row, int(label)] = score
    return scores


def _write_xc(path: Path, X: Any, Y: Any) -> None:
    """Write the documents that have labels and features; Omikuji reads no others."""
    known = np.flatnonzero((np.diff(csr_matrix(Y).indptr) > 0) & (np.diff(X.indptr) > 0))
    lines = [f"{len(known)} {X.shape[1]} {Y.shape[1]}"]
    for row, labels in zip(known.tolist(), csr_matrix(Y)[known], strict=True):
        values = " ".join(f"{j}:{value:.6g}" for j, value in _pairs(X, row))
        lines.append(f"{','.join(map(str, labels.indices))} {values}")
    path.write_text("\n".join(lines) + "\n")


def measured(task: Task, name: str, fit: Callable[..., Fitted]) -> dict[str, float]:
    def compute() -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            start, cpu = time.perf_counter(), time.process_time()
            predict = fit(task.X, task.Y, folder)
            seconds = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
            scores, sets = predict(task.Z)
        truth = task.truth.toarray()
        cell = ranking_measures(truth, scores) | seconds
        cell |= {"coverage": float(coverage(truth, scores)), "zero_one": float(zero_one_error(truth, scores))}
        cell |= {} if sets is None else set_measures(truth, sets)
        print(f"{task.name} {name} {cell}", file=sys.stderr, flush=True)
        return cell

    key = {
        "corpus": task.name,
        "data": digest(task),
        "learner": name,
        "revision": REVISION if name.startswith("AutoRanker") else 1,
    }
    cell: dict[str, float] = cached("portfolio-sets", key, compute)
    return cell


def fits_for(task: Task) -> dict[str, Callable[..., Fitted]]:
    peers = {one.name: peer(one, task) for one in PEERS}
    return {"AutoRanker": auto, MACRO: auto_for_macro, **peers, "Omikuji": omikuji, "napkinXC": napkinxc}


def cell_of(task: Task, learner: str) -> dict[str, float]:
    fits = fits_for(task)
    cell = measured(task, learner, fits[learner])
    return cell | {"macro_f1": measured(task, MACRO, fits[MACRO])["macro_f1"]} if learner == "AutoRanker" else cell


def tasks_of(name: str, splits: int) -> list[Task]:
    """The test documents of a corpus, or several random thirds of its training documents as such."""
    task = subjects_task() if name == "subjects" else load_task(name)
    return [split_task(task, seed) for seed in range(splits)] or [task]


def split_task(task: Task, seed: int) -> Task:
    """Hold out a third of the training documents; labels that only they have are left out."""
    order = np.random.default_rng(seed).permutation(task.X.shape[0])
    test, train = (np.sort(rows) for rows in np.split(order, [len(order) // 3]))
    known = np.flatnonzero(np.asarray(task.Y[train].sum(axis=0)).ravel())
    parts = task.X[train], task.Y[train][:, known], task.X[test], task.Y[test][:, known]
    return Task(f"{task.name}, split {seed}", *parts)


def mean_cell(cells: list[dict[str, float]]) -> dict[str, float]:
    return {measure: float(np.mean([cell[measure] for cell in cells])) for measure in cells[0]}


def run(only: list[str], splits: int = 0) -> None:
    names = [name for name in (*CORPORA, "subjects") if not only or name in only]
    rows: dict[str, dict[str, dict[str, float]]] = {measure: {} for measure in (*MEASURES, "seconds")}
    learners = ["AutoRanker", *(learner.name for learner in PEERS), "Omikuji", "napkinXC"]
    for name in names:
        tasks = tasks_of(name, splits)
        for learner in learners:
            try:
                cell = mean_cell([cell_of(task, learner) for task in tasks])
            except ModuleNotFoundError as error:
                print(f"{learner}: {error}", file=sys.stderr)
                continue
            for measure in rows.keys() & cell.keys():
                rows[measure].setdefault(name, {})[learner] = cell[measure]
    show_results(rows, learners)


def show_results(rows: dict[str, dict[str, dict[str, float]]], learners: list[str]) -> None:
    present = [name for name in learners if any(name in cells for cells in rows["ranking_loss"].values())]
    losses = {
        f"{corpus}, {MEASURES[measure]}": {
            name: (1 - value if measure in GREATER else value) * (0.01 if measure == "coverage" else 1.0)
            for name, value in cells.items()
        }
        for measure in MEASURES
        for corpus, cells in rows[measure].items()
    }
    show_ranks("Label sets", list(losses.values()), present)
    show_distances("Label sets", losses, "AutoRanker", 0.003)
    for measure, title in MEASURES.items():
        show_table(title, rows[measure], present, factor=1.0 if measure == "coverage" else 100.0)
    show_table("seconds to choose and fit", rows["seconds"], present, factor=1.0)

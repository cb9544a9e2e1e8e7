"""Rank 13,212 RCV1 documents from a shell: `arcrank rank` against scikit-learn's decision_function and argsort.

    ARCRANK_DATA=... python -m benchmarks.rank_command

Both load a model (ours from its file, scikit-learn's with joblib), read the same svmlight file, score 103 topics, take
the best five and write them to a file as JSON lines. Once without and once with the start of the interpreter and its
imports, most of which is scikit-learn's for both. Times are CPU times, so that other load does not matter.
Then the memory of `arcrank rank` on ten times as many documents, which must not grow.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import joblib
import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression

import arcrank
from benchmarks.timing import report

ROUNDS = 5
TOP = 5


def rank_with_peer(model_path: str, data_path: str, output_path: str) -> None:
    """What a scikit-learn user writes."""
    model, names = joblib.load(model_path)
    X, _ = load_svmlight_file(data_path, n_features=model.n_features_in_, multilabel=True, zero_based=True)
    scores = model.decision_function(X)
    order = np.argsort(-scores, axis=1)[:, :TOP]
    best = np.take_along_axis(scores, order, axis=1)
    with open(output_path, "w") as output:
        for places, values in zip(order.tolist(), best.tolist(), strict=True):
            output.write(json.dumps({"ranking": [names[j] for j in places], "scores": values}) + "\n")


def rank_with_ours(model_path: str, data_path: str, output_path: str) -> None:
    """What `arcrank rank` does once it is running."""
    from arcrank.cli.blocks import documents_of
    from arcrank.cli.files import load_model
    from arcrank.cli.reading import Reading
    from arcrank.inference.predictor import Predictor

    predictor = Predictor(load_model(Path(model_path)))
    with open(output_path, "w") as output:
        for batch in documents_of(data_path, Reading(), takes_text=False, quiet=True):
            lines = [document.to_json(predictor.written_labels) for document in predictor.rank(batch, TOP)]
            output.write("\n".join([*lines, ""]))
            output.flush()


def prepare(folder: Path) -> None:
    """The file of documents, and a model of each kind with the same weights."""
    from arcrank.datasets import load_rcv1
    from arcrank.datasets.locate import find
    from arcrank.io.compressed import members

    for _, stream in members(find("rcv1", what="RCV1-v2"), "test.svm"):
        (folder / "test.svm").write_bytes(stream.read())
    corpus = load_rcv1().split("train")
    X = corpus.X
    # the distribution numbers terms from 1, and so does its file
    X.resize(X.shape[0], X.shape[1] + 1)
    X.indices = X.indices + 1
    ours = arcrank.LogLinearRanker(C=30, intercept="regularised", tol=1e-2, random_state=0).fit(X, corpus.label_sets)
    arcrank.save(ours, folder / "model.arcrank")
    joblib.dump((peer_of(ours), ours.labels_.tolist()), folder / "model.joblib")


def peer_of(ours: arcrank.LogLinearRanker) -> LogisticRegression:
    """Our weights in scikit-learn's estimator, all labels in one product; their values do not affect the cost."""
    peer = LogisticRegression()
    peer.coef_, peer.intercept_ = np.ascontiguousarray(ours.coef_), ours.intercept_
    peer.classes_, peer.n_features_in_ = np.arange(len(ours.labels_)), ours.n_features_in_
    return peer


def cpu_seconds(tasks: dict[str, Callable[[], None]]) -> dict[str, float]:
    """The median CPU seconds of each task, its child processes included; tasks take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            start = _cpu()
            task()
            seconds[name].append(_cpu() - start)
    return {name: median(values) for name, values in seconds.items()}


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


_MEASURED = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_memory(command: list[str]) -> int:
    """The most memory of one run, in bytes; started from a small process, whose own memory a child inherits."""
    done = subprocess.run([sys.executable, "-c", _MEASURED, *command], check=True, capture_output=True, text=True)
    return int(done.stdout) * 1024


def compare_speed(what: str, n: int, tasks: dict[str, Callable[[], None]]) -> None:
    seconds = cpu_seconds(tasks)
    for name, spent in seconds.items():
        print(f"{what}: {name:<12} {n / spent:10,.0f} documents/s of CPU time, {spent:.2f} s")
    name = f"{what}: documents/s of arcrank / scikit-learn"
    report(name, seconds["scikit-learn"] / seconds["arcrank"], 1.0, at_least=True)


def compare_memory(folder: Path, rank: list[str]) -> None:
    with (folder / "long.svm").open("wb") as long:
        for _ in range(10):
            with (folder / "test.svm").open("rb") as file:
                shutil.copyfileobj(file, long)
    once = peak_memory([*rank, str(folder / "test.svm")])
    ten_times = peak_memory([*rank, str(folder / "long.svm")])
    print(f"peak memory {once / 1e6:,.0f} MB, of ten times as many documents {ten_times / 1e6:,.0f} MB")
    report("memory of ten times as many documents / of one time", ten_times / once, 1.1)


def main() -> None:
    if sys.argv[1:2] == ["peer"]:
        rank_with_peer(*sys.argv[2:])
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        data, out = str(folder / "test.svm"), folder / "out"
        ours, theirs = str(folder / "model.arcrank"), str(folder / "model.joblib")
        n = (folder / "test.svm").read_bytes().count(b"\n")
        inside = {
            "scikit-learn": lambda: rank_with_peer(theirs, data, str(out)),
            "arcrank": lambda: rank_with_ours(ours, data, str(out)),
        }
        compare_speed("in one process", n, inside)
        rank = [sys.executable, "-m", "arcrank", "rank", ours]
        peer = [sys.executable, "-m", "benchmarks.rank_command", "peer", theirs, data, str(folder / "peer.out")]
        whole = {
            "scikit-learn": lambda: run(peer, os.devnull),
            "arcrank": lambda: run([*rank, data], str(out)),
        }
        compare_speed("with the start", n, whole)
        compare_memory(folder, rank)


def run(command: list[str], output: str) -> None:
    with open(output, "wb") as file:
        subprocess.run(command, check=True, stdout=file, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()

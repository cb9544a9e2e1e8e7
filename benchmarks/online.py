"""One pass of MMPRanker against other learners, and over a stream shaped like the paper's RCV1.

    OMP_NUM_THREADS=1 ARCRANK_DATA=... python -m benchmarks.online [--quick]

1. Reuters-21578, the features of `arcrank.experiments.crammer2002` (fold 0): documents/s of one pass against
   `OneVsRestClassifier(Perceptron(max_iter=1, tol=None))` and `vw --multilabel_oaa` from its cache, in one run, the
   best of several repetitions each. VW's start is not counted; its one-error is read off its weights first.
2. 521,439 synthetic documents of 121 of 9,325 terms and 102 topics: documents/s over arrays in memory, against what
   the Reuters rate predicts for terms x labels per document; then streamed from an svmlight file, with peak memory.

All rates are per second of CPU time, since all use one thread and CPU time does not depend on the load: on a busy
machine a pass of seconds is always interrupted, a pass of milliseconds is not.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Perceptron
from sklearn.multiclass import OneVsRestClassifier

from arcrank.experiments.crammer2002.runs import Fold, reuters_fold
from arcrank.metrics import one_error
from arcrank.rankers.online import MMPRanker, PerceptronRanker

N_DOCUMENTS, N_TERMS, TERMS_A_DOCUMENT, N_TOPICS, TOPICS_A_DOCUMENT = 521_439, 9_325, 121, 102, 3.2
SANE_ONE_ERROR = 0.2
VW_BITS = 19


def best_seconds(run: Callable[[], Any], repetitions: int, clock: Callable[[], float] = time.process_time) -> float:
    times = []
    for _ in range(repetitions):
        start = clock()
        run()
        times.append(clock() - start)
    return min(times)


def one_vs_rest_seconds(fold: Fold, repetitions: int) -> tuple[float, float]:
    model = OneVsRestClassifier(Perceptron(max_iter=1, tol=None))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = best_seconds(lambda: model.fit(fold.X, fold.Y), repetitions)
    return seconds, float(one_error(fold.Y_test, model.decision_function(fold.X_test)))


def write_vw(path: Path, X: sp.csr_matrix, Y: sp.csr_matrix) -> None:
    with open(path, "w") as file:
        for x, y in zip(X, Y, strict=True):
            features = " ".join(f"{j}:{v:.6g}" for j, v in zip(x.indices, x.data, strict=True))
            file.write(f"{','.join(map(str, y.indices))} | {features}\n")


def vw_seconds(fold: Fold, repetitions: int) -> tuple[float, float] | None:
    """Seconds of one pass from the cache and the one-error; None without the package."""
    try:
        from vowpalwabbit import Workspace
    except ImportError:
        return None
    with tempfile.TemporaryDirectory() as folder:
        data, empty, model = (Path(folder) / name for name in ("train.txt", "empty.txt", "readable"))
        write_vw(data, fold.X, fold.Y)
        empty.touch()
        options = f"--multilabel_oaa {fold.Y.shape[1]} -b {VW_BITS} --quiet"
        cached = f"{options} -d {data} --cache_file {data}.cache"
        Workspace(f"{cached} --readable_model {model}").finish()
        start = best_seconds(lambda: Workspace(f"{options} -d {empty}").finish(), repetitions)
        whole = best_seconds(lambda: Workspace(cached).finish(), repetitions)
        return whole - start, vw_one_error(model, fold)


def vw_one_error(model: Path, fold: Fold) -> float:
    """From its weights: label r of feature j is at index j 2^ceil(log2 k) + r."""
    weights = np.zeros(2**VW_BITS)
    for line in model.read_text().splitlines():
        place, _, value = line.partition(":")
        if place.isdigit() and value:
            weights[int(place)] = float(value.split()[0])
    (d, k), stride = (fold.X.shape[1], fold.Y.shape[1]), 1 << (fold.Y.shape[1] - 1).bit_length()
    if d * stride > len(weights):
        raise SystemExit(f"{d} features and {k} labels do not fit into 2^{VW_BITS} weights of VW; raise VW_BITS")
    W = weights[stride * np.arange(d)[:, None] + np.arange(k)[None, :]]
    return float(one_error(fold.Y_test, fold.X_test @ W))


def compare_on_reuters(repetitions: int) -> tuple[float, float]:
    """Print the peers; returns CPU seconds per document for loss 3, and terms x labels per document."""
    fold = reuters_fold(0)
    n, terms = fold.X.shape[0], fold.X.nnz / fold.X.shape[0]
    print(f"Reuters-21578: {n} documents, {fold.X.shape[1]} terms, {terms:.1f} per document, {fold.Y.shape[1]} topics")
    rates = {}
    for ranker in (MMPRanker("indicator"), MMPRanker("size"), MMPRanker("normalized"), PerceptronRanker()):
        ranker.fit(fold.X, fold.Y)
        rates[str(ranker)] = n / best_seconds(lambda ranker=ranker: ranker.fit(fold.X, fold.Y), 5 * repetitions)
        error = one_error(fold.Y_test, ranker.score_labels(fold.X_test))
        print(f"  {ranker!s:36} {rates[str(ranker)]:10,.0f} documents/s, one-error {100 * error:.1f} %")
    slowest = min(rates[str(MMPRanker(loss))] for loss in ("indicator", "size", "normalized"))
    seconds, error = one_vs_rest_seconds(fold, repetitions)
    ratio = slowest * seconds / n
    print(f"  {'OneVsRest(Perceptron)':36} {n / seconds:10,.0f} documents/s, one-error {100 * error:.1f} %")
    print(f"  the slowest MMP is {ratio:.1f} times as fast as OneVsRest(Perceptron) (wanted: 20)")
    print_vw(vw_seconds(fold, repetitions), n, slowest)
    ranker = MMPRanker("normalized")
    seconds = best_seconds(lambda: ranker.fit(fold.X, fold.Y), 5 * repetitions)
    return seconds / n, terms * fold.Y.shape[1]


def print_vw(found: tuple[float, float] | None, n: int, slowest: float) -> None:
    if found is None:
        print("  vowpalwabbit is not installed; pip install 'arcrank[bench]'")
        return
    seconds, error = found
    print(f"  {'vw --multilabel_oaa':36} {n / seconds:10,.0f} documents/s, one-error {100 * error:.1f} %")
    if error > SANE_ONE_ERROR:
        print("  its one-error is implausible: no comparison")
    else:
        print(f"  the slowest MMP is {slowest * seconds / n:.1f} times as fast as vw (wanted: 5)")


def synthetic(n: int, seed: int = 0) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Documents of 121 distinct terms each; half are drawn by one of the topics, half by Zipf's law."""
    random = np.random.default_rng(seed)
    term_law = _zipf(N_TERMS)
    topic_words = random.choice(N_TERMS, size=(N_TOPICS, 300), p=term_law)
    parts = [_synthetic_block(random, min(20_000, n - at), term_law, topic_words) for at in range(0, n, 20_000)]
    X, Y = (sp.vstack([part[which] for part in parts], format="csr") for which in (0, 1))
    return X, Y


def _zipf(n: int) -> np.ndarray:
    law = 1.0 / np.arange(1, n + 1)
    return law / law.sum()


def _synthetic_block(random: Any, n: int, term_law: np.ndarray, topic_words: np.ndarray) -> tuple[Any, Any]:
    Y = random.random((n, N_TOPICS)) < np.minimum(0.6, TOPICS_A_DOCUMENT * _zipf(N_TOPICS))
    Y[np.arange(n), random.integers(0, N_TOPICS, n)] |= ~Y.any(axis=1)
    ptr = np.concatenate([[0], np.cumsum(Y.sum(axis=1))])
    topics = np.nonzero(Y)[1][ptr[:-1, None] + (random.random((n, 150)) * np.diff(ptr)[:, None]).astype(int)]
    own = topic_words[topics, random.integers(0, topic_words.shape[1], (n, 150))]
    common = random.choice(N_TERMS, size=(n, 350), p=term_law)
    drawn = np.concatenate([own, common, random.integers(0, N_TERMS, (n, 60))], axis=1)
    order = np.argsort(drawn, axis=1, kind="stable")
    ordered = np.take_along_axis(drawn, order, axis=1)
    order[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = drawn.shape[1]  # a term counts the first time it is drawn
    chosen = np.argsort(order, axis=1)[:, :TERMS_A_DOCUMENT]
    columns = np.sort(np.take_along_axis(ordered, chosen, axis=1), axis=1).astype(np.int32)
    indptr = np.arange(n + 1) * TERMS_A_DOCUMENT
    values = random.random(columns.size) * 0.3 + 0.02
    return sp.csr_matrix((values, columns.ravel(), indptr), shape=(n, N_TERMS)), sp.csr_matrix(Y)


def stream_in_memory(X: Any, Y: Any, seconds_per_document: float, work: float) -> None:
    n = X.shape[0]
    print(
        f"\nSynthetic: {n:,} documents, {X.nnz / n:.0f} terms per document, {Y.shape[1]} topics, {Y.nnz / n:.2f} each"
    )
    ranker = MMPRanker("normalized")
    wall = best_seconds(lambda: ranker.fit(X, Y), 2, time.perf_counter)
    seconds = best_seconds(lambda: ranker.fit(X, Y), 3)
    predicted = 1.0 / (seconds_per_document * (X.nnz / n * Y.shape[1]) / work)
    losses = ranker.cumulative_losses_[-1]
    print(f"  {n / seconds:,.0f} documents/s in memory ({n / wall:,.0f} by wall time)")
    print(f"  the Reuters rate predicts {predicted:,.0f} (terms x topics): ratio {n / seconds / predicted:.2f}")
    print(f"  round-averaged losses {losses.round(3).tolist()}")


def write_svmlight(path: Path, X: Any, Y: Any) -> None:
    with open(path, "w") as file:
        for i in range(X.shape[0]):
            x, y = slice(X.indptr[i], X.indptr[i + 1]), slice(Y.indptr[i], Y.indptr[i + 1])
            names = ",".join(f"t{r}" for r in Y.indices[y].tolist())
            features = map("%d:%.4f".__mod__, zip(X.indices[x].tolist(), X.data[x].tolist(), strict=True))
            file.write(f"{names} {' '.join(features)}\n")


_CHILD = """
import json, re, sys, numpy as np
from arcrank.datasets.stream import learn_stream
from arcrank.rankers.online.mmp import MMPRanker
from arcrank.text import HashedTextFeatures
MMPRanker("normalized").fit(np.eye(3), np.eye(3, dtype=int))  # imports and compiles everything
def memory(which):  # getrusage would report the peak of the parent, which a child inherits
    return 1024 * int(re.search(which + r":\\s+(\\d+) kB", open("/proc/self/status").read())[1])
before = memory("VmRSS")
ranker = MMPRanker("normalized")
labels = ["t%d" % r for r in range(int(sys.argv[3]))]
report = learn_stream(ranker, sys.argv[1], features=HashedTextFeatures(n_features=int(sys.argv[2])), labels=labels)
json.dump({"before": before, "peak": memory("VmHWM"), "weights": ranker.coef_.nbytes, "documents": report.documents,
           "seconds": report.seconds}, sys.stdout)
"""


def stream_from_disk(X: Any, Y: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.svm"
        write_svmlight(path, X, Y)
        size = path.stat().st_size
        arguments = [str(path), str(X.shape[1]), str(Y.shape[1])]
        out = subprocess.run([sys.executable, "-c", _CHILD, *arguments], check=True, capture_output=True, text=True)
    found = json.loads(out.stdout)
    mb = {name: found[name] / 1e6 for name in ("before", "peak", "weights")}
    beyond = mb["peak"] - mb["before"] - mb["weights"]
    print(f"  from disk ({size / 1e6:,.0f} MB of svmlight): {found['documents'] / found['seconds']:,.0f} documents/s")
    print(
        f"  peak memory {mb['peak']:.0f} MB = {mb['before']:.0f} MB of interpreter and libraries "
        f"+ {mb['weights']:.1f} MB of weights + {beyond:.0f} MB (wanted: under 200)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the synthetic documents, fewer repetitions")
    quick = parser.parse_args().quick
    seconds_per_document, work = compare_on_reuters(2 if quick else 5)
    X, Y = synthetic(N_DOCUMENTS // 10 if quick else N_DOCUMENTS)
    stream_in_memory(X, Y, seconds_per_document, work)
    stream_from_disk(X, Y)


if __name__ == "__main__":
    main()

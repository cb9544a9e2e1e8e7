"""ShortlistRanker on 35,116 subjects, on corpora of fewer labels, and on ever more labels.

    ARCRANK_DATA=... python -m benchmarks.many_labels [SECTION ...]

Sections are subjects, text, features, small, growth, millions, validation and peers.

`subjects` fits the defaults on the training part of `load_subjects` with plain tf-idf and measures them on "dev".
`validation` compares settings on a held-out tenth of the training part: the defaults were chosen by it. `features`
compares text features in the same way on fewer records, and `text` measures the best of them on "dev". `peers` runs
`benchmarks/many_labels_peer.py` on the same matrices: Omikuji (Parabel and Bonsai, 3 trees), napkinXC's PLT and
LibMultiLabel's tree, each by the Python that a variable names, as in
ARCRANK_PEERS="omikuji-bonsai=/path/to/python omikuji-parabel=/path/to/python".
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

import arcrank
from arcrank import ShortlistRanker
from arcrank.datasets import load_debtags, load_reuters21578, load_subjects
from arcrank.metrics import average_precision, top_k
from arcrank.text import TextFeatures
from benchmarks.timing import report


def measures(Y: Any, top: Any, propensity: Any) -> dict[str, float]:
    """P@1, P@3, P@5, F1@5, NDCG@5 and PSP@5 in percent."""
    found = {f"P@{r}": top_k.precision_at(Y, top, r) for r in (1, 3, 5)}
    found |= {"F1@5": top_k.f1_at(Y, top, 5), "NDCG@5": top_k.ndcg_at(Y, top, 5)}
    found |= {"PSP@5": top_k.psp_at(Y, top, 5, propensity)}
    return {name: 100 * value for name, value in found.items()}


def _line(name: str, found: dict[str, float]) -> None:
    print(f"{name:<44}" + "  ".join(f"{key} {value:.2f}" for key, value in found.items()), flush=True)


def _peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def tfidf() -> TfidfVectorizer:
    return TfidfVectorizer(sublinear_tf=True, min_df=2, dtype=np.float32)


def subjects(vectorizer: Any = None, *, promised: bool = True) -> None:
    corpus = load_subjects()
    train, dev = corpus.splits["train"], corpus.splits["dev"]
    vectorizer = vectorizer or tfidf()
    X = vectorizer.fit_transform([corpus.texts[i] for i in train])
    Y = corpus.indicator()
    X_dev, Y, Y_dev = vectorizer.transform([corpus.texts[i] for i in dev]), Y[train], Y[dev]
    print(f"{X.shape[1]:,} features, {Y.nnz:,} assignments; {_peak_gb():.2f} GB so far", flush=True)
    _compile()
    before, cpu, wall = _peak_gb(), time.process_time(), time.perf_counter()
    ranker = ShortlistRanker(random_state=0).fit(X, Y)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    memory = _peak_gb() - before
    start = time.process_time()
    numbers, _ = ranker.rank_numbers(X_dev, 5)
    speed = len(dev) / (time.process_time() - start)
    found = measures(Y_dev, numbers, top_k.propensities(Y))
    _line("ShortlistRanker, dev", found)
    print(f"wall {wall:.0f} s, {len(ranker.weights_.weight):,} weights, history {ranker.history_}")
    if not promised:
        print(f"fit {cpu:.0f} CPU s, {memory:.2f} GB, {speed:.0f} documents/s, {_megabytes(ranker):.0f} MB")
        return
    report("P@1", found["P@1"], 53.5, at_least=True)
    report("NDCG@5", found["NDCG@5"], 51.0, at_least=True)
    report("fit, CPU s", cpu, 300)
    report("GB beyond the matrix", memory, 2.0)
    report("documents/s per core", speed, 2000, at_least=True)
    report("model file, MB", _megabytes(ranker), 120)


def peers() -> None:
    """Other learners on the same matrices, each in an environment of its own."""
    given = dict(pair.split("=", 1) for pair in os.environ.get("ARCRANK_PEERS", "").split())
    if not given:
        print("Name them: ARCRANK_PEERS='omikuji-bonsai=/path/to/python libmultilabel-tree=/path/to/python'")
        return
    corpus = load_subjects()
    train, dev = corpus.splits["train"], corpus.splits["dev"]
    vectorizer = tfidf()
    X = vectorizer.fit_transform([corpus.texts[i] for i in train])
    X_dev, Y = vectorizer.transform([corpus.texts[i] for i in dev]), corpus.indicator()
    propensity = top_k.propensities(Y[train])
    script = Path(__file__).with_name("many_labels_peer.py")
    with tempfile.TemporaryDirectory() as folder:
        for name, matrix in (("train", X), ("labels", sp.csr_matrix(Y[train])), ("dev", X_dev)):
            sp.save_npz(Path(folder) / f"{name}.npz", matrix, compressed=False)
        for name, python in given.items():
            done = subprocess.run([python, script, name, folder], capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{name} failed: {done.stderr[-2000:]}")
            _line(name, measures(Y[dev], np.load(Path(folder) / "top.npy"), propensity))
            _line("", json.loads(done.stdout.splitlines()[-1]))


def stems() -> TextFeatures:
    """Single words with German stems: the best of `features`."""
    return TextFeatures(stem="german", stop_words=None, min_df=2, ngrams=1)


def text() -> None:
    """The same with stemmed words."""
    subjects(stems(), promised=False)


def features(documents: int = 8_000, held_out: int = 4_000) -> None:
    """Text features on part of the training data."""
    corpus = load_subjects()
    order = np.random.default_rng(5).permutation(corpus.splits["train"])
    test, train = order[:held_out], order[held_out : held_out + documents]
    texts, new, Y = [corpus.texts[i] for i in train], [corpus.texts[i] for i in test], corpus.indicator()
    propensity = top_k.propensities(Y[train])
    tried = {"tf-idf": tfidf(), "German stems": stems(), "TextFeatures()": TextFeatures()}
    for name, vectorizer in tried.items():
        ranker = ShortlistRanker(random_state=0).fit(vectorizer.fit_transform(texts), Y[train])
        _line(name, measures(Y[test], ranker.rank_numbers(vectorizer.transform(new), 5)[0], propensity))


def _compile() -> None:
    X, Y = sp.random(80, 50, 0.1, random_state=0, format="csr"), sp.random(80, 30, 0.1, random_state=0, format="csr")
    ShortlistRanker(random_state=0).fit(X, (Y > 0).astype(int)).rank_numbers(X, 5)


def _megabytes(ranker: ShortlistRanker) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.arcrank"
        arcrank.save(ranker, path)
        return path.stat().st_size / 1e6


def validation(documents: int = 30_000, held_out: int = 4_000) -> None:
    """Settings on part of the training data: C, prior, intercept, neighbours."""
    corpus = load_subjects()
    order = np.random.default_rng(5).permutation(corpus.splits["train"])
    test, train = order[:held_out], order[held_out : held_out + documents]
    vectorizer = tfidf()
    X = vectorizer.fit_transform([corpus.texts[i] for i in train])
    X_test, Y = vectorizer.transform([corpus.texts[i] for i in test]), corpus.indicator()
    propensity = top_k.propensities(Y[train])
    grid: list[dict[str, Any]] = [{}, {"C": 1.5}, {"C": 6.0}, {"prior": 4.0}, {"prior": 12.0}]
    grid += [{"fit_intercept": 0}, {"fit_intercept": 1}, {"neighbours": 0}, {"prune": 0}]
    grid += [
        {"neighbours_weight": 6.0},
        {"neighbours_weight": 24.0},
        {"loss": "squared-hinge", "neighbours_weight": 4.0},
    ]
    for settings in grid:
        ranker = ShortlistRanker(random_state=0, **settings).fit(X, Y[train])
        _line(str(settings), measures(Y[test], ranker.rank_numbers(X_test, 5)[0], propensity))


DENSE = {"debtags": {"log-linear": 83.24, "machine": 82.48}, "Reuters-21578": {"log-linear": 95.26, "machine": 96.09}}
"""Average precision of LogLinearRanker and PreferenceMachine on the same features: docs/generated/learners.md."""
FEW_LABELS = {"neighbours": 0, "prune": 0.0, "max_iter": 6, "fit_intercept": 1.0}
FEW_GRID: tuple[dict[str, Any], ...] = (
    {},
    {**FEW_LABELS},
    {**FEW_LABELS, "C": 30.0, "prior": 2.0, "working_set": 64},
    {**FEW_LABELS, "loss": "squared-hinge", "C": 1.0},
    {**FEW_LABELS, "loss": "squared-hinge", "C": 0.25},
    {**FEW_LABELS, "loss": "hinge", "C": 1.0},
)


def small() -> None:
    """Average precision on debtags and Reuters-21578; settings chosen on a held-out fifth of the training documents."""
    for name, corpus in (("debtags", load_debtags()), ("Reuters-21578", load_reuters21578())):
        train, test = corpus.splits["train"], corpus.splits["test"]
        features = TextFeatures()
        X = features.fit_transform([corpus.texts[i] for i in train])
        X_test, Y = features.transform([corpus.texts[i] for i in test]), corpus.indicator()
        order = np.random.default_rng(0).permutation(len(train))
        held_out, kept = order[: len(order) // 5], order[len(order) // 5 :]
        tried = [_precision(grid, X[kept], Y[train][kept], X[held_out], Y[train][held_out]) for grid in FEW_GRID]
        best = FEW_GRID[int(np.argmax(tried))]
        ours = _precision(best, X, Y[train], X_test, Y[test])
        print(f"{name}: held-out {np.round(tried, 2).tolist()}, chosen {best}", flush=True)
        _line(name, {**DENSE[name], "ShortlistRanker": ours})
        report(f"{name}: points of AP below the best dense learner", max(DENSE[name].values()) - ours, 1.0)


def _precision(settings: dict[str, Any], X: Any, Y: Any, X_test: Any, Y_test: Any) -> float:
    scores = ShortlistRanker(random_state=0, **settings).fit(X, Y).score_labels(X_test)
    return 100 * float(average_precision(Y_test, scores))


def growth() -> None:
    """Time and memory by numbers of labels and documents: generated, label frequencies by a power law."""
    _grow((10**3, 10**4), (10**4, 10**4), (10**5, 10**4), (10**5, 10**5))


def millions() -> None:
    """The same for 10^6 labels, and for 10^6 documents."""
    _grow((10**6, 2 * 10**5), (10**5, 10**6))


def _grow(*sizes: tuple[int, int]) -> None:
    _compile()
    for labels, documents in sizes:
        X, Y = generated(documents, labels)
        before, start = _peak_gb(), time.process_time()
        ranker = ShortlistRanker(random_state=0).fit(X, Y)
        fit = time.process_time() - start
        start = time.process_time()
        ranker.rank_numbers(X[:1000], 5)
        rank = time.process_time() - start
        print(
            f"{labels:>9,} labels, {documents:>9,} documents: fit {1e3 * fit / documents:.2f} ms per document, "
            f"rank {rank:.2f} ms, {_peak_gb():.2f} GB in all ({before:.2f} before), "
            f"{len(ranker.weights_.weight):,} weights",
            flush=True,
        )


def generated(documents: int, labels: int, words: int = 60, features: int = 200_000) -> tuple[Any, Any]:
    """Documents of about 3 labels; a label has 20 words, and half of a document's words are those of its labels."""
    random = np.random.default_rng(0)
    own = random.integers(0, features, (labels, 20))
    chosen = np.minimum((labels * random.random((documents, 3)) ** 2.5).astype(np.int64), labels - 1)
    rows = np.repeat(np.arange(documents), 3)
    Y = sp.csr_matrix((np.ones(3 * documents, np.int8), (rows, chosen.ravel())), shape=(documents, labels))
    Y.data[:] = 1
    topical = own[chosen.repeat(words // 6, axis=1), random.integers(0, 20, (documents, words // 2))]
    common = (features * random.random((documents, words // 2)) ** 3).astype(np.int64)
    columns = np.hstack([topical, common]).ravel()
    rows = np.repeat(np.arange(documents), words)
    X = sp.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), shape=(documents, features))
    X.data[:] = 1.0
    idf = np.log(documents / (1 + np.bincount(X.indices, minlength=features)))
    X = sp.csr_matrix(X @ sp.diags(np.maximum(idf, 0.0)))
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags(1.0 / np.maximum(norms, 1e-9)) @ X), Y


SECTIONS: dict[str, Callable[[], None]] = {
    "subjects": subjects,
    "text": text,
    "features": features,
    "small": small,
    "growth": growth,
    "millions": millions,
    "validation": validation,
    "peers": peers,
}


def main() -> None:
    for name in sys.argv[1:] or ["subjects", "small", "growth", "millions"]:
        print(f"-- {name}", flush=True)
        SECTIONS[name]()


if __name__ == "__main__":
    main()

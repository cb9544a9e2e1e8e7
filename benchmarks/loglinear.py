"""Time LogLinearRanker on Reuters ModApte against one-vs-rest LinearSVC and SciPy's products, one thread each.

ARCRANK_DATA=... python -m benchmarks.loglinear
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from arcrank import LogLinearRanker
from arcrank.datasets import load_reuters21578
from benchmarks.timing import alternate, first_call, report


def dual(X, graphs) -> LogLinearRanker:
    return LogLinearRanker("domination", "dual", C=10, intercept="regularised", random_state=0).fit(X, graphs)


def boosting_seconds(X, graphs, iterations: int = 6) -> float:
    """Median seconds of one iteration, from the history's own clock."""
    ranker = LogLinearRanker(solver="boosting", max_iter=iterations, fit_intercept=False).fit(X, graphs)
    return float(np.median(np.diff([entry["seconds"] for entry in ranker.history_])))


def three_products(X, W, P, Q) -> None:
    """The iteration's three products as SciPy does them: X W, X'P and X'Q."""
    X @ W
    X.T @ P
    X.T @ Q


def main() -> None:
    corpus = load_reuters21578("modapte").split("train")
    X, graphs = TfidfVectorizer(sublinear_tf=True).fit_transform(corpus.texts), corpus.graphs()
    Y = graphs.to_indicator().astype(int)
    print(f"{X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} non-zeros; {graphs!r}")
    compiling = first_call(lambda: dual(X[:50], graphs[:50]))
    print(f"first call, compilation included where the cache is empty: {compiling:.1f} s")

    tasks = {
        "OneVsRestClassifier(LinearSVC())": lambda: OneVsRestClassifier(LinearSVC()).fit(X, Y),
        "dual, domination, C = 10, gap 1e-3": lambda: dual(X, graphs),
    }
    seconds = alternate(tasks, rounds=5)
    for name, value in seconds.items():
        print(f"  {name:<40} {value:6.2f} s")
    theirs, ours = seconds.values()
    report("dual ascent / one-vs-rest LinearSVC", ours / theirs, 0.5)

    rng = np.random.default_rng(0)
    W, P, Q = (rng.random(shape) for shape in ((X.shape[1], 90), graphs.shape, graphs.shape))
    ratios = []
    for _ in range(5):
        products = alternate({"products": lambda: three_products(X, W, P, Q)}, rounds=3)["products"]
        ratios.append(boosting_seconds(X, graphs) / products)
    report("boosting iteration / three sparse-dense products", float(np.median(ratios)), 1.3)

    X_half, graphs_half = X[::2], graphs[::2]
    half = alternate({"half": lambda: dual(X_half, graphs_half), "all": lambda: dual(X, graphs)}, rounds=7)
    report("all documents / half of them", half["all"] / half["half"], 2.2)


if __name__ == "__main__":
    main()

"""Cross-validate the options of `TextFeatures` one at a time; its defaults come from this table.

    ARCRANK_DATA=... python -m benchmarks.text_defaults [--quick]

Three folds within the training parts of Reuters-21578 (ModApte) and of debtags; no test document is read. The
learner is one-vs-rest LinearSVC; the measures are scikit-learn's label ranking average precision (higher is better)
and coverage error (how far down one must go to find all labels, lower is better).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import coverage_error, label_ranking_average_precision_score
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, Normalizer
from sklearn.svm import LinearSVC

from arcrank.text import PivotedLength, TermCounts, TextFeatures

DEBTAGS_ROWS = 8000
RARE = 20
"""Labels in fewer rows are left out: three folds are not enough for them."""

VARIANTS: dict[str, Any] = {
    "the default": {},
    "case kept": {"lowercase": False},
    "no stems": {"stem": False},
    "Snowball's English stems": {"stem": "english"},
    "no stop list": {"stop_words": None},
    "digits kept": {"digits": "keep"},
    "digits dropped": {"digits": "drop"},
    "words of 2 letters or more": {"min_length": 2},
    "single words": {"ngrams": 1},
    "runs of up to 3 words": {"ngrams": 3},
    "min_df=1": {"min_df": 1},
    "min_df=3": {"min_df": 3},
    "max_df=0.5": {"max_df": 0.5},
    "raw counts (no log)": {"sublinear": False},
    "no idf": {"idf": False},
}


def transformers() -> Iterator[tuple[str, Any]]:
    for name, changes in VARIANTS.items():
        yield name, TextFeatures(**changes)
    yield "pivoted length, l2", make_pipeline(TermCounts(ngrams=2, min_df=2), PivotedLength(), Normalizer())
    yield "TfidfVectorizer()", TfidfVectorizer()


def corpora() -> Iterator[tuple[str, list[str], np.ndarray]]:
    """Yield name, texts and (n, k) indicator of each training part."""
    from arcrank.datasets import load_debtags, load_reuters21578

    for name, corpus, limit in (
        ("Reuters", load_reuters21578("modapte"), None),
        ("debtags", load_debtags(), DEBTAGS_ROWS),
    ):
        rows = training_rows(corpus)[:limit]
        yield name, *frequent([corpus.texts[i] for i in rows], [corpus.label_sets[i] for i in rows])


def training_rows(corpus: Any) -> np.ndarray:
    """The corpus's own training part, in a fixed random order."""
    order = np.random.default_rng(0).permutation(len(corpus.texts))
    return order[np.isin(order, corpus.splits["train"])]


def frequent(texts: list[str], label_sets: list[list[str]]) -> tuple[list[str], np.ndarray]:
    Y = MultiLabelBinarizer().fit_transform(label_sets)
    Y = Y[:, Y.sum(axis=0) >= RARE]
    rows = np.flatnonzero(Y.any(axis=1))
    return [texts[i] for i in rows], Y[rows]


def cross_validate(transformer: Any, texts: list[str], Y: np.ndarray, folds: int) -> tuple[float, float, int]:
    """Return mean average precision, mean coverage and mean number of features."""
    results = []
    for train, test in KFold(3, shuffle=True, random_state=0).split(texts):
        features = clone(transformer)
        X = features.fit_transform([texts[i] for i in train])
        learner = OneVsRestClassifier(LinearSVC(C=1.0, random_state=0)).fit(X, Y[train])
        scores = learner.decision_function(features.transform([texts[i] for i in test]))
        precision = label_ranking_average_precision_score(Y[test], scores)
        results.append((precision, coverage_error(Y[test], scores), X.shape[1]))
        if len(results) == folds:
            break
    precision, coverage, width = np.mean(results, axis=0)
    return float(precision), float(coverage), int(width)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one fold instead of three")
    folds = 1 if parser.parse_args().quick else 3
    for corpus, texts, Y in corpora():
        print(f"\n{corpus}: {len(texts)} texts, {Y.shape[1]} labels")
        print(f"{'':28} {'avg. precision':>14} {'coverage':>9} {'features':>9} {'seconds':>8}", flush=True)
        for name, transformer in transformers():
            start = time.perf_counter()
            precision, coverage, width = cross_validate(transformer, texts, Y, folds)
            seconds = time.perf_counter() - start
            print(f"{name:28} {precision:14.4f} {coverage:9.3f} {width:9d} {seconds:8.1f}", flush=True)


if __name__ == "__main__":
    main()

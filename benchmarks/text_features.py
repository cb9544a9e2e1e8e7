"""Time the text transformers on the 10,789 Reuters documents against scikit-learn's TfidfVectorizer.

    ARCRANK_DATA=... python -m benchmarks.text_features

The two alternate in one process; medians, and the ratio that must not exceed one.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from arcrank.datasets import load_reuters21578
from arcrank.text import (
    HashedTextFeatures,
    InformativeSelector,
    LogCounts,
    PivotedLength,
    RocchioSelector,
    TermCounts,
    TextFeatures,
    Tokenizer,
)
from benchmarks.timing import alternate, report

ROUNDS = 7


def compare_with_scikit_learn(texts: list[str]) -> None:
    peer, ours = "TfidfVectorizer()", "pivoted features"
    counts = TextFeatures().count(texts)
    seconds = alternate(
        {
            peer: lambda: TfidfVectorizer().fit_transform(texts),
            ours: lambda: make_pipeline(TermCounts(), PivotedLength()).fit_transform(texts),
            "Tokenizer().encode": lambda: Tokenizer().encode(texts),
            "TextFeatures()": lambda: TextFeatures().fit_transform(texts),
            "TextFeatures().count": lambda: TextFeatures().count(texts),
            "the same from counts": lambda: TextFeatures().fit_transform_counts(counts),
            "TextFeatures(ngrams=1)": lambda: TextFeatures(ngrams=1).fit_transform(texts),
            "HashedTextFeatures()": lambda: HashedTextFeatures().transform(texts),
        },
        ROUNDS,
    )
    for name, value in seconds.items():
        print(f"{name:24} {value:6.3f} s   {value / seconds[peer]:5.2f} of {peer}")
    report("pivoted features / TfidfVectorizer", seconds[ours] / seconds[peer], 1)


def count_selected_terms(texts: list[str], label_sets: Iterable[list[str]]) -> None:
    """Crammer & Singer report 27,747 words, 3,468 selected, and 49 -> 37 words per document (on 4/5 of these)."""
    for name, tokenizer in (("Porter stems", Tokenizer()), ("no stems", Tokenizer(stem=False))):
        counts = TermCounts(tokenizer=tokenizer).fit_transform(texts)
        X = PivotedLength().fit_transform(counts)
        start = time.perf_counter()
        kept = RocchioSelector().fit_transform(X, label_sets)
        middle = time.perf_counter()
        InformativeSelector().fit(LogCounts().fit_transform(counts), label_sets)
        stop = time.perf_counter()
        per_text = f"{X.nnz / len(texts):.1f} -> {kept.nnz / len(texts):.1f} words per document"
        print(f"{name}: {X.shape[1]} terms, Rocchio keeps {kept.shape[1]}, {per_text}, {middle - start:.2f} s")
        print(f"{name}: informative terms in {stop - middle:.2f} s")


def main() -> None:
    corpus = load_reuters21578("modapte")
    assert corpus.texts is not None
    assert corpus.label_sets is not None
    print(f"{len(corpus.texts)} documents, {ROUNDS} rounds")
    compare_with_scikit_learn(corpus.texts)
    count_selected_terms(corpus.texts, corpus.label_sets)


if __name__ == "__main__":
    main()

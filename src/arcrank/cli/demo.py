"""A first look, offline: tag Debian packages by their descriptions, beside one-vs-rest.

python -m arcrank.cli.demo
"""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.table import Table
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from arcrank import LogLinearRanker
from arcrank.datasets import Corpus, load_debtags_sample
from arcrank.metrics import average_precision, coverage, one_error, ranking_loss
from arcrank.text import TextFeatures

N_SHOWN = 3


def main(console: Console | None = None) -> None:
    console = console or Console()
    corpus = load_debtags_sample()
    train, test = corpus.split("train"), corpus.split("test")
    console.print(f"[bold]arcrank demo[/]: {corpus!r}\n")
    # C and the missing intercept were chosen by 3-fold cross-validation on the training packages.
    learner = LogLinearRanker(C=100, fit_intercept=False, tol=1e-2, random_state=0)
    ranker, seconds = _fit(make_pipeline(TextFeatures(), learner), train)
    peer, peer_seconds = _fit(make_pipeline(TextFeatures(), OneVsRestClassifier(LinearSVC())), train)
    scores = ranker[-1].score_labels(ranker[0].transform(test.texts))
    table = Table(title=f"{len(test):,} packages that were not seen in training")
    for column in ("", "average precision", "ranking loss", "coverage", "one-error", "seconds"):
        table.add_column(column, justify="left" if not column else "right")
    table.add_row("arcrank LogLinearRanker", *_measures(test, scores), f"{seconds:.1f}")
    table.add_row("one-vs-rest LinearSVC", *_measures(test, peer.decision_function(test.texts)), f"{peer_seconds:.1f}")
    console.print(table)
    _show_rankings(console, ranker, test)
    _show_explanation(console, ranker, test)
    console.print("\nNext: [bold]README.md[/] shows the same in five lines, and how to use your own data.")


def _fit(model: Any, train: Corpus) -> tuple[Any, float]:
    start = time.perf_counter()
    model.fit(train.texts, train.indicator())
    return model, time.perf_counter() - start


def _measures(test: Corpus, scores: Any) -> list[str]:
    truth = test.indicator()
    values = [measure(truth, scores) for measure in (average_precision, ranking_loss, coverage, one_error)]
    return [f"{value:.3f}" for value in values]


def _show_rankings(console: Console, ranker: Any, test: Corpus) -> None:
    assert test.texts is not None
    assert test.label_sets is not None
    assert test.ids is not None
    best = ranker[-1].rank(ranker[0].transform(test.texts[:N_SHOWN]), top=5)
    for row in range(N_SHOWN):
        table = Table(title=f"{test.ids[row]}: {' '.join(test.texts[row].split())[:90]}...", title_justify="left")
        table.add_column("rank", justify="right")
        table.add_column("tag")
        table.add_column("given by people")
        for place, number in enumerate(best[row], start=1):
            label = test.labels[number]
            table.add_row(str(place), label, "yes" if label in test.label_sets[row] else "")
        console.print(table)


def _show_explanation(console: Console, ranker: Any, test: Corpus) -> None:
    """Why the first tag of the first package stands above the second."""
    assert test.texts is not None
    x = ranker[0].transform(test.texts[:1])
    above, below = ranker[-1].rank(x, top=2)[0]
    why = ranker[-1].explain(x, above, below)
    names = ranker[0].get_feature_names_out()
    title = f"Why {test.labels[above]} is above {test.labels[below]}: margin {why.margin:.2f}"
    table = Table(title=title, title_justify="left")
    table.add_column("words")
    table.add_column("part of the margin", justify="right")
    for feature, value in why.parts[:6]:
        table.add_row(str(names[feature]), f"{value:+.3f}")
    table.add_row(
        f"{len(why.parts) - 6} more, and the intercept", f"{why.margin - sum(v for _, v in why.parts[:6]):+.3f}"
    )
    console.print(table)


if __name__ == "__main__":
    main()

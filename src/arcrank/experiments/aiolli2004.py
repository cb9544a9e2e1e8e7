"""Aiolli & Sperduti 2004, Table 1: label mappings of the kernel preference learning machine on Reuters-21578.

    ARCRANK_DATA=... python -m arcrank.experiments.aiolli2004 [--folds 5] [--seed 0]

The data is the ModApte split with the ten topics most frequent in train. Texts are lower case without digits and stop
words, with Porter stems; rows are tf-idf of unit length; the kernel is `<x, y> + 1`. C is selected for each mapping by
cross-validation on train, as the value with the smallest mean of the mapping's own error; terms and idf are learnt in
each fold. MMP is the paper's baseline, in the configuration that was best in Crammer & Singer's experiments: loss 1,
one pass. A second row shows MMP in a configuration that the paper does not use.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from arcrank.datasets import Corpus, load_reuters21578
from arcrank.experiments.cache import cached
from arcrank.experiments.outcomes import Outcome, Value
from arcrank.experiments.progress import Tick, ticked
from arcrank.metrics import (
    average_precision,
    disagreement_error_percent,
    domination_error_percent,
    identity_error_percent,
    one_error,
)
from arcrank.rankers.online.mmp import MMPRanker
from arcrank.rankers.preference_machine.machine import PreferenceMachine
from arcrank.text import TextFeatures

__all__ = [
    "BASELINES",
    "GRID",
    "MEASURES",
    "PUBLISHED",
    "Part",
    "Row",
    "folds",
    "main",
    "measures",
    "rows",
    "select_c",
    "table1",
]

MEASURES = ("IErr %", "DErr %", "dErr %", "OneErr %", "AvgP %")
PUBLISHED = {
    "MMP": (5.07, 4.92, 0.89, 4.28, 97.49),
    "identity": (3.77, 3.66, 0.55, 3.10, 98.25),
    "domination": (3.81, 3.59, 0.54, 3.14, 98.24),
    "disagreement": (4.12, 4.13, 0.66, 3.58, 97.99),
}
OWN_ERROR = {
    "identity": identity_error_percent,
    "domination": domination_error_percent,
    "disagreement": disagreement_error_percent,
}
BASELINES = {
    "MMP (loss 1, one pass)": (MMPRanker("indicator"), PUBLISHED["MMP"]),
    "MMP (loss 3, five passes, averaged)": (MMPRanker("normalized", epochs=5, average=True), None),
}
"""The paper's MMP with its published values, and one that the paper does not have."""
GRID = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


class Part(NamedTuple):
    """Features and label indicators of a training and a test part."""

    X: Any
    Y: Any
    X_test: Any
    Y_test: Any


class Row(NamedTuple):
    """One row of the table: the method, its C, the measured and the published values, None if there are none."""

    method: str
    C: float | None
    measured: Sequence[float]
    published: Sequence[float] | None


def table1(outcome: Outcome, tick: Tick) -> None:
    """Add the measures of MMP and of every mapping with its selected C."""
    for row in (Row(*one) for one in cached("preference-table", _key(), lambda: list(ticked(_reuters_rows(), tick)))):
        name = row.method if row.C is None else f"{row.method} (C = {row.C:g})"
        outcome.values += [
            Value(name, measure, measured, published, higher_is_better=measure.startswith("AvgP"))
            for measure, measured, published in zip(MEASURES, row.measured, _published(row), strict=True)
        ]


def _published(row: Row) -> Sequence[float | None]:
    return row.published or [None] * len(MEASURES)


def _key() -> dict[str, Any]:
    """Return everything that the stored rows depend on."""
    baselines = {name: ranker.get_params() for name, (ranker, _) in BASELINES.items()}
    return {"version": 2, "grid": list(GRID), "measures": list(MEASURES), "baselines": baselines}


def _reuters_rows() -> Iterator[Row]:
    return rows(load_reuters21578("modapte-top10"))


def _part(train: Corpus, test: Corpus) -> Part:
    """Return the paper's features, learnt from `train` only."""
    features = TextFeatures(digits="drop", stop_words="english", ngrams=1, min_df=1, sublinear=False)
    X = features.fit_transform(train.texts or [])
    return Part(X, train.indicator(), features.transform(test.texts or []), test.indicator())


def folds(train: Corpus, n_folds: int, seed: int) -> Iterator[Part]:
    """Yield the features of each fold of the training documents."""
    for kept, held_out in KFold(n_folds, shuffle=True, random_state=seed).split(np.arange(len(train))):
        yield _part(train[kept], train[held_out])


def _machine(mapping: str, C: float, seed: int) -> PreferenceMachine:
    return PreferenceMachine(mapping, C=C, intercept="regularised", tol=1e-3, max_iter=5000, random_state=seed)


def select_c(mapping: str, parts: Iterable[Part], seed: int, grid: Sequence[float] = GRID) -> float:
    """Return the C with the smallest mean of the mapping's own error over folds, the smallest such C in a tie."""
    errors = [[_own_error(mapping, fold, C, seed) for C in grid] for fold in parts]
    return grid[int(np.mean(errors, axis=0).argmin())]


def _own_error(mapping: str, fold: Part, C: float, seed: int) -> float:
    scores = _machine(mapping, C, seed).fit(fold.X, fold.Y).score_labels(fold.X_test)
    return float(OWN_ERROR[mapping](fold.Y_test, scores))


def measures(Y: Any, scores: Any) -> tuple[float, ...]:
    """Return the values of `MEASURES`, all in percent."""
    return (
        float(identity_error_percent(Y, scores)),
        float(domination_error_percent(Y, scores)),
        float(disagreement_error_percent(Y, scores)),
        100.0 * float(one_error(Y, scores)),
        100.0 * float(average_precision(Y, scores)),
    )


def rows(corpus: Corpus, n_folds: int = 5, seed: int = 0) -> Iterator[Row]:
    """Yield the rows of Table 1."""
    train, test = corpus.split("train"), corpus.split("test")
    whole, parts = _part(train, test), list(folds(train, n_folds, seed))
    for name, (ranker, published) in BASELINES.items():
        scores = clone(ranker).fit(whole.X, whole.Y).score_labels(whole.X_test)
        yield Row(name, None, measures(whole.Y_test, scores), published)
    for mapping in OWN_ERROR:
        C = select_c(mapping, parts, seed)
        scores = _machine(mapping, C, seed).fit(whole.X, whole.Y).score_labels(whole.X_test)
        yield Row(mapping, C, measures(whole.Y_test, scores), PUBLISHED[mapping])


def format_row(row: Row) -> str:
    """Format the measured values on one line and the published values below."""
    measured = "".join(f"{value:10.2f}" for value in row.measured)
    published = "".join(f"{'-' if value is None else format(value, '.2f'):>10}" for value in _published(row))
    cost = "" if row.C is None else f"C = {row.C:g}"
    return f"{row.method:36}{cost:10}{measured}\n{'':36}{'published':10}{published}\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print Table 1 with measured and published values."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    sys.stdout.write(f"{'':46}{''.join(f'{name:>10}' for name in MEASURES)}\n")
    for row in rows(load_reuters21578("modapte-top10"), options.folds, options.seed):
        sys.stdout.write(format_row(row))
        sys.stdout.flush()


if __name__ == "__main__":
    main()

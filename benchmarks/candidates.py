"""Rankers of candidates beside LightGBM's `LGBMRanker` and XGBoost's `XGBRanker`: NDCG at 5 and the disagreement error.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.candidates [--sets MIP-2016 routing] [--queries 1500]

The queries are problem instances of ASlib (tested on its first fold) and prompts of `load_routing` (own split, at most
--queries of the training prompts, seed 0). The candidates of a query are the algorithms or language models, and a
grade is the number of candidates in worse layers. The features of an instance x are standardised (of a prompt, 20
dimensions of tf-idf by truncated SVD); the features of a label z are its mean and standard deviation of grades in
training and a column for its name. arcrank's rankers get `(1, x) (x) z`, which LogLinearRanker never stores; trees
combine features by themselves and get x and z side by side. Also: the log-linear ranker of labels that all instances
share, with `label_features`.

All settings, also the number of trees, are the best of a grid by the NDCG at 5 of three folds of the training queries.
Time is processor time of the last fit.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from lightgbm import LGBMRanker
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import StandardScaler
from xgboost import XGBRanker

from arcrank import CandidateSets, LogLinearRanker, PreferenceMachine
from arcrank._typing import Array
from arcrank.datasets import load_aslib, load_routing
from arcrank.graphs import CandidateGraphs, LayeredGraphs
from arcrank.metrics import disagreement_error, ndcg_at
from arcrank.text import TextFeatures

SETS = ("CSP-2010", "GLUHACK-2018", "MAXSAT12-PMS", "MIP-2016", "QBF-2011", "SAT11-INDU", "routing")
COSTS = (0.01, 0.1, 1.0, 10.0)
"""Factors of C="scale"."""
TREES: dict[str, tuple[Any, ...]] = {"n_estimators": (50, 200), "learning_rate": (0.03, 0.1)}


class Queries(NamedTuple):
    """Instances x, (n, p), and the grades of k labels, (n, k), NaN where one is not judged."""

    X: Array
    grades: Array

    def part(self, rows: Any) -> Queries:
        return Queries(self.X[rows], self.grades[rows])

    def candidates(self) -> list[Any]:
        return [np.flatnonzero(np.isfinite(row)) for row in self.grades]

    def flat(self) -> Array:
        """The grades of all candidates."""
        return self.grades[np.isfinite(self.grades)]

    def ptr(self) -> Any:
        return np.r_[0, np.cumsum(np.isfinite(self.grades).sum(axis=1))]


Fit = Callable[[Queries], Callable[[Queries], Array]]


def load(name: str, most: int) -> tuple[Queries, Queries]:
    """Training and test queries."""
    if name == "routing":
        corpus = load_routing()
        train, test = corpus.splits["train"], corpus.splits["test"]
        train = np.sort(np.random.default_rng(0).permutation(train)[:most])
        words = TextFeatures().fit([corpus.texts[i] for i in train])
        X = words.transform(corpus.texts)
        X = TruncatedSVD(20, random_state=0).fit(X[train]).transform(X)
    else:
        corpus = load_aslib(name)
        test = corpus.splits["fold-1"]
        train, X = np.setdiff1d(np.arange(len(corpus)), test), corpus.X
    X = np.asarray(StandardScaler().fit(X[train]).transform(X))
    levels = LayeredGraphs.from_rankings(corpus.ranks).levels().astype(float)
    levels[levels < 0] = np.nan
    worse = np.array([[np.sum(row > one) if np.isfinite(one) else np.nan for one in row] for row in levels])
    both = Queries(np.clip(X, -5, 5), worse)
    return both.part(train), both.part(test)


def label_features(train: Queries) -> Array:
    mean, spread = np.nanmean(train.grades, axis=0), np.nanstd(train.grades, axis=0)
    numbers = np.column_stack([mean, spread])
    return np.hstack([StandardScaler().fit_transform(numbers), np.eye(len(mean))])


def outer(queries: Queries, Z: Array) -> CandidateSets:
    constant = np.ones((len(queries.X), 1))
    return CandidateSets.from_outer(np.hstack([constant, queries.X]), Z, queries.candidates())


def by_arcrank(make: Callable[..., Any], *, stored: bool = False) -> Callable[..., Fit]:
    def settings(factor: float, **parameters: Any) -> Fit:
        def fit(train: Queries) -> Callable[[Queries], Array]:
            Z = label_features(train)
            sets = outer(train, Z).stored() if stored else outer(train, Z)
            C = factor * make(max_iter=1, **parameters).fit(sets, train.flat()).C_
            ranker = make(C=C, **parameters).fit(sets, train.flat())
            return lambda new: ranker.score_labels(outer(new, Z))

        return fit

    return settings


def by_labels(factor: float) -> Fit:
    """Labels that all instances share, with label features."""

    def fit(train: Queries) -> Callable[[Queries], Array]:
        Z = label_features(train)[:, :2]
        graphs = LayeredGraphs.from_grades(train.grades)
        features = dict(enumerate(Z))
        C = factor * LogLinearRanker(max_iter=1).fit(train.X, graphs).C_
        ranker = LogLinearRanker(C=C, label_features=features).fit(train.X, graphs)
        return lambda new: ranker.score_labels(new.X)[np.isfinite(new.grades)]

    return fit


def by_trees(make: Callable[..., Any]) -> Callable[..., Fit]:
    def settings(**parameters: Any) -> Fit:
        def fit(train: Queries) -> Callable[[Queries], Array]:
            Z = label_features(train)

            def rows(queries: Queries) -> Array:
                row, label = np.nonzero(np.isfinite(queries.grades))
                return np.hstack([queries.X[row], Z[label]])

            sizes = np.diff(train.ptr())
            model = make(**parameters).fit(rows(train), train.flat().astype(int), **group(make, sizes))
            return lambda new: np.asarray(model.predict(rows(new)), dtype=np.float64)

        return fit

    return settings


def group(make: Any, sizes: Any) -> dict[str, Any]:
    if make is lightgbm:
        return {"group": sizes}
    return {"qid": np.repeat(np.arange(len(sizes)), sizes)}


def lightgbm(**parameters: Any) -> Any:
    return LGBMRanker(num_leaves=15, random_state=0, n_jobs=1, verbose=-1, **parameters)


def xgboost(**parameters: Any) -> Any:
    return XGBRanker(max_depth=4, random_state=0, n_jobs=1, **parameters)


LEARNERS: dict[str, tuple[Callable[..., Fit], dict[str, tuple[Any, ...]]]] = {
    "LogLinearRanker": (
        by_arcrank(LogLinearRanker),
        {"decomposition": ("domination", "disagreement"), "factor": COSTS},
    ),
    "PreferenceMachine": (
        by_arcrank(lambda **p: PreferenceMachine("disagreement", random_state=0, **p), stored=True),
        {"factor": COSTS},
    ),
    "label_features": (by_labels, {"factor": COSTS}),
    "LGBMRanker": (by_trees(lightgbm), TREES),
    "XGBRanker": (by_trees(xgboost), TREES),
}


def measure(scores: Array, queries: Queries) -> tuple[float, float]:
    """NDCG at 5, and the disagreement error of queries with arcs."""
    flat, ptr = queries.flat(), queries.ptr()
    graphs = CandidateGraphs.from_grades(flat, ptr)
    errors = disagreement_error(graphs, scores, reduce="none")
    return float(ndcg_at(flat, scores, 5, ptr=ptr)), float(errors[graphs.arc_counts() > 0].mean())


def select(make: Callable[..., Fit], grid: dict[str, tuple[Any, ...]], train: Queries) -> dict[str, Any]:
    """The settings of the best mean NDCG at 5 over three folds of the training queries."""
    folds = np.random.default_rng(0).permutation(len(train.X)) % 3

    def value(settings: dict[str, Any]) -> float:
        found = []
        for fold in range(3):
            rest, held_out = train.part(folds != fold), train.part(folds == fold)
            found.append(measure(make(**settings)(rest)(held_out), held_out)[0])
        return float(np.mean(found))

    return max(_grid(grid), key=value)


def _grid(grid: dict[str, tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    return (dict(zip(grid, values, strict=True)) for values in product(*grid.values()))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--queries", type=int, default=1500)
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.sets:
        train, test = load(name, options.queries)
        print(f"{name}: {len(train.X)} + {len(test.X)} queries, {train.grades.shape[1]} labels", flush=True)
        for learner in options.learners:
            make, grid = LEARNERS[learner]
            settings = select(make, grid, train)
            start = time.process_time()
            scores = make(**settings)(train)
            seconds = time.process_time() - start
            ndcg, error = measure(scores(test), test)
            chosen = ", ".join(f"{key}={value}" for key, value in settings.items())
            print(f"  {learner:18} NDCG@5 {ndcg:.4f}  disagreement {error:.4f}  {seconds:6.2f} s  {chosen}", flush=True)


if __name__ == "__main__":
    main()

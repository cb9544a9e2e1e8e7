"""One-vs-rest classifiers and arcrank's rankers: how each is fitted and scores labels; a label above 0 is predicted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from arcrank import LogLinearRanker, PreferenceMachine
from arcrank._typing import Array

Scorer = Callable[[Any], Array]


@dataclass(frozen=True)
class Learner:
    """`fit(X, Y, C)` returns a function from features to scores.

    `has_offset`: the sets depend on offsets that are chosen for a measure, a fourth argument of `fit`. While C is
    chosen by micro-F1, it is None, and the best offset on the held-out documents counts. `revision` is part of the key
    of stored cells: raise it when a change of the learner changes its results.
    """

    name: str
    fit: Callable[..., Scorer]
    grid: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0, 10.0)
    has_offset: bool = False
    has_sets: bool = True
    revision: int = 1

    def grid_of(self, corpus: str) -> tuple[float, ...]:
        """The first values of C."""
        return SMALLER_GRIDS.get((self.name, corpus), self.grid)


FIXED = {"random_state": 0}

# where a fit takes a minute or more
SMALLER_GRIDS = {
    ("LinearSVC", "debtags"): (0.3, 1.0, 3.0),
    ("logistic", "debtags"): (0.3, 1.0, 3.0),
    ("LibMultiLabel", "debtags"): (0.3, 1.0, 3.0),
}


def one_vs_rest(make: Callable[[float], Any]) -> Callable[..., Scorer]:
    def fit(X: Any, Y: Any, C: float) -> Scorer:
        return unseen_last(OneVsRestClassifier(make(C)).fit(X, Y).decision_function, Y)

    return fit


def unseen_last(score: Scorer, Y: Any) -> Scorer:
    """Put labels without a training document below all, which a fold may have.

    scikit-learn scores them 0, above most others, and LibMultiLabel may predict them for every document.
    """
    unseen = np.asarray(Y.sum(axis=0)).ravel() == 0
    return lambda Z: np.where(unseen, -1e9, score(Z))


class LabelColumns(csc_matrix):
    """LibMultiLabel 0.10 sums columns with `axis=2`, which SciPy rejects since 1.14."""

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Sum over rows for `axis=2`."""
        return super().sum(0 if axis == 2 else axis, dtype, out)


def thresholding(X: Any, Y: Any, C: float) -> Scorer:
    """Thresholds per label by an inner cross-validation for the sum of micro-F1 and macro-F1 (its only rule)."""
    from libmultilabel.linear import train_thresholding  # optional

    np.random.seed(0)  # noqa: NPY002 (its folds come from the global generator)
    options = f"-s 1 -B 1 -c {C:g} -q -m 1"
    model = train_thresholding(LabelColumns(Y.astype(float)), X, multiclass=False, options=options, verbose=False)
    return unseen_last(model.predict_values, Y)


def cut(make: Callable[..., Any]) -> Callable[..., Scorer]:
    def fit(X: Any, Y: Any, C: float, set_measure: str | None) -> Scorer:
        calibration = {"calibration_folds": 0} if set_measure is None else {"set_measure": set_measure}
        return make(C=C, cut_label=True, **FIXED, **calibration).fit(X, Y).score_labels

    return fit


def machine(**parameters: Any) -> Any:
    return PreferenceMachine("domination", "squared-hinge", **parameters)


def without_cut(X: Any, Y: Any, C: float) -> Scorer:
    scores: Scorer = machine(C=C, **FIXED).fit(X, Y).score_labels
    return scores


PEERS = [
    Learner("LinearSVC", one_vs_rest(lambda C: LinearSVC(C=C, random_state=0))),
    Learner("logistic", one_vs_rest(lambda C: LogisticRegression(solver="liblinear", C=C, random_state=0))),
    Learner("LibMultiLabel", thresholding),
]

_MACHINE_GRID = (0.1, 0.3, 1.0)
_LOGLINEAR_GRID = (10.0, 30.0, 100.0)
ARCRANK = [
    Learner("machine", cut(machine), _MACHINE_GRID, has_offset=True, revision=9),
    Learner("machine, no cut", without_cut, _MACHINE_GRID, has_sets=False, revision=3),
    Learner("log-linear", cut(LogLinearRanker), _LOGLINEAR_GRID, has_offset=True, revision=9),
]

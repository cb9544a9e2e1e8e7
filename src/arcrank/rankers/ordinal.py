"""Ordinal regression: one projection of the instances, and ordered thresholds between grades."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import ClassifierTags
from sklearn.utils.metaestimators import available_if

from arcrank._typing import Array, IntArray
from arcrank._validation import check_real
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import LayeredGraphs, PreferenceGraphs, as_graphs
from arcrank.graphs.kinds import detect_kind, unwrap
from arcrank.losses.grades import GRADE_DECOMPOSITIONS, GRADE_LOSSES
from arcrank.rankers.base import LinearRanker, check_sample_weight
from arcrank.solvers.ordinal import solve_ordinal

__all__ = ["GradeRanker", "OrdinalRanker"]

Method = TypeVar("Method", bound=Callable[..., Any])


def _if_odds(method: Method) -> Method:
    """A method of rankers whose loss is a model of probabilities."""

    def has_odds(ranker: OrdinalRanker) -> bool:
        if not ranker._is_odds():
            raise AttributeError(
                "Probabilities need loss='proportional-odds', or decomposition='disagreement' with loss='log-linear' "
                f"or 'logistic'; this ranker has decomposition={ranker.decomposition!r} and loss={ranker.loss!r}."
            )
        return True

    decorated: Method = available_if(has_odds)(method)
    return decorated


class GradeRanker(LinearRanker):
    """What rankers of grades share: the score of grade g is `g f(x) - sum of the first g thresholds`.

    The margin between a grade and the one below is then `f(x) - threshold`, so the best grade is the one between whose
    thresholds f(x) lies, and the others follow by how far they are from it.
    """

    grades: Any

    @property
    def direction_(self) -> Array:
        """The projection w of `f(x) = w'x`, (d,)."""
        direction: Array = self.coef_[1]
        return direction

    @property
    def thresholds_(self) -> Array:
        """The ascending thresholds between grades, (K - 1,)."""
        return np.maximum.accumulate(-np.diff(self.intercept_))

    def project(self, X: Any) -> Array:
        """Return f(x) of each instance, (n,), which the thresholds cut into grades."""
        scores = self.score_labels(X)
        found: Array = scores[:, 1] - scores[:, 0] - self.intercept_[1]
        return found

    def _check_grades(self) -> None:
        known = self.grades
        if known is not None and (not isinstance(known, list) or len(known) < 2 or len(set(known)) < len(known)):
            raise ParameterError(f"grades must be None or a list of two or more, the lowest first; got {known!r:.80}.")

    def _learn_grades(self, y: Any, n: int, grades: Any) -> IntArray:
        """The number of each instance's grade, 0 for the lowest; `labels_` are the grades in ascending order."""
        graphs = self._learn_labels(_grade_graphs(type(self).__name__, y, grades), n)
        self._kind = "single"
        return _levels(graphs)

    def _grades_of(self, y: Any, n: int) -> IntArray:
        """The numbers of grades that were learnt before."""
        graphs = self._graphs_of(y)
        if len(graphs) != n:
            raise InputError(f"X has {n} instances and y has {len(graphs)}; give one grade for each instance.")
        return _levels(graphs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags()  # predict_proba has a column for each grade
        return tags

    def _set_projection(self, direction: Array, thresholds: Array) -> None:
        self.coef_ = np.arange(len(thresholds) + 1.0)[:, None] * direction
        self.intercept_ = -np.concatenate([[0.0], np.cumsum(thresholds)])


def _grade_graphs(name: str, y: Any, grades: Any) -> PreferenceGraphs:
    if y is None:
        raise InputError(f"This {name} estimator requires y to be passed, but the target y is None.")
    if isinstance(y, PreferenceGraphs):
        raise InputError(f"{name} learns from one grade for each instance; got {type(y).__name__}.")
    values = unwrap(y)
    kind = detect_kind(values)
    if kind != "single":
        raise InputError(
            f"{name} learns from one grade for each instance, such as [1, 3, 2]; this y has kind {kind!r}."
        )
    if grades is None and np.asarray(values).dtype.kind not in "biuf":
        raise InputError(
            "Unknown label type: grades that are names have no order of their own; pass grades=[lowest, ..., highest]."
        )
    return as_graphs(values, kind="single", labels=grades)


def _levels(graphs: PreferenceGraphs) -> IntArray:
    assert isinstance(graphs, LayeredGraphs)
    found: IntArray = graphs.to_indicator().indices.astype(np.int64)
    return found


class OrdinalRanker(GradeRanker):
    """Predict grades, such as 1 to 5 stars, by one projection of the instances and thresholds between the grades.

    `min_{w, theta}  1/2 ||w||^2 + C sum_i sum_{pieces of D(G_i)} loss` with `theta_1 <= ... <= theta_{K-1}`

    The graph G_i of an instance of grade y prefers it to the thresholds below y, and the thresholds from y on to it.
    All losses have a solution with ordered thresholds; see `arcrank.losses.grades`.

    Parameters
    ----------
    decomposition : str
        "disagreement": every threshold counts, so that a prediction two grades off is worse than one. "immediate": only
        the thresholds next to the grade, with margin losses. "domination", "dominated" or "zero-one" (of the log-linear
        loss only): see `arcrank.losses.grades`.
    loss : str
        "log-linear", or a loss of the smallest margin of a piece: "hinge", "squared-hinge", "logistic" (base 2),
        "exponential"; or "proportional-odds", the likelihood of the ordered logit model, for which the decomposition
        does not matter.
    C : float
        Weight of the data term. Features should be standardised.
    grades : list or None
        All grades, the lowest first; None: the numbers in y, in ascending order.
    tol : float
        The largest derivative of the objective at the end, relative to C times the number of instances.
    max_iter : int
        Iterations of L-BFGS.

    Attributes
    ----------
    direction_ : (d,) array
        The projection w.
    thresholds_ : (K - 1,) array
        The thresholds, in ascending order.
    labels_ : (K,) array
        The grades, in ascending order.
    coef_, intercept_ : (K, d) and (K,) arrays
        Weights and constants of the scores of grades, `g w` and minus the sum of the first g thresholds.
    objective_ : float
        The value that was reached; with the hinge, which is rounded off, within 0.0005 C for each piece of the least.
    n_iter_ : int
        Iterations made.

    Examples
    --------
    >>> from arcrank import OrdinalRanker
    >>> ranker = OrdinalRanker(C=10).fit([[0.1], [0.9], [2.1], [2.9], [4.2], [4.8]], [1, 1, 2, 2, 3, 3])
    >>> ranker.predict([[0.0], [2.5], [9.0]]).tolist(), ranker.rank([[0.0]]).tolist()
    ([1, 2, 3], [[1, 2, 3]])
    """

    def __init__(
        self,
        decomposition: str = "disagreement",
        loss: str = "log-linear",
        C: float = 1.0,
        *,
        grades: Any = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.decomposition = decomposition
        self.loss = loss
        self.C = C
        self.grades = grades
        self.tol = tol
        self.max_iter = max_iter

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        for name, value, known in (
            ("decomposition", self.decomposition, list(GRADE_DECOMPOSITIONS)),
            ("loss", self.loss, list(GRADE_LOSSES)),
        ):
            if value not in known:
                raise ParameterError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}.")
        if self.decomposition == "zero-one" and self.loss not in ("log-linear", "proportional-odds"):
            raise ParameterError(f"decomposition='zero-one' is for loss='log-linear' only; got loss={self.loss!r}.")
        self._check_grades()
        check_real("C", self.C, above=0)
        check_real("tol", self.tol, above=0)
        check_real("max_iter", self.max_iter, above=0)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from instances X, (n, d), and their grades y, (n,)."""
        self.check_parameters()
        X = self._check_features(X, reset=True)
        grade = self._learn_grades(y, X.shape[0], self.grades)
        solution = solve_ordinal(
            X,
            grade,
            len(self.labels_),
            loss=self.loss,
            decomposition=self.decomposition,
            weight=float(self.C) * check_sample_weight(sample_weight, X.shape[0]),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
        )
        self._set_projection(solution.direction, solution.thresholds)
        self.objective_, self.n_iter_ = solution.objective, solution.n_iter
        if not solution.converged:
            warnings.warn(
                f"L-BFGS did not converge in {solution.n_iter} iterations; increase max_iter, or standardise X.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _is_odds(self) -> bool:
        logistic = self.decomposition == "disagreement" and self.loss in ("log-linear", "logistic")
        return logistic or self.loss == "proportional-odds"

    @_if_odds
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each grade, (n, K): `P(grade above j) = 1 / (1 + exp(theta_j - f))`."""
        above = expit(self.project(X)[:, None] - self.thresholds_)
        ends = np.ones((len(above), 1)), np.zeros((len(above), 1))
        found: Array = -np.diff(np.hstack([ends[0], above, ends[1]]), axis=1)
        return found

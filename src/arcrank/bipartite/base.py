"""What the rankers of instances share: relevance in, one score an instance out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, column_or_1d

from arcrank._features import check_features
from arcrank._typing import Array, IntArray
from arcrank.errors import InputError

__all__ = ["UNLABELLED", "BipartiteRanker", "check_relevance", "ordered_fraction"]

UNLABELLED = -1


class BipartiteRanker(BaseEstimator, ABC):
    """A function from instances to scores, learnt from relevant and irrelevant ones.

    Conventions
    -----------
    X : (n, d), dense or sparse
    y : (n,)
        1 = relevant, 0 = irrelevant, -1 = unlabelled; of any other two numbers the greater is relevant. Where a
        ranker takes grades, any numbers from 0 upwards: every pair of different grades is to be ordered.
    decision_function(X) : (n,)
        Greater is better.
    """

    n_features_in_: int
    _graded = False

    @abstractmethod
    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""

    @abstractmethod
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from instances X and their relevance y."""

    @abstractmethod
    def decision_function(self, X: Any) -> Array:
        """Return the scores (n,): the greater, the more relevant."""

    @abstractmethod
    def _parts(self, x: Any) -> tuple[Array, float]:
        """Return each stored value's part of the score of one CSR row, and the constant."""

    def score_parts(self, x: Any) -> tuple[IntArray, Array, float]:
        """Split the score of one instance x, (1, d), into parts of its features.

        Returns
        -------
        columns : (m,) array
            The features of x that are not zero.
        parts : (m,) array
            Their parts of the score.
        constant : float
            The rest: the score is `constant + parts.sum()`.
        """
        row = csr_matrix(self._check_features(x))
        if row.shape[0] != 1:
            raise InputError(f"score_parts explains one instance, but x has {row.shape[0]} rows; pass one row.")
        parts, constant = self._parts(row)
        return np.asarray(row.indices), parts, constant

    def score(self, X: Any, y: Any) -> float:
        """Return the fraction of correctly ordered pairs of labelled instances, ties counted half: the AUC."""
        grades = check_relevance(y, graded=self._graded)
        known = grades != UNLABELLED
        return ordered_fraction(grades[known], self.decision_function(X)[known])

    def _check_training(self, X: Any, y: Any) -> tuple[Any, Array]:
        """Return X as CSR or a dense array, and the grades with -1 for the unlabelled."""
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        X = check_features(self, X, reset=True)
        grades = check_relevance(column_or_1d(y, warn=True), graded=self._graded)
        if len(grades) != X.shape[0]:
            raise InputError(f"X has {X.shape[0]} rows and y has {len(grades)} entries; pass one entry per row.")
        return X, grades

    def _check_features(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_features(self, X, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.positive_only = True  # -1 means unlabelled
        return tags


def check_relevance(y: Any, *, graded: bool) -> Array:
    """Return y as floats; refuse what is neither relevance nor "unlabelled", and y that orders nothing."""
    grades = np.asarray(y, dtype=np.float64)
    if not np.isfinite(grades).all():
        row = int(np.flatnonzero(~np.isfinite(grades))[0])
        raise InputError(
            f"y holds {grades[row]:g} in row {row}; pass 1 (relevant), 0 (irrelevant) or -1 (unlabelled) for each row."
        )
    values = np.unique(grades)
    if set(values) == {-1.0, 1.0}:
        raise InputError(
            "y holds only -1 and 1. In arcrank, as in scikit-learn's semi-supervised module, -1 means unlabelled, so "
            "no instance would be irrelevant: write 0 for the irrelevant ones, and keep -1 for those not judged."
        )
    known = values[values >= 0]
    strange = [*values[(values < 0) & (values != UNLABELLED)], *known[len(known) if graded else 2 :]]
    if strange:
        allowed = "grades from 0 upwards" if graded else "1 (relevant) and 0 (irrelevant), or another two numbers"
        raise InputError(f"y holds {strange[0]:g}; allowed are {allowed}, and -1 for unlabelled instances.")
    if len(known) < 2:
        missing = _missing(known, len(grades))
        raise InputError(f"{missing}; a ranking is learnt from labelled instances of at least two grades, 1 and 0.")
    return grades if graded else np.where(grades == UNLABELLED, UNLABELLED, grades == known[1]).astype(np.float64)


def _missing(known: Array, n: int) -> str:
    if len(known) == 0:
        return f"all {n} instances are unlabelled (y = -1)"
    if known[0] == 0.0:
        return "no labelled instance is relevant: y is 0 wherever it is not -1, and 1 class is not enough"
    return f"no labelled instance is irrelevant: y is {known[0]:g} wherever it is not -1, and 1 class is not enough"


def ordered_fraction(grades: Array, scores: Array) -> float:
    """Return the fraction of pairs of different grades that the scores order rightly, ties counted half.

    >>> ordered_fraction(np.array([2.0, 1.0, 0.0]), np.array([3.0, 1.0, 1.0]))
    0.833...
    """
    from arcrank.metrics.bipartite import auc

    right, n_pairs = 0.0, 0
    for grade in np.unique(grades)[1:]:
        better, worse = scores[grades == grade], scores[grades < grade]
        relevant = np.repeat([1, 0], [len(better), len(worse)])
        right += auc(relevant, np.concatenate([better, worse]), ties="half") * len(better) * len(worse)
        n_pairs += len(better) * len(worse)
    return right / n_pairs

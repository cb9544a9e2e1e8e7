"""PRank (Crammer & Singer 2001, "Pranking with ranking"): ordinal regression, one instance at a time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from arcrank._typing import Array, IntArray
from arcrank._validation import check_int, check_seed
from arcrank.errors import ParameterError
from arcrank.rankers.ordinal import GradeRanker

__all__ = ["PRankRanker"]


class PRankRanker(GradeRanker):
    """Learn grades online: one projection w and thresholds, each moved where an instance is on its wrong side.

    With `y_r = 1` for thresholds r below the grade and -1 for the others, a threshold with `y_r (w'x - b_r) <= 0` is
    wrong: `w += sum of wrong y_r x`, `b_r -= y_r`. This is the perceptron on the graph of grades of `OrdinalRanker`,
    cut by disagreement. Thresholds stay ordered. If some unit vector (w, b) has all margins at least gamma, the sum of
    |predicted - right grade| over a sequence of instances is at most `(K - 1)(max ||x||^2 + 1) / gamma^2`.

    Parameters
    ----------
    epochs : int
        Passes of `fit` over the instances.
    average : bool
        Predict by the mean of w and b over all rounds, which is better on noisy data; the bound is for False.
    shuffle : bool
        Visit instances in random order, another one in each pass of `fit`.
    random_state : int, RandomState or None
        Of that order.
    grades : list or None
        All grades, the lowest first; None: the numbers in the first y, in ascending order.

    Attributes
    ----------
    direction_ : (d,) array
        The projection w that is predicted by.
    thresholds_ : (K - 1,) array
        Its thresholds, in ascending order.
    labels_ : (K,) array
        The grades, in ascending order.
    n_rounds_ : int
        How many instances were learnt from.
    rank_loss_ : int
        The sum of |predicted - right grade|, in grades, of predictions made before learning from each of them.

    Examples
    --------
    >>> from arcrank import PRankRanker
    >>> ranker = PRankRanker(epochs=20).fit([[0.0], [1.0], [2.0], [3.0]], [1, 1, 2, 3])
    >>> ranker.predict([[0.0], [2.0], [9.0]]).tolist()
    [1, 2, 3]
    """

    def __init__(
        self,
        epochs: int = 1,
        *,
        average: bool = False,
        shuffle: bool = False,
        random_state: Any = None,
        grades: Any = None,
    ) -> None:
        self.epochs = epochs
        self.average = average
        self.shuffle = shuffle
        self.random_state = random_state
        self.grades = grades

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        check_int("epochs", self.epochs, at_least=1)
        for name in ("average", "shuffle"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ParameterError(f"{name} must be True or False, got {getattr(self, name)!r}.")
        self._check_grades()
        check_seed("random_state", self.random_state)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from instances X, (n, d), and their grades y, (n,), in the given order unless `shuffle`."""
        self.check_parameters()
        X = self._check_features(X, reset=True)
        grade = self._learn_grades(y, X.shape[0], self.grades)
        self._start(X.shape[1])
        random = check_random_state(self.random_state)
        for _ in range(int(self.epochs)):
            self._learn(X, grade, random.permutation(len(grade)) if self.shuffle else np.arange(len(grade)))
        return self

    def partial_fit(self, X: Any, y: Any, labels: Any = None) -> Self:
        """Go on learning; the first call fixes the grades, by `labels`, by `grades`, or by those in its y."""
        self.check_parameters()
        first = not hasattr(self, "state_")
        X = self._check_features(X, reset=first)
        if first:
            grade = self._learn_grades(y, X.shape[0], self.grades if labels is None else labels)
            self._start(X.shape[1])
        else:
            grade = self._grades_of(y, X.shape[0])
        self._learn(X, grade, np.arange(len(grade)))
        return self

    def _start(self, n_features: int) -> None:
        size = n_features + len(self.labels_) - 1
        self.state_, self.late_ = np.zeros(size), np.zeros(size)
        self.n_rounds_ = self.rank_loss_ = 0

    def _learn(self, X: Any, grade: IntArray, order: IntArray) -> None:
        from arcrank.compiled.prank import prank_rounds  # imports numba, which ranking does without

        rows, d = sp.csr_matrix(X), X.shape[1]
        w, b, late_w, late_b = self.state_[:d], self.state_[d:], self.late_[:d], self.late_[d:]
        pointers = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
        rounds = np.int64(self.n_rounds_)
        loss = prank_rounds(rows.data, *pointers, grade, order.astype(np.int64), w, b, late_w, late_b, rounds)
        self.rank_loss_ += int(loss)
        self.n_rounds_ += len(order)
        used = self._mean() if self.average else self.state_
        self._set_projection(used[:d], used[d:])

    def _mean(self) -> Array:
        return self.state_ - self.late_ / max(self.n_rounds_, 1)

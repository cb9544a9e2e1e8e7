"""The transductive support vector machine, used as a ranker of instances."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.svm import LinearSVC
from sklearn.utils import ClassifierTags

from arcrank._typing import Array, IntArray, Mask
from arcrank._validation import check_int, check_real, check_seed
from arcrank.bipartite.base import UNLABELLED, BipartiteRanker
from arcrank.solvers.products import row_products

__all__ = ["LinearScores", "TransductiveSVM"]

FIRST_SHARE = 1e-5
"""The cost of unlabelled instances starts here and doubles (Joachims 1999, Figure 3)."""


class LinearScores(BipartiteRanker):
    """Rankers whose score is `X coef_ + intercept_`."""

    coef_: Array
    intercept_: float

    def decision_function(self, X: Any) -> Array:
        """Return the scores (n,): the greater, the more relevant."""
        X = self._check_features(X)
        return row_products(X, self.coef_[:, None])[:, 0] + self.intercept_

    def _parts(self, x: Any) -> tuple[Array, float]:
        return x.data * self.coef_[x.indices], self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)  # two grades
        return tags

    def _take(self, model: Any) -> None:
        self.coef_, self.intercept_ = model.coef_.ravel().copy(), float(np.ravel(model.intercept_)[0])


class TransductiveSVM(LinearScores):
    """Joachims's transductive SVM (1999), with a linear kernel: a baseline of Amini et al. 2008.

    Minimises `||w||^2 / 2 + C sum_labelled xi + C* sum_unlabelled xi` over w and the labels of the unlabelled
    instances, a fixed number of which is relevant: from the labels that an ordinary SVM gives them, labels of two
    instances are switched wherever that lowers the criterion, while C* doubles from 1e-5 up to `C_unlabelled`.
    Pairs are switched many at a time, disjoint ones, each by Joachims's condition, so the criterion falls as in his
    proof. The problem for fixed labels is solved by scikit-learn's LinearSVC.

    Parameters
    ----------
    C, C_unlabelled : float
        Cost of a margin error of labelled and of unlabelled instances.
    relevant_fraction : float or None
        The fraction of the unlabelled instances to become relevant; None takes that of the labelled ones.
    max_switches : int
        Rounds of switching for each value of C*.
    tol, max_iter
        Those of LinearSVC.
    random_state : int, RandomState or None
        The order in which LinearSVC sees the instances; None is 0, so that training can be repeated.

    Attributes
    ----------
    coef_ : (d,) array
        The weights.
    intercept_ : float
        The weight of the constant feature.
    labels_ : (n,) array
        The given labels, and those found for the unlabelled instances.

    Notes
    -----
    X (n, d) dense or sparse; y (n,): 1 relevant, 0 irrelevant, -1 unlabelled. Without unlabelled instances it is a
    linear SVM.

    Examples
    --------
    >>> from arcrank.bipartite.transductive_svm import TransductiveSVM
    >>> X = [[2.0, 0.0], [0.0, 2.0], [3.0, 1.0], [1.0, 4.0]]
    >>> ranker = TransductiveSVM().fit(X, [1, 0, -1, -1])
    >>> ranker.labels_
    array([1., 0., 1., 0.])
    """

    # Spelled out although another estimator has the same: scikit-learn reads the parameters from this signature.
    def __init__(
        self,
        C: float = 1.0,
        *,
        C_unlabelled: float = 1.0,
        relevant_fraction: float | None = None,
        max_switches: int = 20,
        tol: float = 1e-3,
        max_iter: int = 20_000,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.C_unlabelled = C_unlabelled
        self.relevant_fraction = relevant_fraction
        self.max_switches = max_switches
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        for name in ("C", "C_unlabelled", "tol"):
            check_real(name, getattr(self, name), above=0)
        for name in ("max_switches", "max_iter"):
            check_int(name, getattr(self, name), at_least=1)
        if self.relevant_fraction is not None:
            check_real("relevant_fraction", self.relevant_fraction, above=0, below=1, also="None")
        check_seed("random_state", self.random_state)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from X (n, d) and y (n,) with -1 = unlabelled."""
        self.check_parameters()
        X, grades = self._check_training(X, y)
        known = grades != UNLABELLED
        self._solve(X[known], grades[known], np.full(known.sum(), self.C))
        self.labels_ = grades.copy()
        if not known.all():
            self._anneal(X, known)
        return self

    def _anneal(self, X: Any, known: Mask) -> None:
        free = np.flatnonzero(~known)
        count = self._n_relevant(known, len(free))
        best = np.argsort(-(X[free] @ self.coef_), kind="stable")[:count]
        self.labels_[free] = 0.0
        self.labels_[free[best]] = 1.0
        # Joachims 1999: C*_- = 1e-5 and C*_+ = 1e-5 num_+ / (k - num_+), both doubled up to C*
        irrelevant, relevant = FIRST_SHARE, FIRST_SHARE * max(count, 1) / max(len(free) - count, 1)
        while irrelevant < self.C_unlabelled or relevant < self.C_unlabelled:
            irrelevant, relevant = min(2 * irrelevant, self.C_unlabelled), min(2 * relevant, self.C_unlabelled)
            self._settle(X, known, irrelevant, relevant)

    def _settle(self, X: Any, known: Mask, irrelevant: float, relevant: float) -> None:
        """Switch labels and solve again, until no two unlabelled instances gain from a switch."""
        for _ in range(self.max_switches):
            costs = np.where(known, self.C, np.where(self.labels_ == 1.0, relevant, irrelevant))
            self._solve(X, self.labels_, costs)
            up, down = self._switches(X, known)
            if len(up) == 0:
                return
            self.labels_[down], self.labels_[up] = 0.0, 1.0

    def _switches(self, X: Any, known: Mask) -> tuple[IntArray, IntArray]:
        """Pair the worst of either label; a pair is switched where both slacks are positive and sum to over 2."""
        slack = np.maximum(0.0, 1.0 - (2.0 * self.labels_ - 1.0) * (np.asarray(X @ self.coef_) + self.intercept_))
        sides = []
        for label in (0.0, 1.0):
            rows = np.flatnonzero(~known & (self.labels_ == label) & (slack > 0.0))
            sides.append(rows[np.argsort(-slack[rows], kind="stable")])
        up, down = sides
        length = min(len(up), len(down))
        count = np.count_nonzero(slack[up[:length]] + slack[down[:length]] > 2.0 + 1e-9)
        return up[:count], down[:count]

    def _n_relevant(self, known: Mask, n_free: int) -> int:
        fraction = self.relevant_fraction
        if fraction is None:
            fraction = float(np.mean(self.labels_[known] == 1.0))
        return min(max(round(fraction * n_free), 0), n_free)

    def _solve(self, X: Any, labels: Array, costs: Array) -> None:
        seed = 0 if self.random_state is None else self.random_state
        model = LinearSVC(C=1.0, loss="hinge", dual=True, tol=self.tol, max_iter=self.max_iter, random_state=seed)
        self._take(model.fit(X, labels, sample_weight=costs))

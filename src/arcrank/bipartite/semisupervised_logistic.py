"""Semi-supervised logistic regression by alternating labelling and learning, used as a ranker of instances."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from arcrank._typing import Array, Mask
from arcrank._validation import check_int, check_real
from arcrank.bipartite.base import UNLABELLED
from arcrank.bipartite.transductive_svm import LinearScores
from arcrank.errors import ParameterError

__all__ = ["SemiSupervisedLogistic"]


class SemiSupervisedLogistic(LinearScores):
    """EM-like logistic regression (Amini & Gallinari 2002): a baseline of Amini et al. 2008.

    A regression on the labelled instances estimates the relevance of the unlabelled ones; a new one is learnt from
    both; and so on until the estimates stay (the likelihood of the completed data cannot fall).

    Parameters
    ----------
    C : float
        Weight of the data against `||w||^2 / 2`.
    labels : "soft" or "hard"
        Count an unlabelled instance on both sides by its probabilities, or on the more probable side alone (the
        classification EM of Amini & Gallinari).
    unlabelled_weight : float
        Weight of all unlabelled instances together, in units of all labelled ones.
    max_iter : int
        Turns of labelling and learning.
    tol : float
        Stop when no probability moves by more than this ("soft"), or no label ("hard").

    Attributes
    ----------
    coef_ : (d,) array
        The weights.
    intercept_ : float
        The weight of the constant feature.
    probabilities_ : (n,) array
        Of relevance; the given labels where there are any.
    n_iter_ : int
        Turns made.

    Notes
    -----
    X (n, d) dense or sparse; y (n,): 1 relevant, 0 irrelevant, -1 unlabelled. Without unlabelled instances it is
    logistic regression.

    Examples
    --------
    >>> from arcrank.bipartite.semisupervised_logistic import SemiSupervisedLogistic
    >>> X = [[2.0, 0.0], [0.0, 2.0], [3.0, 1.0], [1.0, 4.0]]
    >>> ranker = SemiSupervisedLogistic().fit(X, [1, 0, -1, -1])
    >>> ranker.decision_function([[1.0, 0.0], [0.0, 1.0]]).round() > 0
    array([ True, False])
    """

    def __init__(
        self,
        C: float = 10.0,
        *,
        labels: str = "soft",
        unlabelled_weight: float = 1.0,
        max_iter: int = 50,
        tol: float = 1e-3,
    ) -> None:
        self.C = C
        self.labels = labels
        self.unlabelled_weight = unlabelled_weight
        self.max_iter = max_iter
        self.tol = tol

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        check_real("C", self.C, above=0)
        check_real("unlabelled_weight", self.unlabelled_weight, above=0)
        check_int("max_iter", self.max_iter, at_least=1)
        if self.labels not in ("soft", "hard"):
            raise ParameterError(f'labels = {self.labels!r} is unknown: choose "soft" or "hard".')
        check_real("tol", self.tol, at_least=0)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from X (n, d) and y (n,) with -1 = unlabelled."""
        self.check_parameters()
        X, grades = self._check_training(X, y)
        known = grades != UNLABELLED
        self.probabilities_ = grades.copy()
        self._solve(X[known], grades[known], np.ones(known.sum()))
        self.n_iter_ = 0
        while not known.all() and self.n_iter_ < self.max_iter:
            self.n_iter_ += 1
            estimates = self._estimates(X[~known])
            moved = np.abs(estimates - self.probabilities_[~known]).max()
            self.probabilities_[~known] = estimates
            if moved <= self.tol:
                break
            self._maximise(X, known)
        return self

    def _estimates(self, X: Any) -> Array:
        scores = np.asarray(X @ self.coef_) + self.intercept_
        return (scores > 0).astype(np.float64) if self.labels == "hard" else 1.0 / (1.0 + np.exp(-scores))

    def _maximise(self, X: Any, known: Mask) -> None:
        """Learn from every instance twice, as relevant and as irrelevant, weighed by its probabilities."""
        each = np.where(known, 1.0, self.unlabelled_weight * known.sum() / max((~known).sum(), 1))
        weights = np.concatenate([each * self.probabilities_, each * (1.0 - self.probabilities_)])
        labels = np.repeat([1.0, 0.0], X.shape[0])
        used = weights > 0
        twice = sparse.vstack([X, X], format="csr") if sparse.issparse(X) else np.vstack([X, X])
        self._solve(twice[used], labels[used], weights[used])

    def _solve(self, X: Any, labels: Array, weights: Array) -> None:
        model = LogisticRegression(C=self.C, max_iter=1000, tol=1e-5)
        self._take(model.fit(X, labels, sample_weight=weights))

"""Semi-supervised logistic regression by alternating labelling and learning, used as a ranker of instances."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from arcrank._typing import Array, Mask
from arcrank._validation import check_int, check_real
from arcrank.bipartite.base import UNLABELLED
from arcrank.bipartite.transductive_svm import LinearScores

__all__ = ["SemiSupervisedLogistic"]


class SemiSupervisedLogistic(LinearScores):
    """Logistic regression by classification EM (Amini & Gallinari 2002): a baseline of Amini et al. 2008.

    A regression on the labelled instances gives each unlabelled one its more probable label; a new regression is
    learnt from all instances with these labels; and so on until no label changes. Neither step can lower the
    likelihood of the completed data, so this ends in a local maximum of it (with the penalty on the weights).

    There is no variant that counts an unlabelled instance on both sides by its probabilities. The gradient of its
    likelihood is the difference between these probabilities and the model's, which is zero at the regression that
    estimated them, so such a variant never leaves the regression on the labelled instances.

    Parameters
    ----------
    C : float
        Weight of the data against `||w||^2 / 2`.
    unlabelled_weight : float
        Weight of an unlabelled instance; a labelled one has weight 1. The paper's baseline has 1.
    max_iter : int
        Turns of labelling and learning at most.
    tol : float
        Stop when at most this fraction of the unlabelled instances changes its label.

    Attributes
    ----------
    coef_ : (d,) array
        The weights.
    intercept_ : float
        The weight of the constant feature.
    probabilities_ : (n,) array
        Of relevance, by the last regression; the given labels where there are any.
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
    >>> ranker.probabilities_.round(2) > 0.5
    array([ True, False,  True, False])
    """

    def __init__(
        self,
        C: float = 10.0,
        *,
        unlabelled_weight: float = 1.0,
        max_iter: int = 50,
        tol: float = 0.0,
    ) -> None:
        self.C = C
        self.unlabelled_weight = unlabelled_weight
        self.max_iter = max_iter
        self.tol = tol

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        check_real("C", self.C, above=0)
        check_real("unlabelled_weight", self.unlabelled_weight, above=0)
        check_int("max_iter", self.max_iter, at_least=1)
        check_real("tol", self.tol, at_least=0)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from X (n, d) and y (n,) with -1 = unlabelled."""
        self.check_parameters()
        X, grades = self._check_training(X, y)
        known = grades != UNLABELLED
        model = LogisticRegression(C=self.C, max_iter=1000, tol=1e-5, warm_start=True)
        self._take(model.fit(X[known], grades[known]))
        self.n_iter_ = 0
        if not known.all():
            self._alternate(model, X, grades, known)
        self.probabilities_ = np.where(known, grades, self._probabilities(X))
        return self

    def _alternate(self, model: LogisticRegression, X: Any, grades: Array, known: Mask) -> None:
        """Label and learn until the labels stay."""
        weights = np.where(known, 1.0, self.unlabelled_weight)
        labels = grades
        while self.n_iter_ < self.max_iter:
            estimated = np.where(known, grades, self._probabilities(X) > 0.5)
            if np.mean(estimated[~known] != labels[~known]) <= self.tol:
                return
            labels = estimated
            self._take(model.fit(X, labels, sample_weight=weights))
            self.n_iter_ += 1

    def _probabilities(self, X: Any) -> Array:
        return np.asarray(expit(np.asarray(X @ self.coef_) + self.intercept_))

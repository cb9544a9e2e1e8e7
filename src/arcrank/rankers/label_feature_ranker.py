"""A linear ranker of labels with features, which ranks labels that no vote has mentioned and learns new ones."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from arcrank._typing import Array
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import PreferenceGraphs
from arcrank.graphs.base import label_array
from arcrank.rankers.arc_weights import count_arcs
from arcrank.rankers.base import add_intercept
from arcrank.rankers.candidate_ranker import CandidateRanker
from arcrank.rankers.label_features import LabelFeatureDesign, check_label_features, fit_new_labels, label_matrix
from arcrank.solvers.design import LabelDesign

__all__ = ["LabelFeatureRanker"]

Method = TypeVar("Method", bound=Callable[..., Any])


def _with_label_features(method: Method) -> Method:
    """A method that exists only where label features are given."""
    decorated: Method = available_if(lambda ranker: ranker.label_features is not None)(method)
    return decorated


class LabelFeatureRanker(CandidateRanker):
    """What a ranker with the parameters label_features and arc_weights has beyond a linear one."""

    label_features: Any
    arc_weights: str
    fit_intercept: bool
    solver: str
    warm_start: bool
    n_jobs: int
    C_: float
    label_coef_: Array
    _constant: float

    @abstractmethod
    def _bind_loss(self, graphs: PreferenceGraphs, weight: Array) -> Any:
        """The loss of these graphs, with `flows(scores)`."""

    def _separate_shared(self, W: Array) -> Array:
        """The weights of each label, (d, k), of [W B]; B is noted."""
        if self.label_features is None:
            return W
        Z = label_matrix(self.label_features, self.labels_)
        W, shared = W[:, : len(Z)], W[:, len(Z) :]
        self.label_coef_ = shared.T
        summed: Array = W + shared @ Z.T
        return summed

    def _label_design(self, X: Any, n_labels: int) -> LabelDesign | LabelFeatureDesign:
        if self.label_features is None:
            return LabelDesign(X, n_labels, self.n_jobs)
        return LabelFeatureDesign(X, label_matrix(self.label_features, self.labels_), self.n_jobs)

    @_with_label_features
    def add_labels(self, label_features: Any) -> Self:
        """Rank these labels too, by their features alone.

        Parameters
        ----------
        label_features : dict of labels and vectors of numbers
            Labels that the ranker has not learnt.
        """
        check_is_fitted(self)
        check_label_features({**self.label_features, **label_features})
        names = [name for name in label_features if name not in self.labels_.tolist()]
        if not names:
            raise InputError("add_labels adds new labels, and these are known already; give others.")
        added = label_matrix(label_features, label_array(names)) @ self.label_coef_  # z_y' B'
        self.labels_ = label_array([*self.labels_.tolist(), *names])
        d = self.n_features_in_
        self.coef_ = np.vstack([self.coef_, added[:, :d]])
        constant = self._constant * added[:, d] if self.fit_intercept else np.zeros(len(names))
        self.intercept_ = np.concatenate([self.intercept_, constant])
        return self

    @_with_label_features
    def partial_fit(self, X: Any, y: Any, label_features: Any = None) -> Self:
        """Add labels, and learn their weights from a few votes, shrunk towards labels of similar features.

        The weights of labels that were learnt before stay as they are.

        Parameters
        ----------
        X : (n, d) matrix
            The cases of the votes.
        y : anything that `as_graphs` takes
            Preferences that mention the new labels.
        label_features : dict of labels and vectors of numbers
            The features of the new labels.
        """
        check_is_fitted(self)
        known = len(self.labels_)
        if not {*(label_features or ())}.difference(self.labels_.tolist()):
            raise InputError("partial_fit learns new labels; give their label_features.")
        self.add_labels(label_features)
        X, graphs = self._check_features(X, reset=False), self._graphs_of(y)
        new = np.arange(len(self.labels_)) >= known
        design = add_intercept(X, self._constant) if self.fit_intercept else X
        design, graphs, weight = count_arcs(self.arc_weights, design, graphs, np.ones(X.shape[0]))
        prior = self.coef_.T
        if self.fit_intercept:
            prior = np.vstack([prior, self.intercept_ / self._constant])
        W = fit_new_labels(design, prior, new, self._bind_loss(graphs, self.C_ * weight))
        self._set_weights(W, self.n_features_in_, self._constant)
        return self

    def _check_label_features(self) -> None:
        if self.solver not in ("auto", "lbfgs") or self.cut_label or self.warm_start:
            raise ParameterError(
                "label_features are learnt by solver='lbfgs', without cut_label and warm_start; leave these out."
            )
        check_label_features(self.label_features)

"""Choose terms by what the supervision says of them; names survive, as in all of scikit-learn's selectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from arcrank._typing import Array, IntArray, Mask
from arcrank._validation import check_int, check_real
from arcrank.decompositions import get_decomposition
from arcrank.errors import InputError
from arcrank.graphs import LayeredGraphs, PreferenceGraphs, as_graphs
from arcrank.losses.zero_flows import FlowsOf, zero_flows
from arcrank.solvers.prototypes import rocchio_weights

__all__ = ["InformativeSelector", "RocchioSelector"]

_CELLS = 1 << 22
"""Dense blocks hold about this many numbers, so that memory does not grow with terms x labels."""


class _TermSelector(SelectorMixin, BaseEstimator):
    """What both share: reading X and y, and the mask `support_`."""

    def _read(self, X: Any, y: Any) -> tuple[sparse.csr_matrix, PreferenceGraphs]:
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X = sparse.csr_matrix(validate_data(self, X, accept_sparse="csr", dtype=np.float64))
        # as_graphs knows arrays and pandas; other objects that can become an array do so here.
        graphs = as_graphs(np.asarray(y) if hasattr(y, "__array__") and not hasattr(y, "iloc") else y)
        if len(graphs) != X.shape[0]:
            raise InputError(f"X has {X.shape[0]} rows and y has {len(graphs)}; pass one of each per instance")
        return X, graphs

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

    support_: Mask


class RocchioSelector(_TermSelector):
    """Keep the heaviest terms of each label's Rocchio prototype (Crammer & Singer 2002, section 4.4).

    A label's terms are those of positive weight, heaviest first; it keeps the larger of `n_terms` and `fraction` of
    them. A term is kept where any label keeps it. Among equal weights the first columns win.

    Parameters
    ----------
    n_terms : int
        How many terms a label keeps at least; all of positive weight, where there are fewer.
    fraction : float
        Of the terms of positive weight, between 0 and 1.
    beta : float
        The pull of Rocchio's prototypes towards the documents of the label.
    gamma : float
        Their push away from the others.

    Attributes
    ----------
    support_ : (d,) boolean array

    Examples
    --------
    >>> from arcrank.text import RocchioSelector, TermCounts
    >>> counts = TermCounts().fit(texts := ["crude oil", "oil tanker", "wheat"])
    >>> selector = RocchioSelector(n_terms=1).fit(counts.transform(texts), [["crude"], ["crude"], ["grain"]])
    >>> selector.get_feature_names_out(counts.get_feature_names_out()).tolist()
    ['oil', 'wheat']
    """

    def __init__(self, n_terms: int = 100, fraction: float = 0.025, *, beta: float = 16.0, gamma: float = 4.0) -> None:
        self.n_terms = n_terms
        self.fraction = fraction
        self.beta = beta
        self.gamma = gamma

    def fit(self, X: Any, y: Any) -> Self:
        """Choose terms from X, (n, d), and label sets y, anything `as_graphs` takes with at most two layers."""
        check_int("n_terms", self.n_terms, at_least=1)
        check_real("fraction", self.fraction, at_least=0, at_most=1)
        X, graphs = self._read(X, y)
        Y = _indicator(graphs)
        support = np.zeros(X.shape[1], dtype=bool)
        for labels in _blocks(Y.shape[1], X.shape[1]):
            for weights in rocchio_weights(X, Y[:, labels], self.beta, self.gamma):
                support[self._heaviest(weights)] = True
        if not support.any():
            raise InputError("no term has a positive weight for any label; X is empty, or no label is relevant")
        self.support_ = support
        return self

    def _heaviest(self, weights: Array) -> IntArray:
        positive = np.flatnonzero(weights > 0.0)
        wanted = max(self.n_terms, int(np.ceil(self.fraction * len(positive))))
        return positive[_largest(weights[positive], wanted)]


class InformativeSelector(_TermSelector):
    """Keep the terms that promise the first iteration of boosting most (Dekel et al. 2003, Theorem 1).

    The theorem bounds the fall of the loss by `1/rho sum_(w,y) (sqrt W+ - sqrt W-)^2` over terms w and labels y; a
    term's score is its part of the sum at zero scores, with `W+ = X'P` and `W- = X'Q` for inflow P and outflow Q.

    Parameters
    ----------
    n_terms : int
        How many terms to keep; all, where there are fewer. Among equal scores the first columns win.
    decomposition : str or callable
        How graphs are cut, as in `LogLinearRanker`.

    Attributes
    ----------
    scores_ : (d,) array
    support_ : (d,) boolean array

    Examples
    --------
    >>> from arcrank.text import InformativeSelector, TermCounts
    >>> counts = TermCounts().fit(texts := ["crude oil price", "oil price", "wheat price", "wheat"])
    >>> topics = ["crude", "crude", "grain", "grain"]
    >>> selector = InformativeSelector(n_terms=2).fit(counts.transform(texts), topics)
    >>> selector.get_feature_names_out(counts.get_feature_names_out()).tolist()
    ['oil', 'wheat']
    """

    def __init__(self, n_terms: int = 3200, *, decomposition: Any = "domination") -> None:
        self.n_terms = n_terms
        self.decomposition = decomposition

    def fit(self, X: Any, y: Any) -> Self:
        """Choose terms from X, (n, d), and preference graphs y, anything `as_graphs` takes."""
        check_int("n_terms", self.n_terms, at_least=1)
        cut = get_decomposition(self.decomposition)
        X, graphs = self._read(X, y)
        flows = zero_flows(graphs, cut)
        self.scores_ = np.zeros(X.shape[1])
        for labels in _blocks(graphs.n_labels, X.shape[1]):
            gains, losses = _correlations(X, flows, graphs.n_labels, labels)
            self.scores_ += np.square(np.sqrt(gains) - np.sqrt(losses)).sum(axis=1)
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[_largest(self.scores_, self.n_terms)] = True
        return self


def _correlations(X: sparse.csr_matrix, flows: FlowsOf, n_labels: int, labels: slice) -> tuple[Array, Array]:
    """Return W+ and W- of some labels, each (d, labels); X of either sign is split as X+ - X-."""
    plus = np.zeros((X.shape[1], len(range(n_labels)[labels])))
    minus = np.zeros_like(plus)
    for rows in _blocks(X.shape[0], n_labels):
        inflow, outflow = (flow[:, labels] for flow in flows(rows))
        for part, inward, outward in _signed(X[rows], inflow, outflow):
            plus += _dense(part.T @ inward)
            minus += _dense(part.T @ outward)
    return plus, minus


def _dense(matrix: Any) -> Array:
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def _signed(X: sparse.csr_matrix, inflow: Any, outflow: Any) -> Iterator[tuple[sparse.csr_matrix, Any, Any]]:
    yield X.maximum(0.0), inflow, outflow
    if (X.data < 0.0).any():
        yield (-X).maximum(0.0), outflow, inflow


def _blocks(length: int, width: int) -> Iterator[slice]:
    """Cut a length so that a block times a width has about _CELLS cells."""
    step = max(1, _CELLS // max(1, width))
    for start in range(0, length, step):
        yield slice(start, min(length, start + step))


def _largest(values: Array, n: int) -> IntArray:
    """Return the positions of the n largest values, the first ones among equals."""
    return np.argsort(-values, kind="stable")[:n]


def _indicator(graphs: PreferenceGraphs) -> sparse.csc_matrix:
    if not isinstance(graphs, LayeredGraphs):
        raise InputError(
            "RocchioSelector needs label sets (relevant or not), got explicit arcs; use InformativeSelector"
        )
    return sparse.csc_matrix(graphs.to_indicator(), dtype=np.float64)

"""Rocchio's prototypes as a label ranker (Crammer & Singer 2002, section 4.3)."""

from __future__ import annotations

from typing import Any, Self

from arcrank._validation import check_real
from arcrank.errors import GraphError
from arcrank.graphs import LayeredGraphs
from arcrank.rankers.base import LinearRanker, Sizes
from arcrank.solvers.prototypes import rocchio_weights

__all__ = ["RocchioRanker"]


class RocchioRanker(LinearRanker):
    """Rank labels by `max(0, beta/|R| sum_R x - gamma/|R^c| sum_{R^c} x)`, scaled to unit length.

    R holds the documents with the label and R^c all others, also those without any label. There is no intercept.

    Parameters
    ----------
    beta : float
        The pull of the documents in R, at least 0.
    gamma : float
        The push of the others, at least 0.

    Attributes
    ----------
    labels_ : (k,) array
        A matrix's columns, else sorted.
    coef_ : (k, d) array
        The prototypes; not negative, of unit length or all zero.

    Examples
    --------
    >>> from arcrank.rankers.rocchio import RocchioRanker
    >>> ranker = RocchioRanker().fit([[1, 0], [1, 2]], ["oil", "ship"])
    >>> ranker.coef_.round(2)
    array([[1.  , 0.  ],
           [0.35, 0.94]])
    >>> ranker.rank([[0, 1]]).tolist()
    [['ship', 'oil']]
    """

    def __init__(self, beta: float = 16.0, gamma: float = 4.0) -> None:
        self.beta = beta
        self.gamma = gamma

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        for name in ("beta", "gamma"):
            check_real(name, getattr(self, name), at_least=0)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from X, (n, d), and label sets y: anything `as_graphs` takes with at most two layers."""
        self.check_parameters()
        X = self._check_features(X, reset=True)
        graphs = self._learn_labels(y, X.shape[0])
        if not isinstance(graphs, LayeredGraphs):
            raise GraphError(f"Rocchio's prototypes need label sets, got {graphs!r}; use MMPRanker for bare arcs.")
        weights = rocchio_weights(X, graphs.to_indicator(), self.beta, self.gamma, unit_norm=True)
        self._set_weights(weights.T, X.shape[1])
        return self

    def _bytes_needed(self, sizes: Sizes) -> int:
        return 4 * super()._bytes_needed(sizes)  # sums, pull, push and their difference

"""Standardised features, dense or sparse."""

from __future__ import annotations

from typing import Any, Self

import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

__all__ = ["DenseScaler"]


class DenseScaler(StandardScaler):
    """`StandardScaler` that takes sparse matrices too: few features that are mostly not 0 become a dense matrix.

    Its parameters are those of `StandardScaler`.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> from arcrank.tables import DenseScaler
    >>> DenseScaler().fit_transform(csr_matrix([[1.0], [3.0]])).tolist()
    [[-1.0], [1.0]]
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the mean and the standard deviation of every column."""
        super().fit(_dense(X), y, sample_weight)
        return self

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """Subtract the means, and divide by the standard deviations."""
        return super().transform(_dense(X), copy)


def _dense(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else X

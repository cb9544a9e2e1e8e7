"""Joint features `x (x) z` of instances and labels, as products: the (candidates, p q) matrix is never stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank._typing import Array
from arcrank.solvers.products import row_products

__all__ = ["OuterFeatures"]

_ROWS = 1 << 14  # candidates whose products are in memory at a time


@dataclass(frozen=True)
class OuterFeatures:
    """Row c is `x_{row[c]} (x) z_{label[c]}`: feature a q + b is `x_a z_b`.

    X : (n, p) and Z : (k, q), dense or CSR
    row, label : (candidates,)

    Examples
    --------
    >>> X, Z = np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [3.0, 1.0]])
    >>> outer = OuterFeatures(X, Z, np.array([0, 0]), np.array([0, 1]))
    >>> (outer @ np.ones(4)).tolist(), (outer.T @ np.array([1.0, 1.0])).tolist()
    ([3.0, 12.0], [4.0, 1.0, 8.0, 2.0])
    """

    X: Any
    Z: Any
    row: NDArray[np.int64]
    label: NDArray[np.int64]

    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """(candidates, p q)."""
        return len(self.row), int(self.X.shape[1] * self.Z.shape[1])

    def __getitem__(self, at: Any) -> OuterFeatures:
        """These candidates, with only the instances that they belong to."""
        used, row = np.unique(self.row[at], return_inverse=True)
        return OuterFeatures(self.X[used], self.Z, row.ravel(), self.label[at])

    def rows(self, at: Any) -> Any:
        """The features of these candidates, stored."""
        X, Z = self.X[self.row[at]], self.Z[self.label[at]]
        if not sp.issparse(X) and not sp.issparse(Z):
            return np.einsum("ca,cb->cab", X, Z).reshape(len(X), -1)
        X, Z = sp.csr_matrix(X), sp.csr_matrix(Z)
        parts = [sp.kron(X[[c]], Z[[c]], format="csr") for c in range(X.shape[0])]
        return sp.vstack(parts, format="csr") if parts else sp.csr_matrix((0, self.shape[1]))

    def __matmul__(self, w: Array) -> Array:
        """`x' B z` of each candidate, (candidates,), where B is w as a (p, q) matrix."""
        return self._scores(np.asarray(self.X @ self._matrix(w)))

    def products(self, w: Array) -> Array:
        """The same, with sums in the order of features, so that a score does not depend on the other instances."""
        return self._scores(row_products(self.X, self._matrix(w)))

    @property
    def T(self) -> _Transposed:  # noqa: N802 - the name that matrices have for it
        """What `outer.T @ flow` multiplies by."""
        return _Transposed(self)

    def squares(self) -> Array:
        """The squared length of each candidate, `||x||^2 ||z||^2`."""
        return _row_sums(self.X, 2)[self.row] * _row_sums(self.Z, 2)[self.label]

    def nonzeros(self) -> Array:
        """How many features of each candidate are not 0."""
        return _row_sums(self.X, 0)[self.row] * _row_sums(self.Z, 0)[self.label]

    def values(self) -> tuple[Array, Array]:
        """All numbers that features are made of."""
        x, z = (part.data if sp.issparse(part) else part for part in (self.X, self.Z))
        return x, z

    def _matrix(self, w: Array) -> Array:
        return np.asarray(w).reshape(self.X.shape[1], self.Z.shape[1])

    def _scores(self, projected: Array) -> Array:
        scores = np.empty(len(self.row))
        for start in range(0, len(scores), _ROWS):
            at = slice(start, start + _ROWS)
            Z = self.Z[self.label[at]]
            Z = Z.toarray() if sp.issparse(Z) else Z
            scores[at] = np.einsum("cb,cb->c", projected[self.row[at]], Z)
        return scores


@dataclass(frozen=True)
class _Transposed:
    outer: OuterFeatures

    def __matmul__(self, flow: Array) -> Array:
        """`sum_c flow_c x_c (x) z_c = X' F Z` with the flows as a sparse (n, k) matrix F."""
        own = self.outer
        F = sp.csr_matrix((flow, (own.row, own.label)), shape=(own.X.shape[0], own.Z.shape[0]))
        mixed = F @ own.Z
        total = own.X.T @ mixed
        return np.asarray(total.toarray() if sp.issparse(total) else total).ravel()


def _row_sums(X: Any, power: int) -> Array:
    """Sums of squares of the rows, or with power 0 the number of values that are not 0."""
    if power == 0:
        return np.asarray((X != 0).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(X.multiply(X).sum(axis=1) if sp.issparse(X) else (X * X).sum(axis=1), dtype=np.float64).ravel()

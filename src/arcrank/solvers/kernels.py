"""Kernels between instances: polynomial, RBF, cosine, precomputed or a user's callable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from arcrank._typing import Array
from arcrank.errors import InputError
from arcrank.solvers.products import row_products

__all__ = ["Kernel", "check_diagonal", "indefinite"]


@dataclass(frozen=True)
class Kernel:
    """`k(x, y) + constant` with all parameters resolved.

    Attributes
    ----------
    name : str or callable
        "linear", "polynomial", "rbf", "cosine", "precomputed", or a callable `(A, B) -> (len(A), len(B))` array.
    gamma, degree, coef0 : float
        Those of "rbf" and "polynomial".
    constant : float
        Added to every value.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> Kernel("polynomial", degree=2, coef0=1.0).between(X, X).tolist()
    [[4.0, 4.0], [4.0, 9.0]]
    >>> Kernel("rbf", gamma=0.5).diagonal(X).tolist()
    [1.0, 1.0]
    """

    name: Any
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0
    constant: float = 0.0

    def between(self, A: Any, B: Any, product: Callable[[Any, Any], Array] = row_products) -> Array:
        """(len(A), len(B)); a precomputed A already holds the values.

        `product` is that of dense matrices: by default one in which rows do not depend on each other, np.matmul where
        only speed counts.
        """
        if self.name in ("polynomial", "rbf"):
            values = self.of_products(_inner(A, B, product), _squares(A)[:, None], _squares(B)[None, :])
        elif self.name == "cosine":
            values = _inner(_unit_rows(A), _unit_rows(B), product)
        elif self.name == "precomputed":
            values = A
        else:
            values = self._called(A, B)
        return np.asarray(values, dtype=np.float64) + self.constant

    def of_products(self, products: Array, left: Array | float, right: Array) -> Array:
        """Values of "polynomial" or "rbf" from inner products and squared lengths, without the constant."""
        if self.name == "polynomial":
            return np.asarray((self.gamma * products + self.coef0) ** self.degree)
        return np.asarray(np.exp(-self.gamma * np.maximum(left + right - 2.0 * products, 0.0)))

    def diagonal(self, X: Any) -> Array:
        """(n,) values k(x, x) + constant."""
        n = X.shape[0]
        if self.name == "rbf":
            values = np.ones(n)
        elif self.name == "cosine":
            values = _squares(_unit_rows(X))
        elif self.name == "polynomial":
            squares = _squares(X)
            values = self.of_products(squares, squares, squares)
        elif self.name == "precomputed":
            values = np.diagonal(X).copy()
        else:
            values = np.array([self._called(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(n)])
        return check_diagonal(values) + self.constant

    def _called(self, A: Any, B: Any) -> Array:
        values = self.name(A, B)
        values = np.asarray(values.toarray() if sp.issparse(values) else values, dtype=np.float64)
        if values.shape != (A.shape[0], B.shape[0]):
            raise InputError(
                f"The kernel returned shape {values.shape} for {A.shape[0]} and {B.shape[0]} instances; it must return "
                "one row for each of the first and one column for each of the second."
            )
        if not np.isfinite(values).all():
            raise InputError("The kernel returned NaN or infinite values; check X and the kernel's parameters.")
        return values


def indefinite() -> InputError:
    """The error for a matrix of kernel values that has a negative eigenvalue."""
    return InputError(
        "The precomputed kernel has a negative eigenvalue, so it is not an inner product and training would not "
        "converge; use a positive semi-definite kernel, or add a multiple of the identity."
    )


def check_diagonal(values: Array) -> Array:
    """Return the values k(x, x); raise an InputError where one is negative or not finite."""
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(
            f"The kernel of instance {row} with itself is {values[row]}; kernels must give finite numbers."
        )
    if (values < 0).any():
        raise indefinite()
    return np.asarray(values, dtype=np.float64)


def _inner(A: Any, B: Any, product: Callable[[Any, Any], Array]) -> Array:
    """Inner products of the rows of A with those of B, (len(A), len(B))."""
    if sp.issparse(B):
        return np.asarray((sp.csr_matrix(A) @ B.T).toarray())
    return row_products(A, B.T) if sp.issparse(A) else product(A, B.T)


def _squares(X: Any) -> Array:
    squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else (X**2).sum(axis=1)
    return np.asarray(squares, dtype=np.float64).ravel()


def _unit_rows(X: Any) -> Any:
    from sklearn.preprocessing import normalize  # it brings much of scikit-learn, which other kernels do without

    return normalize(X)

"""Kernels between instances: polynomial, RBF, cosine, precomputed or the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from arcrank._typing import Array
from arcrank._validation import check_real
from arcrank.errors import InputError, ParameterError
from arcrank.solvers.products import row_products

KERNELS = ("linear", "polynomial", "rbf", "cosine", "precomputed")
_ALL_EIGENVALUES = 1000  # rows of a precomputed matrix up to which all of its eigenvalues are looked at


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
        if self.name == "polynomial":
            values = (self.gamma * _inner(A, B, product) + self.coef0) ** self.degree
        elif self.name == "rbf":
            squares = _squares(A)[:, None] + _squares(B)[None, :]
            values = np.exp(-self.gamma * np.maximum(squares - 2.0 * _inner(A, B, product), 0.0))
        elif self.name == "cosine":
            values = _inner(normalize(A), normalize(B), product)
        elif self.name == "precomputed":
            values = A
        else:
            values = self._called(A, B)
        return np.asarray(values, dtype=np.float64) + self.constant

    def diagonal(self, X: Any) -> Array:
        """(n,) values k(x, x) + constant."""
        n = X.shape[0]
        if self.name == "rbf":
            values = np.ones(n)
        elif self.name == "cosine":
            values = _squares(normalize(X))
        elif self.name == "polynomial":
            values = (self.gamma * _squares(X) + self.coef0) ** self.degree
        elif self.name == "precomputed":
            values = np.diagonal(X).copy()
        else:
            values = np.array([self._called(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(n)])
        return _check_diagonal(values) + self.constant

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


def make_kernel(name: Any, X: Any, *, gamma: Any, degree: float, coef0: float, constant: float) -> Kernel:
    """Check the parameters of a kernel on the training instances X.

    Examples
    --------
    >>> import numpy as np
    >>> make_kernel("rbf", np.eye(2), gamma="auto", degree=3, coef0=0.0, constant=1.0)
    Kernel(name='rbf', gamma=0.5, degree=3, coef0=0.0, constant=1.0)
    """
    if not callable(name) and name not in KERNELS:
        raise ParameterError(f"kernel must be one of {', '.join(map(repr, KERNELS))} or a callable; got {name!r}.")
    if name == "polynomial":
        check_real("degree", degree, above=0)
        check_real("coef0", coef0, at_least=0)
    if name == "precomputed":
        check_gram(X)
    width = _width(gamma, X) if name in ("polynomial", "rbf") else 1.0
    return Kernel(name, width, degree, coef0, constant)


def _width(gamma: Any, X: Any) -> float:
    """ "scale" is 1 / (d Var(X)), "auto" 1 / d, as in scikit-learn's SVC."""
    d = max(1, X.shape[1])
    if isinstance(gamma, str):
        if gamma == "auto":
            return 1.0 / d
        if gamma == "scale":
            mean = float(X.mean())
            square = float(X.multiply(X).mean()) if sp.issparse(X) else float((X**2).mean())
            variance = square - mean**2
            return 1.0 / (d * variance) if variance > 0 else 1.0
    return check_real("gamma", gamma, above=0, also="'scale' or 'auto'")


def check_gram(K: Any) -> None:
    """Refuse a precomputed matrix that is no kernel.

    Always checked: square, finite, symmetric, `K_ij^2 <= K_ii K_jj`. No eigenvalue may be below -1e-6 times the
    largest: of the whole matrix up to 1,000 instances, beyond of that of 500 drawn at random, which may miss one.

    Examples
    --------
    >>> import numpy as np
    >>> check_gram(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> check_gram(np.array([[1.0, 2.0], [2.0, 1.0]]))
    Traceback (most recent call last):
    ...
    arcrank.errors.InputError: The precomputed kernel has a negative eigenvalue, ...
    """
    if sp.issparse(K) or K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise InputError(
            f"kernel='precomputed' needs the dense square matrix of kernel values of the training instances, got "
            f"{'a sparse matrix' if sp.issparse(K) else f'shape {K.shape}'}."
        )
    if not len(K):
        return
    diagonal = _check_diagonal(np.diagonal(K))
    tolerance = 1e-8 * max(float(np.abs(K).max()), np.finfo(np.float64).tiny)
    for start in range(0, len(K), 1000):
        part = K[start : start + 1000]
        if np.abs(part - K[:, start : start + 1000].T).max() > tolerance:
            raise InputError("The precomputed kernel is not symmetric; K[i, j] and K[j, i] must be equal.")
        if (part**2 > np.outer(diagonal[start : start + 1000], diagonal) + tolerance * (1 + diagonal.max())).any():
            raise _indefinite()
    rows = np.arange(len(K))
    if len(K) > _ALL_EIGENVALUES:
        rows = np.sort(np.random.default_rng(0).choice(len(K), 500, replace=False))
    eigenvalues = np.linalg.eigvalsh(K[np.ix_(rows, rows)])
    if eigenvalues[0] < -1e-6 * eigenvalues[-1]:
        raise _indefinite()


def _indefinite() -> InputError:
    return InputError(
        "The precomputed kernel has a negative eigenvalue, so it is no inner product and training would not end; use "
        "a positive semi-definite kernel, or add a multiple of the identity."
    )


def _check_diagonal(values: Array) -> Array:
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(
            f"The kernel of instance {row} with itself is {values[row]}; kernels must give finite numbers."
        )
    if (values < 0).any():
        raise _indefinite()
    return np.asarray(values, dtype=np.float64)


def _inner(A: Any, B: Any, product: Callable[[Any, Any], Array]) -> Array:
    """Inner products of the rows of A with those of B, (len(A), len(B))."""
    if sp.issparse(B):
        return np.asarray((sp.csr_matrix(A) @ B.T).toarray())
    return row_products(A, B.T) if sp.issparse(A) else product(A, B.T)


def _squares(X: Any) -> Array:
    squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else (X**2).sum(axis=1)
    return np.asarray(squares, dtype=np.float64).ravel()

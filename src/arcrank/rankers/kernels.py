"""Kernels from the parameters of a ranker: which names there are, and what values they allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from arcrank._validation import check_real
from arcrank.errors import InputError, ParameterError
from arcrank.solvers.kernels import Kernel, check_diagonal, indefinite

__all__ = ["KERNELS", "Kernel", "check_gram", "make_kernel"]

KERNELS = ("linear", "polynomial", "rbf", "cosine", "precomputed")
_ALL_EIGENVALUES = 1000  # rows of a precomputed matrix up to which all of its eigenvalues are checked


def make_kernel(name: Any, X: Any, *, gamma: Any, degree: float, coef0: float, constant: float) -> Kernel:
    """Check the parameters of a kernel on the training instances X.

    Examples
    --------
    >>> import numpy as np
    >>> make_kernel("rbf", np.eye(2), gamma="auto", degree=3, coef0=0.0, constant=1.0)
    Kernel(name='rbf', gamma=0.5, degree=3, coef0=0.0, constant=1.0)
    """
    check_kernel(name, gamma=gamma, degree=degree, coef0=coef0)
    if name == "precomputed":
        check_gram(X)
    width = _width(gamma, X) if name in ("polynomial", "rbf") else 1.0
    return Kernel(name, width, degree, coef0, constant)


def check_kernel(name: Any, *, gamma: Any, degree: Any, coef0: Any) -> None:
    """Refuse the name of no kernel, and parameters that the kernel cannot have.

    Examples
    --------
    >>> from arcrank.rankers.kernels import check_kernel
    >>> check_kernel("rbf", gamma="scale", degree=3, coef0=0.0)
    """
    if not callable(name) and name not in KERNELS:
        raise ParameterError(f"kernel must be one of {', '.join(map(repr, KERNELS))} or a callable; got {name!r}.")
    if name == "polynomial":
        check_real("degree", degree, above=0)
        check_real("coef0", coef0, at_least=0)
    if name in ("polynomial", "rbf") and not (isinstance(gamma, str) and gamma in ("scale", "auto")):
        check_real("gamma", gamma, above=0, also="'scale' or 'auto'")


def _width(gamma: Any, X: Any) -> float:
    """Gamma as a number: 1 / (d Var(X)) for "scale" and 1 / d for "auto", as in scikit-learn's SVC."""
    d = max(1, X.shape[1])
    if gamma == "auto":
        return 1.0 / d
    if gamma != "scale":
        return float(gamma)
    mean = float(X.mean())
    square = float(X.multiply(X).mean()) if sp.issparse(X) else float((X**2).mean())
    variance = square - mean**2
    return 1.0 / (d * variance) if variance > 0 else 1.0


def check_gram(K: Any) -> None:
    """Refuse a precomputed matrix that is not a kernel.

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
    diagonal = check_diagonal(np.diagonal(K))
    tolerance = 1e-8 * max(float(np.abs(K).max()), np.finfo(np.float64).tiny)
    for start in range(0, len(K), 1000):
        part = K[start : start + 1000]
        if np.abs(part - K[:, start : start + 1000].T).max() > tolerance:
            raise InputError("The precomputed kernel is not symmetric; K[i, j] and K[j, i] must be equal.")
        if (part**2 > np.outer(diagonal[start : start + 1000], diagonal) + tolerance * (1 + diagonal.max())).any():
            raise indefinite()
    rows = np.arange(len(K))
    if len(K) > _ALL_EIGENVALUES:
        rows = np.sort(np.random.default_rng(0).choice(len(K), 500, replace=False))
    eigenvalues = np.linalg.eigvalsh(K[np.ix_(rows, rows)])
    if eigenvalues[0] < -1e-6 * eigenvalues[-1]:
        raise indefinite()

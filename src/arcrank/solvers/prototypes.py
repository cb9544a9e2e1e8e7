"""Rocchio's prototypes, one a label (Crammer & Singer 2002, section 4.3, after Ittner, Lewis & Ahn 1995)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from arcrank._typing import Array

__all__ = ["rocchio_weights"]


def rocchio_weights(X: Any, Y: Any, beta: float = 16.0, gamma: float = 4.0, *, unit_norm: bool = False) -> Array:
    """Return the prototypes `max(0, beta/|R| sum_R x - gamma/|R^c| sum_{R^c} x)` of k labels.

    Parameters
    ----------
    X : (n, d), sparse or dense
    Y : (n, k) indicator, sparse or dense
        R holds the rows where a label is on, R^c the others; a mean over no rows is zero.
    beta, gamma : float
        The pull of the rows in R and the push of the others.
    unit_norm : bool
        Scale every prototype to unit Euclidean length; one that is all zero stays so.

    Returns
    -------
    (k, d) array, not negative.

    Examples
    --------
    >>> from arcrank.solvers.prototypes import rocchio_weights
    >>> rocchio_weights([[1.0, 0.0], [1.0, 2.0]], [[1, 0], [0, 1]])
    array([[12.,  0.],
           [12., 32.]])
    """
    X = sparse.csr_matrix(X, dtype=np.float64)
    Y = sparse.csr_matrix(Y, dtype=np.float64)
    inside = np.asarray((Y.T @ X).toarray())
    total = np.asarray(X.sum(axis=0)).ravel()
    rows = np.asarray(Y.sum(axis=0)).ravel()
    pull = beta / np.maximum(rows, 1.0)
    push = gamma / np.maximum(X.shape[0] - rows, 1.0)
    weights = np.maximum(inside * (pull + push)[:, None] - push[:, None] * total, 0.0)
    return _unit(weights) if unit_norm else weights


def _unit(weights: Array) -> Array:
    length = np.linalg.norm(weights, axis=1, keepdims=True)
    return weights / np.where(length > 0.0, length, 1.0)

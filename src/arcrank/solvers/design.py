"""What a solver needs from the features: products with weights, whatever the base ranking functions are."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from arcrank._typing import Array, IntArray, Mask


class Design(Protocol):
    """Base ranking functions of instance and label (Dekel et al. 2003, section 2)."""

    weight_shape: tuple[int, ...]

    def scores(self, W: Array) -> Array:
        """Scores of all labels, (n, k), or of all candidates."""

    def transposed(self, flow: Array) -> Array:
        """Sum over instances and labels of flow times the base functions there, in the shape of the weights."""


class LabelDesign:
    """The papers' base functions `h_(w,y)(x, y') = x_w [y' = y]`: weights (d, k), scores X W."""

    def __init__(self, X: Any, n_labels: int, n_jobs: int = 1) -> None:
        self.X = X
        self.weight_shape: tuple[int, ...] = X.shape[1], n_labels
        self.n_jobs = n_jobs
        self._columns = _column_blocks(X, n_jobs)

    def scores(self, W: Array) -> Array:
        """`X W`, (n, k)."""
        return np.ascontiguousarray(self.X @ W)

    def transposed(self, flow: Array) -> Array:
        """X' flow, (d, k). Outflows of label sets are mostly 0: a sparse product then costs next to nothing."""
        if sp.issparse(self.X) and 10 * np.count_nonzero(flow) < flow.size:
            return np.asarray((self.X.T @ sp.csr_matrix(flow)).toarray())
        if len(self._columns) == 1:
            return np.asarray(self._columns[0].T @ flow)
        with ThreadPoolExecutor(self.n_jobs) as threads:
            return np.concatenate(list(threads.map(lambda part: np.asarray(part.T @ flow), self._columns)))

    def split(self) -> tuple[LabelDesign, LabelDesign | None]:
        """The positive and the negative part of X; None where X has no negative entry."""
        if (self.X.data if sp.issparse(self.X) else self.X).min(initial=0.0) >= 0:
            return self, None
        negative = -self.X.minimum(0) if sp.issparse(self.X) else -np.minimum(self.X, 0)
        k = self.weight_shape[1]
        return LabelDesign(self.X + negative, k, self.n_jobs), LabelDesign(negative, k, self.n_jobs)

    def largest_norm(self, rows: Mask) -> float:
        """The largest 1-norm of these rows of X."""
        norms = np.asarray(abs(self.X).sum(axis=1)).ravel()
        return float(norms[rows].max(initial=0.0))


class CandidateDesign:
    """Joint features Z of instance and candidate, (candidates, d): weights (d,), scores Z w."""

    def __init__(self, Z: Any) -> None:
        self._Z = Z
        self.weight_shape: tuple[int, ...] = (Z.shape[1],)

    def scores(self, W: Array) -> Array:
        """`Z w`, (candidates,)."""
        return np.asarray(self._Z @ W)

    def transposed(self, flow: Array) -> Array:
        """`Z' flow`, (d,)."""
        return np.asarray(self._Z.T @ flow)


def csr_triple(X: Any) -> tuple[IntArray, IntArray, Array]:
    """Pointer, columns and values of a matrix, CSR or dense, as kernels of candidates take them.

    The values of a dense matrix are not copied, so zeros are among them.
    """
    if sp.issparse(X):
        data = np.ascontiguousarray(X.data, dtype=np.float64)
        return X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False), data
    n, d = X.shape
    values = np.ascontiguousarray(X, dtype=np.float64).reshape(-1)
    return np.arange(n + 1, dtype=np.int64) * d, np.tile(np.arange(d, dtype=np.int32), n), values


def _column_blocks(X: Any, n_jobs: int) -> list[Any]:
    """Blocks of columns for threads: each entry of X'flow is summed by one of them, so their number changes nothing.

    A dense X is left whole: BLAS sums in an order that depends on the shape.
    """
    if n_jobs == 1 or not sp.issparse(X):
        return [X]
    X = X.tocsc()
    bounds = np.linspace(0, X.shape[1], n_jobs + 1).astype(int)
    return [X[:, start:stop] for start, stop in pairwise(bounds)]

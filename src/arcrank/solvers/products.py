"""Products of instances with weights in which the result of a row does not depend on the other rows.

BLAS rounds a dense product differently for one row than for many, and differently on each processor, so that a near tie
between two labels could be decided by the size of a batch. Here every entry is summed in the order of the features, as
SciPy's CSR product does it: rows are independent, dense and sparse instances of equal values give the same bits, and so
does every processor. Two labels tie only where their scores are equal. It takes about three times as long as BLAS, on
dense instances only; solvers, whose result does not depend on single rows, use BLAS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arcrank._typing import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["row_products"]

_ROWS = 1024  # dense rows that are brought into CSR form at a time
_FEW_ROWS = 4  # sparse rows that are multiplied without SciPy
_CELLS = 1 << 15  # products of one row that are in memory at a time
_COLUMNS = 2048  # columns of W whose sums stay in the processor's cache


def row_products(X: Any, W: Any) -> Array:
    """Return X @ W, (n, k), for CSR or dense X (n, d) and dense W (d, k).

    Examples
    --------
    >>> import numpy as np
    >>> X, W = np.array([[0.1, 0.2, 0.3], [1.0, 0.0, 2.0]]), np.array([[1.0], [10.0], [100.0]])
    >>> bool(row_products(X, W)[0] == row_products(X[:1], W)[0])
    True
    """
    W = np.ascontiguousarray(W, dtype=np.float64)
    if hasattr(X, "indptr"):
        return _sparse_products(X, W)
    X = np.ascontiguousarray(X, dtype=np.float64)
    out = np.empty((X.shape[0], W.shape[1]))
    for columns in _column_blocks(*out.shape):
        part = W if len(columns) == W.shape[1] else np.ascontiguousarray(W[:, columns])
        for start in range(0, X.shape[0], _ROWS):
            rows = slice(start, start + _ROWS)
            out[rows, columns.start : columns.stop] = _dense_as_csr(X[rows]) @ part
    return out


def _sparse_products(X: Any, W: Array) -> Array:
    """The product of a CSR matrix, of SciPy or not; for few rows in NumPy, since SciPy takes a while to import."""
    if X.shape[0] > _FEW_ROWS:
        from scipy.sparse import csr_matrix

        return np.asarray(csr_matrix((X.data, X.indices, X.indptr), shape=X.shape) @ W)
    limits = X.indptr.tolist()
    out = np.zeros((X.shape[0], W.shape[1]))
    for row, start in enumerate(limits[:-1]):
        out[row] = _row_product(X.data[start : limits[row + 1]], X.indices[start : limits[row + 1]], W)
    return out


def _row_product(values: Array, columns: Any, W: Array) -> Array:
    """The product of one row, summed in the order of its features.

    NumPy adds up rows one after the other; it sums in pairs only along the last axis, which one label would have.
    """
    out = np.zeros(W.shape[1])
    step = max(1, _CELLS // max(1, W.shape[1])) if W.shape[1] > 1 else 1
    for start in range(0, len(values), step):
        parts = values[start : start + step, None] * W[columns[start : start + step]]
        parts[0] += out
        np.add.reduce(parts, axis=0, out=out)
    return out


def _column_blocks(n: int, k: int) -> list[range]:
    """Blocks pay where W is read more than a few times."""
    width = _COLUMNS if n > 8 else max(k, 1)
    return [range(start, min(k, start + width)) for start in range(0, k, width)]


def _dense_as_csr(X: Array) -> csr_array:
    """X with all of its values stored, zeros too, without a copy of them."""
    from scipy.sparse import csr_array

    n, d = X.shape
    kind = np.int32 if n * d < 2**31 else np.int64
    indices = np.tile(np.arange(d, dtype=kind), n)
    return csr_array((X.reshape(-1), indices, np.arange(n + 1, dtype=kind) * d), shape=(n, d))

"""Sparse matrices as three arrays, for what must not import SciPy: ranking a document from the command line."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arcrank._typing import Array, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["Csr", "canonical", "is_sparse", "stable_order"]

_FEW = 4096  # keys that NumPy sorts faster than SciPy is imported


def is_sparse(value: Any) -> bool:
    """Whether a value is a sparse matrix or array of SciPy; none exists before `scipy.sparse` is imported."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(value))


@dataclass(slots=True, eq=False)
class Csr:
    """A CSR matrix; its attributes have the names and the meaning of those of SciPy's.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Csr(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 1]), np.array([0, 2, 3]), (2, 4))
    >>> rows[1:].indices.tolist(), rows[1:].shape, rows.nnz
    ([1], (1, 4), 3)
    """

    data: Array
    indices: IntArray
    indptr: IntArray
    shape: tuple[int, int]

    @property
    def nnz(self) -> int:
        """The number of stored values."""
        return len(self.data)

    def __getitem__(self, rows: slice) -> Csr:
        """Return some successive rows."""
        start, stop, _ = rows.indices(self.shape[0])
        low, high = int(self.indptr[start]), int(self.indptr[max(start, stop)])
        indptr = self.indptr[start : max(start, stop) + 1] - low
        return Csr(self.data[low:high], self.indices[low:high], indptr, (len(indptr) - 1, self.shape[1]))

    def matrix(self) -> csr_matrix:
        """Return SciPy's matrix of these arrays, whose indices are sorted and distinct within a row."""
        from scipy.sparse import csr_matrix

        found = csr_matrix((self.data, self.indices, self.indptr), shape=self.shape)
        found.has_canonical_format = True  # known, and costly to find out
        return found


def stable_order(keys: IntArray, n_keys: int) -> IntArray:
    """Return the positions of keys from 0 to n_keys - 1 in ascending order; equal keys stay in their order.

    Many keys are sorted by counting, in linear time.

    >>> import numpy as np
    >>> stable_order(np.array([1, 0, 1, 0], dtype=np.int32), 2).tolist()
    [1, 3, 0, 2]
    """
    if len(keys) <= _FEW:
        return np.argsort(keys, kind="stable")
    from scipy.sparse import csr_matrix

    ones = np.ones(len(keys), dtype=np.int8)
    by_position = csr_matrix((ones, keys, np.arange(len(keys) + 1)), shape=(len(keys), n_keys))
    order: IntArray = by_position.tocsc().indices
    return order


def canonical(rows: Csr) -> Csr:
    """Return the matrix with ascending indices in each row; values of equal indices are added.

    >>> import numpy as np
    >>> found = canonical(Csr(np.array([1.0, 2.0, 3.0]), np.array([4, 2, 4]), np.array([0, 3]), (1, 5)))
    >>> found.indices.tolist(), found.data.tolist(), found.indptr.tolist()
    ([2, 4], [2.0, 4.0], [0, 2])
    """
    if _ascend(rows):
        return rows
    return _sorted_few(rows) if rows.nnz <= _FEW else _sorted_many(rows)


def _sorted_many(rows: Csr) -> Csr:
    from scipy.sparse import csr_matrix

    found = csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape)
    found.sum_duplicates()
    return Csr(found.data, found.indices, found.indptr, rows.shape)


def _sorted_few(rows: Csr) -> Csr:
    number = np.repeat(np.arange(rows.shape[0], dtype=np.int32), np.diff(rows.indptr))
    order = np.lexsort((rows.indices, number))
    indices, number = rows.indices[order], number[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (indices[1:] != indices[:-1]) | (number[1:] != number[:-1])
    data = np.add.reduceat(rows.data[order], np.flatnonzero(first))
    ends = np.concatenate(([0], np.cumsum(first)))[rows.indptr]
    return Csr(data, indices[first], ends, rows.shape)


def _ascend(rows: Csr) -> bool:
    """Whether indices ascend strictly within each row."""
    ascends = np.ones(rows.nnz + 1, dtype=bool)
    ascends[1:-1] = rows.indices[1:] > rows.indices[:-1]
    ascends[rows.indptr] = True  # the first of a row follows another row
    return bool(ascends.all())

"""Weights of term counts, on arrays: the logarithm, the idf and the length of a row."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from arcrank._csr import Csr
from arcrank._typing import Array, IntArray
from arcrank.errors import ParameterError

__all__ = ["check_norm", "damped", "document_frequency", "plain_idf", "row_sums", "smooth_idf", "unit_rows", "weighed"]

_NORMS = ("l2", "l1", None)
Matrix = TypeVar("Matrix", bound=Any)
"""A CSR matrix: `Csr` or SciPy's."""


def damped(counts: Array) -> Array:
    """`1 + log(tf)` for tf >= 1, tf itself below: non-negative, increasing, and smooth where they meet."""
    return np.where(counts < 1.0, counts, 1.0 + np.log(np.maximum(counts, 1.0)))


def document_frequency(counts: Any) -> NDArray[np.int64]:
    """Return in how many rows each column is stored: (d,)."""
    return np.bincount(counts.indices, minlength=counts.shape[1])


def plain_idf(rows: NDArray[np.int64], n: int) -> Array:
    """`log(n/u)`; a term in no row counts as in one."""
    return np.log(n / np.maximum(rows, 1))


def smooth_idf(rows: NDArray[np.int64], n: int) -> Array:
    """`log((1 + n)/(1 + u)) + 1`: as if one more row held every term, and never zero."""
    return np.log((1.0 + n) / (1.0 + rows)) + 1.0


def row_sums(data: Array, indptr: IntArray) -> Array:
    """Return the sum of each row of a CSR matrix: (n,)."""
    sums, some = np.zeros(len(indptr) - 1), np.flatnonzero(np.diff(indptr))
    sums[some] = np.add.reduceat(data, indptr[some]) if len(some) else 0.0
    return sums


def unit_rows(matrix: Matrix, norm: str | None) -> Matrix:
    """Scale every row of a CSR matrix to unit length, in place; empty rows stay empty."""
    check_norm(norm)
    if norm is None:
        return matrix
    if norm == "l1":
        length = row_sums(np.abs(matrix.data), matrix.indptr)
    else:
        length = np.sqrt(row_sums(np.square(matrix.data), matrix.indptr))
    length[length == 0.0] = 1.0
    matrix.data /= np.repeat(length, np.diff(matrix.indptr))
    return matrix


def check_norm(norm: object) -> None:
    """Raise a ParameterError unless this is a norm that `unit_rows` knows."""
    if norm not in _NORMS:
        raise ParameterError(f"norm must be one of {_NORMS}, got {norm!r}")


def weighed(counts: Csr, idf: Array | None, *, sublinear: bool, norm: str | None) -> Csr:
    """Turn counts into weights, in place."""
    if sublinear:
        counts.data = damped(counts.data)
    if idf is not None:
        counts.data *= idf[counts.indices]
    return unit_rows(counts, norm)

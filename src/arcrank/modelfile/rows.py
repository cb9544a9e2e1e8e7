"""A matrix of which most rows are zero, as arrays: the numbers of the other rows, and these rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["matrix_of", "row_arrays"]


def row_arrays(matrix: NDArray[np.float64]) -> dict[str, NDArray[Any]] | None:
    """Return "numbers" and "rows", or None where the matrix itself is as small."""
    bits = np.ascontiguousarray(matrix).view(np.int64)  # so that -0.0 is not zero and comes back as it was
    numbers = np.flatnonzero(bits.any(axis=1)).astype(np.int64)
    if len(numbers) * (matrix.shape[1] + 1) >= matrix.size:
        return None
    return {"numbers": numbers, "rows": matrix[numbers]}


def matrix_of(arrays: Mapping[str, NDArray[Any]], length: int) -> NDArray[np.float64]:
    """Return the whole matrix of so many rows."""
    numbers, rows = arrays["numbers"], arrays["rows"]
    if rows.ndim != 2 or rows.dtype != np.float64 or numbers.shape != rows.shape[:1] or numbers.dtype != np.int64:
        raise ValueError("rows and their numbers do not agree")
    if (np.diff(numbers, prepend=-1, append=length) <= 0).any():
        raise ValueError("numbers of rows that are not in order, or beyond the matrix")
    try:
        matrix = np.zeros((length, rows.shape[1]))
    except MemoryError as error:
        raise ValueError(str(error)) from None
    matrix[numbers] = rows
    return matrix

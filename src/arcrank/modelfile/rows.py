"""A matrix whose rows are mostly zero, as two arrays: the numbers of its nonzero rows, and these rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank.errors import ModelFileError

__all__ = ["StoredRows", "check_memory", "row_arrays"]


def row_arrays(matrix: NDArray[np.float64]) -> dict[str, NDArray[Any]] | None:
    """Return "numbers" and "rows", or None if the matrix itself takes no more space."""
    bits = np.ascontiguousarray(matrix).view(np.int64)  # so that -0.0 does not count as zero and is kept
    numbers = np.flatnonzero(bits.any(axis=1)).astype(np.int64)
    if len(numbers) * (matrix.shape[1] + 1) >= matrix.size:
        return None
    return {"numbers": numbers, "rows": matrix[numbers]}


class StoredRows:
    """A matrix that is still its nonzero rows, so that its shape is checked before memory is allocated for it."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], length: Any) -> None:
        numbers, rows = arrays["numbers"], arrays["rows"]
        if rows.ndim != 2 or rows.dtype != np.float64 or numbers.shape != rows.shape[:1] or numbers.dtype != np.int64:
            raise ValueError("rows and their numbers do not agree")
        if isinstance(length, bool) or not isinstance(length, int) or length < 0:
            raise ValueError("a matrix whose length is not a whole number")
        ascend = bool((numbers[1:] > numbers[:-1]).all())
        if not ascend or (len(numbers) and not (numbers[0] >= 0 and numbers[-1] < length)):
            raise ValueError("row numbers that are not ascending, or outside the matrix")
        self.numbers, self.rows, self.shape = numbers, rows, (length, rows.shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes of the whole matrix."""
        return 8 * self.shape[0] * self.shape[1]

    def expand(self) -> NDArray[np.float64]:
        """Return the whole matrix."""
        try:
            matrix = np.zeros(self.shape)
        except MemoryError as error:
            raise ValueError(str(error)) from None
        matrix[self.numbers] = self.rows
        return matrix


def check_memory(values: Iterable[Any]) -> None:
    """Refuse matrices that, when expanded, exceed the memory of this machine."""
    needed = sum(value.nbytes for value in values if isinstance(value, StoredRows))
    here = _memory()
    if needed > here:
        raise ModelFileError(
            f"The weights of this model take {needed / 1e9:,.1f} GB of memory, and this machine has {here / 1e9:,.1f} "
            "GB. Load it on a larger machine, or train with fewer features."
        )


def _memory() -> float:
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):  # not available on every system
        return float("inf")

"""Rows of a kernel matrix, computed when asked for and kept within a memory bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array
from arcrank.errors import InputError

Compute = Callable[[NDArray[np.int64]], Array]


class KernelRows:
    """The last used rows of an (n, n) kernel matrix.

    compute : row numbers -> (len(rows), n) values.
    diagonal : (n,) values k(x_i, x_i), at least 0.
    megabytes : bound on the memory of kept rows; where all n rows fit, each is computed once.

    >>> X = np.eye(3)
    >>> kernel = KernelRows(lambda rows: X[rows] @ X.T, np.ones(3), megabytes=1)
    >>> kernel.rows(np.array([2, 0]))
    array([[0., 0., 1.],
           [1., 0., 0.]])
    >>> kernel.computed
    2
    """

    def __init__(self, compute: Compute, diagonal: Array, megabytes: float) -> None:
        n = len(diagonal)
        self.diagonal = np.ascontiguousarray(diagonal, dtype=np.float64)
        self.computed = 0
        self._compute = compute
        self._slots = np.empty((min(n, int(megabytes * 2**20 / (8 * max(1, n)))), n))
        self._slot_of = np.full(n, -1, dtype=np.int64)
        self._owner = np.full(len(self._slots), -1, dtype=np.int64)
        self._used = np.zeros(len(self._slots), dtype=np.int64)
        self._clock = 0

    def rows(self, wanted: NDArray[np.int64]) -> Array:
        """(len(wanted), n) rows of distinct numbers."""
        self._clock += 1
        result = np.empty((len(wanted), len(self.diagonal)))
        kept = self._slot_of[wanted] >= 0
        slots = self._slot_of[wanted[kept]]
        result[kept] = self._slots[slots]
        self._used[slots] = self._clock
        missing = wanted[~kept]
        if len(missing):
            fresh = self._fresh(missing)
            result[~kept] = fresh
            self._keep(missing, fresh)
        return result

    def _fresh(self, missing: NDArray[np.int64]) -> Array:
        self.computed += len(missing)
        values = self._compute(missing)
        if not np.isfinite(values).all():
            row = missing[np.flatnonzero(~np.isfinite(values).all(axis=1))[0]]
            raise InputError(f"The kernel of instance {row} is NaN or infinite; check X and the kernel's parameters.")
        return values

    def _keep(self, missing: NDArray[np.int64], fresh: Array) -> None:
        """Put new rows in place of those that were not used for longest."""
        size = min(len(missing), len(self._slots))
        if not size:
            return
        slots = np.argpartition(self._used, size - 1)[:size]
        self._slot_of[self._owner[slots][self._owner[slots] >= 0]] = -1
        self._slots[slots], self._owner[slots] = fresh[:size], missing[:size]
        self._slot_of[missing[:size]] = slots
        self._used[slots] = self._clock

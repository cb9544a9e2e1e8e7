"""The arrays of a ranker of very many labels: what scoring needs, without SciPy, scikit-learn and numba."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rows", "SparseWeights", "csr_rows", "share"]

Rows = tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64]]


class SparseWeights(NamedTuple):
    """Weights by feature: those of feature j are ptr[j]:ptr[j + 1], and their labels ascend."""

    ptr: NDArray[np.int64]
    label: NDArray[np.int32]
    weight: NDArray[np.float32]

    @classmethod
    def of(cls, matrix: Any) -> SparseWeights:
        """From a (d, k) sparse matrix."""
        matrix.sort_indices()
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float32))

    def features(self) -> NDArray[np.int32]:
        """The feature of each weight."""
        return np.repeat(np.arange(len(self.ptr) - 1, dtype=np.int32), np.diff(self.ptr))

    def keep(self, kept: NDArray[np.bool_]) -> SparseWeights:
        """Only the weights that a mask selects."""
        sums = np.concatenate([[0], np.cumsum(kept)])
        return SparseWeights(sums[self.ptr], self.label[kept], self.weight[kept])


def csr_rows(X: Any) -> Rows:
    """The arrays of a CSR matrix as kernels take them."""
    return X.data.astype(np.float32), X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64)


def share(n: int, n_jobs: int, threads: ThreadPoolExecutor, work: Callable[[int, int], None]) -> None:
    """Call `work(first, last)` for about equal parts of 0..n, one for each thread."""
    if n_jobs == 1:
        work(0, n)
        return
    ends = np.linspace(0, n, n_jobs + 1).astype(int)
    list(threads.map(work, ends[:-1].tolist(), ends[1:].tolist()))

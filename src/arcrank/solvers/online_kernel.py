"""MMP with a kernel (the outlook of Crammer & Singer 2002): prototypes as sums over support vectors.

A document that was not ranked perfectly becomes a support vector; its coefficients are the steps of Fig. 2. It costs
O(support vectors) kernel values per document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank._typing import Array, IntArray
from arcrank.graphs import PreferenceGraphs
from arcrank.graphs.base import row_blocks
from arcrank.solvers.kernels import Kernel
from arcrank.solvers.online import Progress
from arcrank.solvers.products import row_products

__all__ = ["SupportVectors"]


@dataclass(eq=False)
class SupportVectors:
    """Support vectors as CSR (m, d), their coefficients (m, k) and the number of rounds before each."""

    vectors: sp.csr_matrix
    coefficients: Array
    before: NDArray[np.int64]

    @classmethod
    def none(cls, d: int, k: int) -> SupportVectors:
        """No support vectors yet, for d features and k labels."""
        return cls(sp.csr_matrix((0, d)), np.empty((0, k)), np.empty(0, dtype=np.int64))

    @property
    def n_columns(self) -> int:
        """The number of labels."""
        return self.coefficients.shape[1]

    def grow(self, k: int) -> None:
        """Add labels of coefficient zero."""
        m, known = self.coefficients.shape
        self.coefficients = np.hstack([self.coefficients, np.zeros((m, k - known))])

    def scores(self, X: Any, kernel: Kernel, average: bool, rounds: int) -> Array:
        """Scores of all labels, (n, k); `average` takes the mean of the prototypes after rounds 1..T."""
        coefficients = self.coefficients
        if not len(coefficients):
            return np.zeros((X.shape[0], coefficients.shape[1]))
        if average:
            coefficients = coefficients * (1.0 - self.before / rounds)[:, None]
        X = sp.csr_matrix(X)
        blocks = [
            row_products(kernel.between(X[rows], self.vectors), coefficients)
            for rows in row_blocks(X.shape[0], len(coefficients))
        ]
        return np.vstack(blocks)

    def learn(
        self, rule: int, X: Any, graphs: PreferenceGraphs, rows: IntArray, progress: Progress, kernel: Kernel
    ) -> None:
        """See the rows of X, CSR (n, d), in the given order."""
        from arcrank.solvers.online_kernel_rounds import Buffer  # it needs numba, which scoring does without

        progress.reserve(len(rows))
        buffer = Buffer((self.vectors, self.coefficients, self.before), X, rows, kernel)
        buffer.learn(rule, graphs, rows, progress)
        self.vectors, self.coefficients, self.before = buffer.trimmed(X.shape[1])

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
from arcrank.graphs.base import row_blocks
from arcrank.solvers.kernels import Kernel
from arcrank.solvers.online import Progress, born_later
from arcrank.solvers.online_margin import Stepper
from arcrank.solvers.products import row_products

__all__ = ["SupportVectors"]


@dataclass(eq=False)
class SupportVectors:
    """Support vectors as CSR (m, d), their coefficients (m, k), and the number of rounds before each and each label."""

    vectors: sp.csr_matrix
    coefficients: Array
    before: NDArray[np.int64]
    born: NDArray[np.int64]

    @classmethod
    def none(cls, d: int, k: int) -> SupportVectors:
        """No support vectors yet, for d features and k labels."""
        return cls(sp.csr_matrix((0, d)), np.empty((0, k)), np.empty(0, dtype=np.int64), np.zeros(k, dtype=np.int64))

    @property
    def n_columns(self) -> int:
        """The number of labels."""
        return self.coefficients.shape[1]

    def grow(self, k: int, rounds: int) -> None:
        """Add labels of coefficient zero after so many rounds."""
        self.born = born_later(self.born, k, rounds)
        m, known = self.coefficients.shape
        self.coefficients = np.hstack([self.coefficients, np.zeros((m, k - known))])

    def scores(self, X: Any, kernel: Kernel, average: bool, rounds: int) -> Array:
        """Scores of all labels, (n, k); `average` takes the mean of the prototypes, as in `Prototypes.mean`."""
        coefficients = self.coefficients
        if not len(coefficients):
            return np.zeros((X.shape[0], coefficients.shape[1]))
        if average:
            # A step of round b + 1 is part of the weights after rounds b + 1..T.
            coefficients = coefficients * (rounds - self.before)[:, None] / np.maximum(1, rounds - self.born)
        X = sp.csr_matrix(X)
        blocks = [
            row_products(kernel.between(X[rows], self.vectors), coefficients)
            for rows in row_blocks(X.shape[0], len(coefficients))
        ]
        return np.vstack(blocks)

    def learn(
        self, stepper: Stepper, X: Any, rows: IntArray, progress: Progress, kernel: Kernel, budget: int | None = None
    ) -> None:
        """See the rows of X, CSR (n, d), in the given order; with a budget, keep no more vectors than that."""
        from arcrank.solvers.online_kernel_rounds import Buffer  # it needs numba, which scoring does without

        progress.reserve(len(rows))
        buffer = Buffer((self.vectors, self.coefficients, self.before), X, rows, kernel)
        buffer.learn(stepper, rows, progress, budget)
        self.vectors, self.coefficients, self.before = buffer.trimmed(X.shape[1])

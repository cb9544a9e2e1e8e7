"""MMP with a kernel (the outlook of Crammer & Singer 2002): prototypes as sums over support vectors.

A document that was not ranked perfectly becomes a support vector; its coefficients are the steps of Fig. 2. It costs
O(support vectors) kernel values a document.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank._typing import Array, IntArray
from arcrank.graphs import LayeredGraphs, PreferenceGraphs
from arcrank.graphs.base import row_blocks
from arcrank.solvers.kernels import Kernel
from arcrank.solvers.online import Progress, check_seen, csr_arrays, graph_arrays
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
        return cls(sp.csr_matrix((0, d)), np.empty((0, k)), np.empty(0, dtype=np.int64))

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
        progress.reserve(len(rows))
        buffer = _Buffer(self, X, rows, kernel)
        judge = _judge(graphs)
        with np.errstate(over="ignore", invalid="ignore"):  # scores that are not finite are an error of ours
            for place, i in enumerate(rows):
                if not buffer.see(rule, i, judge, progress):
                    check_seen(place, rows)
        self.vectors, self.coefficients, self.before = buffer.trimmed(X.shape[1])


def _judge(graphs: PreferenceGraphs) -> Callable[[int, Array, Array], tuple[int, int]]:
    """A function from (row, scores, step) to (|E|, arcs) that fills in the step."""
    from arcrank.compiled import online

    k, arrays = graphs.n_labels, graph_arrays(graphs)
    if not isinstance(graphs, LayeredGraphs):
        counts, (ptr, head, tail) = graphs.arc_counts(), arrays
        return lambda i, scores, step: (online.wrong_arcs(i, ptr, head, tail, scores, step), int(counts[i]))
    ptr, label, level, rest, n_layers = arrays
    levels = np.empty(k, dtype=np.int32)
    sizes, tree = np.empty(n_layers, dtype=np.int64), np.empty(n_layers + 1, dtype=np.int64)

    def layered(i: int, scores: Array, step: Array) -> tuple[int, int]:
        arcs = online.read_layers(i, ptr, label, level, rest, levels, sizes)
        return (online.wrong_layers(levels, sizes, scores, step, tree) if arcs else 0), arcs

    return layered


class _Buffer:
    """Support vectors with room for every row of a block."""

    def __init__(self, old: SupportVectors, X: Any, rows: IntArray, kernel: Kernel) -> None:
        self.x, self.kernel, self.m = csr_arrays(X), kernel, len(old.before)
        indptr, indices, data = csr_arrays(old.vectors)
        new = int(np.diff(self.x[0])[rows].sum())
        self.indptr = np.concatenate([indptr, np.zeros(len(rows), dtype=np.int64)])
        self.indices = np.concatenate([indices, np.zeros(new, dtype=np.int32)])
        self.data = np.concatenate([data, np.zeros(new)])
        self.coefficients = np.concatenate([old.coefficients, np.zeros((len(rows), old.coefficients.shape[1]))])
        self.before = np.concatenate([old.before, np.zeros(len(rows), dtype=np.int64)])
        squares = np.array([_square(data[a:b]) for a, b in pairwise(indptr)])
        self.squares = np.concatenate([squares, np.zeros(len(rows))])
        self.dense = np.zeros(X.shape[1])
        self.scores, self.step = (np.empty(old.coefficients.shape[1]) for _ in range(2))

    def see(self, rule: int, i: int, judge: Callable[..., tuple[int, int]], progress: Progress) -> bool:
        """One round; returns whether the scores are finite."""
        from arcrank.compiled.online import normalizer, record
        from arcrank.compiled.online_kernel import expand

        own = slice(self.x[0][i], self.x[0][i + 1])
        columns, values = self.x[1][own], self.x[2][own]
        expand(self._kernel_values(columns, values), self.coefficients, self.scores)
        if not np.isfinite(self.scores).all():
            return False
        wrong, arcs = judge(i, self.scores, self.step)
        if not arcs:
            progress.counters[1] += 1
            return True
        record(wrong, arcs, progress.counters, progress.sums, progress.curve)
        progress.sums[3] = max(progress.sums[3], self._self_value(columns, values))
        if wrong:
            self._append(columns, values, self.step / normalizer(rule, wrong, arcs), progress.rounds - 1)
        return True

    def _kernel_values(self, columns: NDArray[np.int32], values: Array) -> Array:
        from arcrank.compiled.online_kernel import products

        if callable(self.kernel.name):
            one = sp.csr_matrix((values, columns, [0, len(values)]), shape=(1, len(self.dense)))
            return self.kernel.between(one, self._csr(len(self.dense))).ravel() if self.m else np.empty(0)
        out = np.empty(self.m)
        self.dense[columns] = values
        products(self.m, self.indptr, self.indices, self.data, self.dense, out)
        self.dense[columns] = 0.0
        return self.kernel.of_products(out, _square(values), self.squares[: self.m])

    def _self_value(self, columns: NDArray[np.int32], values: Array) -> float:
        """K(x, x), the squared length of x in the kernel's space."""
        if callable(self.kernel.name):
            one = sp.csr_matrix((values, columns, [0, len(values)]), shape=(1, len(self.dense)))
            return float(self.kernel.between(one, one)[0, 0])
        square = np.array([_square(values)])
        return float(self.kernel.of_products(square, square[0], square)[0])

    def _append(self, columns: NDArray[np.int32], values: Array, step: Array, before: int) -> None:
        start = self.indptr[self.m]
        stop = start + len(values)
        self.indices[start:stop], self.data[start:stop] = columns, values
        self.coefficients[self.m], self.before[self.m], self.squares[self.m] = step, before, _square(values)
        self.m += 1
        self.indptr[self.m] = stop

    def _csr(self, d: int) -> sp.csr_matrix:
        stop = self.indptr[self.m]
        arrays = (self.data[:stop], self.indices[:stop], self.indptr[: self.m + 1])
        return sp.csr_matrix(arrays, shape=(self.m, d))

    def trimmed(self, d: int) -> tuple[sp.csr_matrix, Array, NDArray[np.int64]]:
        return self._csr(d).copy(), self.coefficients[: self.m].copy(), self.before[: self.m].copy()


def _square(values: Array) -> float:
    return float(np.sum(values * values))

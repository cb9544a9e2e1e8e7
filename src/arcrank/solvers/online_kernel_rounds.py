"""The rounds of online rankers with a kernel: what `SupportVectors.learn` does with each document."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank._typing import Array, IntArray
from arcrank.compiled import online
from arcrank.compiled.online_kernel import expand, products
from arcrank.graphs import LayeredGraphs, PreferenceGraphs
from arcrank.solvers.kernels import Kernel
from arcrank.solvers.online import Progress, check_seen, csr_arrays, graph_arrays
from arcrank.solvers.online_margin import Stepper

__all__ = ["Buffer", "mmp_stepper"]


class Buffer:
    """Support vectors with room for every row of a block."""

    def __init__(
        self, old: tuple[sp.csr_matrix, Array, NDArray[np.int64]], X: Any, rows: IntArray, kernel: Kernel
    ) -> None:
        vectors, coefficients, before = old
        self.x, self.kernel, self.m = csr_arrays(X), kernel, len(before)
        indptr, indices, data = csr_arrays(vectors)
        new = int(np.diff(self.x[0])[rows].sum())
        self.indptr = np.concatenate([indptr, np.zeros(len(rows), dtype=np.int64)])
        self.indices = np.concatenate([indices, np.zeros(new, dtype=np.int32)])
        self.data = np.concatenate([data, np.zeros(new)])
        self.coefficients = np.concatenate([coefficients, np.zeros((len(rows), coefficients.shape[1]))])
        self.before = np.concatenate([before, np.zeros(len(rows), dtype=np.int64)])
        squares = np.array([_square(data[a:b]) for a, b in pairwise(indptr)])
        self.squares = np.concatenate([squares, np.zeros(len(rows))])
        self.weights = np.zeros(len(self.before))
        self.dense = np.zeros(X.shape[1])
        self.scores, self.step = (np.empty(coefficients.shape[1]) for _ in range(2))

    def learn(self, stepper: Stepper, rows: IntArray, progress: Progress, budget: int | None = None) -> None:
        """See the rows in the given order; with a budget, keep no more support vectors than that."""
        for at in range(self.m if budget is not None else 0):
            own = slice(self.indptr[at], self.indptr[at + 1])
            square = self._self_value(self.indices[own], self.data[own])
            self.weights[at] = square * _square(self.coefficients[at])
        with np.errstate(over="ignore", invalid="ignore"):  # scores that are not finite are an error of ours
            for place, i in enumerate(rows):
                if not self.see(stepper, i, progress):
                    check_seen(place, rows)
                if budget is not None and self.m > budget:
                    self._remove_lightest()

    def see(self, stepper: Stepper, i: int, progress: Progress) -> bool:
        """One round; returns whether the scores are finite."""
        own = slice(self.x[0][i], self.x[0][i + 1])
        columns, values = self.x[1][own], self.x[2][own]
        expand(self._kernel_values(columns, values), self.coefficients, self.scores)
        if not np.isfinite(self.scores).all():
            return False
        before, square = progress.rounds, self._self_value(columns, values)
        moved = stepper(i, square, self.scores, self.step, progress)
        if progress.rounds > before:
            progress.sums[3] = max(progress.sums[3], square)
        if moved:
            self._append(columns, values, self.step, square, before)
        return True

    def _kernel_values(self, columns: NDArray[np.int32], values: Array) -> Array:
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

    def _append(self, columns: NDArray[np.int32], values: Array, step: Array, own: float, before: int) -> None:
        start = self.indptr[self.m]
        stop = start + len(values)
        self.indices[start:stop], self.data[start:stop] = columns, values
        self.coefficients[self.m], self.before[self.m], self.squares[self.m] = step, before, _square(values)
        self.weights[self.m] = own * _square(step)
        self.m += 1
        self.indptr[self.m] = stop

    def _remove_lightest(self) -> None:
        """Remove the support vector without which the weights change least: ||coefficients||^2 K(x, x)."""
        at, stop = int(self.weights[: self.m].argmin()), self.indptr[self.m]
        start, after = self.indptr[at], self.indptr[at + 1]
        for array in (self.indices, self.data):
            array[start : stop - (after - start)] = array[after:stop]
        self.indptr[at : self.m] = self.indptr[at + 1 : self.m + 1] - (after - start)
        self.m -= 1
        for array in (self.coefficients, self.before, self.squares, self.weights):
            array[at : self.m] = array[at + 1 : self.m + 1]

    def _csr(self, d: int) -> sp.csr_matrix:
        stop = self.indptr[self.m]
        arrays = (self.data[:stop], self.indices[:stop], self.indptr[: self.m + 1])
        return sp.csr_matrix(arrays, shape=(self.m, d))

    def trimmed(self, d: int) -> tuple[sp.csr_matrix, Array, NDArray[np.int64]]:
        """Support vectors, coefficients and rounds without the room that was not needed."""
        return self._csr(d).copy(), self.coefficients[: self.m].copy(), self.before[: self.m].copy()


def mmp_stepper(rule: int, graphs: PreferenceGraphs) -> Stepper:
    """The steps of MMP by one of its rules."""
    count_arcs, lose_precision = _arc_counter(graphs)

    def take(i: int, _: float, scores: Array, step: Array, progress: Progress) -> bool:
        wrong, arcs = count_arcs(i, scores, step)
        if not arcs:
            progress.counters[1] += 1
            return False
        online.record(wrong, arcs, progress.counters, progress.sums, progress.curve)
        if wrong and rule == online.AVERAGE_PRECISION:
            progress.sums[4] += lose_precision(i, scores, step)
        elif wrong:
            step /= online.normalizer(rule, wrong, arcs)
        return bool(wrong)

    return take


def _arc_counter(graphs: PreferenceGraphs) -> tuple[Callable[..., tuple[int, int]], Callable[..., float]]:
    """Functions from (row, scores, step) to (|E|, arcs), and to 1 - average precision; they fill in the step."""
    k, arrays = graphs.n_labels, graph_arrays(graphs)
    if not isinstance(graphs, LayeredGraphs):
        counts, (ptr, head, tail) = graphs.arc_counts(), arrays
        return (
            lambda i, scores, step: (online.wrong_arcs(i, ptr, head, tail, scores, step), int(counts[i])),
            lambda i, scores, step: online.precision_arcs(i, ptr, head, tail, scores, step),
        )
    ptr, label, level, rest, n_layers = arrays
    levels = np.empty(k, dtype=np.int32)
    sizes, tree = np.empty(n_layers, dtype=np.int64), np.empty(n_layers + 1, dtype=np.int64)

    def layered(i: int, scores: Array, step: Array) -> tuple[int, int]:
        arcs = online.read_layers(i, ptr, label, level, rest, levels, sizes)
        return (online.wrong_layers(levels, sizes, scores, step, tree) if arcs else 0), arcs

    return layered, lambda _, scores, step: online.precision_layers(levels, scores, step)


def _square(values: Array) -> float:
    return float(np.sum(values * values))

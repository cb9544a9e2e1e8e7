"""Thresholded ranking features `f(x) = [x_j > threshold]` over sparse columns (Amini, Truong & Goutte 2008, eq. 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from arcrank._typing import Array, Mask

__all__ = ["SortedColumns", "Stump", "find_cuts", "sort_columns"]

TIE = 1e-12
"""Two thresholds whose |L| differ by less are equal: the first wins, on every machine. Weights of pairs sum to one."""


class Stump(NamedTuple):
    """A ranking feature, and `level` = sum of the signed weights of the rows where it fires."""

    feature: int
    threshold: float
    level: float
    fires: Mask
    """(n,), over the rows of the matrix"""


@dataclass(frozen=True)
class SortedColumns:
    """A matrix as `compiled.stumps` reads it: non-zeros by column, each column sorted by value downwards."""

    n_rows: int
    indptr: NDArray[np.int64]
    split: NDArray[np.int64]
    rows: NDArray[np.int32]
    values: Array
    cut: Mask
    zero_cut: Mask

    def best(self, signed: Array) -> Stump | None:
        """Return the stump of greatest |sum of `signed` where it fires|, or None where all sums are zero.

        One pass over the non-zeros. Of equal ones the first column wins, then the highest threshold.
        """
        from arcrank.compiled.stumps import best_stump

        column, position, level = best_stump(
            self.indptr, self.split, self.rows, self.cut, self.zero_cut, np.ascontiguousarray(signed), TIE
        )
        return None if column < 0 else self._stump(int(column), int(position), float(level))

    def _stump(self, column: int, position: int, level: float) -> Stump:
        if position >= 0:  # among the positive values
            fires = np.zeros(self.n_rows, dtype=np.bool_)
            fires[self.rows[self.indptr[column] : position]] = True
            threshold = self.values[position] if position < self.split[column] else 0.0
        else:  # among the negative ones: the zeros fire too
            position = -position - 2
            fires = np.ones(self.n_rows, dtype=np.bool_)
            fires[self.rows[position : self.indptr[column + 1]]] = False
            threshold = self.values[position]
        return Stump(column, float(threshold), level, fires)


def sort_columns(X: Any, n_thresholds: int | None = None) -> SortedColumns:
    """Sort the columns of X (n, d), sparse or dense, once for all rounds.

    Thresholds are all distinct values of a column but its greatest (zero among them where some row has it), or at
    most `n_thresholds` of these, evenly spread in their order and always with the lowest: quantiles.
    """
    matrix = sparse.csc_matrix(X, dtype=np.float64)
    matrix.sum_duplicates()
    if (matrix.data == 0.0).any():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    indptr = matrix.indptr.astype(np.int64)
    n_rows, n_columns = matrix.shape
    column = np.repeat(np.arange(n_columns), np.diff(indptr))
    order = np.lexsort((-matrix.data, column))
    values = np.ascontiguousarray(matrix.data[order])
    split = indptr[:-1] + np.bincount(column[values > 0.0], minlength=n_columns)
    zeros = np.diff(indptr) < n_rows
    cut, zero_cut = find_cuts(indptr, split, values, zeros, n_thresholds)
    return SortedColumns(n_rows, indptr, split, matrix.indices[order].astype(np.int32), values, cut, zero_cut)


def find_cuts(
    indptr: NDArray[np.int64], split: NDArray[np.int64], values: Array, zeros: Mask, n_thresholds: int | None
) -> tuple[Mask, Mask]:
    """Say below which entries, and below which columns' zeros, a threshold separates some rows from others.

    `zeros` says which columns have a zero in some row.
    """
    stored = np.diff(indptr)
    cut = np.empty(len(values), dtype=np.bool_)
    cut[:-1] = values[:-1] != values[1:]
    some = stored > 0
    cut[indptr[1:][some] - 1] = False  # nothing is below the lowest value
    positive, negative = split > indptr[:-1], split < indptr[1:]
    cut[split[positive] - 1] = zeros[positive]
    zero_cut = negative & (zeros | positive)
    if n_thresholds is not None:
        from arcrank.compiled.stumps import thin_cuts

        thin_cuts(indptr, split, cut, zero_cut, int(n_thresholds))
    return cut, zero_cut

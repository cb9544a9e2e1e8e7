"""Partitions of boosted stumps: groups of values between thresholds, and the sums that a round asks of a partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank._typing import Array, IntArray, Mask
from arcrank.bipartite.base import UNLABELLED
from arcrank.distributed.blocks import in_common_columns
from arcrank.distributed.cluster import ClusterPartitions
from arcrank.distributed.partitions import Sums
from arcrank.distributed.raw import DataSummary, RawPartition, Summary, matrix_of
from arcrank.errors import InputError
from arcrank.solvers.rankboost import Round, grade_sums, make_round, stump_weight
from arcrank.solvers.stumps import SortedColumns, find_cuts

__all__ = ["ColumnBlock", "ValueGroups", "boost_partitions", "grade_partition", "summarise_grades"]


def summarise_grades(raw: RawPartition) -> tuple[Summary, Array, IntArray]:
    """Return sizes of a partition, its different grades and how often each occurs."""
    n = len(raw)
    if not n:
        return Summary(raw.source, 0), np.zeros(0), np.zeros(0, dtype=np.int64)
    X, grades = matrix_of(raw), _grades(raw)
    if len(grades) != n:
        raise InputError(f"{raw.source}: X has {n} rows and y has {len(grades)} entries; pass one entry per row.")
    return Summary(raw.source, n, X.shape[1], raw.names, "grades"), *np.unique(grades, return_counts=True)


def _grades(raw: RawPartition) -> Array:
    try:
        grades = np.asarray(raw.y, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise InputError(
            f"{raw.source}: y must hold 1 (relevant), 0 (irrelevant), -1 (unlabelled), or grades; got {raw.y!r:.60}."
        ) from None
    if not np.isfinite(grades).all():
        raise InputError(f"{raw.source}: y holds NaN or infinite values; pass 1, 0, -1 or grades.")
    return grades


@dataclass
class ColumnBlock:
    """The labelled rows of a partition by columns, and their grades by number."""

    X: sp.csc_matrix
    grade: NDArray[np.int64]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the scores: they are computed again from the stumps where the block arrives."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def scores(self, stumps: Array) -> Array:
        """Return H of each row after these rounds, (T, 3) of feature, threshold and weight."""
        done, H = self.__dict__.get("_scores", (0, np.zeros(len(self.grade))))
        done, H = (done, H.copy()) if done <= len(stumps) else (0, np.zeros(len(self.grade)))
        for feature, threshold, weight in stumps[done:]:
            H += weight * self._fires(int(feature), threshold)
        self.__dict__["_scores"] = len(stumps), H
        return H

    def _fires(self, feature: int, threshold: float) -> Mask:
        entries = slice(self.X.indptr[feature], self.X.indptr[feature + 1])
        fires = np.full(len(self.grade), threshold < 0.0)
        fires[self.X.indices[entries]] = self.X.data[entries] > threshold
        return fires


def grade_partition(raw: RawPartition, _index: int, data: DataSummary, levels: Array) -> ColumnBlock:
    """Make the block of a partition; unlabelled rows are in no pair."""
    X, grades = in_common_columns(matrix_of(raw), raw.names, data), _grades(raw)
    known = grades != UNLABELLED
    columns = sp.csc_matrix(X[known], dtype=np.float64)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return ColumnBlock(columns, np.searchsorted(levels, grades[known]))


class Distinct(NamedTuple):
    """The different non-zeros of each column, downwards, and how many rows have one."""

    column: NDArray[np.int32]
    value: Array
    stored: NDArray[np.int64]


def distinct_values(block: ColumnBlock) -> Distinct:
    """Return the values of a partition that thresholds may be between."""
    stored = np.diff(block.X.indptr).astype(np.int64)
    column = np.repeat(np.arange(len(stored), dtype=np.int32), stored)
    return Distinct(*_without_repeats(column, block.X.data), stored)


def merge_distinct(parts: Sequence[Distinct]) -> Distinct:
    """Bring the values of some partitions together."""
    column, value = (np.concatenate([one[j] for one in parts]) for j in range(2))
    return Distinct(*_without_repeats(column, value), np.sum([one.stored for one in parts], axis=0))


def _without_repeats(column: NDArray[np.int32], value: Array) -> tuple[NDArray[np.int32], Array]:
    order = np.lexsort((-value, column))
    column, value = column[order], value[order]
    first = np.ones(len(value), dtype=bool)
    first[1:] = (column[1:] != column[:-1]) | (value[1:] != value[:-1])
    return column[first], value[first]


@dataclass(frozen=True)
class ValueGroups:
    """Values of all partitions, in groups of those between two thresholds.

    `columns` has a row for each group, and a last one for the weights of rows that are in no group.
    """

    ptr: NDArray[np.int64]
    value: Array
    group: NDArray[np.int64]
    columns: SortedColumns

    @classmethod
    def of(cls, found: Distinct, n_rows: int, n_thresholds: int | None) -> ValueGroups:
        """Choose the thresholds as on one machine."""
        d, value = len(found.stored), found.value
        ptr = np.concatenate([[0], np.cumsum(np.bincount(found.column, minlength=d))]).astype(np.int64)
        split = ptr[:-1] + np.bincount(found.column[value > 0.0], minlength=d)
        cut, zero_cut = find_cuts(ptr, split, value, found.stored < n_rows, n_thresholds)
        last, ends = cut.copy(), np.concatenate([ptr[1:], split])
        last[ends[ends > 0] - 1] = True  # groups end with their column, and with its positive values
        first = np.flatnonzero(np.concatenate([[True], last[:-1]])) if len(value) else np.zeros(0, dtype=np.int64)
        group = np.repeat(np.arange(len(first)), np.diff(first, append=len(value)))
        at = np.append(group, len(first))  # where a column begins, so does a group
        rows = np.arange(len(first), dtype=np.int32)
        cuts = cut[np.append(first[1:], len(value))[: len(first)] - 1]
        columns = SortedColumns(len(first) + 1, at[ptr], at[split], rows, value[first], cuts, zero_cut)
        return cls(ptr, value, group, columns)


class Placed(NamedTuple):
    """A block, and the group of each of its values."""

    block: ColumnBlock
    group: NDArray[np.int64]
    row: NDArray[np.int32]


def place_values(block: ColumnBlock, _index: int, ptr: Any, value: Array, group: Any) -> Placed:
    """Find the group of each value of a block."""
    X, found = block.X, np.empty(block.X.nnz, dtype=np.int64)
    for j in np.flatnonzero(np.diff(X.indptr)):
        entries, known = slice(X.indptr[j], X.indptr[j + 1]), slice(ptr[j], ptr[j + 1])
        found[entries] = ptr[j] + np.searchsorted(-value[known], -X.data[entries])
    return Placed(block, group[found], X.indices)


def pair_sums(placed: Placed, stumps: Array, shift: tuple[float, float], n_grades: int) -> Sums:
    """Return the sums of `exp(-H)` and of `exp(H)` over the rows of each grade, both times exp(-shift)."""
    H, grade = placed.block.scores(stumps), placed.block.grade
    ups, downs = (np.bincount(grade, one, n_grades) for one in (np.exp(-H - shift[0]), np.exp(H - shift[1])))
    return ups, downs


def level_sums(
    placed: Placed, stumps: Array, shift: tuple[float, float], sides: tuple[Array, Array], n_groups: int
) -> Sums:
    """Return the signed weights of the rows, summed over each group of values, and the sum over all rows.

    `sides` are the sums of D over lower and over higher grades, divided by the mass of all pairs.
    """
    H, grade = placed.block.scores(stumps), placed.block.grade
    signed = np.exp(-H - shift[0]) * sides[0][grade] - np.exp(H - shift[1]) * sides[1][grade]
    return np.bincount(placed.group, signed[placed.row], n_groups), float(signed.sum())


def boost_partitions(blocks: ClusterPartitions, counts: IntArray, n_thresholds: int | None) -> Iterator[Round]:
    """Yield the rounds of `solvers.rankboost.boost`, with sums over partitions; `counts` are the rows of each grade."""
    groups = ValueGroups.of(blocks.reduce(distinct_values, merge_distinct), int(counts.sum()), n_thresholds)
    sent = blocks.cluster.broadcast([groups.ptr, groups.value, groups.group])
    placed = blocks.derive(place_values, *sent, keep=range(len(blocks)))
    n_groups = groups.columns.n_rows - 1
    n_pairs = int((counts.sum() ** 2 - (counts**2).sum()) // 2)
    stumps, shift, before = np.zeros((0, 3)), (0.0, 0.0), 1.0
    lower, higher = np.arange(len(counts)) > 0, np.arange(len(counts)) < len(counts) - 1
    sides, shift, mass = _sides(placed.sum(pair_sums, stumps, shift, len(counts)), shift, lower, higher)
    while True:
        levels, total = placed.sum(level_sums, stumps, shift, sides, n_groups)
        stump = groups.columns.best(np.append(levels, total - levels.sum()))
        if stump is None:
            return
        weight, perfect = stump_weight(stump.level, n_pairs)
        stumps = np.vstack([stumps, [stump.feature, stump.threshold, weight]])
        sides, shift, mass = _sides(placed.sum(pair_sums, stumps, shift, len(counts)), shift, lower, higher)
        loss = float(np.exp(mass - np.log(n_pairs)))
        yield make_round(stump, weight, before, loss, perfect=perfect)
        if perfect:
            return
        before = loss


def _sides(
    sums: Sums, shift: tuple[float, float], lower: Mask, higher: Mask
) -> tuple[tuple[Array, Array], tuple[float, float], float]:
    """Return what `level_sums` multiplies by, the shifts with which both sums are 1, and the log of all pairs' mass."""
    ups, downs = sums[0] * lower, sums[1] * higher
    up, down = ups.sum(), downs.sum()
    below, above = grade_sums(ups / up, downs / down)
    mass = float((ups / up) @ below)
    moved = shift[0] + float(np.log(up)), shift[1] + float(np.log(down))
    return (lower * below / mass, higher * above / mass), moved, float(np.log(mass)) + sum(moved)

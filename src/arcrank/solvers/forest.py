"""Regression trees as plain arrays: scores of many rows and the contributions of features, without compiled code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from arcrank._typing import Array, IntArray, Mask

__all__ = ["Forest", "Tree", "check_forest", "join_trees", "make_tree"]

_TREES = 64  # that are followed at once
_CELLS = 1 << 16  # values of their leaves for a block of rows, which stay in the cache


class Forest(NamedTuple):
    """T trees with N nodes; each tree adds the w values of a row's leaf to w columns of the scores.

    Trees that are shared by all labels have a value for each of them; separate trees have one value and a column.

    Attributes
    ----------
    roots, columns : (T,) int64
        The root of each tree and the first column that it adds to, in ascending order of columns.
    features : (N,) int64
        The feature that a node splits by; -1 for a leaf.
    thresholds : (N,) array
        A row goes to the left child where its feature is at most this value.
    left, right : (N,) int64
        The children, with larger numbers than their parent; a leaf is its own child.
    missing_left : (N,) bool
        Whether a row goes to the left child where the feature is missing (NaN).
    values : (N, w) array
        Of a leaf what it adds; of other nodes the mean over the training rows that reach them.
    """

    roots: IntArray
    columns: IntArray
    features: IntArray
    thresholds: Array
    left: IntArray
    right: IntArray
    missing_left: Mask
    values: Array

    def scores(self, X: Any, n_columns: int) -> Array:
        """Return the sums of all trees, (n, n_columns); a row's scores do not depend on the other rows."""
        used, place = self._used()
        width, scores = self.values.shape[1], np.zeros((X.shape[0], n_columns))
        step = max(1, _CELLS // (_TREES * width))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            values = _dense(X[rows], used)
            for trees in self._tree_blocks():
                first = int(self.columns[trees.start])
                leaves = self._leaves(values, place, self.roots[trees])
                scores[rows, first : first + width] += self.values[leaves].sum(axis=1)
        return scores

    def parts(self, x: Any, n_columns: int) -> tuple[IntArray, Array, Array]:
        """Split the scores of one row: (features, their contributions (features, n_columns), constants (n_columns,)).

        Every step from a node to its child changes the mean of the values below by something, which counts for the
        feature of the node (Saabas 2014). These changes add up to the value of the leaf less that of the root.
        """
        used, place = self._used()
        row, nodes = _dense(x, used).ravel(), self.roots
        parts, constants = np.zeros((len(used), n_columns)), np.zeros(n_columns)
        columns = self.columns[:, None] + np.arange(self.values.shape[1])
        np.add.at(constants, columns, self.values[nodes])
        while True:
            following = self._step(row, place[nodes], nodes)
            if np.array_equal(following, nodes):
                return used, parts, constants
            np.add.at(parts, (place[nodes][:, None], columns), self.values[following] - self.values[nodes])
            nodes = following

    def _used(self) -> tuple[IntArray, IntArray]:
        """The features of all splits, at least one, and the place of each node's feature among them."""
        used = np.unique(self.features[self.features >= 0]) if (self.features >= 0).any() else np.zeros(1, np.int64)
        return used, np.searchsorted(used, self.features)

    def _tree_blocks(self) -> Iterator[slice]:
        """Blocks of trees with the same columns, whatever the rows: sums have the same order for all of them."""
        ends = np.flatnonzero(np.diff(self.columns, append=-1)) + 1
        start = 0
        for end in ends.tolist():
            for first in range(start, end, _TREES):
                yield slice(first, min(first + _TREES, end))
            start = end

    def _leaves(self, values: Array, place: IntArray, roots: IntArray) -> IntArray:
        """The leaf of each row in each tree."""
        nodes = np.repeat(roots[None, :], len(values), axis=0)
        offsets = values.shape[1] * np.arange(len(values))[:, None]
        while True:
            following = self._step(values.ravel(), offsets + place[nodes], nodes)
            if np.array_equal(following, nodes):
                return nodes
            nodes = following

    def _step(self, values: Array, at: IntArray, nodes: IntArray) -> IntArray:
        """The children that rows go to from their nodes, where values[at] are those of the nodes' features."""
        value = values[at]
        goes_left = (value <= self.thresholds[nodes]) | (np.isnan(value) & self.missing_left[nodes])
        return np.where(goes_left, self.left[nodes], self.right[nodes])


class Tree(NamedTuple):
    """One tree: the arrays of its nodes as in `Forest`, numbered from its root on."""

    features: IntArray
    thresholds: Array
    left: IntArray
    right: IntArray
    missing_left: Mask
    values: Array


def make_tree(
    features: IntArray,
    thresholds: Array,
    children: IntArray,
    counts: Array,
    values: Array,
    missing: tuple[Mask, Mask] | None = None,
) -> Tree:
    """Make a tree of what its learner knows.

    Parameters
    ----------
    features, thresholds : (N,) arrays
        -1 is the feature of a leaf.
    children : (2, N) array
        Left and right; those of leaves are ignored.
    counts : (N,) array
        The training rows that reach a node.
    values : (N, w) array
        Of the leaves; those of other nodes are computed, in place.
    missing : two (N,) arrays, optional
        Whether training had missing values of the feature, and whether these go left. Others go the way of most rows.
    """
    nodes, splits = np.arange(len(features)), np.flatnonzero(features >= 0)
    left, right = np.where(features >= 0, children, nodes)
    for node in splits[::-1]:  # children come after their parents
        a, b = left[node], right[node]
        values[node] = (counts[a] * values[a] + counts[b] * values[b]) / counts[node]
    missing_left = counts[left] >= counts[right]
    if missing is not None:
        missing_left = np.where(missing[0], missing[1], missing_left)
    return Tree(features, thresholds, left, right, missing_left, values)


def join_trees(trees: Sequence[tuple[int, Tree]], n_runs: int) -> Forest:
    """The mean of runs as one forest; each tree comes with its first column."""
    ordered = sorted(trees, key=lambda tree: tree[0])  # stable: the trees of a column stay in order
    columns = np.array([column for column, _ in ordered], dtype=np.int64)
    sizes = np.array([len(tree.features) for _, tree in ordered], dtype=np.int64)
    joined = Tree(*(np.concatenate(parts) for parts in zip(*(tree for _, tree in ordered), strict=True)))
    roots = np.cumsum(sizes) - sizes
    shift = np.repeat(roots, sizes)  # children are numbered within their tree
    values = joined.values / n_runs
    return Forest(roots, columns, *joined._replace(left=joined.left + shift, right=joined.right + shift, values=values))


def _dense(X: Any, columns: IntArray) -> Array:
    chosen = X[:, columns]
    return chosen.toarray() if sp.issparse(chosen) else chosen


def check_forest(forest: Forest, n_features: int, n_columns: int) -> str | None:
    """Return what is wrong with trees of unknown origin, all arrays of which have the right type and length, or None.

    Children have larger numbers than their parent and belong to no other node, so every walk from a root ends.
    """
    nodes = np.arange(len(forest.features))
    leaf = forest.features == -1
    width = forest.values.shape[1]
    if not 1 <= width <= n_columns:
        return f"the nodes of trees have {width} values, but there are {n_columns} labels"
    if not _within(forest.features, -1, n_features) or not _within(forest.columns, 0, n_columns - width + 1):
        return "a tree refers to a feature or a label that does not exist"
    if not all(_within(part, 0, len(nodes)) for part in (forest.roots, forest.left, forest.right)):
        return "a tree refers to a node that does not exist"
    if (np.diff(forest.columns) < 0).any():
        return "the trees are not in the order of their labels"
    for child in (forest.left, forest.right):
        if ((child != nodes) & leaf).any() or ((child <= nodes) & ~leaf).any():
            return "the nodes of a tree are not in order"
    reached = np.concatenate([forest.roots, forest.left[~leaf], forest.right[~leaf]])
    if (np.bincount(reached, minlength=len(nodes)) != 1).any():
        return "a node does not have exactly one parent"
    return None


def _within(numbers: IntArray, low: int, end: int) -> bool:
    return not numbers.size or bool(numbers.min() >= low and numbers.max() < end)

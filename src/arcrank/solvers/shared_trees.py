"""Boosting with one tree for all labels in each round, grown by scikit-learn.

The splits of a tree are those that explain the gradients g = inflow - outflow of all labels together, by the sum of
squared errors. A leaf then adds for each label the Newton step `-rate sum g / (sum h + l2)` with the curvatures h of
`arcrank.compiled.loglinear_curvature`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.tree import DecisionTreeRegressor

from arcrank._typing import Array, IntArray, Mask
from arcrank.errors import InputError
from arcrank.solvers.forest import Forest, Tree, join_trees, make_tree

if TYPE_CHECKING:
    from arcrank.losses import LogLinearLoss
    from arcrank.solvers.history import History

__all__ = ["SharedTrees"]

_LARGEST = float(np.finfo(np.float32).max)


class SharedTrees:
    """Several runs of boosting on the same rows, whose mean is `forest()`; usable after any round.

    Parameters
    ----------
    X : (n, d) array, dense or CSR
        The rows; NaN is a missing value where X is dense.
    loss : LogLinearLoss
        Of their graphs.
    start : (k,) array
        Scores before the first round.
    learning_rate, l2, longest_step, subsample : float
        The factors of steps, what is added to curvatures, the limit of steps before they are multiplied by their
        factor, and the share of the rows that a tree sees.
    settings : mapping
        scikit-learn's parameters of trees.
    """

    def __init__(
        self,
        X: Any,
        loss: LogLinearLoss,
        start: Array,
        *,
        learning_rate: float,
        l2: float,
        longest_step: float,
        subsample: float,
        settings: Mapping[str, Any],
    ) -> None:
        self._X, self._missing = _single_precision(X)
        self._check = sp.issparse(X) or bool(self._missing.any())  # scikit-learn then has something to prepare
        self._loss, self._start = loss, start
        self._rate, self._l2, self._longest = learning_rate, l2, learning_rate * longest_step
        self._subsample, self._settings = subsample, settings
        self._first = loss.derivatives(np.tile(start, (X.shape[0], 1)))  # the same for all runs
        informative = self._first[2].any(axis=1)
        self._rows = np.flatnonzero(informative) if informative.any() else np.arange(X.shape[0])
        self._trees: list[tuple[int, Tree]] = []
        self._runs = 0

    def run(self, n_rounds: int, seed: int, history: History) -> bool:
        """Boost from the beginning; True if the history's callback wants to stop."""
        random = np.random.RandomState(seed)
        scores = np.tile(self._start, (self._X.shape[0], 1))
        self._runs += 1
        for number in range(n_rounds):
            value, gradient, curvature = self._loss.derivatives(scores) if number else self._first
            scores += self._add_tree(gradient, curvature, random)
            if history.add(loss=value, run=self._runs):
                return True
        return False

    def forest(self) -> Forest:
        """The mean of the runs."""
        return join_trees(self._trees, self._runs)

    def _add_tree(self, gradient: Array, curvature: Array, random: np.random.RandomState) -> Array:
        """Grow a tree, keep it, and return what it adds to the scores."""
        rows = self._draw(random)
        learner = DecisionTreeRegressor(**self._settings, random_state=random.randint(2**31 - 1))
        tree = learner.fit(self._X[rows], -gradient[rows], check_input=self._check).tree_
        leaves = tree.apply(self._X)
        sums = sp.csr_matrix((np.ones(len(leaves)), (leaves, np.arange(len(leaves)))), (tree.node_count, len(leaves)))
        steps = -self._rate * (sums @ gradient) / np.maximum(sums @ curvature + self._l2, 1e-30)
        steps = np.clip(steps, -self._longest, self._longest)
        self._trees.append((0, self._plain(tree, np.bincount(leaves, minlength=tree.node_count), steps)))
        return steps[leaves]

    def _draw(self, random: np.random.RandomState) -> IntArray | slice:
        """Rows to grow a tree from: those that prefer some label, or a share of them."""
        n = len(self._rows)
        if self._subsample == 1.0:
            return slice(None) if n == self._X.shape[0] else self._rows
        return np.sort(self._rows[random.permutation(n)[: max(1, round(self._subsample * n))]])

    def _plain(self, tree: Any, at_leaves: IntArray, steps: Array) -> Tree:
        """The arrays of a tree."""
        features = np.where(tree.children_left < 0, -1, tree.feature)
        children = np.stack([tree.children_left, tree.children_right])
        counts = at_leaves.astype(np.float64)
        for node in np.flatnonzero(features >= 0)[::-1]:
            counts[node] = counts[children[0, node]] + counts[children[1, node]]
        missing = self._missing[features], tree.missing_go_to_left.astype(bool)
        return make_tree(features, tree.threshold.copy(), children, counts, steps.copy(), missing)


def _single_precision(X: Any) -> tuple[Any, Mask]:
    """X as scikit-learn's trees want it, and which features have missing values."""
    values = X.data if sp.issparse(X) else X
    if np.nanmax(np.abs(values), initial=0.0) > _LARGEST:
        raise InputError(f"X holds a number of more than {_LARGEST:.3g} in size; scale that column.")
    if not sp.issparse(X):
        return X.astype(np.float32), np.isnan(X).any(axis=0)
    if np.isnan(values).any():
        raise InputError("X is sparse and holds NaN; missing values need a dense X, or shared_trees=False.")
    return X.astype(np.float32), np.zeros(X.shape[1], dtype=bool)

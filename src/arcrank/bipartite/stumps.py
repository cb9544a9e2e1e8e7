"""Scores of a weighted sum of stumps `sum_t weight_t [x_{feature_t} > threshold_t]`, without compiled code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from arcrank._typing import Array

__all__ = ["Stumps"]


class Stumps(NamedTuple):
    """T stumps, each field (T,), in the order in which they were learnt."""

    features: NDArray[np.int64]
    thresholds: Array
    weights: Array

    def scores(self, X: Any) -> Array:
        """Return the sum for each row of X (n, d), CSR or dense: one lookup for each value of a feature in use."""
        used = np.unique(self.features)
        columns = sparse.csc_matrix(X[:, used])
        scores = np.zeros(X.shape[0])
        for k, feature in enumerate(used):
            steps, sums = self._steps(feature)
            at_zero = sums[np.searchsorted(steps, 0.0)]
            entries = slice(columns.indptr[k], columns.indptr[k + 1])
            scores += at_zero
            scores[columns.indices[entries]] += sums[np.searchsorted(steps, columns.data[entries])] - at_zero
        return scores

    def parts(self, x: Any) -> tuple[Array, float]:
        """Split the score of one CSR row: what each stored value adds to the score of zeros, and that score."""
        parts, constant = np.zeros(x.nnz), 0.0
        for feature in np.unique(self.features):
            steps, sums = self._steps(feature)
            at_zero = sums[np.searchsorted(steps, 0.0)]
            constant += float(at_zero)
            place = x.indices == feature
            parts[place] = sums[np.searchsorted(steps, x.data[place])] - at_zero
        return parts, constant

    def staged_scores(self, X: Any) -> Iterator[Array]:
        """Yield the sums of the first 1, 2, ..., T stumps."""
        used, place = np.unique(self.features, return_inverse=True)
        columns = sparse.csc_matrix(X[:, used])
        scores = np.zeros(X.shape[0])
        for k, threshold, weight in zip(place, self.thresholds, self.weights, strict=True):
            entries = slice(columns.indptr[k], columns.indptr[k + 1])
            if threshold < 0.0:  # the zeros fire: count from them
                scores += weight
                scores[columns.indices[entries][columns.data[entries] <= threshold]] -= weight
            else:
                scores[columns.indices[entries][columns.data[entries] > threshold]] += weight
            yield scores.copy()

    def importances(self, n_features: int) -> Array:
        """Return each feature's share of the total |weight|, (d,); zeros where there is no stump."""
        shares = np.bincount(self.features, np.abs(self.weights), n_features)
        return shares / max(shares.sum(), np.finfo(np.float64).tiny)

    def _steps(self, feature: int) -> tuple[Array, Array]:
        """Return the sorted thresholds of a feature and its score below, between and above them."""
        mine = self.features == feature
        order = np.argsort(self.thresholds[mine], kind="stable")
        return self.thresholds[mine][order], np.concatenate([[0.0], np.cumsum(self.weights[mine][order])])

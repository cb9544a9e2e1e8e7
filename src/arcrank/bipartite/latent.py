"""Features for text that a linear ranker with few labels needs: latent dimensions and labelled exemplars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from arcrank._typing import Array, IntArray
from arcrank.solvers.products import row_products

__all__ = ["LatentModel", "latent_features"]


@dataclass
class LatentModel:
    """x -> (unit-length latent vectors at several resolutions; x/||x|| in the span of the labelled exemplars).

    The latent part knows which terms occur together in all instances; the exemplars keep single terms that it blurs.
    Few dimensions suit broad topics and many suit narrow ones: with the first quarter, the first half and all of them,
    each of unit length, the mean of their cosines is the similarity, and no number has to be chosen for a topic.
    """

    components: Array | None
    """(d, k); None where X has no more than k columns: then a row is its own latent vector."""
    resolutions: tuple[int, ...]
    """Leading dimensions that make a separate vector."""
    span: Array
    """(d, e), orthonormal columns"""
    latent_weights: Array
    """(sum of the resolutions,)"""
    term_weights: Array
    """(d,): all weights on exemplars, as one weight a column of X"""

    def transform(self, X: Any) -> Array:
        """Return the features (n, sum of the resolutions + e)."""
        return np.hstack([self._latent(X), _dense(normalize(X) @ self.span)])

    def set_weights(self, weights: Array) -> None:
        """Take the weights of a linear score, one a feature."""
        k = len(weights) - self.span.shape[1]
        self.latent_weights, self.term_weights = weights[:k], self.span @ weights[k:]

    def scores(self, X: Any) -> Array:
        """Return the linear score (n,)."""
        latent = row_products(self._latent(X), self.latent_weights[:, None])
        return (latent + row_products(normalize(X), self.term_weights[:, None]))[:, 0]

    def parts(self, x: Any) -> tuple[Array, float]:
        """Split the score of one CSR row over its stored values.

        The lengths by which a row is divided are constants of the row, so its score is linear in its values.
        """
        components = np.eye(x.shape[1]) if self.components is None else self.components
        rows = x.data[:, None] * components[x.indices]  # what each value adds to the latent vector
        parts = x.data * self.term_weights[x.indices] / _length(x.data)
        ends = np.cumsum(self.resolutions)
        for width, end in zip(self.resolutions, ends, strict=True):
            latent = rows[:, :width]
            weights = self.latent_weights[end - width : end] / np.sqrt(len(ends))
            parts = parts + latent @ weights / _length(latent.sum(axis=0))
        return parts, 0.0

    def _latent(self, X: Any) -> Array:
        Z = X if self.components is None else row_products(X, self.components)
        parts = [_dense(normalize(Z[:, :width])) for width in self.resolutions]
        return np.hstack(parts) / np.sqrt(len(parts))


def latent_features(X: Any, labelled: IntArray, n_components: int, random_state: Any) -> LatentModel:
    """Fit both parts: latent dimensions on all rows of X, exemplars on the labelled ones."""
    n, d = X.shape
    components, resolutions = None, (d,)
    if d > n_components:
        seed = 0 if random_state is None else random_state  # the same model every time unless asked otherwise
        _, _, right = randomized_svd(X, min(n_components, n), n_iter=7, random_state=seed)
        components = np.ascontiguousarray(right.T)
        k = components.shape[1]
        resolutions = tuple(sorted({max(k // 4, 1), max(k // 2, 1), k}))
    return LatentModel(components, resolutions, _orthonormal(normalize(X[labelled])), np.empty(0), np.empty(0))


def _orthonormal(exemplars: Any) -> Array:
    """Return orthonormal columns (d, e) that span the rows of `exemplars`, through their small Gram matrix."""
    values, vectors = np.linalg.eigh(_dense(exemplars @ exemplars.T))
    kept = values > 1e-8 * max(values[-1], 1e-300)
    return _dense(exemplars.T @ (vectors[:, kept] / np.sqrt(values[kept])))


def _length(vector: Array) -> float:
    return max(float(np.linalg.norm(vector)), np.finfo(np.float64).tiny)  # a vector of zeros stays one


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)

"""Kernel machines on a sample of the instances (Nystroem's method, Williams & Seeger 2001).

With landmarks L and the eigenvalues S and eigenvectors U of K(L, L), the features `K(x, L) U S^(-1/2)` have the inner
products of the kernel wherever one of the two instances is a landmark. A linear machine with weights W on them is a
kernel machine with the support vectors L and the coefficients `U S^(-1/2) W`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array
from arcrank.rankers.kernels import Kernel
from arcrank.solvers.products import row_products

__all__ = ["LandmarkMap", "make_landmarks"]

_SMALLEST = 1e-10
"""Eigenvalues below this share of the largest one are noise."""


class LandmarkMap(NamedTuple):
    """Landmarks by their row numbers, and the map from their kernel values to features."""

    rows: NDArray[np.intp]
    vectors: Any
    kernel: Kernel
    projection: Array

    def features(self, X: Any) -> Array:
        """Return the features of instances, (n, r)."""
        return row_products(self.kernel.between(X, self.vectors), self.projection)

    def coefficients(self, weights: Array) -> Array:
        """Return the coefficients of the landmarks, (m, k), of weights of the features, (r, k)."""
        found: Array = self.projection @ weights
        return found


def make_landmarks(kernel: Kernel, X: Any, n_landmarks: int, random: np.random.RandomState) -> LandmarkMap:
    """Draw landmarks from the instances, all of them if there are not more."""
    n = X.shape[0]
    rows = np.sort(random.permutation(n)[: min(n, n_landmarks)])
    vectors, kernel = X[rows], replace(kernel, constant=0.0)
    values, directions = np.linalg.eigh(kernel.between(vectors, vectors))
    kept = values > _SMALLEST * max(float(values[-1]), np.finfo(np.float64).tiny)
    return LandmarkMap(rows, vectors, kernel, directions[:, kept] / np.sqrt(values[kept]))

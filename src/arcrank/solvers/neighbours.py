"""The unsupervised labeller A_C: the nearest neighbours of labelled rows take their labels (Amini et al. 2008, 3)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from arcrank._typing import Array, IntArray

__all__ = ["TentativeLabels", "nearest_rows", "neighbour_labels", "settle_claims"]

BLOCK = 16_384
"""Rows of the pool at a time: their running sums (128 kB) stay in a core's cache, whatever the size of the pool."""


class TentativeLabels(NamedTuple):
    """What a labeller says about m unlabelled rows."""

    grades: Array
    """(m,), -1 = not claimed"""
    similarity: Array | None = None
    """(m,), to the labelled row whose grade was taken; 0 where there is none"""


def nearest_rows(queries: Any, pool: Any, k: int, block: int = BLOCK) -> tuple[IntArray, Array]:
    """Return the k rows of `pool` of greatest cosine with each query, best first: rows and cosines, (q, k) each.

    k is cut to the size of the pool. Equal cosines: the lower row first; a row of zeros has cosine 0 with all.
    Memory besides the inputs is one block of the pool and q x k results; no q x m matrix exists.

    Examples
    --------
    >>> rows, cosines = nearest_rows([[1.0, 1.0]], [[0.0, 1.0], [2.0, 2.0], [-1.0, 0.0]], k=2)
    >>> rows.tolist(), cosines.round(4).tolist()
    ([[1, 0]], [[1.0, 0.7071]])
    """
    from arcrank.compiled.neighbours import update_nearest

    queries, pool = _unit(queries), _unit(pool)
    k = min(k, pool.shape[0])
    nearest = np.full((queries.shape[0], k), -1, dtype=np.int64)
    similarity = np.full((queries.shape[0], k), -np.inf)
    if k == 0:
        return nearest, similarity
    for start in range(0, pool.shape[0], block):
        part = pool[start : start + block].tocsc()
        sums = np.empty(part.shape[0])
        update_nearest(*_arrays(queries), *_arrays(part), start, nearest, similarity, sums)
    return nearest, similarity


def neighbour_labels(labelled: Any, grades: Array, pool: Any, k: int) -> TentativeLabels:
    """Let each labelled row give its grade to its k nearest rows of the pool, and settle who gets which."""
    nearest, similarity = nearest_rows(labelled, pool, k)
    claimants = np.repeat(grades, nearest.shape[1])
    return settle_claims(nearest.ravel(), claimants, similarity.ravel(), pool.shape[0])


def settle_claims(rows: IntArray, grades: Array, similarity: Array, n_rows: int) -> TentativeLabels:
    """Give each claimed row one grade: claimed twice by one grade it counts once, by several the nearest wins.

    Where two grades claim it with the very same similarity, it stays unlabelled.
    """
    given, nearness = np.full(n_rows, -1.0), np.zeros(n_rows)
    order = np.lexsort((-similarity, rows))
    rows, grades, similarity = rows[order], grades[order], similarity[order]
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    given[rows[first]], nearness[rows[first]] = grades[first], similarity[first]
    torn = rows[(similarity == nearness[rows]) & (grades != given[rows])]
    given[torn], nearness[torn] = -1.0, 0.0
    return TentativeLabels(given, nearness)


def _unit(X: Any) -> sparse.csr_matrix:
    X = sparse.csr_matrix(X, dtype=np.float64)
    return normalize(X) if X.shape[0] else X


def _arrays(matrix: Any) -> tuple[IntArray, NDArray[np.int32], Array]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False), matrix.data

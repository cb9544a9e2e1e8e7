"""Map the features of a file to the columns of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

__all__ = ["cut_columns", "hash_columns", "place_columns"]


def place_columns(X: Any, names: Sequence[str], known: Sequence[str]) -> tuple[csr_matrix, int]:
    """The columns of X, named `names`, in the order of `known`, and how many values were left out."""
    place, width = {name: j for j, name in enumerate(known)}, len(known)
    columns, rows = np.array([place.get(name, width) for name in names], dtype=np.int64), csr_matrix(X)
    moved = csr_matrix((rows.data, columns[rows.indices], rows.indptr), shape=(rows.shape[0], width + 1))
    return cut_columns(moved, width)


def cut_columns(X: Any, width: int) -> tuple[csr_matrix, int]:
    """X with `width` columns, and how many values were left out."""
    rows = csr_matrix(X)
    if rows.shape[1] > width:
        return rows[:, :width], int((rows.indices >= width).sum())
    if rows.shape[1] < width:
        rows = csr_matrix((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], width))
    return rows, 0


def hash_columns(X: Any, names: list[str] | None, width: int) -> csr_matrix:
    """X in `width` columns: names are hashed, numbers taken modulo."""
    from arcrank.datasets import Corpus, hashed_features  # with scikit-learn, which other columns do without
    from arcrank.text import HashedTextFeatures

    rows = csr_matrix(X)
    block = Corpus(labels=[], X=rows, feature_names=names, label_sets=[[] for _ in range(rows.shape[0])])
    return hashed_features(block, HashedTextFeatures(n_features=width))

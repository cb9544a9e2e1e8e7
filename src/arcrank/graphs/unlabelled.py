"""Supervision in which some instances have no label yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcrank._csr import is_sparse
from arcrank._typing import Mask
from arcrank.errors import InputError
from arcrank.graphs.base import PreferenceGraphs
from arcrank.graphs.kinds import is_nested

__all__ = ["split_unlabelled"]


def split_unlabelled(y: Any) -> tuple[Mask, Any]:
    """Return which instances are labelled, (n,), and the supervision of those.

    Unlabelled are: None (or NaN) in a list, a Series or an array of one entry for each instance, and in a matrix or
    DataFrame of numbers a row of NaN only. Sparse matrices and graphs are labelled throughout. An empty list is a label
    set without labels: somebody has looked, and no label applies.

    Examples
    --------
    >>> labelled, known = split_unlabelled([["oil"], None, []])
    >>> labelled.tolist(), known
    ([True, False, True], [['oil'], []])
    """
    if y is None or isinstance(y, str | PreferenceGraphs) or is_sparse(y) or not hasattr(y, "__len__"):
        return np.ones(0 if y is None else _length(y), dtype=bool), y
    labelled = _labelled(y)
    if labelled.all():
        return labelled, y
    if not labelled.any():
        raise InputError(
            f"None of the {len(labelled)} instances is labelled: every entry of y is None or a row of NaN. Label a few."
        )
    rows = np.flatnonzero(labelled)
    if hasattr(y, "iloc"):
        return labelled, _narrowed(y.iloc[rows])
    if isinstance(y, np.ndarray):
        return labelled, _narrowed(y[rows])
    return labelled, [y[row] for row in rows]


def _length(y: Any) -> int:
    return int(y.shape[0]) if is_sparse(y) else len(y) if hasattr(y, "__len__") else 0


def _labelled(y: Any) -> Mask:
    if getattr(y, "ndim", 1) == 2:
        values = np.asarray(y)
        if values.dtype.kind == "O":
            return ~np.array([all(_is_missing(one) for one in row) for row in values], dtype=bool)
        missing: Mask = np.isnan(values).all(axis=1) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
        return ~missing
    return ~np.fromiter((_is_missing(one) for one in y), dtype=bool, count=len(y))


def _is_missing(one: Any) -> bool:
    """Whether an entry is None, NaN or pandas' NA."""
    if one is None:
        return True
    if is_nested(one) or isinstance(one, str):
        return False
    return type(one).__name__ == "NAType" or bool(isinstance(one, float | np.floating) and np.isnan(one))


def _narrowed(known: Any) -> Any:
    """The same values as whole numbers where only the gaps had made them real ones, as pandas does."""
    values = np.asarray(known)
    if values.dtype.kind != "f" or np.isnan(values).any() or (values != np.floor(values)).any():
        return known
    return known.astype(np.int64)

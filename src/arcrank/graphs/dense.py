"""Dense matrices of levels, ranks and distances: checked, and turned into levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arcrank._csr import is_sparse
from arcrank.errors import InputError
from arcrank.graphs.base import row_blocks

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def check_matrix(values: Any, what: str) -> NDArray[Any]:
    """A 2-D numeric array, or an error that says what was received."""
    if is_sparse(values):
        raise InputError(f"{what} must be a dense (n, n_labels) matrix, got a sparse one; use .toarray().")
    try:
        matrix = np.asarray(values)
        if matrix.dtype == object:
            matrix = matrix.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise InputError(f"{what} must be a rectangular (n, n_labels) matrix of numbers.") from error
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise InputError(
            f"{what} must be a 2-D matrix of numbers, one row for each instance and one column for each label; "
            f"got {matrix.dtype} of shape {matrix.shape}."
        )
    if matrix.shape[1] == 0:
        raise InputError(f"{what} has no columns; there must be at least one label.")
    return matrix


def check_indicator(Y: Any) -> csr_matrix:
    """A CSR matrix of the relevant labels, with sorted indices and no stored zeros."""
    from scipy.sparse import csr_matrix  # ranking a document does without

    matrix: Any = csr_matrix(Y) if is_sparse(Y) else check_matrix(Y, "The indicator")
    values: NDArray[Any] = matrix.data if is_sparse(matrix) else matrix
    if values.dtype != bool and not np.isin(values, (0, 1)).all():
        bad = values[~np.isin(values, (0, 1))][0]
        raise InputError(
            f"An indicator matrix holds 0 (not relevant) and 1 (relevant) only, got {bad}; "
            "for ranks pass as_graphs(y, kind='ranks'), for grades, higher = better, as_graphs(y, kind='grades')."
        )
    indicator = csr_matrix(matrix, copy=True)
    indicator.sum_duplicates()
    indicator.eliminate_zeros()
    indicator.sort_indices()
    return indicator


def dense_levels(values: NDArray[Any]) -> NDArray[np.int32]:
    """Number each row's distinct values 0, 1, 2, ... from the smallest; NaN becomes -1."""
    judged = ~np.isnan(values)
    keys = np.where(judged, values, np.inf)
    # Unjudged labels go last: a stable sort by (not judged, value) keeps real infinities before them.
    order = np.lexsort((keys, ~judged), axis=1)
    ordered = np.take_along_axis(keys, order, axis=1)
    levels = np.zeros(values.shape, dtype=np.int32)
    np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1, out=levels[:, 1:])
    result = np.empty_like(levels)
    np.put_along_axis(result, order, levels, axis=1)
    result[~judged] = -1
    return result


def list_exceptions(
    levels: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Each row's most common level (the smallest among equals), and the labels that have another one.

    Returns ptr, label, level, rest as `LayeredGraphs` stores them.
    """
    n, k = levels.shape
    rest = np.empty(n, dtype=np.int32)
    label, level, counts = [], [], np.zeros(n + 1, dtype=np.int64)
    for block in row_blocks(n, k):
        part = levels[block]
        rest[block] = _most_common(part)
        differs = part != rest[block][:, None]
        label.append(np.nonzero(differs)[1].astype(np.int32))
        level.append(part[differs])
        counts[1:][block] = differs.sum(axis=1)
    empty = np.empty(0, dtype=np.int32)
    return np.cumsum(counts), np.concatenate([empty, *label]), np.concatenate([empty, *level]), rest


def _most_common(levels: NDArray[np.int32]) -> NDArray[np.int32]:
    n, width = len(levels), int(levels.max(initial=-1)) + 2
    cells = np.arange(n)[:, None] * width + (levels + 1)
    sizes = np.bincount(cells.ravel(), minlength=n * width).reshape(n, width)
    return (sizes.argmax(axis=1) - 1).astype(np.int32)

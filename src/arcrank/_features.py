"""The one check of feature matrices: what every estimator learns from and scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from arcrank.errors import InputError

__all__ = ["LARGEST_FEATURE", "canonical_csr", "check_csr", "check_features", "check_values", "squared_lengths"]

LARGEST_FEATURE = 1e100
"""Features may not be larger than this: sums and products of such numbers are still finite."""
_VALUES = 1 << 16  # that are squared at a time


def squared_lengths(X: Any) -> NDArray[np.float64]:
    """Return the squared length of each row, (n,), without a copy of all of X.

    Examples
    --------
    >>> squared_lengths(sp.csr_matrix([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [25.0, 0.0]
    """
    if not sp.issparse(X):
        return np.asarray(np.einsum("ij,ij->i", X, X), dtype=np.float64)
    X = X.tocsr()
    rows = max(1, _VALUES * X.shape[0] // max(1, X.nnz))
    found = np.zeros(X.shape[0])
    for start in range(0, X.shape[0], rows):
        ends = X.indptr[start : start + rows + 1]
        filled = np.flatnonzero(np.diff(ends))
        squares = np.square(X.data[ends[0] : ends[-1]], dtype=np.float64)
        found[start + filled] = np.add.reduceat(squares, ends[filled] - ends[0]) if len(filled) else 0.0
    return found


def check_features(estimator: Any, X: Any, *, reset: bool, missing: bool = False) -> Any:
    """Return X as float64, either CSR in canonical form or dense in C order; the caller's X is left as it is.

    Canonical means sorted indices and no duplicates. `reset` notes the number and names of the columns in the
    estimator, otherwise they are compared with those that it learnt. With `missing`, NaN is allowed.
    """
    _refuse_texts(X, type(estimator).__name__)
    values = check_array(
        X,
        accept_sparse="csr",
        dtype=np.float64,
        order="C",
        ensure_all_finite=False,
        ensure_min_samples=0,
        ensure_min_features=0,
        estimator=estimator,
        input_name="X",
    )
    _check_shape(values)
    check_values(values, getattr(X, "columns", None), missing=missing)
    validate_data(estimator, X, reset=reset, skip_check_array=True)  # only the number and names of the columns
    return canonical_csr(values) if sp.issparse(values) else values


def _refuse_texts(X: Any, where: str) -> None:
    """Raise an InputError that names TextFeatures where X holds texts instead of numbers."""
    text = _first_text(X)
    if text is not None:
        raise InputError(
            f"X holds texts, the first is {text[:40]!r}, and {where} takes a matrix of numbers with a row for each "
            f"instance. Convert the texts to features: sklearn.pipeline.make_pipeline(TextFeatures(), {where}()) with "
            "TextFeatures from arcrank.text."
        )


def _first_text(X: Any) -> str | None:
    """The first entry of X if it is a string; a 2-D X may hold numbers that are written as strings."""
    if isinstance(X, str):
        return X
    rows = X[:1] if isinstance(X, list | tuple | np.ndarray) or hasattr(X, "to_numpy") else ()
    first = np.asarray(rows, dtype=object)
    if first.ndim not in (1, 2) or not first.size or not isinstance(first.flat[0], str):
        return None
    return str(first.flat[0]) if first.ndim == 1 or not _is_number(first.flat[0]) else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def canonical_csr(X: Any) -> Any:
    """Return CSR with sorted indices, of 32 bits where they fit, and no duplicates; the caller's X is left as it is."""
    if not (sp.issparse(X) and X.format == "csr"):  # a new wrapper would forget that the format was checked
        X = sp.csr_matrix(X)
    if X.indices.dtype != np.int32 and max(X.nnz, X.shape[1]) <= np.iinfo(np.int32).max:
        X = type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    if not X.has_canonical_format:
        X = _sorted_copy(X)
        X.sum_duplicates()
    return X


def _sorted_copy(X: Any) -> Any:
    """Return a copy of CSR whose indices are sorted, if that takes less than to sort them row by row."""
    # Two transpositions sort in linear time, but they also visit every column, however few numbers there are.
    return X.tocsc().tocsr() if X.nnz >= X.shape[1] else X.copy()


def check_values(X: Any, names: Any = None, *, missing: bool = False) -> None:
    """Raise an InputError that names row and column of the first NaN, infinity or number that is too large.

    With `missing`, NaN is allowed.
    """
    values = X.data if sp.issparse(X) else X
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))  # NaN where there is one
    if largest <= LARGEST_FEATURE:
        return
    wrong = ~(np.abs(values) <= LARGEST_FEATURE)
    if missing:
        wrong &= ~np.isnan(values)
        if not wrong.any():
            return
    first = int(np.flatnonzero(wrong.ravel())[0])
    value, place = values.ravel()[first], _place(X, first, names)
    if np.isfinite(value):
        raise InputError(
            f"X holds {value:g} in {place}; features may be at most {LARGEST_FEATURE:g} in size, since products of "
            "larger ones overflow. Scale that column, for example with sklearn.preprocessing.MaxAbsScaler."
        )
    raise InputError(
        f"X holds {'NaN' if np.isnan(value) else f'{value:g}'} in {place}; features must be finite numbers. Replace "
        "it, for example with sklearn.impute.SimpleImputer, or drop that row."
    )


def _check_shape(X: Any) -> None:
    if X.shape[1] == 0:
        raise InputError(
            f"X has 0 feature(s) (shape={X.shape}) while a minimum of 1 is required. Pass a matrix with at least one "
            "column; texts without a single known word give such a matrix."
        )
    if X.shape[0] == 0:
        raise InputError(f"X has no rows (shape={X.shape}); pass at least one instance.")


def _place(X: Any, first: int, names: Any) -> str:
    """Where the value number `first` of X is."""
    if sp.issparse(X):
        row, column = int(np.searchsorted(X.indptr, first, side="right")) - 1, int(X.indices[first])
    else:
        row, column = divmod(first, X.shape[1])
    name = "" if names is None else f" ({names[column]!r})"
    return f"row {row}, column {column}{name}"


def check_csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> None:
    """Raise an InputError unless these arrays are a CSR matrix: products do not look at indices before they read."""
    if not (data.ndim == indices.ndim == indptr.ndim == 1) or {indices.dtype.str, indptr.dtype.str} - {"<i4", "<i8"}:
        raise InputError("The parts of a CSR matrix must be 1-D, and its indices of type int32 or int64.")
    m, d = shape
    if len(indptr) != m + 1 or len(data) != len(indices) or indptr[0] != 0 or indptr[-1] != len(indices):
        raise InputError(
            f"A CSR matrix of shape {shape} has {len(indptr)} row pointers, {len(indices)} indices and {len(data)} "
            "values, which do not agree."
        )
    if (indptr[1:] < indptr[:-1]).any():
        raise InputError("The row pointers (indptr) of a CSR matrix must not decrease.")
    if len(indices) and not (indices.min() >= 0 and indices.max() < d):
        raise InputError(f"A CSR matrix has indices from {indices.min()} to {indices.max()}, but {d} columns.")

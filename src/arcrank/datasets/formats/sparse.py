"""Rows of `index:value` features as CSR arrays, a block of rows at a time."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from arcrank._typing import Array
from arcrank.datasets.formats.lines import RowError

__all__ = ["check_features", "parse_features"]

_COLON, _SPACE, _TAB = ord(":"), ord(" "), ord("\t")


def check_features(part: bytes, n_features: int | None) -> None:
    """Raise a `RowError` unless one row's features can be parsed."""
    try:
        parse_features([part], n_features)
    except ValueError as error:
        raise RowError("invalid features", str(error)) from error


def parse_features(parts: list[bytes], n_features: int | None) -> csr_matrix:
    """Return the CSR matrix (len(parts), d) of rows such as `b"3:0.5 7:1"`; column j holds index j.

    d is `n_features`, or one more than the largest index. A block is checked and converted as a whole;
    a ValueError says what is wrong but not where, so the caller looks for the row with `check_features`.
    """
    joined = b" ".join(parts)
    _check_tokens(joined)
    numbers = np.array(joined.decode("ascii").replace(":", " ").split(), dtype=np.float64)
    indices, values = numbers[0::2], numbers[1::2]
    indptr = np.concatenate([[0], np.cumsum([part.count(b":") for part in parts])]).astype(np.int64)
    width = _check_numbers(indices, values, n_features)
    index_type = np.int32 if max(width, len(indices)) < 2**31 else np.int64
    matrix = csr_matrix(
        (values.copy(), indices.astype(index_type), indptr.astype(index_type)), shape=(len(parts), width)
    )
    _check_order(matrix)
    return matrix


def _check_tokens(joined: bytes) -> None:
    """Every token must contain one colon, with something on either side."""
    if b"_" in joined:  # Python would read 1_0 as a number
        raise ValueError("a number with an underscore")
    raw = np.frombuffer(joined, dtype=np.uint8)
    gap = (raw == _SPACE) | (raw == _TAB)
    before = np.concatenate([[True], gap[:-1]])
    starts, colons = np.flatnonzero(~gap & before), np.flatnonzero(raw == _COLON)
    well_formed = (
        len(starts) == len(colons)
        and bool((starts < colons).all())
        and bool((colons[:-1] < starts[1:]).all())
        and not np.append(gap, True)[colons + 1].any()
    )
    if not well_formed:
        raise ValueError(f"features must be index:value, separated by spaces, not {joined[:60]!r}")


def _check_numbers(indices: Array, values: Array, n_features: int | None) -> int:
    if not len(indices):
        return n_features or 0
    if not np.isfinite(values).all():
        raise ValueError("a value that is not finite")
    largest = indices.max()
    if indices.min() < 0 or not largest < 2**53 or (indices != np.floor(indices)).any():
        raise ValueError("an index that is not a whole number of at least 0")
    if n_features is not None and largest >= n_features:
        raise ValueError(f"index {int(largest)} where there are {n_features} features")
    return n_features if n_features is not None else int(largest) + 1


def _check_order(matrix: csr_matrix) -> None:
    """Sort each row's indices; an index given twice is an error."""
    matrix.sort_indices()
    step = np.diff(matrix.indices)
    inner = np.ones(len(step), dtype=bool)
    row_starts = matrix.indptr[1:-1]
    inner[row_starts[(row_starts > 0) & (row_starts < len(matrix.indices))] - 1] = False
    if (step[inner] == 0).any():
        raise ValueError("an index given twice")

"""Rows of plain decimals such as `3:0.5 7:1`, converted together: several times as fast as one number at a time.

A decimal of at most 15 digits is a whole number divided by a power of ten, both of which float64 holds exactly, so one
correctly rounded division gives the same bits as `float(...)`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

__all__ = ["plain_features"]

_PLAIN = b"0123456789.: "
_COLON, _SPACE, _DOT = b": ."
_WITHOUT_COLONS = bytes.maketrans(b":", b" ")
_MOST_DIGITS = 15
_TENS = 10.0 ** np.arange(_MOST_DIGITS + 1)


def plain_features(parts: list[bytes]) -> csr_matrix | None:
    """The CSR matrix of some rows; column j holds index j, and the last index met gives the width.

    None if the rows hold anything but digits, points, colons and single spaces, or if indices are not ascending: then
    `parse_features` converts them, or says what is wrong.

    >>> plain_features([b"1:0.5 3:2", b"", b"0:.25"]).toarray().tolist()
    [[0.0, 0.5, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0], [0.25, 0.0, 0.0, 0.0]]
    >>> plain_features([b"1:1e5"]) is None
    True
    """
    rows = [part.strip() for part in parts]
    joined = b" ".join([row for row in rows if row]) + b" "
    counts = np.array([row.count(b":") for row in rows], dtype=np.int64)
    numbers = None if joined.translate(None, _PLAIN) or not counts.any() else _numbers(joined)
    if numbers is None or 2 * counts.sum() != len(numbers[0]):
        return None
    whole, places = numbers
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices, values = whole[0::2], whole[1::2] / _TENS[places[1::2]]
    if not _ascend(indices, indptr) or indices.max() >= 2**31 - 1:
        return None
    shape = (len(rows), int(indices.max()) + 1)
    return csr_matrix((values, indices.astype(np.int32), indptr.astype(np.int32)), shape=shape)


def _numbers(joined: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """The digits of each token as a whole number, and how many of them are after the decimal point."""
    raw = np.frombuffer(joined, dtype=np.uint8)
    ends = np.flatnonzero((raw == _SPACE) | (raw == _COLON))
    dots = np.flatnonzero(raw == _DOT)
    token = np.searchsorted(ends, dots)
    digits = np.diff(ends, prepend=-1) - 1
    digits[token] -= 1
    in_turn = len(ends) % 2 == 0 and (raw[ends[0::2]] == _COLON).all() and (raw[ends[1::2]] == _SPACE).all()
    dots_fit = (token % 2 == 1).all() and (np.diff(token) > 0).all()
    if not in_turn or not dots_fit or digits.min() < 1 or digits.max() > _MOST_DIGITS:
        return None
    places = np.zeros(len(ends), dtype=np.int64)
    places[token] = ends[token] - dots - 1
    return np.fromstring(joined.translate(_WITHOUT_COLONS, b"."), dtype=np.int64, sep=" "), places


def _ascend(indices: NDArray[np.int64], indptr: NDArray[np.int64]) -> bool:
    """Whether every row's indices are in order, each once."""
    rises = np.diff(indices) > 0
    starts = indptr[1:-1]
    rises[starts[(starts > 0) & (starts < len(indices))] - 1] = True
    return bool(rises.all())

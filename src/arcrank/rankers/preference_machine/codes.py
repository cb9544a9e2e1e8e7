"""Class codes: the rows M_r of the paper's embedding, `f(x, r) = <h(x), M_r>` (Aiolli & Sperduti 2004, eq. 3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from arcrank._typing import Array
from arcrank._validation import check_int
from arcrank.errors import InputError, ParameterError

_TRIES = 50


def one_vs_one_codes(n_labels: int) -> Array:
    """(k, k (k - 1) / 2): a column for each two labels, 1 for the first, -1 for the second, 0 for the others.

    Examples
    --------
    >>> one_vs_one_codes(3)
    array([[ 1.,  1.,  0.],
           [-1.,  0.,  1.],
           [ 0., -1., -1.]])
    """
    first, second = np.triu_indices(n_labels, 1)
    codes = np.zeros((n_labels, len(first)))
    codes[first, np.arange(len(first))] = 1.0
    codes[second, np.arange(len(first))] = -1.0
    return codes


def error_correcting_codes(n_labels: int, length: int | None = None, random_state: Any = 0) -> Array:
    """(k, length) random codes of -1 and 1: of 50 draws, the one whose two nearest rows differ in most places.

    `length` is max(10 log2 k, 10) where None.

    Examples
    --------
    >>> codes = error_correcting_codes(4, 7)
    >>> codes.shape, sorted(set(codes.ravel().tolist()))
    ((4, 7), [-1.0, 1.0])
    """
    if length is None:
        length = int(max(10.0, np.ceil(10.0 * np.log2(max(1, n_labels)))))
    shortest = int(np.ceil(np.log2(max(1, n_labels))))
    check_int("length", length, at_least=shortest, why=f"{n_labels} labels need as many different codes")
    random = check_random_state(random_state)
    draws = (random.choice([-1.0, 1.0], size=(n_labels, length)) for _ in range(_TRIES))
    best = max(draws, key=_smallest_distance)
    return best if _smallest_distance(best) > 0 else _binary_numbers(n_labels, length)


_MAKERS = {"one-vs-one": one_vs_one_codes, "error-correcting": error_correcting_codes}
_LEARN = "learn"


def learns_codes(codes: Any) -> bool:
    """Whether codes are to be learnt.

    Examples
    --------
    >>> learns_codes("learn"), learns_codes("one-vs-one"), learns_codes([[1.0], [2.0]])
    (True, False, False)
    """
    return isinstance(codes, str) and codes == _LEARN


def check_code_name(codes: Any) -> None:
    """Refuse a name that is not one of the codes; a matrix is checked by `check_codes`, which knows the labels.

    Examples
    --------
    >>> check_code_name("one-vs-one")
    """
    if isinstance(codes, str) and codes not in (*_MAKERS, _LEARN):
        names = ", ".join(map(repr, (*_MAKERS, _LEARN)))
        raise ParameterError(f"codes must be None, {names} or a matrix; got {codes!r}.")


def check_codes(codes: Any, n_labels: int, *, with_cut: bool = False) -> Array | None:
    """None for the standard basis and codes that are to be learnt, else a (k, s) matrix of different rows.

    Where the first label is the cut, a given matrix has no row for it: its code is 0, and so is its score.

    Examples
    --------
    >>> check_codes("one-vs-one", 4).shape, check_codes(None, 4)
    ((4, 6), None)
    """
    check_code_name(codes)
    if codes is None or learns_codes(codes):
        return None
    if isinstance(codes, str):
        return _MAKERS[codes](n_labels)
    matrix = np.ascontiguousarray(codes, dtype=np.float64)
    if matrix.ndim != 2 or len(matrix) != n_labels - with_cut or not matrix.shape[1]:
        raise InputError(
            f"codes must have one row for each of the {n_labels - with_cut} labels, in the order of labels_, and any "
            f"number of columns; got shape {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise InputError("codes hold NaN or infinite values; give finite numbers.")
    if with_cut:
        matrix = np.vstack([np.zeros(matrix.shape[1]), matrix])
    if len(np.unique(matrix, axis=0)) < n_labels:
        raise InputError("Two labels have the same code, so no scores could tell them apart; make all rows different.")
    return matrix


def _smallest_distance(codes: Array) -> float:
    distances = codes.shape[1] - codes @ codes.T
    return float(distances[~np.eye(len(codes), dtype=bool)].min(initial=np.inf))


def _binary_numbers(n_labels: int, length: int) -> Array:
    """Different rows for certain: each label's number in binary."""
    bits = (np.arange(n_labels)[:, None] >> np.arange(length)) & 1
    return np.where(bits, 1.0, -1.0)

"""Are the rows of a matrix rankings? Grades look alike, and learnt as ranks they would be upside down."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array, Mask
from arcrank.errors import InputError
from arcrank.graphs.base import row_blocks

__all__ = ["refuse_unless_ranks"]

_DENSE = 2
_SHOWN = 8


def refuse_unless_ranks(y: NDArray[Any]) -> None:
    """Raise an InputError that names kind="grades" and kind="ranks" unless the rows of y, (n, k), are rankings.

    They are if all of them are places among the judged labels, 1 = best, with ties written in one usual way: 1224,
    1334, 1223 or 1 2.5 2.5 4. In the third way a few values shared by many labels would fit too, so two thirds of the
    places must differ. Rows with NaN may instead be cut from rankings of all k labels: different places up to k, where
    k itself occurs.

    Examples
    --------
    >>> refuse_unless_ranks(np.array([[1, 2, 2, 4], [3, 1, 2, 4]]))
    >>> refuse_unless_ranks(np.array([[5, 2, 2, 4], [3, 5, 2, 4]]))
    Traceback (most recent call last):
    ...
    arcrank.errors.InputError: This 2-D y has values from 2 to 5, and ...
    """
    among_judged, cut = _readings(y)
    if not (among_judged.all(axis=1).any() or cut.all(axis=1).any()):
        raise InputError(_sentence(y, max(among_judged, key=np.count_nonzero)))


def _readings(y: NDArray[Any]) -> tuple[Mask, Mask]:
    """Which rows are places among the judged labels, and which are that or cut, (ways to write ties, n) each."""
    parts = [_read_rows(y[block].astype(np.float64)) for block in row_blocks(*y.shape)]
    ways = np.concatenate([part[0] for part in parts], axis=1)
    cut, n_places, n_judged = (np.concatenate([part[j] for part in parts]) for j in (1, 2, 3))
    if 3 * n_places.sum() < 2 * n_judged.sum():
        ways[_DENSE] &= n_places == n_judged
    partial = n_judged < y.shape[1]
    cut &= bool(np.nanmax(y) == y.shape[1])
    return ways, np.where(partial, cut, ways)


def _read_rows(y: Array) -> tuple[Mask, Mask, NDArray[np.int64], NDArray[np.int64]]:
    """Whether rows are places among the judged, (4, n), or cut from a ranking; their different places, and judged."""
    ordered = np.sort(y, axis=1)  # NaN last
    skipped = np.isnan(ordered)
    k = y.shape[1]
    new = np.ones(y.shape, dtype=bool)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(new, np.arange(1, k + 1), 1), axis=1)
    ends = np.where(np.roll(new, -1, axis=1), np.arange(1, k + 1), k)
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    places = first, last, np.cumsum(new, axis=1), (first + last) / 2
    ways = np.array([((ordered == place) | skipped).all(axis=1) for place in places])
    cut = ((new & (ordered == np.floor(ordered)) & (ordered <= k)) | skipped).all(axis=1)
    return ways, cut, (new & ~skipped).sum(axis=1), k - skipped.sum(axis=1)


def _sentence(y: NDArray[Any], fits: Mask) -> str:
    row = int(np.argmin(fits))
    values = ", ".join(f"{value:g}" for value in y[row, :_SHOWN]) + (", ..." if y.shape[1] > _SHOWN else "")
    return (
        f"This 2-D y has values from {np.nanmin(y):g} to {np.nanmax(y):g}, and {np.count_nonzero(~fits):,} of "
        f"{len(y):,} rows do not rank their labels 1, 2, 3, ...: row {row} is [{values}]. Say what they are: "
        "as_graphs(y, kind='grades') for grades such as stars (higher = better), as_graphs(y, kind='ranks') for "
        "positions (1 = best); NaN = not judged."
    )

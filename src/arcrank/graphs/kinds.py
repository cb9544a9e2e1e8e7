"""Which kind of supervision is this?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank.errors import InputError


def unwrap(y: Any) -> Any:
    """Data frames and other array-likes become arrays, arrays of lists become lists; the rest stays as it is."""
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    elif hasattr(y, "__array__") and not isinstance(y, np.ndarray):
        y = np.asarray(y)
    if isinstance(y, np.ndarray) and y.dtype == object and y.ndim == 1 and any(_is_nested(one) for one in y):
        return list(y)
    return y


def detect_kind(y: Any) -> str:
    """The kind of supervision that `y` must be, or an error that says which kinds it could be."""
    if sp.issparse(y):
        return "indicator"
    if not isinstance(y, np.ndarray):
        if isinstance(y, str | bytes) or not isinstance(y, Sequence):
            raise InputError(
                f"y must have one entry for each instance (array, sparse matrix or list), got {type(y).__name__}."
            )
        if any(_is_nested(one) for one in y):
            return _detect_nested(y)
        y = np.asarray(y)
    if y.ndim == 1:
        return "single"
    if y.ndim == 2:
        return _detect_matrix(y)
    raise InputError(f"y must be 1-D (one label each) or 2-D (one column for each label), got shape {y.shape}.")


def _detect_matrix(y: NDArray[Any]) -> str:
    if y.dtype == bool:
        return "indicator"
    if y.dtype.kind not in "iuf":
        raise InputError(f"A 2-D y must hold numbers, got {y.dtype}; for label names give a list of lists.")
    known = y[~np.isnan(y)] if y.dtype.kind == "f" else y.ravel()
    if known.size == y.size and np.isin(known, (0, 1)).all():
        return "indicator"
    if known.size and known.min() >= 1 and known.max() >= 2:
        return "ranks"
    span = f"values from {known.min():g} to {known.max():g}" if known.size else "no judged value"
    raise InputError(
        f"This 2-D y could mean several things ({span}); say which with kind='ranks' (1 = best, NaN = not judged), "
        "kind='levels' (0 = top layer, -1 = not judged), kind='distances' or kind='indicator' (only 0 and 1)."
    )


def _detect_nested(y: Sequence[Any]) -> str:
    """Lists: tuples of two = arcs, lists of lists = layers, flat lists = label sets."""
    filled = [(row, list(one)) for row, one in enumerate(y) if _is_nested(one) and len(one)]
    kinds = {_kind_of_instance(one): row for row, one in reversed(filled)}
    loose = [row for row, one in enumerate(y) if not _is_nested(one)]
    if loose or len(kinds) > 1:
        rows = sorted([*kinds.values(), *loose[:1]])
        raise InputError(
            f"Instances {rows[0]} and {rows[1]} are given in different ways: {y[rows[0]]!r} and {y[rows[1]]!r}. "
            "Use one kind for all of them (label sets, layers or arcs), or build graphs and concatenate them."
        )
    kind = next(iter(kinds), "sets")
    if kind == "sets":
        _refuse_ambiguous(y, filled)
    return kind


def _kind_of_instance(one: list[Any]) -> str:
    if all(isinstance(part, tuple) and len(part) == 2 for part in one):
        return "arcs"
    return "layers" if any(_is_nested(part) for part in one) else "sets"


def _refuse_ambiguous(y: Sequence[Any], filled: list[tuple[int, list[Any]]]) -> None:
    """Label sets that may well be something else: better an error than a garbled meaning."""
    row, first = filled[0] if filled else (0, [])
    if filled and all(isinstance(y[r], tuple) and len(one) == 2 for r, one in filled):
        raise InputError(
            f"Instance {row} is the tuple {y[row]!r}: a label set or one arc? Write [{tuple(first)!r}] for an arc, "
            f"{first!r} for a set, or pass kind='sets'."
        )
    lengths = {len(one) for _, one in filled}
    binary = all(not isinstance(x, str) and x in (0, 1) for _, one in filled for x in one)
    if len(filled) == len(y) and lengths != {1} and len(lengths) == 1 and binary:
        raise InputError(
            "These lists of zeros and ones look like an indicator matrix, but lists are label sets; "
            "pass kind='indicator' (or a NumPy array), or kind='sets' if the labels are called 0 and 1."
        )


def _is_nested(one: Any) -> bool:
    return isinstance(one, list | tuple | set | frozenset | np.ndarray) and getattr(one, "ndim", 1) > 0

"""Detection of the kind of supervision: single labels, label sets, indicators, arcs or graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._csr import is_sparse
from arcrank.errors import InputError
from arcrank.graphs.base import shorten
from arcrank.graphs.ranks import refuse_unless_ranks

MATRIX_KINDS = ("indicator", "ranks", "levels", "distances", "grades")
_CALLED = {
    "single": "one label for each instance",
    "sets": "label sets (lists of names)",
    "layers": "layers (lists of lists of names)",
    "arcs": "arcs (lists of tuples (head, tail))",
    "matrix": "a matrix (a column for each label)",
    "indicator": "an indicator matrix",
    "ranks": "a matrix of ranks",
}


def unwrap(y: Any) -> Any:
    """Data frames and other array-likes become arrays, arrays of lists become lists; the rest stays as it is."""
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    elif hasattr(y, "__array__") and not isinstance(y, np.ndarray):
        y = np.asarray(y)
    if isinstance(y, np.ndarray) and y.dtype == object and y.ndim == 1 and any(is_nested(one) for one in y):
        return list(y)
    return y


def column_names(y: Any) -> list[str] | None:
    """The names of a data frame's columns, where all are strings."""
    columns = getattr(y, "columns", None)
    if columns is None or getattr(y, "ndim", 2) != 2:
        return None
    names = list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def check_later(y: Any, kind: str, labels: NDArray[Any]) -> None:
    """Refuse supervision that is not of the kind learnt first, or whose named columns are other ones."""
    values = unwrap(y)
    form = _form(values)
    wanted = "matrix" if kind in MATRIX_KINDS else kind
    if form not in (None, wanted) and not (wanted == "matrix" and form == "sets" and _all_numbers(values)):
        raise InputError(
            f"This ranker learnt from {_CALLED.get(kind, kind)}, and this y is {_CALLED[form]}. {_remedy(form, wanted)}"
        )
    if form == "matrix" and values.shape[1] != len(labels):
        raise InputError(
            f"y has {values.shape[1]} columns, and this ranker learnt {len(labels)} labels; give a column for each."
        )
    check_columns(y, labels)


def check_columns(y: Any, labels: NDArray[Any]) -> None:
    """Refuse a data frame whose columns have other names than the labels, or have them in another order."""
    names = column_names(y)
    if names is not None and labels.dtype.kind not in "biuf" and names != labels.tolist():
        raise InputError(
            f"The columns of y ({shorten(names)}) are not the labels of this ranker in their order; "
            "pass y[list(ranker.labels_)]."
        )


def _remedy(form: str, wanted: str) -> str:
    if form == "matrix":
        return "Its labels have names: pass names, or as_graphs(Y, labels=[...]) with the name of each column."
    if wanted == "matrix":
        return "Pass a matrix with a column for each label of labels_."
    return f"Pass y in the form that was learnt from, or graphs: as_graphs(y, kind={form!r}, labels=ranker.labels_)."


def _form(y: Any) -> str | None:
    """How y is written: "matrix", or the kind of lists; None where it has no entry."""
    if is_sparse(y) or (isinstance(y, np.ndarray) and y.ndim == 2 and y.dtype.kind in "biuf"):
        return "matrix"
    if isinstance(y, str) or not isinstance(y, Sequence | np.ndarray):
        return None
    filled = next((list(one) for one in y if is_nested(one) and len(one)), None)
    if filled is not None:
        return _kind_of_instance(filled)
    return "single" if len(y) and not any(is_nested(one) for one in y) else None


def _all_numbers(y: Sequence[Any]) -> bool:
    return not any(isinstance(x, str) for one in y for x in one)


def check_entries(y: Any, form: type = Iterable) -> None:
    """Refuse what cannot have an entry for each instance."""
    if isinstance(y, str | bytes | Mapping) or not (isinstance(y, form) or is_sparse(y)):
        raise InputError(
            f"y must have one entry for each instance (array, sparse matrix or list), got {type(y).__name__}."
        )


def detect_kind(y: Any, learnt: str | None = None) -> str:
    """The kind of supervision that `y` must be, or an error that says which kinds it could be.

    What y leaves open is settled by the kind that was learnt from before, where y is written in that way.
    """
    try:
        return _detect(y)
    except InputError:
        wanted = "matrix" if learnt in MATRIX_KINDS else learnt
        if wanted is None or _form(y) != wanted:
            raise
        return str(learnt)


def _detect(y: Any) -> str:
    if is_sparse(y):
        return "indicator"
    if not isinstance(y, np.ndarray):
        check_entries(y, Sequence)
        if any(is_nested(one) for one in y):
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
        raise InputError(
            f"A 2-D y must hold numbers, got {y.dtype}. For rows of label names say what they are: as_graphs(y, "
            "kind='arcs') for (head, tail), kind='ranking' for labels in order, best first, or kind='sets'."
        )
    known = y[~np.isnan(y)] if y.dtype.kind == "f" else y.ravel()
    if known.size == y.size and np.isin(known, (0, 1)).all():
        return "indicator"
    if y.shape[1] == 1:
        raise InputError("y has a single column; for one label for each instance pass y.ravel().")
    if known.size and known.min() >= 1 and known.max() >= 2:
        refuse_unless_ranks(y)
        return "ranks"
    span = f"values from {known.min():g} to {known.max():g}" if known.size else "no judged value"
    raise InputError(
        f"This 2-D y could mean several things ({span}); say which by as_graphs(y, kind=...): "
        "kind='ranks' (1 = best, NaN = not judged), kind='grades' (higher = better, NaN = not judged), kind='levels' "
        "(0 = top layer, -1 = not judged), kind='distances' or kind='indicator' (only 0 and 1)."
    )


def _detect_nested(y: Sequence[Any]) -> str:
    """Lists: tuples of two = arcs, lists of lists = layers, flat lists = label sets."""
    filled = [(row, list(one)) for row, one in enumerate(y) if is_nested(one) and len(one)]
    kinds = {_kind_of_instance(one): row for row, one in reversed(filled)}
    loose = [row for row, one in enumerate(y) if not is_nested(one)]
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
    return "layers" if any(is_nested(part) for part in one) else "sets"


def _refuse_ambiguous(y: Sequence[Any], filled: list[tuple[int, list[Any]]]) -> None:
    """Label sets that may well be something else: better an error than a garbled meaning."""
    lengths = {len(one) for _, one in filled}
    binary = all(not isinstance(x, str) and x in (0, 1) for _, one in filled for x in one)
    if len(filled) == len(y) and lengths != {1} and len(lengths) == 1 and binary:
        raise InputError(
            "These lists of zeros and ones look like an indicator matrix, but lists are label sets; pass a NumPy "
            "array or as_graphs(y, kind='indicator'), or as_graphs(y, kind='sets') if the labels are called 0 and 1."
        )
    if lengths == {2} and not any(isinstance(y[row], set | frozenset) for row, _ in filled):
        row, first = filled[0]
        head, tail = (name.item() if isinstance(name, np.generic) else name for name in first)
        raise InputError(
            f"Every instance has exactly two names (instance {row}: {head!r}, {tail!r}): label sets, or one arc each, "
            f"{head!r} preferred to {tail!r}? For arcs pass as_graphs(y, kind='arcs'). For label sets pass Python "
            f"sets, {{{head!r}, {tail!r}}} for this one, or as_graphs(y, kind='sets')."
        )


def is_nested(one: Any) -> bool:
    """Whether an entry of y holds entries itself."""
    return isinstance(one, list | tuple | set | frozenset | np.ndarray) and getattr(one, "ndim", 1) > 0

"""Labels of new supervision that a ranker has not learnt, as in a fold of a cross-validation of sorted data."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from arcrank._typing import Mask
from arcrank.errors import InputError
from arcrank.graphs.base import PreferenceGraphs
from arcrank.graphs.build import as_graphs
from arcrank.graphs.tops import top_labels

__all__ = ["graphs_over", "seen_on_top", "warn_of_unseen"]

_MANY = 0.1  # a rare label may well be missing from the training data; labels of sorted data are missing by the block
_REMEDY = (
    "If this is a fold of a cross-validation, y may be sorted by label: pass "
    "cv=arcrank.model_selection.StratifiedFolds()"
)


def graphs_over(y: Any, kind: str | None, labels: Any) -> PreferenceGraphs:
    """`as_graphs(y, kind, labels)`, where labels that were not learnt are an error that says what may be the cause."""
    try:
        return as_graphs(y, kind=kind, labels=labels)
    except InputError as error:
        unseen = [] if labels is None else _unseen_names(y, kind, labels)
        if not unseen:
            raise
        raise InputError(
            f"y has {_amount(len(unseen))} that {_was(len(unseen))} not in the training data ({_some(unseen)}). "
            f"{_REMEDY}, or give as_graphs(y) in place of y: graphs keep all labels in every fold. "
            "Otherwise leave out these instances, or train on data that have these labels too."
        ) from error


def _unseen_names(y: Any, kind: str | None, labels: Any) -> list[Any]:
    """The names in y that are not among the labels; none where y cannot be read at all."""
    try:
        names = as_graphs(y, kind=kind).labels
    except InputError:
        return []
    known = set(np.asarray(labels).tolist())
    return [] if names is None else [name for name in names.tolist() if name not in known]


def seen_on_top(graphs: PreferenceGraphs) -> Mask:
    """Which labels are at the top of at least one graph, (k,)."""
    return np.bincount(top_labels(graphs).indices, minlength=graphs.n_labels) > 0


def warn_of_unseen(graphs: PreferenceGraphs, seen: Mask | None) -> None:
    """Warn where many instances have at the top only labels that were at the top of no training instance.

    Graphs keep the names of all labels in every fold, so without this a fold of sorted data is scored in silence. An
    instance with some known label at its top does not count, so rare labels among others raise no alarm.
    """
    if seen is None or len(seen) != graphs.n_labels or seen.all():
        return
    tops = top_labels(graphs)
    sizes = np.diff(tops.indptr)
    judged = int(np.count_nonzero(sizes))
    lost = (sizes > 0) & (tops @ seen.astype(np.int64) == 0)
    if not judged or lost.sum() <= _MANY * judged:
        return
    columns = np.unique(tops[lost].indices)
    names = columns if graphs.labels is None else graphs.labels[columns]
    warnings.warn(
        f"{int(lost.sum()):,} of {judged:,} instances have at the top only labels that no training instance has there "
        f"({_some(names.tolist())}), so their scores mean little. {_REMEDY}.",
        UserWarning,
        stacklevel=4,
    )


def _some(names: list[Any]) -> str:
    return ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")


def _amount(n: int) -> str:
    return "1 label" if n == 1 else f"{n:,} labels"


def _was(n: int) -> str:
    return "was" if n == 1 else "were"

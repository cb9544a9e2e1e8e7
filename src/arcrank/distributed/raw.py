"""What a partition holds before the labels and features of the others are known, and what they add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from arcrank._features import canonical_csr, check_values
from arcrank._typing import Array
from arcrank.errors import InputError
from arcrank.graphs import CUT, PreferenceGraphs, as_graphs
from arcrank.graphs.base import label_array, same_labels
from arcrank.graphs.kinds import MATRIX_KINDS, column_names, detect_kind, unwrap
from arcrank.rankers.base import check_sample_weight
from arcrank.rankers.candidates import CandidateSets
from arcrank.rankers.scale import scale_sums

__all__ = [
    "DataSummary",
    "RawPartition",
    "Summary",
    "matrix_of",
    "merge_grades",
    "merge_summaries",
    "summarise",
    "weights_of",
]


@dataclass
class RawPartition:
    """Instances X, (n, d) or CandidateSets, their preferences y, weights, and where they come from.

    `names` are those of the features, if they have any.
    """

    X: Any
    y: Any
    weight: Array | None = None
    source: str = ""
    names: list[str] | None = None
    queries: list[str | None] | None = None

    def __len__(self) -> int:
        return 0 if self.X is None else len(self.X) if isinstance(self.X, CandidateSets) else int(self.X.shape[0])


@dataclass
class Summary:
    """What the client must know of a partition: sizes, labels, and the sums of the data's scale."""

    source: str
    n: int
    width: int = 0
    names: list[str] | None = None
    kind: str | None = None
    doubt: str = ""
    labels: Any = None
    n_labels: int = 0
    scale: tuple[float, float, float] = (0.0, 0.0, 0.0)
    queries: list[str | None] | None = None


@dataclass
class DataSummary:
    """All partitions together; `kept` are the numbers of those with instances."""

    n: int
    n_features: int
    kind: str
    labels: Any
    n_labels: int
    scale: tuple[float, float, float]
    names: list[str] | None
    kept: list[int]
    sizes: list[int] = field(default_factory=list)


def summarise(raw: RawPartition) -> Summary:
    """Look at a partition on its worker."""
    n = len(raw)
    if raw.y is None and n:
        raise InputError(f"{raw.source}: a partition has instances but no preferences y; give both.")
    if not n:
        return Summary(raw.source, 0)
    if isinstance(raw.X, CandidateSets):
        weight = np.repeat(_weights(raw), raw.X.counts())
        sums, largest = scale_sums(raw.X.features, weight), int(raw.X.counts().max(initial=1))
        return Summary(raw.source, n, raw.X.shape[1], None, "candidates", "", None, largest, sums, raw.queries)
    X = matrix_of(raw)
    kind, doubt = _kind(raw)
    labels, n_labels = _labels(raw, kind) if kind else (None, 0)
    return Summary(raw.source, n, X.shape[1], raw.names, kind, doubt, labels, n_labels, scale_sums(X, _weights(raw)))


def matrix_of(raw: RawPartition) -> Any:
    """Return the features as float64, CSR in canonical form or dense, all of them finite."""
    X = canonical_csr(raw.X) if sp.issparse(raw.X) else np.ascontiguousarray(raw.X, dtype=np.float64)
    X = X if X.dtype == np.float64 else X.astype(np.float64)
    try:
        check_values(X, raw.names)
    except InputError as error:
        raise InputError(f"{raw.source}: {error}") from error
    return X


def _weights(raw: RawPartition) -> Array:
    try:
        return weights_of(raw.weight, len(raw))
    except InputError as error:
        raise InputError(f"{raw.source}: {error}") from error


def weights_of(weight: Any, n: int) -> Array:
    """Return the weights of n instances; those of one partition may all be 0."""
    if weight is not None and not np.asarray(weight).any():
        return np.zeros(n)
    return check_sample_weight(weight, n)


def _kind(raw: RawPartition) -> tuple[str | None, str]:
    """Return the kind of supervision, or None and the error of a partition that leaves it open."""
    if isinstance(raw.y, PreferenceGraphs):
        return "graphs", ""
    try:
        return detect_kind(unwrap(raw.y)), ""
    except InputError as error:
        return None, str(error)


def _labels(raw: RawPartition, kind: str) -> tuple[Any, int]:
    """Return label names, None where labels are numbered, and their number."""
    if kind in MATRIX_KINDS:
        return column_names(raw.y), int(unwrap(raw.y).shape[1])
    try:
        graphs = as_graphs(raw.y) if kind == "graphs" else as_graphs(raw.y, kind=kind)
    except InputError as error:
        if "There are no labels" in str(error):  # of a partition whose label sets are all empty
            return [], 0
        raise type(error)(f"{raw.source}: {error}") from error
    return None if graphs.labels is None else graphs.labels, graphs.n_labels


def merge_summaries(summaries: Sequence[Summary]) -> DataSummary:
    """Bring the labels, features and scales of all partitions together.

    >>> parts = [summarise(RawPartition(np.eye(2), list(y))) for y in ("ab", "cb")]
    >>> merge_summaries(parts).labels.tolist()
    ['a', 'b', 'c']
    """
    kept = [number for number, one in enumerate(summaries) if one.n]
    if not kept:
        raise InputError("All partitions are empty; give some instances to learn from.")
    filled = [summaries[number] for number in kept]
    kind = _common_kind(filled)
    labels, n_labels = _common_labels(filled, kind)
    names = _common_names(filled)
    _refuse_split_queries(filled)
    sums = tuple(sum(one.scale[j] for one in filled) for j in range(3))
    n_features = max(one.width for one in filled) if names is None else len(names)
    sizes = [one.n for one in filled]
    return DataSummary(sum(sizes), n_features, kind, labels, n_labels, sums, names, kept, sizes)  # type: ignore[arg-type]


def merge_grades(parts: Sequence[tuple[Summary, Array, Any]]) -> tuple[DataSummary, Array, Any]:
    """Bring the features and grades of all partitions together; return the grades, ascending, and how often each is."""
    kept = [number for number, (one, *_) in enumerate(parts) if one.n]
    if not kept:
        raise InputError("All partitions are empty; give some instances to learn from.")
    filled = [parts[number][0] for number in kept]
    names, sizes = _common_names(filled), [one.n for one in filled]
    levels = np.unique(np.concatenate([part[1] for part in parts]))
    counts = np.zeros(len(levels), dtype=np.int64)
    for _, grades, often in parts:
        counts[np.searchsorted(levels, grades)] += often
    width = max(one.width for one in filled) if names is None else len(names)
    scale = (0.0, 0.0, 0.0)
    return DataSummary(sum(sizes), width, "grades", None, 0, scale, names, kept, sizes), levels, counts


def _common_kind(parts: Sequence[Summary]) -> str:
    kinds = {one.kind: one.source for one in reversed(parts) if one.kind is not None}
    if len(kinds) == 1:
        return str(next(iter(kinds)))
    if not kinds:
        raise InputError(f"{parts[0].source}: {parts[0].doubt}")
    (first, here), (second, there) = list(kinds.items())[:2]
    raise InputError(
        f"Partitions hold different kinds of preferences: {here} {first!r}, {there} {second!r}. Give one kind in all "
        "of them, or graphs: as_graphs(y, kind=...)."
    )


def _common_labels(parts: Sequence[Summary], kind: str) -> tuple[Any, int]:
    first = parts[0]
    if kind == "candidates":
        return None, max(one.n_labels for one in parts)
    if all(same_labels(_array(one.labels), _array(first.labels)) for one in parts):
        if any(one.n_labels != first.n_labels for one in parts):
            other = next(one for one in parts if one.n_labels != first.n_labels)
            raise InputError(
                f"{first.source} has {first.n_labels} labels and {other.source} {other.n_labels}, all without names. "
                "Give matrices with the same columns, or names."
            )
        return _array(first.labels), first.n_labels
    if kind in MATRIX_KINDS or any(one.labels is None for one in parts):
        raise InputError("Partitions have different columns of labels; give each the same columns in the same order.")
    names = {name for one in parts for name in _array(one.labels).tolist()}
    cut = [CUT] if CUT in names else []
    try:
        union = label_array(sorted(names.difference(cut)) + cut)
    except TypeError:
        raise InputError("Partitions have label names of different types; use one type in all of them.") from None
    return union, len(union)


def _array(labels: Any) -> Any:
    return None if labels is None else label_array(labels)


def _common_names(parts: Sequence[Summary]) -> list[str] | None:
    named = [one for one in parts if one.names is not None]
    if not named:
        return None
    if len(named) < len(parts):
        other = next(one for one in parts if one.names is None)
        raise InputError(f"{named[0].source} has named features and {other.source} numbered ones; use one kind.")
    return sorted({name for one in named for name in one.names or []})


def _refuse_split_queries(parts: Sequence[Summary]) -> None:
    """A query must not be split: its candidates are compared with one another."""
    homes: dict[str | None, str] = {}
    for one in parts:
        for query in one.queries or []:
            if homes.setdefault(query, one.source) != one.source:
                raise InputError(
                    f"qid {query} is in {homes[query]} and in {one.source}; keep all candidates of a query together."
                )

"""What both kinds of preference graphs share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import islice
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import IntArray, Mask
from arcrank.errors import InputError

if TYPE_CHECKING:
    from arcrank.graphs.arcs import ArcGraphs

Rows = int | slice | IntArray | Mask | list[int]


class PreferenceGraphs(ABC):
    """The preference graphs of n instances over one set of labels.

    Behaves as a sequence of instances: `len(g)`, `g[rows]` with an integer, a slice, an index array or a mask, so
    scikit-learn's cross-validation can split it. `labels` holds the label names, or None where labels are 0..k-1.

    Examples
    --------
    >>> from arcrank.graphs import PreferenceGraphs, as_graphs
    >>> graphs = as_graphs([["tea"], ["milk", "tea"], []], labels=["bread", "milk", "tea"])
    >>> isinstance(graphs, PreferenceGraphs), graphs.shape, graphs.n_arcs
    (True, (3, 3), 4)
    >>> graphs[[2, 0]].arc_counts().tolist()
    [0, 2]
    """

    n_labels: int
    labels: NDArray[Any] | None

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, rows: IntArray) -> Self:
        """The graphs of the given instances, in that order."""

    @abstractmethod
    def arc_counts(self) -> NDArray[np.int64]:
        """The number of arcs of each instance."""

    @abstractmethod
    def arcs(self, row: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Heads and tails of one instance's arcs; the arc heads[j] -> tails[j] says that the head ranks above."""

    @abstractmethod
    def to_arcs(self) -> ArcGraphs:
        """The same graphs with every arc written out: O(arcs) memory."""

    @abstractmethod
    def _same_content(self, other: Any) -> bool: ...

    @abstractmethod
    def _describe(self) -> str: ...

    @property
    def shape(self) -> tuple[int, int]:
        """(instances, labels)."""
        return len(self), self.n_labels

    @property
    def n_arcs(self) -> int:
        """Arcs of all instances together."""
        return int(self.arc_counts().sum())

    def __getitem__(self, key: Rows | tuple[Rows, EllipsisType]) -> Self:
        return self.take(row_positions(key, len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PreferenceGraphs):
            return NotImplemented
        if self.shape != other.shape or not same_labels(self.labels, other.labels):
            return False
        if type(self) is not type(other):
            return self.to_arcs()._same_content(other.to_arcs())
        return self._same_content(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        n, k = self.shape
        return f"{type(self).__name__}({n:,} instances, {k:,} labels, {self._describe()})"

    def with_labels(self, labels: Any) -> Self:
        """The same graphs under other label names."""
        copy = self.take(np.arange(len(self)))
        copy.labels = check_labels(labels, self.n_labels)
        return copy


def row_positions(key: Any, n: int) -> NDArray[np.int64]:
    """Turn anything that selects rows, also scikit-learn's `(rows, ...)`, into row numbers."""
    if isinstance(key, tuple):
        if len(key) != 2 or key[1] is not Ellipsis:
            raise InputError(f"Graphs are indexed by instance, as g[rows]; got g[{key!r}].")
        key = key[0]
    if isinstance(key, int | np.integer):
        if not -n <= key < n:
            raise IndexError(f"instance {key} of {n}")
        key = [key]
    if isinstance(key, list) and not key:
        return np.empty(0, dtype=np.int64)
    return np.arange(n)[key]


def gather_rows(ptr: IntArray, rows: IntArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pointer of a CSR structure restricted to `rows`, and the positions of its entries in the old one."""
    lengths = (ptr[1:] - ptr[:-1])[rows]
    new_ptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(lengths, out=new_ptr[1:])
    positions = np.arange(new_ptr[-1]) + np.repeat(ptr[:-1][rows] - new_ptr[:-1], lengths)
    return new_ptr, positions


FEW_CELLS = 1 << 15
"""Of blocks that are small beside the weights of a model, for what is computed once."""


def row_blocks(n: int, n_labels: int, cells: int = 1 << 18) -> list[slice]:
    """Blocks of rows whose dense (rows, n_labels) matrices have about `cells` cells, so that memory stays bounded."""
    step = max(1, cells // max(1, n_labels))
    return [slice(start, min(n, start + step)) for start in range(0, n, step)]


def check_labels(labels: Any, n_labels: int) -> NDArray[Any] | None:
    """Label names as a 1-D array of distinct names, or None."""
    if labels is None:
        return None
    names = label_array(labels)
    if len(names) != n_labels:
        raise InputError(f"Got {len(names)} label names for {n_labels} labels; give one name for each label.")
    if len(set(names.tolist())) != n_labels:
        repeated = next(name for name in names.tolist() if names.tolist().count(name) > 1)
        raise InputError(f"The label name {repeated!r} is given more than once; label names must be distinct.")
    check_names(names.tolist())
    return names


def check_names(names: Iterable[Any]) -> None:
    """Raise an InputError for a label name that cannot be shown, or not be distinguished from another one.

    Examples
    --------
    >>> check_names(["tea", "green tea", 7])
    >>> check_names(["tea", ""])
    Traceback (most recent call last):
    ...
    arcrank.errors.InputError: The label name '' is empty; give every label a name that can be read.
    """
    for name in names:
        if fault := name_fault(name):
            raise InputError(f"The label name {name!r} {fault}; give every label a name that can be read.")


def name_fault(name: Any) -> str:
    r"""Say why a label cannot have this name; an empty string where it can. Numbers are names too.

    NumPy's fixed-width strings drop trailing NUL characters, so "a" and "a\0" would become one label.

    >>> name_fault("tea"), name_fault("te" + chr(0)), name_fault(float("nan"))
    ('', 'holds a NUL character', 'stands for a missing value')
    """
    if name is None or name != name:  # noqa: PLR0124 - NaN is the one value that differs from itself
        return "stands for a missing value"
    if not isinstance(name, str) or (name and "\0" not in name):
        return ""
    return "holds a NUL character" if name else "is empty"


def label_array(labels: Any) -> NDArray[Any]:
    """Names as an array; strings as Python objects, so that one long name does not make the array large."""
    if isinstance(labels, np.ndarray) and labels.ndim == 1:
        return labels
    names = list(labels)
    if any(isinstance(name, str) for name in names):
        array = np.empty(len(names), dtype=object)
        array[:] = names
        return array
    return np.asarray(names)


def same_labels(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    """Whether two sets of labels have the same names in the same order; None is the same as None only."""
    if a is None or b is None:
        return a is b
    return len(a) == len(b) and a.tolist() == b.tolist()


def shorten(names: Iterable[Any]) -> str:
    """How an error message lists names: the first few of them.

    >>> shorten("abcdefg")
    "'a', 'b', 'c', 'd', 'e', ..."
    """
    first = list(islice(names, 6))
    return ", ".join(map(repr, first[:5])) + (", ..." if len(first) > 5 else "")


def name_of(label: int, labels: NDArray[Any] | None) -> str:
    """How an error message calls a label."""
    return repr(label) if labels is None else repr(labels.tolist()[label])

"""Decompositions: how a preference graph is cut into pieces (Dekel et al. 2003, section 2).

| name         | one piece for each      | Aiolli & Sperduti's name                     |
|--------------|-------------------------|----------------------------------------------|
| zero-one     | graph                   | identity mapping (so "identity" is the same) |
| disagreement | arc                     | disagreement mapping                         |
| domination   | head, with all its arcs | domination mapping                           |
| dominated    | tail, with all its arcs |                                              |

Any callable `(heads, tails, row) -> pieces` is a decomposition too: it gets the arcs of instance `row` as two arrays
and returns a list of arrays of arc positions. It may put an arc in several pieces and may leave arcs out.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arcrank._typing import Array
from arcrank.errors import GraphError, ParameterError
from arcrank.graphs import ArcGraphs

Cut = Callable[[NDArray[np.int32], NDArray[np.int32], int], Sequence[ArrayLike]]
GroupKey = Callable[[NDArray[np.int32], NDArray[np.int32]], NDArray[Any]]


@dataclass(frozen=True)
class Pieces:
    """The pieces of n instances, every arc written out.

    Attributes
    ----------
    row_ptr : (n + 1,) int64
        The pieces of instance i are row_ptr[i]:row_ptr[i + 1].
    arc_ptr : (pieces + 1,) int64
        The arcs of piece p are arc_ptr[p]:arc_ptr[p + 1].
    head, tail : (arcs,) int32
        Label `head` should rank above label `tail`.
    weight : (arcs,) float64
        The weights of the arcs.

    Examples
    --------
    >>> from arcrank.decompositions import get_decomposition
    >>> from arcrank.graphs import ArcGraphs
    >>> graphs = ArcGraphs.from_arcs([[(0, 1), (0, 2), (1, 2)]], n_labels=3)
    >>> pieces = get_decomposition("dominated").pieces(graphs)
    >>> [pieces.head[a:b].tolist() for a, b in zip(pieces.arc_ptr, pieces.arc_ptr[1:])]
    [[0], [0, 1]]
    """

    row_ptr: NDArray[np.int64]
    arc_ptr: NDArray[np.int64]
    head: NDArray[np.int32]
    tail: NDArray[np.int32]
    weight: Array


class Decomposition(ABC):
    """A way to cut graphs into pieces.

    Attributes
    ----------
    name : str
        For people: messages and reports.
    layered : str or None
        The name under which kernels for layered graphs know the decomposition, so that no arc has to be written out.
        Only the decompositions of this module have one, whatever name a user gives to their own.
    constant_cut : bool
        Label 0 is the cut, and its score is 0 for every instance: nothing is learnt about it.

    Examples
    --------
    >>> from arcrank.decompositions import DECOMPOSITIONS
    >>> from arcrank.graphs import ArcGraphs
    >>> graphs = ArcGraphs.from_arcs([[(0, 1), (0, 2), (1, 2)]], n_labels=3)
    >>> {name: len(cut.pieces(graphs).arc_ptr) - 1 for name, cut in DECOMPOSITIONS.items()}
    {'zero-one': 1, 'identity': 1, 'disagreement': 3, 'domination': 2, 'dominated': 2}
    """

    name: str
    layered: str | None = None
    constant_cut: bool = False

    @abstractmethod
    def pieces(self, graphs: ArcGraphs, first_row: int = 0) -> Pieces:
        """Cut the graphs of all instances, or of a block of them that begins with instance `first_row`."""

    def of_rows(self, rows: NDArray[np.int64]) -> Decomposition:  # noqa: ARG002
        """The same decomposition for graphs that are only those of the instances `rows`, in that order."""
        return self


class Grouping(Decomposition):
    """A decomposition that puts each arc into one piece: arcs of an instance with the same key stay together.

    Examples
    --------
    >>> from arcrank.graphs import ArcGraphs
    >>> odd_heads = Grouping("odd heads apart", lambda head, tail: head % 2)
    >>> graphs = ArcGraphs.from_arcs([[(0, 1), (1, 2), (2, 0)]], n_labels=3)
    >>> odd_heads.pieces(graphs).arc_ptr.tolist()
    [0, 2, 3]
    """

    def __init__(self, name: str, key: GroupKey) -> None:
        self.name = name
        self._key = key

    def __repr__(self) -> str:
        return f"<decomposition {self.name}>"

    def pieces(self, graphs: ArcGraphs, first_row: int = 0) -> Pieces:  # noqa: ARG002
        """Return the pieces in the order of rows and keys; arcs keep their order within a piece."""
        rows = graphs.rows()
        key = self._key(graphs.head, graphs.tail)
        order = np.lexsort((key, rows))
        rows, key = rows[order], key[order]
        first = np.ones(len(rows), dtype=bool)
        first[1:] = (rows[1:] != rows[:-1]) | (key[1:] != key[:-1])
        pieces_of_row = np.bincount(rows[first], minlength=len(graphs))
        return Pieces(
            _pointer(pieces_of_row),
            np.append(np.flatnonzero(first), len(rows)),
            graphs.head[order],
            graphs.tail[order],
            _weights(graphs)[order],
        )


class _Named(Grouping):
    """A grouping of the papers, for which there are kernels on layered graphs."""

    def __init__(self, name: str, key: GroupKey, layered: str | None = None, *, constant_cut: bool = False) -> None:
        super().__init__(name, key)
        self.layered = name if layered is None else layered
        self.constant_cut = constant_cut

    def __reduce__(self) -> tuple[Any, ...]:
        """Stay the one object of this name in another process, where it is compared by identity."""
        return _named, (self.layered, self.constant_cut)


class CallableDecomposition(Decomposition):
    """The user's own function, called once for each instance that has arcs.

    Examples
    --------
    >>> first_arc = CallableDecomposition(lambda heads, tails, row: [[0]])
    >>> from arcrank.graphs import ArcGraphs
    >>> graphs = ArcGraphs.from_arcs([[(2, 0), (2, 1)], []], n_labels=3)
    >>> pieces = first_arc.pieces(graphs)
    >>> pieces.head.tolist(), pieces.tail.tolist(), pieces.row_ptr.tolist()
    ([2], [0], [0, 1, 1])
    """

    name = "callable"

    def __init__(self, cut: Cut) -> None:
        _check_arguments(cut)
        self._cut = cut

    def __repr__(self) -> str:
        return f"<decomposition {self._cut!r}>"

    def pieces(self, graphs: ArcGraphs, first_row: int = 0) -> Pieces:
        """Ask the user's function for the pieces of each instance, and check them."""
        chosen: list[NDArray[np.int64]] = []
        pieces_of_row = np.zeros(len(graphs), dtype=np.int64)
        for row in range(len(graphs)):
            head, tail = graphs.arcs(row)
            parts = self._parts(head, tail, first_row + row) if len(head) else []
            checked = [_check_piece(part, len(head), p, first_row + row) for p, part in enumerate(parts)]
            chosen.extend(part + graphs.arc_ptr[row] for part in checked)
            pieces_of_row[row] = len(checked)
        arcs = np.concatenate([np.empty(0, dtype=np.int64), *chosen])
        arc_ptr = _pointer(np.array([len(part) for part in chosen], dtype=np.int64))
        head, tail, weight = graphs.head[arcs], graphs.tail[arcs], _weights(graphs)[arcs]
        return Pieces(_pointer(pieces_of_row), arc_ptr, head, tail, weight)

    def of_rows(self, rows: NDArray[np.int64]) -> CallableDecomposition:
        """The same function, called with the numbers that the instances have among all of them."""
        return CallableDecomposition(lambda heads, tails, row: self._cut(heads, tails, int(rows[row])))

    def _parts(self, head: NDArray[np.int32], tail: NDArray[np.int32], row: int) -> Sequence[ArrayLike]:
        parts = self._cut(head, tail, row)
        if isinstance(parts, str) or not isinstance(parts, Iterable):
            raise GraphError(
                f"The decomposition {self._cut!r} returned {parts!r} for instance {row}; it must return a list of "
                "pieces, each an array of arc positions, and [] for no piece."
            )
        return parts


def _check_arguments(cut: Cut) -> None:
    try:
        signature = inspect.signature(cut)
    except (TypeError, ValueError):  # some built-in functions have no signature
        return
    try:
        signature.bind(None, None, 0)
    except TypeError:
        raise GraphError(
            f"The decomposition {cut!r} takes {signature}; it is called with three arguments (heads, tails, row), "
            "so define it with these parameters."
        ) from None


def _check_piece(part: ArrayLike, n_arcs: int, number: int, row: int) -> NDArray[np.int64]:
    where = f"Piece {number} of instance {row}"
    positions = np.asarray(part)
    if positions.ndim != 1 or positions.size == 0 or positions.dtype.kind not in "iu":
        raise GraphError(f"{where} must be a non-empty 1-D array of arc positions, got {part!r}.")
    if positions.min() < 0 or positions.max() >= n_arcs:
        raise GraphError(f"{where} names arc {positions.max()}; its arcs are numbered 0..{n_arcs - 1}.")
    if len(np.unique(positions)) < len(positions):
        raise GraphError(f"{where} holds an arc twice; an arc may be in several pieces, but once in each.")
    return positions.astype(np.int64)


def _pointer(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _weights(graphs: ArcGraphs) -> Array:
    return np.ones(len(graphs.head)) if graphs.weight is None else graphs.weight


ZERO_ONE = _Named("zero-one", lambda head, _tail: np.zeros_like(head))
DISAGREEMENT = _Named("disagreement", lambda head, _tail: np.arange(len(head)))
DOMINATION = _Named("domination", lambda head, _tail: head)
DOMINATED = _Named("dominated", lambda _head, tail: tail)

CUT_DOMINATION = _Named(
    "domination", lambda head, tail: np.where(head == 0, -1 - tail, head), layered="cut-domination", constant_cut=True
)
"""Domination of graphs whose label 0 is the cut, for margin losses: its arcs are pieces of their own.

Whether a label is below the cut is a question about this label alone. With the cut as one head, only the highest label
below it would count, and label sets of noisy data would be poor. The cut is the score 0, as in one-vs-rest classifiers:
with weights of its own, it would move with the instance, and the scores of a label could be compared less well between
instances.
"""

CONSTANT_CUT_DOMINATION = _Named("domination", lambda head, _tail: head, constant_cut=True)
"""The same for the log-linear loss, which counts every label below a head anyway."""

CUT_DOMINATED = _Named("dominated", lambda head, tail: np.where(tail == 0, -1 - head, tail), layered="cut-dominated")
"""One piece per tail, and one for each arc to the cut: whether a label is above the cut is about this label alone."""

_CUT_VARIANTS = CUT_DOMINATION, CONSTANT_CUT_DOMINATION, CUT_DOMINATED

DECOMPOSITIONS: dict[str, Decomposition] = {
    "zero-one": ZERO_ONE,
    "identity": ZERO_ONE,
    "disagreement": DISAGREEMENT,
    "domination": DOMINATION,
    "dominated": DOMINATED,
}


def _named(layered: str, constant_cut: bool) -> Decomposition:
    known = *DECOMPOSITIONS.values(), *_CUT_VARIANTS
    return next(one for one in known if (one.layered, one.constant_cut) == (layered, constant_cut))


def get_decomposition(decomposition: str | Cut | Decomposition) -> Decomposition:
    """The decomposition of that name, or one made of the callable.

    Examples
    --------
    >>> get_decomposition("identity") is get_decomposition("zero-one")
    True
    """
    if isinstance(decomposition, Decomposition):
        return decomposition
    if isinstance(decomposition, str) and decomposition in DECOMPOSITIONS:
        return DECOMPOSITIONS[decomposition]
    if callable(decomposition):
        return CallableDecomposition(decomposition)
    names = ", ".join(map(repr, DECOMPOSITIONS))
    raise ParameterError(
        f"decomposition must be one of {names}, or a callable (heads, tails, row) -> pieces; got {decomposition!r}."
    )

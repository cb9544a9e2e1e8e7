"""Votes: comparisons of two labels for a case, as a table of columns and as preference graphs.

A graph cannot hold a tie, so ties are returned beside the graphs. The weights of the arcs count votes: learn from them
with `arc_weights="count"`, which multiplies the loss of a piece by its weight.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array, IntArray
from arcrank._wording import count
from arcrank.errors import InputError
from arcrank.graphs.arcs import ArcGraphs
from arcrank.graphs.base import label_array
from arcrank.graphs.build import Vocabulary
from arcrank.graphs.cut import CUT

__all__ = ["OUTCOMES", "Ties", "VoteGraphs", "Votes", "counted_arcs", "from_votes", "outcome_code"]

OUTCOMES = ("a", "b", "tie", "neither")
"""What a voter may say of labels a and b; their positions are the codes in `Votes.outcome`."""
A, B, TIE, NEITHER = range(4)
_WORDS = {
    **dict.fromkeys(("a", "model_a"), A),
    **dict.fromkeys(("b", "model_b"), B),
    "tie": TIE,
    **dict.fromkeys(("neither", "tie (bothbad)", "bothbad", "both_bad"), NEITHER),
}
"""The words of files, in lower case; those of Chatbot Arena too."""


def outcome_code(word: Any, a: Any = None, b: Any = None) -> int:
    """Return the code of an outcome: one of the words, or the name of the label that won.

    >>> [OUTCOMES[outcome_code(word, "tea", "milk")] for word in ("model_b", "Tie", "tie (bothbad)", "tea")]
    ['b', 'tie', 'neither', 'a']
    """
    meanings = {code for code, name in ((A, a), (B, b)) if name is not None and word == name}
    meanings |= {code for code in [_WORDS.get(str(word).strip().lower())] if code is not None}
    if not meanings:
        raise InputError(
            f"The outcome {word!r} is not known; use {', '.join(OUTCOMES)} or the name of the label that won."
        )
    if len(meanings) > 1:  # of labels with names such as "b"
        raise InputError(
            f"The outcome {word!r} of {a!r} and {b!r} is the name of one of them and the word for another outcome; "
            "give the labels as winner and loser instead."
        )
    return meanings.pop()


class Ties(NamedTuple):
    """Votes that prefer neither label, one entry per case and pair: row of the graphs, label numbers, weight."""

    rows: IntArray
    a: IntArray
    b: IntArray
    weight: Array


class VoteGraphs(NamedTuple):
    """The graph of each case, the cases in the same order, and the ties that the graphs cannot hold.

    Examples
    --------
    >>> from arcrank.graphs import from_votes
    >>> graphs, cases, ties = from_votes(["hot", "hot"], ["tea", "tea"], ["milk", "milk"], outcomes=["a", "tie"])
    >>> graphs.n_arcs, cases, ties.weight.tolist()
    (1, ['hot'], [1.0])
    """

    graphs: ArcGraphs
    cases: list[Any]
    ties: Ties


@dataclass(frozen=True, eq=False, repr=False)
class Votes:
    """A table of votes over k labels.

    Attributes
    ----------
    labels : (k,) array
        The names of the labels.
    a, b : (m,) int32
        The two labels of each vote.
    outcome : (m,) int8
        Positions in `OUTCOMES`: 0 where a was preferred, 1 where b was, 2 for a tie, 3 for neither.
    weight : (m,) float64
        How many times a vote counts.
    case : (m,) int64
        Which of `cases` a vote is about.
    cases : list
        The distinct cases, in order of appearance.
    judge : (m,) int64, or None
        Which of `judges` gave a vote.
    judges : list
        The distinct judges, in order of appearance.

    Examples
    --------
    >>> votes = Votes.from_columns(["tea", "tea", "milk"], ["milk", "water", "tea"], judges=["Ann", "Ann", "Bo"])
    >>> votes
    Votes(3 votes, 3 labels, 1 case, 2 judges)
    >>> votes.wins().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """

    labels: NDArray[Any]
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    outcome: NDArray[np.int8]
    weight: Array
    case: NDArray[np.int64]
    cases: list[Any]
    judge: NDArray[np.int64] | None = None
    judges: list[Any] | None = None

    @classmethod
    def from_columns(
        cls,
        winners: Iterable[Any],
        losers: Iterable[Any],
        *,
        outcomes: Iterable[Any] | None = None,
        cases: Iterable[Hashable] | None = None,
        weights: Any = None,
        judges: Iterable[Hashable] | None = None,
        labels: Any = None,
    ) -> Votes:
        """Check and number the columns of a table.

        Parameters
        ----------
        winners, losers : sequences of labels
            The label that was preferred and the other one; with `outcomes` simply the two labels, a and b.
        outcomes : sequence of {"a", "b", "tie", "neither"}, optional
            What the vote said. Chatbot Arena's words ("model_a", "tie (bothbad)") and the winner's name are taken too.
        cases : sequence of hashable objects, optional
            What each vote is about, such as a prompt; by default all votes are about one case.
        weights : sequence of numbers of at least 0, optional
            How many times each vote counts; votes of weight 0 are left out.
        judges : sequence of hashable objects, optional
            Who gave each vote.
        labels : sequence of names, optional
            The labels in the order wanted; by default those of the votes, sorted.
        """
        first, second = _plain(winners), _plain(losers)
        n = len(first)
        codes = None if outcomes is None else _plain(outcomes)
        about = [None] * n if cases is None else _plain(cases)
        names = None if judges is None else _plain(judges)
        columns = {"losers": second, "outcomes": codes, "cases": about, "judges": names}
        for what, column in columns.items():
            if column is not None and len(column) != n:
                raise InputError(f"There are {n} winners and {len(column)} {what}; give one of each for every vote.")
        named = {*first, *second}
        if any(map(_is_missing, named)):
            raise _no_label(first, second)
        if not named and labels is None:
            raise InputError("There are no votes, and so no labels; give votes, or name the labels: labels=[...].")
        vocabulary = Vocabulary(labels, named)
        assert vocabulary.names is not None
        a, b = (_numbered(column, vocabulary) for column in (first, second))
        _refuse_self(a, b, vocabulary.names)
        outcome = np.zeros(n, np.int8) if codes is None else _coded(codes, first, second)
        if cases is not None:
            _refuse_missing(about)
        case, distinct = _distinct(about)
        judge, people = (None, None) if names is None else _distinct(names)
        votes = cls(vocabulary.names, a, b, outcome, _weights(weights, n), case, distinct, judge, people)
        return votes if votes.weight.all() else votes[np.flatnonzero(votes.weight)]

    def __len__(self) -> int:
        """Return the number of votes."""
        return len(self.a)

    def __getitem__(self, rows: Any) -> Votes:
        """Return some votes (row numbers, a slice or a mask), over the same labels, cases and judges."""
        judge = None if self.judge is None else self.judge[rows]
        parts = {name: getattr(self, name)[rows] for name in ("a", "b", "outcome", "weight", "case")}
        return replace(self, judge=judge, **parts)

    def __repr__(self) -> str:
        """Summarize the table on one line."""
        counts = [(len(self), "vote"), (len(self.labels), "label"), (len(self.cases), "case")]
        counts += [] if self.judges is None else [(len(self.judges), "judge")]
        return f"Votes({', '.join(count(n, noun) for n, noun in counts)})"

    def arcs(self) -> tuple[IntArray, NDArray[np.int32], NDArray[np.int32]]:
        """Return the positions of the votes that prefer a label, the preferred labels and the others."""
        at = np.flatnonzero(self.outcome <= B)
        won_by_a = self.outcome[at] == A
        a, b = self.a[at], self.b[at]
        return at, np.where(won_by_a, a, b), np.where(won_by_a, b, a)

    def wins(self) -> Array:
        """Return a (k, k) matrix: how often the label of the row was preferred to that of the column."""
        at, head, tail = self.arcs()
        return self._matrix(head, tail, self.weight[at])

    def ties(self) -> Array:
        """Return a symmetric (k, k) matrix: how often two labels tied, "neither" included."""
        at = np.flatnonzero(self.outcome >= TIE)
        one_way = self._matrix(self.a[at], self.b[at], self.weight[at])
        return one_way + one_way.T

    def _matrix(self, row: IntArray, column: IntArray, weight: Array) -> Array:
        k = len(self.labels)
        cells = row.astype(np.int64) * k + column
        counts: Array = np.bincount(cells, weights=weight, minlength=k * k).reshape(k, k)  # type: ignore[assignment]
        return counts

    def graphs(self) -> VoteGraphs:
        """Return one graph per case, whose arcs are weighted by the votes for them, and the ties beside them.

        A vote for neither label becomes arcs from `arcrank.CUT` to both.
        """
        k, n = len(self.labels), len(self.cases)
        at, head, tail = self.arcs()
        none = np.flatnonzero(self.outcome == NEITHER)
        votes = np.concatenate([at, none, none])
        heads = np.concatenate([head, np.full(2 * len(none), k)])
        tails = np.concatenate([tail, self.a[none], self.b[none]])
        row, head, tail, weight = _added(self.case[votes], heads, tails, self.weight[votes], k + 1)
        ptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])
        names = label_array([*self.labels.tolist(), CUT]) if len(none) else self.labels
        graphs = ArcGraphs(ptr, head, tail, weight, len(names), names)
        tied = np.flatnonzero(self.outcome == TIE)
        low, high = np.minimum(self.a[tied], self.b[tied]), np.maximum(self.a[tied], self.b[tied])
        return VoteGraphs(graphs, self.cases, Ties(*_added(self.case[tied], low, high, self.weight[tied], k)))


def from_votes(
    cases: Iterable[Hashable] | None,
    winners: Iterable[Any],
    losers: Iterable[Any],
    *,
    outcomes: Iterable[Any] | None = None,
    weights: Any = None,
    labels: Any = None,
) -> VoteGraphs:
    """Preference graphs of votes: votes about the same case are gathered into one graph.

    Parameters
    ----------
    cases : sequence of hashable objects, or None
        What each vote is about, such as a prompt; None if all votes are about one case.
    winners, losers, outcomes, weights, labels
        As in `Votes.from_columns`.

    Returns
    -------
    VoteGraphs
        `graphs`, whose arc weights count votes (learn from them with `arc_weights="count"`), the distinct `cases` in
        the same order, and `ties`, which graphs cannot hold. A vote for neither label is an arc from `arcrank.CUT` to
        each of them, which rankers with `cut_label=True` learn from. A vote and its opposite are both kept.

    Examples
    --------
    >>> found = from_votes(["hot", "hot", "cold"], ["tea", "tea", "milk"], ["milk", "milk", "tea"])
    >>> found.graphs, found.cases, found.graphs.weight
    (ArcGraphs(2 instances, 2 labels, 2 weighted arcs), ['hot', 'cold'], array([2., 1.]))
    """
    votes = Votes.from_columns(winners, losers, outcomes=outcomes, cases=cases, weights=weights, labels=labels)
    return votes.graphs()


def counted_arcs(graphs: ArcGraphs) -> tuple[IntArray, ArcGraphs, Array]:
    """Graphs without arc weights that repeat an instance for each distinct weight of its arcs.

    Returns the instance of each new graph, the graphs, and the weight of each as an instance, which is what
    `arc_weights="count"` learns from. Arcs of weight 0 are left out.

    >>> graphs = ArcGraphs.from_arcs([[(0, 1), (1, 0)]], n_labels=2, weights=[[7, 3]], conflicts="keep")
    >>> rows, arcs, weight = counted_arcs(graphs)
    >>> rows.tolist(), arcs.head.tolist(), weight.tolist()
    ([0, 0], [1, 0], [3.0, 7.0])
    """
    if graphs.weight is None or not graphs.weight.any():
        return np.arange(len(graphs)), graphs, np.ones(len(graphs))
    order = np.lexsort((graphs.weight, graphs.rows()))
    order = order[graphs.weight[order] > 0]
    row, weight = graphs.rows()[order], graphs.weight[order]
    first = np.flatnonzero(np.concatenate([[True], (row[1:] != row[:-1]) | (weight[1:] != weight[:-1])]))
    ptr = np.append(first, len(order))
    plain = ArcGraphs(ptr, graphs.head[order], graphs.tail[order], None, graphs.n_labels, graphs.labels)
    return row[first], plain, weight[first]


def _plain(column: Iterable[Any]) -> list[Any]:
    values = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def _numbered(column: Sequence[Any], vocabulary: Vocabulary) -> NDArray[np.int32]:
    return np.array([vocabulary.number(name, row) for row, name in enumerate(column)], dtype=np.int32)


def _refuse_self(a: IntArray, b: IntArray, names: NDArray[Any]) -> None:
    alone = np.flatnonzero(a == b)
    if alone.size:
        raise InputError(
            f"Vote {alone[0]} compares {names.tolist()[a[alone[0]]]!r} with itself; remove it, or correct one of its "
            "labels."
        )


def _coded(outcomes: list[Any], a: list[Any], b: list[Any]) -> NDArray[np.int8]:
    codes = np.empty(len(outcomes), dtype=np.int8)
    for row, (word, first, second) in enumerate(zip(outcomes, a, b, strict=True)):
        try:
            codes[row] = outcome_code(word, first, second)
        except InputError as error:
            raise InputError(f"Vote {row}: {error}") from None
    return codes


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _no_label(first: list[Any], second: list[Any]) -> InputError:
    row = next(row for row, (a, b) in enumerate(zip(first, second, strict=True)) if _is_missing(a) or _is_missing(b))
    return InputError(f"Vote {row} compares {first[row]!r} with {second[row]!r}; name both labels, or remove it.")


def _refuse_missing(cases: list[Any]) -> None:
    for row, case in enumerate(cases):
        if _is_missing(case):
            raise InputError(f"Vote {row} has no case (got {case!r}); say what it is about, or pass cases=None.")


def _distinct(values: list[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """Numbers in order of appearance, and what they stand for."""
    known: dict[Any, int] = {}
    try:
        numbers = [known.setdefault(value, len(known)) for value in values]
    except TypeError as error:
        raise InputError(f"Cases and judges must be hashable, such as strings; {error}.") from None
    return np.array(numbers, dtype=np.int64), list(known)


def _weights(weights: Any, n: int) -> Array:
    if weights is None:
        return np.ones(n)
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (n,):
        raise InputError(f"weights must have one number for each of the {n} votes, got shape {values.shape}.")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise InputError(f"Vote {bad[0]} has the weight {values[bad[0]]}; weights must be finite and at least 0.")
    return values


def _added(
    row: IntArray, head: IntArray, tail: IntArray, weight: Array, k: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32], Array]:
    """Equal entries once, with the sum of their weights, in the order of rows, heads and tails."""
    keys = (row.astype(np.int64) * k + head) * k + tail
    distinct, place = np.unique(keys, return_inverse=True)
    sums: Array = np.bincount(place, weights=weight, minlength=len(distinct))  # type: ignore[assignment]
    rest, tails = np.divmod(distinct, k)
    rows, heads = np.divmod(rest, k)
    return rows, heads.astype(np.int32), tails.astype(np.int32), sums

"""`Corpus`: instances, what is known about their labels, and where both came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import IntArray
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import CandidateGraphs, Hierarchy, PreferenceGraphs, Votes, as_graphs, concatenate
from arcrank.graphs.votes import OUTCOMES

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["Corpus", "take_rows"]

T = TypeVar("T")


@dataclass(eq=False, repr=False)
class Corpus:
    """A collection of n instances with their supervision over k labels.

    Exactly one of `texts`, `X` and `table` is set, and one of `label_sets`, `ranks`, `grades` and `preferences`.

    Attributes
    ----------
    labels : list of str
        The k labels in column order.
    texts : list of str, or None
        One text per instance.
    X : CSR matrix or array of shape (n, d), or None
        The features. With `ptr`, its rows are candidates: instance i owns rows `ptr[i]:ptr[i + 1]`.
    table : dict of lists, or None
        The columns of a table of features by name: numbers, categories, dates and texts, None where a value is missing.
    label_sets : list of lists of str, or None
        The labels of each instance.
    ranks : array of shape (n, k), or None
        Rank positions, 1 = best, ties allowed, NaN = not judged.
    preferences : list of (kind, value), or None
        Kinds `"labels"` (a list of names), `"layers"` (lists of names, top layer first), `"arcs"` (head, tail) and
        `"votes"` (a, b, outcome, weight, judge), freely mixed.
    ptr : integer array of shape (n + 1,), or None
        The candidates of each query; then the labels are positions of candidates within their query.
    grades : array of shape (ptr[-1],), or None
        The graded relevance of every candidate, as in the file; it comes with `ptr`.
    hierarchy : Hierarchy, or None
        The tree of labels, also as a mapping from every label and inner node to its parent, None for a root. A dict
        becomes a `Hierarchy`.
    descriptions : dict
        What each label means in words, if the distribution says so.
    splits : dict of integer arrays
        Named rows, such as `"train"` and `"test"`.
    ids : list, or None
        The name of each instance; None if it has none.
    feature_names : list of str, or None
        The names of the columns of X, if they have any.
    source : str
        Where the corpus came from.
    skipped : dict
        The number of skipped rows for each reason; empty if none was skipped.

    Examples
    --------
    >>> corpus = Corpus(labels=["crude", "ship"], texts=["oil", "a tanker"],
    ...                 label_sets=[["crude"], ["ship", "crude"]], splits={"train": [0], "test": [1]})
    >>> corpus
    Corpus(2 texts, 2 labels; train 1, test 1)
    >>> corpus.split("test").label_sets
    [['ship', 'crude']]
    >>> corpus.indicator().toarray().tolist()
    [[True, False], [True, True]]
    """

    labels: list[str]
    texts: list[str] | None = None
    X: Any = None
    label_sets: list[list[str]] | None = None
    ranks: NDArray[np.float64] | None = None
    preferences: list[tuple[str, Any]] | None = None
    ptr: NDArray[np.int64] | None = None
    grades: NDArray[np.float64] | None = None
    hierarchy: Hierarchy | None = None
    descriptions: dict[str, str] = field(default_factory=dict)
    splits: Mapping[str, Any] = field(default_factory=dict)
    ids: list[str | None] | None = None
    feature_names: list[str] | None = None
    source: str = ""
    skipped: dict[str, int] = field(default_factory=dict)
    table: dict[str, list[Any]] | None = None

    def __post_init__(self) -> None:
        """Check that the parts agree in length and that there is one of each kind."""
        _exactly_one("texts, X or table", self.texts, self.X, self.table)
        supervision = (self.label_sets, self.ranks, self.grades, self.preferences)
        _exactly_one("label_sets, ranks, grades or preferences", *supervision)
        self.hierarchy = _as_hierarchy(self.hierarchy)
        self.splits = {name: np.asarray(rows, dtype=np.intp) for name, rows in self.splits.items()}
        for name in ("label_sets", "ranks", "preferences", "ids"):
            part = getattr(self, name)
            if part is not None and len(part) != len(self):
                raise InputError(f"{name} has {len(part)} rows for {len(self)} instances; give one row each.")

    def __len__(self) -> int:
        """Return the number of instances n."""
        if self.ptr is not None:
            return len(self.ptr) - 1
        if self.table is not None:
            return len(next(iter(self.table.values()), []))
        return len(self.texts) if self.texts is not None else int(self.X.shape[0])

    @property
    def content_kind(self) -> str:
        """What the instances are: "text", "features" or "table"."""
        return "text" if self.texts is not None else "features" if self.table is None else "table"

    def refuse_table(self, use: str) -> None:
        """Raise an `InputError` if the instances are rows of a table; `use` says what needs texts or numbers."""
        if self.table is not None:
            names = ", ".join(map(repr, list(self.table)[:5])) + (", ..." if len(self.table) > 5 else "")
            raise InputError(
                f"{self.source or 'This corpus'} is a table of features ({names}), and {use} needs texts or numbers.\n"
                "If one of its columns holds the texts, name it; arcrank train without --learner learns from tables."
            )

    def __getitem__(self, rows: Any) -> Corpus:
        """Return the corpus of some rows (a slice, row numbers or a boolean mask); it has no splits."""
        chosen = np.arange(len(self))[rows]
        if chosen.ndim != 1:
            raise InputError("A corpus is indexed by a slice, a list of rows or a mask; use corpus[i : i + 1].")
        picked = chosen.tolist()
        return replace(
            self,
            texts=_pick(self.texts, picked),
            table=None if self.table is None else take_rows(self.table, picked),
            label_sets=_pick(self.label_sets, picked),
            preferences=_pick(self.preferences, picked),
            ids=_pick(self.ids, picked),
            ranks=None if self.ranks is None else self.ranks[chosen],
            splits={},
            **self._features_of(chosen),
        )

    def _features_of(self, rows: IntArray) -> dict[str, Any]:
        if self.ptr is None:
            return {"X": None if self.X is None else self.X[rows]}
        sizes = np.diff(self.ptr)[rows]
        ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        candidates = np.arange(ptr[-1]) + np.repeat(self.ptr[rows] - ptr[:-1], sizes)
        grades = None if self.grades is None else self.grades[candidates]
        return {"X": self.X[candidates], "ptr": ptr, "grades": grades}

    def split(self, name: str) -> Corpus:
        """Return the corpus of a named split, such as `"train"`."""
        if name not in self.splits:
            known = ", ".join(self.splits) or "none"
            raise ParameterError(f"There is no split {name!r}; this corpus has: {known}.")
        return self[self.splits[name]]

    @property
    def n_skipped(self) -> int:
        """The number of rows that were skipped; `skipped` says why."""
        return sum(self.skipped.values())

    def indicator(self) -> csr_matrix:
        """Return the boolean CSR matrix of shape (n, k): True where the instance has the label."""
        from scipy.sparse import csr_matrix  # ranking a document does without

        sets = self._sets()
        column = {label: j for j, label in enumerate(self.labels)}
        indices = np.array([column[label] for labels in sets for label in labels], dtype=np.int32)
        indptr = np.concatenate([[0], np.cumsum([len(labels) for labels in sets])]).astype(np.int32)
        shape = (len(sets), len(self.labels))
        matrix = csr_matrix((np.ones(len(indices), dtype=bool), indices, indptr), shape=shape)
        matrix.sort_indices()
        return matrix

    def target(self, label: str) -> NDArray[np.int64]:
        """Return one label's bipartite task, shape (n,): 1 where the instance has the label, else 0."""
        if label not in self.labels:
            raise ParameterError(f"{label!r} is not among the {len(self.labels)} labels of this corpus; see labels.")
        return np.array([label in labels for labels in self._sets()], dtype=np.int64)

    def relevance(self) -> NDArray[np.int64]:
        """Return the relevance of documents, shape (n,): 1 = relevant, 0 = irrelevant, -1 = unlabelled.

        Files say it in a field or column `relevant`: true, false or null (1, 0 or empty), svmlight files with the
        targets 1, 0 and -1. In label sets it is "relevant", "irrelevant" or no label.

        Examples
        --------
        >>> rows = [["relevant"], ["irrelevant"], []]
        >>> Corpus(labels=["irrelevant", "relevant"], texts=["oil", "tea", "gas"], label_sets=rows).relevance()
        array([ 1,  0, -1])
        """
        values = {("relevant",): 1, ("1",): 1, ("irrelevant",): 0, ("0",): 0, ("-1",): -1, (): -1}
        sets = [tuple(labels) for labels in self.label_sets or []]
        other = next((labels for labels in sets if labels not in values), None)
        if other is not None or self.label_sets is None:
            found = "preferences over labels" if other is None else f"the labels {', '.join(other)}"
            raise InputError(
                f"{self.source or 'This corpus'} has {found}, and relevance is needed: mark each document with "
                '"relevant": true, false or null.'
            )
        return np.array([values[labels] for labels in sets], dtype=np.int64)

    def _sets(self) -> list[list[str]]:
        if self.label_sets is None:
            raise InputError("This corpus holds preferences, not label sets; use .graphs().")
        return self.label_sets

    def graphs(self) -> PreferenceGraphs:
        """Return the preference graphs of the instances, n graphs over k labels."""
        if self.grades is not None:
            assert self.ptr is not None
            return CandidateGraphs.from_grades(self.grades, self.ptr)
        if self.ranks is not None:
            return as_graphs(self.ranks, kind="ranks", labels=self.labels)
        if self.label_sets is not None:
            return as_graphs(self.label_sets, kind="sets", labels=self.labels)
        return _mixed_graphs(self.preferences or [], self.labels)

    def votes(self) -> Votes:
        """Return the votes of all instances; the cases are the ids or texts, or else the numbers of the instances."""
        given = self.preferences or []
        if not given or any(kind != "votes" for kind, _ in given):
            raise InputError("This corpus does not hold votes; use .graphs().")
        found = votes_of([value for _, value in given], self.labels)
        return replace(found, cases=list(self.ids or self.texts or range(len(self))))

    def __repr__(self) -> str:
        """Summarize size, splits and source on one line."""
        what = "texts" if self.texts is not None else "queries" if self.ptr is not None else "rows"
        parts = f"{len(self):,} {what}, {len(self.labels):,} labels"
        if self.splits:
            parts += "; " + ", ".join(f"{name} {len(rows):,}" for name, rows in self.splits.items())
        if self.skipped:
            parts += f"; {self.n_skipped:,} skipped"
        return f"Corpus({parts}; from {self.source})" if self.source else f"Corpus({parts})"


def _as_hierarchy(parents: Mapping[str, str | None] | None) -> Hierarchy | None:
    return parents if parents is None or isinstance(parents, Hierarchy) else Hierarchy(parents)


def _exactly_one(names: str, *parts: object) -> None:
    given = sum(part is not None for part in parts)
    if given != 1:
        raise InputError(f"A corpus needs exactly one of {names}, but {given} were given.")


def take_rows(table: Mapping[str, Sequence[Any]], rows: Iterable[int]) -> dict[str, list[Any]]:
    """Return some rows of a table of columns.

    >>> take_rows({"age": [31, 25], "city": ["Bonn", None]}, [1])
    {'age': [25], 'city': [None]}
    """
    rows = list(rows)
    return {name: [values[i] for i in rows] for name, values in table.items()}


def _pick(part: Sequence[T] | None, rows: list[int]) -> list[T] | None:
    return None if part is None else [part[i] for i in rows]


def labels_of(kind: str, value: Any) -> list[str]:
    """Return the labels that a preference of this kind names, possibly several times.

    >>> labels_of("votes", [("tea", "milk", "tie", 1.0, None)]), labels_of("layers", [["tea"], ["milk", "water"]])
    (['tea', 'milk'], ['tea', 'milk', 'water'])
    """
    if kind == "labels":
        return list(value)
    if kind == "votes":
        return [label for vote in value for label in vote[:2]]
    return [label for group in value for label in group]


def votes_of(rows: list[Any], labels: Sequence[str]) -> Votes:
    """Return the votes of instances, which are their cases: instance i has the case i."""
    flat = [(i, vote) for i, votes in enumerate(rows) for vote in votes]
    a, b, outcomes, weights, judges = zip(*(vote for _, vote in flat), strict=True) if flat else ([],) * 5
    people = judges if any(judge is not None for judge in judges) else None
    found = Votes.from_columns(a, b, weights=weights, judges=people, labels=labels)
    kept = [weight > 0 for weight in weights]
    case = np.array([i for i, _ in flat], dtype=np.int64)[kept]
    # Codes, not words: "a" may be the name of the second label.
    outcome = np.array([OUTCOMES.index(word) for word in outcomes], dtype=np.int8)[kept]
    return replace(found, outcome=outcome, case=case, cases=list(range(len(rows))))


def _graphs_of_kind(kind: str, values: list[Any], labels: list[str]) -> PreferenceGraphs:
    if kind == "votes":
        return votes_of(values, labels).graphs().graphs
    # arcs may contradict each other, since people do
    return as_graphs(values, "sets" if kind == "labels" else kind, labels, conflicts="keep")


def _mixed_graphs(preferences: list[tuple[str, Any]], labels: list[str]) -> PreferenceGraphs:
    """Build the rows of each kind together, then put them back in the given order."""
    rows: dict[str, list[int]] = {}
    for i, (kind, _) in enumerate(preferences):
        rows.setdefault(kind, []).append(i)
    parts = [_graphs_of_kind(kind, [preferences[i][1] for i in chosen], labels) for kind, chosen in rows.items()]
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate(list(rows.values())), kind="stable")
    return concatenate(parts)[order]

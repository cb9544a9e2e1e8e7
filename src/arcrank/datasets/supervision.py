"""What a corpus says about the labels of each instance, in one form for all kinds of supervision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from arcrank._typing import IntArray
from arcrank._wording import count
from arcrank.errors import InputError

if TYPE_CHECKING:
    from arcrank.datasets.corpus import Corpus

__all__ = ["as_arcs", "check_both_kinds", "preferred", "row_preferences"]


def check_both_kinds(relevance: IntArray, source: str) -> None:
    """Refuse documents (1 = relevant, 0 = irrelevant, -1 = unlabelled) among which there is nothing to order."""
    n_relevant, n_irrelevant = int((relevance == 1).sum()), int((relevance == 0).sum())
    if not n_relevant or not n_irrelevant:
        raise InputError(
            f"{source or 'The data'}: {count(n_relevant, 'relevant document')} and "
            f"{count(n_irrelevant, 'irrelevant document')}; at least one of each is needed.\n"
            'Mark documents with "relevant": true or false; null means unlabelled.'
        )


def preferred(votes: Iterable[Any]) -> list[tuple[str, str]]:
    """Return the arcs of the votes of one case by majority: a pair of labels with as many votes each way has none.

    >>> preferred([("tea", "milk", "a", 2.0, None), ("tea", "milk", "b", 1.0, None), ("tea", "hay", "tie", 1.0, None)])
    [('tea', 'milk')]
    """
    lead: Counter[tuple[str, str]] = Counter()
    for a, b, outcome, weight, *_ in votes:
        if outcome in ("a", "b"):
            pair, sign = ((a, b), 1.0) if a < b else ((b, a), -1.0)
            lead[pair] += sign * (weight if outcome == "a" else -weight)
    return [pair if value > 0 else pair[::-1] for pair, value in lead.items() if value]


def as_arcs(kind: str, value: Any) -> tuple[str, Any]:
    """Return votes as arcs, and other preferences as they are."""
    return ("arcs", preferred(value)) if kind == "votes" else (kind, value)


def row_preferences(corpus: Corpus) -> list[tuple[str, Any]]:
    """The supervision of every instance as (kind, value), the form of `Corpus.preferences`.

    Ranks become layers. Queries with graded candidates share no labels and are an error.

    >>> from arcrank.datasets import Corpus
    >>> row_preferences(Corpus(labels=["a", "b"], texts=["t"], label_sets=[["b"]]))
    [('labels', ['b'])]
    >>> import numpy as np
    >>> ranks = np.array([[2, 1, 2, np.nan]])
    >>> row_preferences(Corpus(labels=["a", "b", "c", "d"], texts=["t"], ranks=ranks))
    [('layers', [['b'], ['a', 'c']])]
    """
    if corpus.preferences is not None:
        return corpus.preferences
    if corpus.label_sets is not None:
        return [("labels", names) for names in corpus.label_sets]
    if corpus.ranks is not None:
        return [("layers", _layers(ranks, corpus.labels)) for ranks in corpus.ranks.tolist()]
    raise InputError(
        f"{corpus.source}: queries with graded candidates share no labels.\n"
        "Give documents with label sets, layers, rankings or arcs."
    )


def _layers(ranks: list[float], labels: list[str]) -> list[list[str]]:
    """Rank positions as layers, best first; NaN means not judged."""
    judged = sorted({rank for rank in ranks if rank > 0})
    return [[label for label, rank in zip(labels, ranks, strict=True) if rank == level] for level in judged]

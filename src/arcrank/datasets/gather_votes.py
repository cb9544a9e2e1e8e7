"""Gather the votes of a case into one instance."""

from __future__ import annotations

from typing import Any

from arcrank.datasets.corpus import Corpus
from arcrank.errors import FormatError

__all__ = ["gather_votes"]


def gather_votes(corpus: Corpus) -> Corpus:
    """Return the corpus with one instance per case, if all its rows are votes.

    A case is an id; of rows without one, a text; of other rows, the row. The text is that of the first vote.

    Examples
    --------
    >>> votes = [("votes", [("tea", "milk", "a", 1.0, None)]), ("votes", [("milk", "tea", "a", 1.0, None)])]
    >>> gather_votes(Corpus(labels=["milk", "tea"], texts=["a hot day", "a hot day"], preferences=votes)).texts
    ['a hot day']
    """
    rows = corpus.preferences
    if not rows or any(kind != "votes" for kind, _ in rows):
        return corpus
    first: dict[Any, int] = {}
    place = [first.setdefault(key, row) for row, key in enumerate(_keys(corpus))]
    _refuse_two_texts(corpus, place)
    gathered: dict[int, list[Any]] = {row: [] for row in first.values()}
    for row, (_, votes) in enumerate(rows):
        gathered[place[row]].extend(votes)
    found = corpus[list(gathered)]
    found.preferences = [("votes", votes) for votes in gathered.values()]
    return found


def _keys(corpus: Corpus) -> list[Any]:
    ids = corpus.ids or [None] * len(corpus)
    texts: list[Any] = corpus.texts or [None] * len(corpus)
    return [
        ("id", name) if name is not None else ("text", text) if text else ("row", row)
        for row, (name, text) in enumerate(zip(ids, texts, strict=True))
    ]


def _refuse_two_texts(corpus: Corpus, place: list[int]) -> None:
    if corpus.texts is None or corpus.ids is None:
        return
    for row, other in enumerate(place):
        if corpus.texts[row] != corpus.texts[other]:
            raise FormatError(
                f"{corpus.source}: votes with the id {corpus.ids[row]!r} have different texts, "
                f"{corpus.texts[other][:40]!r} and {corpus.texts[row][:40]!r}.\nGive each case an id of its own."
            )

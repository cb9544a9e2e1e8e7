"""Terms of a few texts, counted one by one: below a handful of texts, arrays cost more than they save."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from arcrank._csr import Csr
from arcrank._typing import IntArray
from arcrank._validation import check_int
from arcrank.text.known_words import KnownWords
from arcrank.text.words import Words, checked_texts

__all__ = ["are_few", "few_counts"]

_FEW = 4  # texts; `ngrams.count_terms` takes about as long for so many of some hundred words
_FEW_OF_KNOWN_WORDS = 32  # the same where stems need not be found

Columns = Callable[[list[str]], Iterable[int]]
"""The columns of some terms, -1 for those that have none."""


def are_few(texts: Any, words: Words) -> bool:
    """Whether texts are to be counted one by one.

    >>> are_few(["one", "two"], Words()), are_few(["many"] * 100, Words()), are_few(iter(["one"]), Words())
    (True, False, False)
    """
    most = _FEW_OF_KNOWN_WORDS if isinstance(words, KnownWords) else _FEW
    return hasattr(texts, "__len__") and 0 < len(texts) <= most


def few_counts(words: Words, ngrams: int, texts: Iterable[str], columns: Columns, width: int) -> Csr:
    """Return how often each text holds the terms of each column, (texts, width).

    >>> found = few_counts(Words(stem=False), 2, ["big big data"], lambda terms: map(len, terms), 10)
    >>> found.indices.tolist(), found.data.tolist()
    ([3, 4, 7, 8], [2.0, 1.0, 1.0, 1.0])
    """
    check_int("ngrams", ngrams, at_least=1)
    indices: list[int] = []
    data: list[int] = []
    limits = [0]
    for text in checked_texts(texts):
        row = Counter(columns(_terms(words(text), ngrams)))
        row.pop(-1, None)
        indices += sorted(row)
        data += map(row.__getitem__, indices[limits[-1] :])
        limits.append(len(indices))
    places: IntArray = np.array(indices, dtype=np.int32)
    shape = (len(limits) - 1, width)
    return Csr(np.array(data, dtype=np.float64), places, np.array(limits, dtype=np.int64), shape)


def _terms(tokens: list[str], ngrams: int) -> list[str]:
    """All runs of up to `ngrams` words."""
    terms = run = tokens
    for length in range(2, ngrams + 1):
        run = [f"{before} {word}" for before, word in zip(run, tokens[length - 1 :], strict=False)]
        terms = terms + run
    return terms

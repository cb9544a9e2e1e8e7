"""Words of a corpus -> counts of its terms: single words, pairs of neighbouring words, ... up to runs of n words.

Terms are integers until somebody asks for their names. The number of distinct terms grows with the corpus, and most
of them are too rare to be kept, so a string for each of them would take most of the time and of the memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcrank._csr import Csr, canonical, stable_order
from arcrank._typing import Array, IntArray
from arcrank._validation import check_int
from arcrank.text.words import TokenIds

__all__ = ["Terms", "count_terms", "known_counts", "place_terms", "select_terms"]

Ids = NDArray[np.int32]


class Terms(NamedTuple):
    """The D distinct terms of a corpus, sorted: by their first word, then by their second, ...

    This is the order of their names too, as long as no word holds a space or a character before it in Unicode.
    """

    words: list[str]
    """The distinct words, sorted."""
    last: Ids
    """The last word of each term, (D,)."""
    parents: Ids
    """The term without its last word, (D,); -1 for a single word."""

    def names(self, columns: IntArray | None = None) -> list[str]:
        """Return the names of some terms, or of all: their words, joined by a space."""
        at = np.arange(len(self.last)) if columns is None else columns
        names = list(map(self.words.__getitem__, self.last[at].tolist()))
        starts = [*(f"{word} " for word in self.words), ""]
        while (at := np.where(at < 0, -1, self.parents[at])).max(initial=-1) >= 0:
            before = np.where(at < 0, -1, self.last[at]).tolist()
            names = [starts[word] + name for word, name in zip(before, names, strict=True)]
        return names


class _Level(NamedTuple):
    """The G distinct runs of m words, sorted, and where they occur."""

    ids: Ids
    """For each token the run that ends there, -1 where the text has fewer words before it: (tokens,)."""
    last: Ids
    prefix: Ids
    """The run of m - 1 words that it starts with, (G,)."""
    ptr: IntArray
    """The texts that hold run g, and how often, are entries ptr[g] to ptr[g + 1] of `rows` and `counts`: (G + 1,)."""
    rows: Ids
    counts: Array


def count_terms(tokens: TokenIds, n: int) -> tuple[Terms, Csr]:
    """Return the terms of up to n words, and how often each text holds them: (texts, D), sorted."""
    check_int("ngrams", n, at_least=1)
    lengths = np.diff(tokens.indptr)
    rows = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    depth = np.arange(len(rows)) - np.repeat(tokens.indptr[:-1], lengths)
    by_word = stable_order(tokens.ids, len(tokens.words))
    levels = [_single_words(tokens, rows, by_word)]
    for m in range(1, n):
        levels.append(_longer(levels[-1], tokens.ids, rows, by_word[depth[by_word] >= m]))
    return _merge(tokens.words, levels, len(lengths))


def _single_words(tokens: TokenIds, rows: Ids, by_word: IntArray) -> _Level:
    groups, d = tokens.ids[by_word], len(tokens.words)
    found = _counts(groups, rows[by_word], d)
    return _Level(tokens.ids, np.arange(d, dtype=np.int32), np.full(d, -1, dtype=np.int32), *found)


def _longer(shorter: _Level, ids: Ids, rows: Ids, ends: IntArray) -> _Level:
    """Extend runs by one word; `ends` are the tokens that end a longer run, sorted by their words."""
    prefix = shorter.ids[ends - 1]
    # A stable sort by prefix leaves equal prefixes sorted by their last word, and equal runs by text.
    order = stable_order(prefix, len(shorter.last))
    ends, prefix = ends[order], prefix[order]
    last = ids[ends]
    first = _is_first(prefix, last)
    groups = np.cumsum(first, dtype=np.int32) - 1
    found = np.full(len(ids), -1, dtype=np.int32)
    found[ends] = groups
    return _Level(found, last[first], prefix[first], *_counts(groups, rows[ends], int(first.sum())))


def _is_first(*columns: Any) -> NDArray[np.bool_]:
    """Where a sorted table has a row that differs from the one before."""
    first = np.ones(len(columns[0]), dtype=bool)
    first[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return first


def _counts(groups: Ids, rows: Ids, n_groups: int) -> tuple[IntArray, Ids, Array]:
    """Count occurrences that are sorted by group and, within a group, by row: `ptr`, `rows` and `counts`."""
    first = np.flatnonzero(_is_first(groups, rows))
    counts = np.diff(first, append=len(groups)).astype(np.float64)
    return np.searchsorted(groups[first], np.arange(n_groups + 1)), rows[first], counts


def _merge(words: list[str], levels: list[_Level], n: int) -> tuple[Terms, Csr]:
    """Put the terms of all lengths into one order: each run directly after the run that it extends."""
    columns: list[Ids] = [np.arange(len(words), dtype=np.int32)]
    for level in levels[1:]:
        after: Ids = columns[-1][level.prefix]
        longer = (after + np.arange(1, len(after) + 1)).astype(np.int32)
        columns = [one + np.searchsorted(after, one).astype(np.int32) for one in columns] + [longer]
    width = sum(map(len, columns))
    last, parents = np.empty(width, dtype=np.int32), np.full(width, -1, dtype=np.int32)
    for number, (level, column) in enumerate(zip(levels, columns, strict=True)):
        last[column] = level.last
        if number:
            parents[column] = columns[number - 1][level.prefix]
    return Terms(words, last, parents), _gathered(levels, columns, n)


def _gathered(levels: list[_Level], columns: list[Ids], n: int) -> Csr:
    """The counts of all runs by row; those of a run are written at the place of its column, then sorted by row."""
    sizes = np.empty(sum(map(len, columns)), dtype=np.int64)
    for level, column in zip(levels, columns, strict=True):
        sizes[column] = np.diff(level.ptr)
    start = np.cumsum(sizes) - sizes
    rows, counts = np.empty(sizes.sum(), dtype=np.int32), np.empty(sizes.sum())
    for level, column in zip(levels, columns, strict=True):
        places = np.arange(len(level.rows)) + np.repeat(start[column] - level.ptr[:-1], np.diff(level.ptr))
        rows[places], counts[places] = level.rows, level.counts
    order, terms = stable_order(rows, n), np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return Csr(counts[order], terms[order], row_limits(np.bincount(rows, minlength=n)), (n, len(sizes)))


def row_limits(lengths: IntArray) -> IntArray:
    """Return where rows of these lengths begin and end: (n + 1,)."""
    return np.concatenate(([0], np.cumsum(lengths)))


def select_terms(counts: Any, columns: IntArray) -> Csr:
    """Return the counts of some columns, given in ascending order."""
    place = np.full(counts.shape[1], -1, dtype=np.int32)
    place[columns] = np.arange(len(columns), dtype=np.int32)
    return _placed(counts, place, len(columns))


def place_terms(counts: Any, place: Ids, width: int) -> Csr:
    """Move each column to its place, (D,) with -1 for those to leave out; counts at equal places are added."""
    return canonical(_placed(counts, place, width))


def _placed(counts: Any, place: Ids, width: int) -> Csr:
    indices = place[counts.indices]
    kept = indices >= 0
    indptr = row_limits(kept)[counts.indptr]
    return Csr(counts.data[kept], indices[kept], indptr, (counts.shape[0], width))


def known_counts(terms: Terms, counts: Any, vocabulary: Mapping[str, int]) -> Csr:
    """Return the counts of the terms of a vocabulary, in its columns."""
    present = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]))
    place = np.full(counts.shape[1], -1, dtype=np.int32)
    place[present] = [vocabulary.get(name, -1) for name in terms.names(present)]
    return place_terms(counts, place, len(vocabulary))

"""Words of a corpus -> counts of its terms: single words, pairs of neighbouring words, ... up to runs of n words.

Terms are integers until somebody asks for their names. The number of distinct terms grows with the corpus, and most
of them are too rare to be kept, so a string for each of them would take most of the time and of the memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from arcrank._typing import IntArray
from arcrank._validation import check_int
from arcrank.text.tokens import TokenIds

__all__ = ["Terms", "count_terms", "place_terms", "select_terms"]

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
    counts: sparse.csr_matrix
    """(n, G)"""


def count_terms(tokens: TokenIds, n: int) -> tuple[Terms, sparse.csr_matrix]:
    """Return the terms of up to n words, and how often each text holds them: (texts, D) CSR float64, sorted."""
    check_int("ngrams", n, at_least=1)
    lengths = np.diff(tokens.indptr)
    rows = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    depth = np.arange(len(rows)) - np.repeat(tokens.indptr[:-1], lengths)
    by_word = _stable_order(tokens.ids, len(tokens.words))
    levels = [_single_words(tokens, rows, by_word)]
    for m in range(1, n):
        levels.append(_longer(levels[-1], tokens.ids, rows, by_word[depth[by_word] >= m], len(lengths)))
    return _merge(tokens.words, levels)


def _single_words(tokens: TokenIds, rows: Ids, by_word: IntArray) -> _Level:
    groups, d = tokens.ids[by_word], len(tokens.words)
    counts = _counts(groups, rows[by_word], (len(tokens.indptr) - 1, d))
    return _Level(tokens.ids, np.arange(d, dtype=np.int32), np.full(d, -1, dtype=np.int32), counts)


def _longer(shorter: _Level, ids: Ids, rows: Ids, ends: IntArray, n: int) -> _Level:
    """Extend runs by one word; `ends` are the tokens that end a longer run, sorted by their words."""
    prefix = shorter.ids[ends - 1]
    # A stable sort by prefix leaves equal prefixes sorted by their last word, and equal runs by text.
    order = _stable_order(prefix, len(shorter.last))
    ends, prefix = ends[order], prefix[order]
    last = ids[ends]
    first = _is_first(prefix, last)
    groups = np.cumsum(first, dtype=np.int32) - 1
    found = np.full(len(ids), -1, dtype=np.int32)
    found[ends] = groups
    return _Level(found, last[first], prefix[first], _counts(groups, rows[ends], (n, int(first.sum()))))


def _stable_order(keys: Ids, n_keys: int) -> IntArray:
    """Return the positions of the keys in ascending order: a counting sort, in linear time."""
    ones = np.ones(len(keys), dtype=np.int8)
    by_position = sparse.csr_matrix((ones, keys, np.arange(len(keys) + 1)), shape=(len(keys), n_keys))
    order: IntArray = by_position.tocsc().indices
    return order


def _is_first(*columns: Any) -> NDArray[np.bool_]:
    """Where a sorted table has a row that differs from the one before."""
    first = np.ones(len(columns[0]), dtype=bool)
    first[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return first


def _counts(groups: Ids, rows: Ids, shape: tuple[int, int]) -> sparse.csr_matrix:
    """Count occurrences that are sorted by group and, within a group, by row."""
    first = np.flatnonzero(_is_first(groups, rows))
    counts = np.diff(first, append=len(groups)).astype(np.float64)
    indptr = np.searchsorted(groups[first], np.arange(shape[1] + 1))
    return sparse.csc_matrix((counts, rows[first], indptr), shape=shape).tocsr()


def _merge(words: list[str], levels: list[_Level]) -> tuple[Terms, sparse.csr_matrix]:
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
    total = _widened(levels[0].counts, columns[0], width)
    for level, column in zip(levels[1:], columns[1:], strict=True):
        total = total + _widened(level.counts, column, width)
    return Terms(words, last, parents), total


def _widened(counts: sparse.csr_matrix, columns: Ids, width: int) -> sparse.csr_matrix:
    wide = sparse.csr_matrix((counts.data, columns[counts.indices], counts.indptr), shape=(counts.shape[0], width))
    wide.has_canonical_format = True  # known, and costly to find out
    return wide


def select_terms(counts: sparse.csr_matrix, columns: IntArray) -> sparse.csr_matrix:
    """Return the counts of some columns, given in ascending order."""
    place = np.full(counts.shape[1], -1, dtype=np.int32)
    place[columns] = np.arange(len(columns), dtype=np.int32)
    selected = place_terms(counts, place, len(columns))
    selected.has_canonical_format = True
    return selected


def place_terms(counts: sparse.csr_matrix, place: Ids, width: int) -> sparse.csr_matrix:
    """Move each column to its place, (D,) with -1 for those to leave out; equal places are not yet summed."""
    indices = place[counts.indices]
    kept = indices >= 0
    indptr = np.concatenate(([0], np.cumsum(kept)))[counts.indptr]
    return sparse.csr_matrix((counts.data[kept], indices[kept], indptr), shape=(counts.shape[0], width))

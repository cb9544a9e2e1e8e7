"""The scores of very many labels: sparse weights, votes of neighbours, and what the cut takes off.

Many documents are scored by kernels. A few are scored in NumPy where the kernels are not loaded yet, since importing
numba takes longer; sums have the same order, so the scores are the same to the last bit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array, IntArray
from arcrank.rankers.linear import top_columns
from arcrank.rankers.shortlist.neighbours import Found, Neighbours
from arcrank.solvers.products import row_products
from arcrank.solvers.shortlist_arrays import Rows, SparseWeights, csr_rows

__all__ = ["ShortlistScorer", "blocks"]

_BLOCK = 256  # rows that are scored at a time
_FEW = 256  # rows that NumPy scores in about the time that numba takes to be imported
_SORTED = 512  # longer rankings are made by sorting all scores
_KERNELS = "arcrank.compiled.shortlist_rank"


@dataclass(frozen=True)
class ShortlistScorer:
    """What scores depend on; the same arrays serve the estimator and models that are read without it.

    Attributes
    ----------
    weights, intercept : SparseWeights and (k,) float64
        Of the labels.
    cut_weights : (d,) float32, or empty
        Those of the cut, which are subtracted from all scores.
    neighbours, most, share : Neighbours, int and float
        The training documents, how many of them vote, and what a vote counts.
    """

    weights: SparseWeights
    intercept: Array
    cut_weights: NDArray[np.float32]
    neighbours: Neighbours
    most: int
    share: float

    def best(self, X: Any, width: int) -> tuple[IntArray, Array]:
        """The numbers of the best labels of each row, best first, and their scores, (n, width) each."""
        n = X.shape[0]
        numbers, scores = np.empty((n, width), np.int64), np.empty((n, width), np.float32)
        compiled = self._compiled(n)
        for block in blocks(n):
            numbers[block], scores[block] = self._best_of_block(csr_rows(X[block]), width, compiled=compiled)
        return numbers, scores + self._shift(X)[:, None]

    def scores(self, X: Any, columns: IntArray) -> Array:
        """The scores of some labels, (n, columns)."""
        n = X.shape[0]
        found, compiled = np.empty((n, len(columns))), self._compiled(n)
        for block in blocks(n):
            found[block] = self._score_block(csr_rows(X[block]), columns, compiled=compiled)
        return found + self._shift(X)[:, None]

    def ranks(self, X: Any, ptr: IntArray, label: IntArray) -> tuple[IntArray, Array]:
        """The ranks and the scores of some labels of each row: label[ptr[i] : ptr[i + 1]] of row i."""
        from arcrank.compiled.shortlist_rank import rank_listed

        n, shift = X.shape[0], np.repeat(self._shift(X), np.diff(ptr))
        ranks, scores = np.zeros(len(label), np.int64), np.zeros(len(label), np.float32)
        for block in blocks(n):
            first, last = ptr[block.start], ptr[block.stop]
            listed = ptr[block.start : block.stop + 1] - first, label[first:last].astype(np.int64)
            arguments = self._arguments(csr_rows(X[block]))
            rank_listed(0, block.stop - block.start, *arguments, listed, ranks[first:last], scores[first:last])
        return ranks, scores + shift

    def _compiled(self, n: int) -> bool:
        return n > _FEW or _KERNELS in sys.modules

    def _best_of_block(self, rows: Rows, width: int, *, compiled: bool) -> tuple[IntArray, NDArray[np.float32]]:
        if not compiled or width > _SORTED:
            scores = self._score_block(rows, np.arange(len(self.intercept)), compiled=compiled)
            order = top_columns(scores, width)
            return order, np.take_along_axis(scores, order, axis=1)
        from arcrank.compiled.shortlist_rank import rank_rows

        n = len(rows[2]) - 1
        numbers, best = np.empty((n, width), np.int64), np.empty((n, width), np.float32)
        rank_rows(0, n, *self._arguments(rows), numbers, best)
        return numbers, best

    def _score_block(self, rows: Rows, columns: IntArray, *, compiled: bool) -> NDArray[np.float32]:
        n = len(rows[2]) - 1
        scores = np.empty((n, len(columns)), np.float32)
        if not compiled:
            near = self.neighbours.find_few(rows, self.most)
            for i in range(n):
                scores[i] = self._score_document(i, rows, near)[columns]
            return scores
        from arcrank.compiled.shortlist_rank import score_rows

        score_rows(0, n, *self._arguments(rows), columns, scores)
        return scores

    def _score_document(self, i: int, rows: Rows, near: Found) -> NDArray[np.float32]:
        """As `score_document` and `_vote` of the kernels, whose order of sums it has."""
        data, indices, indptr = rows
        ptr, label, weight = self.weights
        scores = self.intercept.astype(np.float32)
        for e in range(indptr[i], indptr[i + 1]):
            listed = slice(ptr[indices[e]], ptr[indices[e] + 1])
            scores[label[listed]] += data[e] * weight[listed]
        member_ptr, members = self.neighbours.members
        for document, similarity in zip(near.document[i, : near.found[i]], near.similarity[i], strict=False):
            voted = members[member_ptr[document] : member_ptr[document + 1]]
            scores[voted] += np.float32(self.share) * similarity * similarity
        return scores

    def _arguments(self, rows: Rows) -> tuple[Any, Any, Any, Any, float, Any]:
        """The arguments that the kernels share: rows, weights, intercepts, votes."""
        found = self.neighbours.find(rows, self.most)
        bias = self.intercept.astype(np.float32)
        return rows, tuple(self.weights), bias, self.neighbours.members, self.share, tuple(found)

    def _shift(self, X: Any) -> Array:
        """What the cut takes off all scores of each row."""
        if not len(self.cut_weights):
            return np.zeros(X.shape[0])
        return -row_products(X, self.cut_weights[:, None])[:, 0]

    def label_parts(self, label: int | None, row: Any) -> tuple[Array, float]:
        """The weights of a label for the features of one document, and its intercept; None is the cut."""
        if label is None:
            return self.cut_weights[row.indices].astype(np.float64), 0.0
        (ptr, labels, weight), found = self.weights, np.zeros(len(row.indices))
        for e, j in enumerate(row.indices):
            place = ptr[j] + np.searchsorted(labels[ptr[j] : ptr[j + 1]], label)
            if place < ptr[j + 1] and labels[place] == label:
                found[e] = weight[place]
        return found, float(self.intercept[label])

    def votes(self, row: Any, above: int | None, below: int | None) -> list[tuple[int, float, float]]:
        """(document, similarity, part of the margin) of each neighbour that has exactly one of two labels."""
        rows = csr_rows(row)
        find = self.neighbours.find if self._compiled(1) else self.neighbours.find_few
        found, (ptr, labels), votes = find(rows, self.most), self.neighbours.members, []
        for n in range(int(found.found[0])):
            document, similarity = int(found.document[0, n]), float(found.similarity[0, n])
            own = labels[ptr[document] : ptr[document + 1]].tolist()
            sign = (above in own) - (below in own)
            if sign:
                votes.append((document, similarity, sign * self.share * similarity**2))
        return votes


def blocks(n: int) -> Iterator[slice]:
    """Successive rows that are scored at a time."""
    return (slice(start, min(n, start + _BLOCK)) for start in range(0, n, _BLOCK))

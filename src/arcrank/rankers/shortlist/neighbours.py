"""Votes of the nearest training documents, found by inverted lists.

A few documents are compared in NumPy, with the same result to the last bit: importing numba takes longer.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arcrank.rankers.linear import top_columns
from arcrank.solvers.shortlist_arrays import Rows, share

__all__ = ["Found", "Neighbours"]

_MOST_DOCUMENTS = 2_000
"""A feature of more documents says little about similarity and has the longest list."""


class Found(NamedTuple):
    """The nearest training documents of n documents, best first.

    (n, m) numbers and similarities, and (n,) how many were found.
    """

    document: NDArray[np.int32]
    similarity: NDArray[np.float32]
    found: NDArray[np.int64]

    @classmethod
    def nothing(cls, n: int) -> Found:
        """No neighbours."""
        return cls(np.zeros((n, 0), np.int32), np.zeros((n, 0), np.float32), np.zeros(n, np.int64))


@dataclass(frozen=True)
class Neighbours:
    """Training documents by feature, and their labels: plain arrays.

    Attributes
    ----------
    ptr, document, value : (d + 1,) int64, int32 and float32
        The documents that have feature j, and its values, are ptr[j]:ptr[j + 1]; only of features in few documents.
    label_ptr, label : (n + 1,) int64 and int32
        The labels of document i, by number, are label_ptr[i]:label_ptr[i + 1].
    """

    ptr: NDArray[np.int64]
    document: NDArray[np.int32]
    value: NDArray[np.float32]
    label_ptr: NDArray[np.int64]
    label: NDArray[np.int32]

    @classmethod
    def of(cls, X: Any, members: Any, frequency: Any = None) -> Neighbours:
        """From the training documents, CSR, and the labels that apply to them, an (n, k) CSR indicator.

        `frequency`, (d,), is how many documents have each feature, where X holds some of the documents only.
        """
        lists = X.tocsc()
        few = (np.diff(lists.indptr) if frequency is None else frequency) <= _MOST_DOCUMENTS
        kept = np.repeat(few, np.diff(lists.indptr))
        ptr = np.concatenate([[0], np.cumsum(np.where(few, np.diff(lists.indptr), 0))]).astype(np.int64)
        # float16 is what a model file holds, so that a loaded model has the same scores
        value = lists.data[kept].astype(np.float16).astype(np.float32)
        document, label = lists.indices[kept].astype(np.int32), members.indices.astype(np.int32)
        return cls(ptr, document, value, members.indptr.astype(np.int64), label)

    @classmethod
    def nothing(cls, n_features: int) -> Neighbours:
        """No training documents."""
        empty = np.zeros(0, np.int32)
        return cls(np.zeros(n_features + 1, np.int64), empty, np.zeros(0, np.float32), np.zeros(1, np.int64), empty)

    @property
    def n_documents(self) -> int:
        """The number of training documents."""
        return len(self.label_ptr) - 1

    def extended(self, more: Neighbours) -> Neighbours:
        """These documents, then others, in one set of lists."""
        d = len(self.ptr) - 1
        feature = np.concatenate([np.repeat(np.arange(d), np.diff(one.ptr)) for one in (self, more)])
        order = np.argsort(feature, kind="stable")
        document = np.concatenate([self.document, more.document + np.int32(self.n_documents)])
        return Neighbours(
            self.ptr + more.ptr,
            document[order],
            np.concatenate([self.value, more.value])[order],
            np.concatenate([self.label_ptr, self.label_ptr[-1] + more.label_ptr[1:]]),
            np.concatenate([self.label, more.label]),
        )

    @property
    def lists(self) -> tuple[Any, Any, Any]:
        """The inverted lists as kernels take them."""
        return self.ptr, self.document, self.value

    @property
    def members(self) -> tuple[Any, Any]:
        """The labels of the documents as kernels take them."""
        return self.label_ptr, self.label

    def find(self, rows: Rows, most: int, n_jobs: int = 1, *, own: int = -1) -> Found:
        """The `most` nearest training documents of each row; row 0 is document number `own` itself, or -1 if new."""
        n = len(rows[2]) - 1
        if not most or not self.n_documents:
            return Found.nothing(n)
        from arcrank.compiled.shortlist_rank import nearest

        found = _unfilled(n, most)
        with ThreadPoolExecutor(n_jobs) as threads:
            share(n, n_jobs, threads, lambda a, b: nearest(a, b, rows, self.lists, self.n_documents, own, *found))
        return found

    def find_few(self, rows: Rows, most: int) -> Found:
        """The same for a few new documents, without numba."""
        n = len(rows[2]) - 1
        if not most or not self.n_documents:
            return Found.nothing(n)
        data, indices, indptr = rows
        found = _unfilled(n, most)
        for i in range(n):
            similarity = np.zeros(self.n_documents, np.float32)
            for e in range(indptr[i], indptr[i + 1]):
                listed = slice(self.ptr[indices[e]], self.ptr[indices[e] + 1])
                similarity[self.document[listed]] += data[e] * self.value[listed]
            near = np.flatnonzero(similarity > 0.0)
            near = near[top_columns(similarity[near][None, :], most)[0]]
            found.found[i] = len(near)
            found.document[i, : len(near)], found.similarity[i, : len(near)] = near, similarity[near]
        return found

    def votes(self, found: Found, weight: float, n_labels: int, first: int = 0) -> tuple[Any, Any, Any]:
        """`weight` times the squared similarity of neighbours, summed by label: the arrays of an (n, k) CSR matrix.

        Labels are numbered from `first` on.
        """
        import scipy.sparse as sp  # for training only

        n, most = found.document.shape
        value = weight * found.similarity.astype(np.float32) ** 2
        value[np.arange(most) >= found.found[:, None]] = 0.0
        near = sp.csr_matrix((value.ravel(), found.document.ravel(), np.arange(n + 1) * most), (n, self.n_documents))
        members = np.ones(len(self.label), np.float32), self.label, self.label_ptr
        votes = near @ sp.csr_matrix(members, shape=(self.n_documents, n_labels))
        votes.sort_indices()
        return votes.indptr.astype(np.int64), votes.indices.astype(np.int32) + np.int32(first), votes.data


def _unfilled(n: int, most: int) -> Found:
    return Found(np.zeros((n, most), np.int32), np.zeros((n, most), np.float32), np.zeros(n, np.int64))

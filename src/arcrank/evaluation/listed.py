"""A block of documents measured by the ranks of their right labels, where labels are too many for all their scores.

Every measure of label sets is a function of these ranks: with rank(r) = |{s: score(s) >= score(r)}|, a right label r
has hits(r) = |{right r': rank(r') <= rank(r)}| right and rank(r) - hits(r) wrong labels that score no less. Predicted
sets and probabilities are those of the first labels of each ranking; below them probabilities count as 0.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank._typing import Array, IntArray
from arcrank.evaluation.measures import CUTS
from arcrank.metrics.label_sets import LabelCounts

__all__ = ["ListedBlock", "Predictions", "listed_block"]

_LISTED = 256  # labels of a ranking whose probabilities are looked at


class Predictions(NamedTuple):
    """Predicted sets and probabilities of documents with label sets, and which sets are right exactly, (n,)."""

    counts: LabelCounts
    truth: Any
    probabilities: Array
    exact: Array


@dataclass
class ListedBlock:
    """n documents with label sets: the ranks of their right labels, and the first labels of their rankings."""

    labels: list[str]
    indicator: sp.csr_matrix
    ranks: IntArray
    """The rank of each right label, in the order of the indicator's cells."""
    scores: Array
    numbers: IntArray
    best: Array
    """The first labels of each ranking and their scores, (n, m)."""
    set_rows: NDArray[np.intp]
    unlabelled: NDArray[np.bool_]
    sizes: IntArray | None = None
    """How many of the first labels are predicted, (n,); None if the model has no calibration."""
    calibration: Any = None
    unknown: Counter[str] = field(default_factory=Counter)
    n_with_unknown: int = 0
    texts: list[str] | None = None
    ids: list[str | None] | None = None
    skipped: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.indicator.shape[0]

    @cached_property
    def _rows(self) -> IntArray:
        return np.repeat(np.arange(len(self)), np.diff(self.indicator.indptr))

    @cached_property
    def _wrong(self) -> Array:
        """How many wrong labels score no less than each right one."""
        order = np.lexsort((self.ranks, self._rows))
        key = self._rows[order] * np.int64(self.indicator.shape[1] + 1) + self.ranks[order]
        last = np.searchsorted(key, key, side="right")  # right labels with equal scores share their hits
        wrong = np.empty(len(order))
        wrong[order] = self.ranks[order] - (last - self.indicator.indptr[self._rows[order]])
        return wrong

    @cached_property
    def _counts(self) -> tuple[Array, Array, NDArray[np.bool_]]:
        """The numbers of right and wrong labels of each document, and whether there are both."""
        right = np.diff(self.indicator.indptr).astype(np.float64)
        wrong = self.indicator.shape[1] - right
        return right, wrong, (right > 0) & (wrong > 0)

    def _sums(self, values: Any) -> Array:
        return np.asarray(np.bincount(self._rows, values, minlength=len(self)), dtype=np.float64)

    def _most(self, values: Array) -> Array:
        found = np.zeros(len(self))
        np.maximum.at(found, self._rows, values)
        return found

    def errors(self) -> dict[str, Array]:
        """The generalized errors of each document, (n,); 0 where nothing is preferred to anything."""
        right, wrong, both = self._counts
        per_arc = np.divide(self._sums(self._wrong), right * wrong, out=np.zeros(len(self)), where=both)
        heads = np.divide(self._sums(self._wrong > 0), right, out=np.zeros(len(self)), where=both)
        tails = np.divide(self._most(self._wrong), wrong, out=np.zeros(len(self)), where=both)
        zero_one = (per_arc > 0).astype(np.float64)
        return {"zero-one": zero_one, "disagreement": per_arc, "domination": heads, "dominated": tails}

    def set_values(self) -> dict[str, Array]:
        """The measures of label sets of each document, (n,), NaN where its set is empty or full."""
        right, wrong, both = self._counts
        hits = self.ranks - self._wrong
        shares = np.where(both, right, np.nan)
        found = {
            "one-error": 1.0 - self._most((self._wrong == 0).astype(np.float64)),
            "coverage": self._most(self.ranks.astype(np.float64)) - 1.0,
            "ranking loss": self._sums(self._wrong) / (shares * wrong),
            "average precision": self._sums(hits / self.ranks) / shares,
        }
        for r in (r for r in CUTS if r <= self.indicator.shape[1]):
            within = self._sums(self.ranks <= r)
            found |= {f"precision at {r}": within / r, f"recall at {r}": within / shares}
        return {name: np.where(both, values, np.nan) for name, values in found.items()}

    def curve(self) -> tuple[int, Array, Array]:
        """The documents whose sets are neither empty nor full, and their mean precision and recall at every r."""
        right, _, both = self._counts
        k, n, counted = self.indicator.shape[1], int(both.sum()), both[self._rows]
        place = self.ranks[counted] - 1
        labels = np.bincount(place, minlength=k)
        shares = np.bincount(place, 1.0 / right[self._rows[counted]], minlength=k)
        n_or_nan = n or np.nan
        return n, np.cumsum(labels) / (n_or_nan * np.arange(1, k + 1)), np.cumsum(shares) / n_or_nan

    @property
    def has_predictions(self) -> bool:
        """Whether there are predicted sets and probabilities."""
        return self.sizes is not None

    def predictions(self) -> Predictions:
        """Of all documents. The columns are the first labels of each ranking, then right labels beyond them."""
        assert self.sizes is not None
        (n, m), k = self.numbers.shape, self.indicator.shape[1]
        cells = self._rows * np.int64(k) + self.indicator.indices
        is_right = np.isin(np.arange(n)[:, None] * np.int64(k) + self.numbers, cells)
        beyond = ~np.isin(self.indicator.indices + self._rows * np.int64(k), self._listed_cells())
        rows = self._rows[beyond]
        counts = np.bincount(rows, minlength=n)
        place = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        scores = np.hstack([self.best, np.full((n, int(counts.max(initial=0))), -np.inf)])
        truth = np.hstack([is_right, np.zeros((n, scores.shape[1] - m), bool)])
        scores[rows, m + place], truth[rows, m + place] = self.scores[beyond], True
        known = np.isfinite(scores)
        lowest = np.where(known, scores, self.best.min(axis=1, keepdims=True))
        probabilities = np.where(known, self.calibration.probabilities(lowest), 0.0)
        return Predictions(self._label_counts(is_right), sp.csr_matrix(truth), probabilities, self._exact(is_right))

    def _listed_cells(self) -> IntArray:
        return (np.arange(len(self))[:, None] * np.int64(self.indicator.shape[1]) + self.numbers).ravel()

    def _predicted(self) -> NDArray[np.bool_]:
        assert self.sizes is not None
        return np.arange(self.numbers.shape[1]) < self.sizes[:, None]

    def _label_counts(self, is_right: NDArray[np.bool_]) -> LabelCounts:
        predicted, k = self._predicted(), self.indicator.shape[1]
        found = self.numbers[predicted & is_right], self.numbers[predicted], self.indicator.indices
        correct, all_predicted, relevant = (np.bincount(one, minlength=k).astype(np.float64) for one in found)
        return LabelCounts(correct, all_predicted, relevant)

    def _exact(self, is_right: NDArray[np.bool_]) -> Array:
        assert self.sizes is not None
        correct = (self._predicted() & is_right).sum(axis=1)
        return ((correct == self.sizes) & (correct == np.diff(self.indicator.indptr))).astype(np.float64)

    def right_ranks(self) -> tuple[NDArray[np.intp], IntArray]:
        """The columns of all right labels, and their ranks."""
        return self.indicator.indices, self.ranks

    def right_of(self, i: int) -> dict[int, int]:
        """The ranks of the right labels of a document, by their columns."""
        cells = slice(self.indicator.indptr[i], self.indicator.indptr[i + 1])
        return dict(zip(self.indicator.indices[cells].tolist(), self.ranks[cells].tolist(), strict=True))

    def first_of(self, i: int, n: int) -> list[tuple[int, float]]:
        """The columns and scores of the first labels of a document."""
        return list(zip(self.numbers[i, :n].tolist(), self.best[i, :n].tolist(), strict=True))


def listed_block(ranker: Any, X: Any, indicator: sp.csr_matrix, common: dict[str, Any]) -> ListedBlock:
    """Rank a block by a ranker that has `label_ranks` and `rank_numbers`."""
    indicator.sum_duplicates()
    ranks, scores = ranker.label_ranks(X, indicator)
    numbers, best = ranker.rank_numbers(X, _LISTED)
    calibration = getattr(ranker, "calibration_", None)
    sizes = None
    if calibration is not None:
        sizes = (best > 0.0).sum(axis=1) if ranker.cut_label else np.asarray(ranker._cut_sizes(best))
    return ListedBlock(
        indicator=indicator,
        ranks=ranks,
        scores=scores,
        numbers=numbers,
        best=best,
        sizes=sizes,
        calibration=calibration,
        **common,
    )

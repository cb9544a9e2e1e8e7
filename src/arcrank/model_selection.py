"""Cross-validation for rankers: folds over which the labels are spread evenly."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from arcrank._typing import IntArray, Mask
from arcrank._validation import check_int
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import as_graphs
from arcrank.graphs.base import gather_rows
from arcrank.graphs.tops import top_labels

__all__ = ["StratifiedFolds"]

_FEW = 200


class StratifiedFolds(BaseCrossValidator):
    """Folds of equal size over which the instances of each label are spread evenly; pass it as `cv=`.

    scikit-learn stratifies only what it takes for a classifier, and only single labels. Given as `cv=5`, its folds of
    rankers are blocks of rows, which lack whole labels where the data are sorted. This splitter takes everything that
    `as_graphs` takes:

    - single labels: each label's instances differ by at most one between folds, as with `StratifiedKFold`;
    - label sets (lists of names, an indicator, graphs of two layers): iterative stratification, the rarest label first
      (Sechidis, Tsoumakas & Vlahavas 2011);
    - rankings, layers and arcs: the same with the labels at the top of each graph, those that no other is preferred to.

    Fold sizes differ by at most one. A label with two or more instances lies wholly in one test fold, where a model
    trained on the other folds has not seen it, only if no exchange of two instances could help.

    Parameters
    ----------
    n_splits : int
        The number of folds, at least 2.
    shuffle : bool
        Draw at random which instances of a label go to which fold; else they are dealt out in their order.
    random_state : int, RandomState or None
        Makes the draw repeatable; only with `shuffle`.

    Examples
    --------
    >>> from arcrank.model_selection import StratifiedFolds
    >>> y = [["tea"], ["tea"], ["tea", "milk"], ["milk"]]
    >>> for train, test in StratifiedFolds(n_splits=2, shuffle=False).split(y, y):
    ...     print(train, test)
    [0 3] [1 2]
    [1 2] [0 3]

    The same in a grid search. These data are sorted by label, so `cv=3` would leave one label out of each training
    part:

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from arcrank import LogLinearRanker
    >>> X, y = load_iris(return_X_y=True)
    >>> folds = StratifiedFolds(n_splits=3, random_state=0)
    >>> search = GridSearchCV(LogLinearRanker(), {"C": [0.1, 10]}, scoring="accuracy", cv=folds).fit(X, y)
    >>> search.best_params_, bool(search.best_score_ > 0.9)
    ({'C': 10}, True)
    """

    def __init__(self, n_splits: int = 5, shuffle: bool = True, random_state: Any = None) -> None:
        if not isinstance(shuffle, bool | np.bool_):
            raise ParameterError(f"shuffle must be True or False, got {shuffle!r}.")
        if random_state is not None and not shuffle:
            raise ParameterError(
                f"random_state={random_state!r} has no effect with shuffle=False; leave it out, or pass shuffle=True."
            )
        self.n_splits = check_int("n_splits", n_splits, at_least=2)
        self.shuffle = bool(shuffle)
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002 - scikit-learn's
        """The number of folds."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the rows to train on and the rows to test on, ascending, for each fold; `groups` is ignored.

        Parameters
        ----------
        X : anything with n rows
            Only its length counts.
        y : anything that `as_graphs` takes
            The supervision of the n instances.
        """
        if y is None:
            raise InputError("StratifiedFolds spreads labels over folds: pass y, the supervision of the instances.")
        yield from super().split(X, y, groups)

    def _iter_test_masks(self, X: Any = None, y: Any = None, groups: Any = None) -> Iterator[Mask]:  # noqa: ARG002
        tops = top_labels(as_graphs(y))
        n = tops.shape[0]
        if self.n_splits > n:
            raise ParameterError(f"n_splits={self.n_splits} is more than the {n} instances; ask for fewer folds.")
        random = check_random_state(self.random_state) if self.shuffle else None
        fold = _Stratification(tops, self.n_splits, random).run()
        _separate_confined(tops, fold, self.n_splits)
        for number in range(self.n_splits):
            yield fold == number


class _Stratification:
    """Sechidis et al. 2011, Algorithm 1, with folds that never exceed their size.

    tops : (n, k) CSR, the labels of each row
    desired : (k, folds), how many more rows of each label a fold should have, times the number of folds: a whole
        number, so that ties are exact
    room : (folds,), how many more rows a fold can take
    """

    def __init__(self, tops: sp.csr_matrix, n_splits: int, random: Any) -> None:
        self.tops, self.by_label = tops, tops.tocsc()
        self.n_splits, self.random = n_splits, random
        n = tops.shape[0]
        self.left = np.diff(self.by_label.indptr).astype(np.int64)
        self.desired = np.repeat(self.left[:, None], n_splits, axis=1)
        self.room = n // n_splits + (np.arange(n_splits) < n % n_splits)
        self.fold = np.full(n, -1)

    def run(self) -> NDArray[np.int64]:
        """The fold of each row."""
        waiting = [(int(count), label) for label, count in enumerate(self.left) if count]
        heapq.heapify(waiting)
        while waiting:
            count, label = heapq.heappop(waiting)
            if count == self.left[label]:  # else a newer entry with a smaller count has come before
                for other in self._deal_label(label):
                    heapq.heappush(waiting, (int(self.left[other]), other))
        self._deal(np.flatnonzero(self.fold < 0), np.zeros(self.n_splits, dtype=np.int64))
        return self.fold

    def _deal_label(self, label: int) -> list[int]:
        """Give the remaining rows of the rarest label to folds; returns the labels that still have rows, but fewer."""
        rows = self.by_label.indices[self.by_label.indptr[label] : self.by_label.indptr[label + 1]]
        rows = rows[self.fold[rows] < 0]
        self._deal(rows, self.desired[label])
        ptr, at = gather_rows(self.tops.indptr, rows)
        labels, folds = self.tops.indices[at], np.repeat(self.fold[rows], np.diff(ptr))
        np.subtract.at(self.desired, (labels, folds), self.n_splits)
        np.subtract.at(self.left, labels, 1)
        changed = np.unique(labels)
        return changed[self.left[changed] > 0].tolist()

    def _deal(self, rows: NDArray[Any], desired: NDArray[np.int64]) -> None:
        """Row by row to the fold that lacks most rows of the label, then to the one with most room, then at random.

        Which row comes next makes no difference to the folds, so they are drawn first and the rows shuffled.
        """
        chance = np.arange(self.n_splits) if self.random is None else self.random.permutation(self.n_splits)
        states = zip(desired.tolist(), self.room.tolist(), chance.tolist(), range(self.n_splits), strict=True)
        queue = [(-wanted, -room, luck, fold) for wanted, room, luck, fold in states if room]
        heapq.heapify(queue)
        drawn = np.empty(len(rows), dtype=np.int64)
        for place in range(len(rows)):
            wanted, room, luck, fold = queue[0]
            drawn[place] = fold
            if room == -1:
                heapq.heappop(queue)
            else:
                heapq.heapreplace(queue, (wanted + self.n_splits, room + 1, luck, fold))
        self.fold[rows if self.random is None else self.random.permutation(rows)] = drawn
        self.room -= np.bincount(drawn, minlength=self.n_splits)


def _separate_confined(tops: sp.csr_matrix, fold: NDArray[np.int64], n_splits: int) -> None:
    """Exchange rows between folds, in place, until no exchange leaves fewer labels wholly in one test fold.

    Iterative stratification looks at one label at a time, so the two rows of a rare label may meet in a fold where
    each of them was dealt out for a still rarer one.
    """
    exchange = _Exchange(tops, fold, n_splits)
    better = True
    while better:
        better = False
        for label in exchange.confined():
            if exchange.is_confined(label):
                better |= any(exchange.move(row) for row in exchange.rows_of(label))


class _Exchange:
    """How many rows of each label every fold has, and what an exchange of two rows would change."""

    def __init__(self, tops: sp.csr_matrix, fold: NDArray[np.int64], n_splits: int) -> None:
        self.tops, self.fold, self.by_label = tops, fold, tops.tocsc()
        self.total = np.diff(self.by_label.indptr)
        cells = tops.indices.astype(np.int64) * n_splits + np.repeat(fold, np.diff(tops.indptr))
        self.count = np.bincount(cells, minlength=tops.shape[1] * n_splits).reshape(-1, n_splits)

    def confined(self) -> IntArray:
        """The labels of two or more rows that all lie in one fold."""
        return np.flatnonzero((self.count.max(axis=1) == self.total) & (self.total >= 2))

    def is_confined(self, label: int) -> bool:
        """Whether all rows of a label lie in one fold."""
        return bool(self.count[label].max() == self.total[label])

    def rows_of(self, label: int) -> NDArray[Any]:
        """The rows that have a label."""
        return self.by_label.indices[self.by_label.indptr[label] : self.by_label.indptr[label + 1]]

    def move(self, row: int) -> bool:
        """Exchange a row for one of another fold, if that leaves fewer confined labels."""
        others = np.flatnonzero(self.fold != self.fold[row])
        few = others[:: 1 + len(others) // _FEW]  # nearly always one of these will do
        return self._exchange_best(row, few) or (len(few) < len(others) and self._exchange_best(row, others))

    def _exchange_best(self, row: int, others: IntArray) -> bool:
        best, partner = 0, -1
        for there in np.unique(self.fold[others]):
            rivals = others[self.fold[others] == there]
            change = self._changes(row, rivals, self.fold[row], there)
            if change.min() < best:
                best, partner = int(change.min()), int(rivals[change.argmin()])
        if partner >= 0:
            self._swap(row, partner)
        return partner >= 0

    def _changes(self, row: int, others: IntArray, here: int, there: int) -> Any:
        """By how much the number of confined labels would grow if `row` were exchanged for each of the others."""
        going, coming = self._effect(here, there), self._effect(there, here)
        shared = np.zeros(len(self.total), dtype=np.int64)
        labels = self._labels(row)
        shared[labels] = 1  # a label that both rows have stays as it is
        return going[labels].sum() + self.tops[others] @ (coming - shared * (going + coming))

    def _effect(self, source: int, target: int) -> NDArray[np.int64]:
        """What moving one of its rows between two folds makes of each label: 1 confined, -1 no longer, 0 as before."""
        several = self.total >= 2
        parted = several & (self.count[:, source] == self.total)
        joined = several & (self.count[:, target] == self.total - 1) & (self.count[:, source] == 1)
        return joined.astype(np.int64) - parted

    def _labels(self, row: int) -> NDArray[Any]:
        return self.tops.indices[self.tops.indptr[row] : self.tops.indptr[row + 1]]

    def _swap(self, first: int, second: int) -> None:
        here, there = self.fold[first], self.fold[second]
        for row, source, target in ((first, here, there), (second, there, here)):
            self.count[self._labels(row), source] -= 1
            self.count[self._labels(row), target] += 1
            self.fold[row] = target

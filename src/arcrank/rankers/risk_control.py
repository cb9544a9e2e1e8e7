"""Thresholds of probabilities that keep a promise about recall or precision on new documents.

A label is in the set of a document if its probability is at least the threshold. Recall follows conformal risk control
(Angelopoulos, Bates, Fisch, Lei & Schuster 2022), precision follows learn then test (Angelopoulos, Bates, Candès,
Jordan & Lei 2021).
"""

from __future__ import annotations

from math import e, floor, inf, log

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtr, rel_entr

from arcrank._typing import Array, IntArray, Mask

__all__ = ["Cells", "largest_loss", "precision_threshold", "recall_threshold"]

SMALLEST = 0.01
"""Sets of a promised precision hold no label that is less probable than this."""
_MOST_CELLS = 1 << 23  # about 1 GB while they are sorted
_SLACK = 1e-9  # per document: 1 - 0.9 is less than 0.1 in floating point, and 3 times 1/3 may be more than 1


def recall_threshold(proba: Array, share: Array, lost: float, n: int, recall: float) -> float | None:
    """Return the largest threshold that conformal risk control allows; None where even 0 is too large.

    It is infinite where sets without any label have the recall.

    Parameters
    ----------
    proba : (m,) array
        Probabilities of the relevant labels of n documents.
    share : (m,) array
        One divided by the number of relevant labels of the document.
    lost : float
        The loss of relevant labels that no set can hold, summed over documents.
    n, recall
        The number of documents, and what is promised.

    Examples
    --------
    >>> import numpy as np
    >>> recall_threshold(np.arange(1, 101) / 100, np.ones(100), 0.0, 100, recall=0.9)
    0.1
    """
    # (n R(t) + 1) / (n + 1) <= 1 - recall, where R(t) is the mean share of relevant labels with p < t
    allowed = (1 - recall) * (n + 1) - 1 + _SLACK * n
    if lost > allowed:
        return None
    order = np.argsort(proba)
    ordered, missed = proba[order], lost + np.concatenate([[0.0], np.cumsum(share[order])])
    if missed[-1] <= allowed:
        return inf
    # the labels before the first one that would be missed too much; among equal ones the threshold is the same
    place = np.searchsorted(missed, allowed, side="right") - 1
    return float(ordered[place])


class Cells:
    """The cells of an (n, k) matrix of probabilities that may be in a set: those of at least `floor`.

    Probabilities of a document sum to about its number of labels, so few of them are above the floor. Where a model has
    more than fit in memory, the floor rises.

    >>> import numpy as np
    >>> cells = Cells()
    >>> cells.add(np.array([[0.9, 0.001], [0.3, 0.7]]), np.array([[True, False], [False, True]]))
    >>> cells.proba.tolist(), cells.row.tolist(), cells.wrong.tolist()
    ([0.9, 0.3, 0.7], [0, 1, 1], [False, True, False])
    """

    def __init__(self) -> None:
        self.floor = SMALLEST
        self.n_rows = 0
        self._parts: list[tuple[Array, IntArray, Mask]] = []
        self._n_cells = 0

    def add(self, proba: Array, relevant: Mask) -> None:
        """Add the next rows of the matrix, and of the indicator of relevant labels."""
        row, column = np.nonzero(proba >= self.floor)
        self._parts.append((proba[row, column], row + self.n_rows, ~relevant[row, column]))
        self.n_rows += len(proba)
        self._n_cells += len(row)
        if self._n_cells > _MOST_CELLS:
            self._raise_floor()

    def _raise_floor(self) -> None:
        """Drop the lower half, and what is equal to its largest cell.

        Tests of a fixed sequence may end anywhere, so a floor that depends on the documents leaves the promise valid.
        """
        middle = self._n_cells // 2
        self.floor = float(np.nextafter(np.partition(self.proba, middle)[middle], inf))
        kept = self.proba >= self.floor
        self._parts = [(self.proba[kept], self.row[kept], self.wrong[kept])]
        self._n_cells = int(kept.sum())

    @property
    def proba(self) -> Array:
        """The probabilities, (m,)."""
        return np.concatenate([np.empty(0), *(part[0] for part in self._parts)])

    @property
    def row(self) -> IntArray:
        """The documents, (m,)."""
        return np.concatenate([np.empty(0, dtype=np.intp), *(part[1] for part in self._parts)])

    @property
    def wrong(self) -> Mask:
        """Whether the label is not relevant, (m,)."""
        return np.concatenate([np.empty(0, dtype=bool), *(part[2] for part in self._parts)])


def precision_threshold(cells: Cells, precision: float, delta: float) -> float | None:
    """Return the smallest threshold that learn then test reaches from above; None where it rejects no hypothesis.

    The hypotheses "the expected share of wrong labels is more than 1 - precision" are tested for all thresholds, from
    high to low, until one is not rejected. Between the probabilities of two cells the sets of the calibration documents
    do not change, so a test at each cell is a test at every real number, and the sequence does not depend on the
    documents.

    Examples
    --------
    >>> import numpy as np
    >>> cells = Cells()
    >>> proba = np.tile([0.9, 0.6], (100, 1))
    >>> cells.add(proba, np.tile([True, False], (100, 1)))
    >>> precision_threshold(cells, precision=0.8, delta=0.1)
    0.9
    """
    n, allowed = cells.n_rows, largest_loss(cells.n_rows, 1 - precision, delta)
    if allowed is None:
        return None
    proba = cells.proba
    order = np.argsort(-proba, kind="stable")
    ordered, loss = proba[order], np.cumsum(_loss_steps(proba, cells.row, cells.wrong)[order])
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if len(ordered) else np.empty(0, dtype=np.intp)
    failed = np.flatnonzero(loss[last] > allowed + _SLACK * n)
    if not failed.size:
        return cells.floor
    return float(ordered[last[failed[0] - 1]]) if failed[0] else None


def _loss_steps(proba: Array, row: IntArray, wrong: Mask) -> Array:
    """How much each cell changes the share of wrong labels of its document when it joins the set, (m,)."""
    order = np.lexsort((-proba, row))
    rows = row[order]
    is_first = np.append(True, rows[1:] != rows[:-1])[: len(rows)]
    start = np.maximum.accumulate(np.where(is_first, np.arange(len(rows)), 0))
    n_wrong = np.cumsum(wrong[order])
    before: IntArray = n_wrong - wrong[order]
    loss = (n_wrong - before[start]) / (np.arange(len(rows)) - start + 1)
    steps = np.empty(len(rows))
    steps[order] = loss - np.where(is_first, 0.0, np.roll(loss, 1))
    return steps


def largest_loss(n: int, risk: float, delta: float) -> float | None:
    """Return the largest loss, summed over n documents, that rejects "the expected loss is more than `risk`".

    The Hoeffding-Bentkus p-value, min(exp(-n h(R, risk)), e P(Bin(n, risk) <= ceil(n R))) for a mean loss R, grows with
    R, so that one number says when it is at most `delta`. None: not even a loss of 0 does.

    Examples
    --------
    >>> largest_loss(10, 0.2, 0.1), largest_loss(11, 0.2, 0.1)
    (None, 0.027...)
    """
    if n * log(1 - risk) > log(delta):
        return None

    def excess(loss: float) -> float:
        mean = loss / n
        return float(n * (rel_entr(mean, risk) + rel_entr(1 - mean, 1 - risk)) + log(delta))

    hoeffding = float(brentq(excess, 0.0, n * risk))
    counts = np.arange(floor(n * risk) + 1)
    bentkus = int(np.count_nonzero(bdtr(counts, n, risk) <= delta / e)) - 1
    return max(hoeffding, float(bentkus))

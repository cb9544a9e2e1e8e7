"""RankBoost over one or two sets of ordered pairs, without the pairs (Amini, Truong & Goutte 2008, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from arcrank._typing import Array, IntArray, Mask
from arcrank.solvers.stumps import SortedColumns, Stump

__all__ = ["OrderedPairs", "Round", "boost", "grade_sums", "make_round", "stump_weight"]

_PERFECT = 1.0 - 1e-12
"""A ranking feature this close to ordering every pair has an infinite weight but for rounding."""


class Round(NamedTuple):
    """What one round adds to H, and the exponential loss after it."""

    feature: int
    threshold: float
    weight: float
    loss: float
    bound: float
    """Right-hand side of eq. (7); NaN where the weight was capped."""


class OrderedPairs:
    """The distribution D over all pairs (better, worse) of graded rows, stored as weights of rows.

    `D(i, j) ~ up_i down_j` for grade(i) > grade(j), with `up ~ exp(-H)` and `down ~ exp(H)`. With two grades these
    are the paper's nu: `up` on the relevant rows, `down` on the others, each summing to one (eqs. 8 and 9).

    Parameters
    ----------
    rows : (m,) integers
        Rows of the training matrix.
    grades : (m,)
        Greater is better; at least two different ones.
    share : float
        The paper's lambda: this set's weight in the criterion.
    weights : (m,) or None
        Importance of the rows; a pair counts as the product of its two.
    """

    def __init__(self, rows: IntArray, grades: Array, share: float = 1.0, weights: Array | None = None):
        levels, self._grade = np.unique(grades, return_inverse=True)
        self._n_grades = len(levels)
        self.rows = rows
        weight = np.ones(len(rows)) if weights is None else weights
        # rows of the lowest grade are better than none, those of the highest worse than none
        self.up = np.where(self._grade > 0, weight, 0.0)
        self.down = np.where(self._grade < self._n_grades - 1, weight, 0.0)
        counts = np.bincount(self._grade)
        self.n_pairs = int((len(rows) ** 2 - (counts**2).sum()) // 2)
        self._normalise()
        # Weights below one discount the whole set: the mean weight of a pair multiplies lambda.
        mean_weight = 1.0 if weights is None else np.exp(self._log_mass - np.log(self.n_pairs))
        self.share = share * mean_weight
        self.log_loss = 0.0
        """log of A (or B): the product of the normalisers so far."""

    def signed(self) -> Array:
        """Return c (m,) with `r = sum_i c_i f(x_i)`: for two grades, y nu(x)."""
        below, above = self._sums(self.up, self.down)
        return (self.up * below[self._grade] - self.down * above[self._grade]) / self._mass

    def loss_at(self, scores: Array) -> tuple[float, Array]:
        """Return the mean of `exp(score(worse) - score(better))` under D, and its gradient by the scores (m,)."""
        up, down = self.up * np.exp(-scores), self.down * np.exp(scores)
        below, above = (side[self._grade] for side in self._sums(up, down))
        return float(up @ below) / self._mass, (down * above - up * below) / self._mass

    def update(self, weight: float, fires: Mask) -> None:
        """Multiply D by `exp(weight (f(worse) - f(better)))` and normalise it (eqs. 2 and 3)."""
        factor = np.where(fires[self.rows], np.exp(-weight), 1.0)
        self.up *= factor
        self.down /= factor
        before = np.log(self._mass)
        self._normalise()
        self.log_loss += self._log_mass - before

    def _normalise(self) -> None:
        """Scale `up` and `down` to sum one; keep the mass of all pairs, and its logarithm before the scaling."""
        up, down = self.up.sum(), self.down.sum()
        self.up /= up
        self.down /= down
        low, _ = self._sums(self.up, self.down)
        self._mass = float(self.up @ low[self._grade])
        self._log_mass = np.log(self._mass) + np.log(up) + np.log(down)

    def _sums(self, up: Array, down: Array) -> tuple[Array, Array]:
        """Return for each grade the sum of `down` over lower and of `up` over higher grades."""
        downs = np.bincount(self._grade, down, self._n_grades)
        ups = np.bincount(self._grade, up, self._n_grades)
        return grade_sums(ups.astype(np.float64, copy=False), downs.astype(np.float64, copy=False))


def boost(columns: SortedColumns, sets: Sequence[OrderedPairs]) -> Iterator[Round]:
    """Yield rounds of Algorithm 1 for as long as they change the order; the caller takes as many as it wants.

    It ends where no ranking feature separates any pair, and after a perfect one: that leaves all weights as they
    were, so it would be found again for ever, and repeating it only multiplies all scores.
    """
    n_pairs = sum(pairs.n_pairs for pairs in sets)
    while True:
        logs = np.array([np.log(pairs.share) + pairs.log_loss for pairs in sets])
        loss_before = float(np.exp(logs).sum())
        mass = np.exp(logs - np.logaddexp.reduce(logs))  # A and lambda B, scaled to sum one: neither underflows
        stump = columns.best(_signed(columns.n_rows, sets, mass))
        if stump is None:
            return
        weight, perfect = stump_weight(stump.level, n_pairs)
        for pairs in sets:
            pairs.update(weight, stump.fires)
        loss = float(sum(pairs.share * np.exp(pairs.log_loss) for pairs in sets))
        yield make_round(stump, weight, loss_before, loss, perfect=perfect)
        if perfect:
            return


def stump_weight(level: float, n_pairs: int) -> tuple[float, bool]:
    """Return the weight of eq. (6), artanh of R = (A r + lambda B r~) / (A + lambda B), and whether it was capped."""
    perfect = abs(level) >= _PERFECT
    margin = np.clip(level, -1.0 + 1.0 / (n_pairs + 1), 1.0 - 1.0 / (n_pairs + 1)) if perfect else level
    return float(np.arctanh(margin)), perfect


def make_round(stump: Stump, weight: float, before: float, loss: float, *, perfect: bool) -> Round:
    """Return a round with the loss after it and eq. (7), (A + lambda B) sqrt(1 - R^2)."""
    bound = float("nan") if perfect else before * float(np.sqrt(1.0 - stump.level**2))
    return Round(stump.feature, stump.threshold, weight, loss, bound)


def grade_sums(up: Array, down: Array) -> tuple[Array, Array]:
    """Return for each grade the sum of `down` over lower and of `up` over higher grades, given those of each grade."""
    below, above = np.zeros(len(up)), np.zeros(len(up))
    below[1:], above[:-1] = np.cumsum(down[:-1]), np.cumsum(up[:0:-1])[::-1]
    return below, above


def _signed(n_rows: int, sets: Sequence[OrderedPairs], mass: Array) -> Array:
    signed = np.zeros(n_rows)
    for pairs, share in zip(sets, mass, strict=True):
        signed[pairs.rows] += share * pairs.signed()
    return signed

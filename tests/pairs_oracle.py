"""RankBoost over explicit pairs, as Amini, Truong & Goutte 2008 write it: the oracle of the compiled one."""

from __future__ import annotations

import math

import numpy as np

TIE = 1e-12


def pair_list(rows, grades):
    return [(i, j) for a, i in enumerate(rows) for b, j in enumerate(rows) if grades[a] > grades[b]]


class ExplicitRankBoost:
    """Algorithm 1 with the distributions D and D~ over pairs (eqs. 2 to 6); `sets` = [(lambda, pairs)].

    A feature that orders every pair has an infinite weight: it ends the rounds, or gets the weight `cap` if given.
    """

    def __init__(self, X, sets, cap=None):
        self.X, self.cap = X, cap
        self.sets = [(share, pairs, np.full(len(pairs), 1.0 / len(pairs))) for share, pairs in sets]
        self.products = np.ones(len(sets))  # A and B
        self.scores = np.zeros(len(X))
        self.stumps, self.losses = [], [self.loss()]

    def loss(self):
        return sum(share * product for (share, _, _), product in zip(self.sets, self.products, strict=True))

    def round(self):
        best, chosen = 0.0, None
        scale = self.loss()
        for j in range(self.X.shape[1]):
            for threshold in sorted(set(self.X[:, j]), reverse=True):
                f = (self.X[:, j] > threshold).astype(float)
                level = self._level(f) / scale
                if abs(level) > abs(best) + TIE:
                    best, chosen = level, (j, threshold)
        if chosen is None or (abs(best) >= 1 - TIE and self.cap is None):
            return None
        f = (self.X[:, chosen[0]] > chosen[1]).astype(float)
        return self._apply(f, chosen)

    def _margins(self, f):
        return [np.array([f[i] - f[j] for i, j in pairs]) for _, pairs, _ in self.sets]

    def _level(self, f):
        parts = zip(self.sets, self.products, self._margins(f), strict=True)
        return sum(share * product * (D @ margin) for (share, _, D), product, margin in parts)

    def _apply(self, f, chosen):
        plus = minus = 0.0
        margins = self._margins(f)
        for (share, _, D), product, margin in zip(self.sets, self.products, margins, strict=True):
            r = D @ margin
            plus += share * product * (1 + r)
            minus += share * product * (1 - r)
        perfect = min(plus, minus) <= TIE * max(plus, minus)
        alpha = math.copysign(self.cap, plus - minus) if perfect else 0.5 * math.log(plus / minus)
        updated = []
        for k, (share, pairs, D) in enumerate(self.sets):
            D = D * np.exp(-alpha * margins[k])
            self.products[k] *= D.sum()
            updated.append((share, pairs, D / D.sum()))
        self.sets = updated
        self.scores = self.scores + alpha * f
        self.stumps.append((*chosen, alpha))
        self.losses.append(self.loss())
        return alpha


def assert_same_rounds(ranker, oracle):
    """The same stumps, weights and losses; the ranker may end with a perfect one, whose exact weight is infinite."""
    capped = int(np.isnan(ranker.bounds_).sum())
    n = len(oracle.stumps)
    assert ranker.n_rounds_ == n + capped
    features, thresholds, weights = ranker.stumps_
    assert [(int(j), t) for j, t in zip(features[:n], thresholds[:n], strict=True)] == [s[:2] for s in oracle.stumps]
    np.testing.assert_allclose(weights[:n], [s[2] for s in oracle.stumps], atol=1e-9)
    np.testing.assert_allclose(ranker.loss_curve_[: n + 1], oracle.losses, atol=1e-9)

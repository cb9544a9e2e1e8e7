"""What the scores of the other labels say about a label: a linear map of the scores, fitted to out-of-fold scores.

A ranker learns which features a label has, and hardly that labels occur together or exclude each other. Its scores of
new instances show that, so the log-odds that label j is relevant are modelled as

    slope (f_j + effect_j) + constant + sum_l (f_l - mean_l) B_lj

with the slope, the constant and the effects of `label_effects`, and B by penalised logistic regression. In units of the
scores this is `f + (f - mean) @ mixing`, a linear map, so that a linear ranker stays a linear ranker: the weights of a
label get a part of those of the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from arcrank._typing import Array, Mask
from arcrank.graphs.base import row_blocks
from arcrank.rankers.label_effects import fit_label_effects
from arcrank.rankers.monotone_logistic import sigmoid

__all__ = ["LabelCorrelations", "fit_label_correlations", "suits"]

_PENALTY = 100.0
"""Of the squares of B, for scores in units of their mean standard deviation over instances."""
_RARE = 10
"""A label with so many relevant instances gets half of its part of B."""
_STEPS = 5
"""Further ones gain nothing on held-out instances. All three were chosen on held-out training documents of nine corpora
by `benchmarks/label_correlations.py`."""
_PARTS = 3
_FEWEST_INSTANCES, _MOST_LABELS = 100, 2000
_MOST_PRODUCTS = 2e10
"""Of instances and squares of labels; beyond, B is fitted to a part of the instances."""
_BOUND = 0.25  # p (1 - p) is never greater (Böhning & Lindsay 1988), so that one factorisation serves all steps
_DIGITS = 12  # later ones would depend on the processor


class LabelCorrelations(NamedTuple):
    """A linear map of scores: `scores + (scores - centre) @ mixing`.

    mixing : (k, k), what the score of the label of a row adds to that of the label of a column; centre : (k,)
    """

    mixing: Array
    centre: Array

    def correct(self, scores: Array) -> Array:
        """Return corrected scores, (n, k)."""
        corrected: Array = scores + (scores - self.centre) @ self.mixing
        return corrected

    def correct_weights(self, weights: Array) -> None:
        """Change weights, (d, k), of a linear ranker in place, so that its scores are corrected up to a constant."""
        for rows in row_blocks(*weights.shape):
            weights[rows] += weights[rows] @ self.mixing

    def correct_intercept(self, intercept: Array) -> Array:
        """Return the intercept of the corrected scores, (k,)."""
        return self.correct(intercept[None])[0]


def suits(n_instances: int, n_labels: int) -> bool:
    """Whether there are enough instances, and not too many labels."""
    return n_instances >= _FEWEST_INSTANCES and 1 < n_labels <= _MOST_LABELS


def fit_label_correlations(scores: Array, judged: Mask, relevant: Mask) -> tuple[LabelCorrelations, Array]:
    """Fit to out-of-fold scores, (n, k); return them too, each corrected by what the other instances say.

    Parameters
    ----------
    scores : (n, k) array
        Scores of instances that the ranker was not trained on.
    judged, relevant : (n, k) masks
        The labels of which it is known whether they are relevant, and those that are.
    """
    random = np.random.default_rng(0)
    part_of = random.permutation(np.arange(len(scores)) % _PARTS)
    corrected = np.empty_like(scores)
    for part in range(_PARTS):
        others, own = part_of != part, part_of == part
        corrected[own] = _fit(scores[others], judged[others], relevant[others]).correct(scores[own])
    return _fit(scores, judged, relevant), corrected


def _fit(scores: Array, judged: Mask, relevant: Mask) -> LabelCorrelations:
    rows = _sampled(*scores.shape)
    scores, judged, relevant = scores[rows], judged[rows], relevant[rows]
    line = fit_label_effects(scores, judged, relevant)
    centre = scores.mean(axis=0)
    unit = float(scores.std(axis=0).mean()) or 1.0
    features, log_odds = (scores - centre) / unit, line.slope * (scores + line.effects) + line.constant
    B = _minimise(features, log_odds, judged, relevant)
    frequency = relevant.sum(axis=0)
    mixing = B * (frequency / (frequency + _RARE) / (unit * line.slope))
    return LabelCorrelations(np.round(mixing, _DIGITS), centre)


def _sampled(n: int, k: int) -> slice | Array:
    most = int(_MOST_PRODUCTS / k**2)
    return slice(None) if n <= most else np.sort(np.random.default_rng(0).permutation(n)[:most])


def _minimise(features: Array, log_odds: Array, judged: Mask, relevant: Mask) -> Array:
    """Lower `sum log-loss(log_odds + features @ B) + _PENALTY / 2 ||B||^2` by steps of a quadratic upper bound."""
    k = features.shape[1]
    B = np.zeros((k, k))
    bound = cho_factor(_BOUND * (features.T @ features) + _PENALTY * np.eye(k))
    for step in range(_STEPS):
        gradient = -_PENALTY * B
        for rows in row_blocks(len(features), k):
            expected = sigmoid(log_odds[rows] + (features[rows] @ B if step else 0.0))
            gradient += features[rows].T @ np.where(judged[rows], relevant[rows] - expected, 0.0)
        B += cho_solve(bound, gradient)
    return B

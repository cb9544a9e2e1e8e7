"""From scores to probabilities, by one map that all labels share and that never changes the order within a row.

The log-odds of a label are `g(score) + h1(best score of the row) + h2(second best score of the row)` with piecewise
linear functions, g strictly increasing, plus a constant for the first label of the row. The functions of the row
matter: with g alone the first label of an instance is predicted with too low a probability where all scores are low,
since most instances have some label. First labels are few of all cells; the constant makes their mean probability right
and, since it is at least 0, keeps the order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcrank._typing import Array, Mask
from arcrank._validation import check_real
from arcrank.graphs.base import row_blocks
from arcrank.rankers.cells import informative_cells
from arcrank.rankers.monotone_logistic import Curve, fit_curves, likeliest_slope, sigmoid

__all__ = ["Calibration", "fit_calibration", "fit_temperature", "no_curves", "recall_thresholds"]

_ZERO = Curve(np.array([0.0, 1.0]), np.zeros(2))
_LINEAR = 20.0  # log-odds beyond grow by their logarithm, so that probabilities near 1 stay distinct in float64


@dataclass(frozen=True)
class Calibration:
    """What turns the scores of a ranker into probabilities, and how it was made: `calibration_` of a ranker.

    Attributes
    ----------
    score_knots, score_values, best_knots, best_values, second_knots, second_values : arrays
        Three curves, of the score and of the best and the second best score of the row, whose sum is the log-odds that
        a label is relevant.
    first_bonus : float
        What is added to the log-odds of the best label of an instance, at least 0.
    one_label : bool
        Whether exactly one label of each instance is right, so that its probabilities sum to 1.
    temperature : float
        Of single labels: each is proportional to the probability that the curves give it, raised to this power.
        Without curves, as in ShortlistRanker and in older files, to exp(temperature * score).
    above_slope : float
        The log-odds that a label is above another are this times their margin.
    recall_thresholds : (99,) array
        The probability from which labels are taken so that on average 1 %, 2 %, ..., 99 % of the relevant labels are.
    offsets : (k,) array
        What was subtracted from the scores, so that labels above 0 are those to predict.
    documents : int
        The number of instances it was fitted on.
    folds : int
        The number of folds of the cross-validation that scored them; 0 if they were given to `calibrate`.
    set_measure : str or None
        What the offsets were chosen by.

    Examples
    --------
    >>> from arcrank import LogLinearRanker
    >>> X, y = [[1, 0], [0, 1], [1, 1]] * 4, [["tea"], ["milk"], []] * 4
    >>> ranker = LogLinearRanker(cut_label=True).fit(X, y)
    >>> ranker.calibration_.describe()["method"], ranker.calibration_.documents
    ('monotone logistic', 12)
    >>> bool((ranker.calibration_.probabilities(ranker.score_labels(X)) == ranker.predict_proba(X)).all())
    True
    """

    score_knots: Array
    score_values: Array
    best_knots: Array
    best_values: Array
    second_knots: Array
    second_values: Array
    temperature: float
    above_slope: float
    recall_thresholds: Array
    offsets: Array
    documents: int
    folds: int
    set_measure: str | None
    first_bonus: float = 0.0
    one_label: bool = False

    @property
    def is_single(self) -> bool:
        """Whether exactly one label of each instance is right."""
        return self.one_label or not len(self.score_knots)

    def probabilities(self, scores: Array) -> Array:
        """Probabilities of relevance, (n, k), strictly increasing in the score within each row.

        Those of single labels sum to 1 over a row.
        """
        if self.is_single:
            return _softmax(self.temperature * self.log_weights(scores))
        return sigmoid(self._log_odds_of_sets(scores))

    def log_odds(self, scores: Array) -> Array:
        """Logarithms of p / (1 - p), (n, k), which stay distinct where probabilities round to 1."""
        if self.is_single:
            logarithms = self.temperature * self.log_weights(scores)
            shifted = logarithms - logarithms.max(axis=1, keepdims=True)
            total = np.exp(shifted).sum(axis=1, keepdims=True)
            return shifted - np.log(np.maximum(total - np.exp(shifted), np.finfo(float).tiny))
        return self._log_odds_of_sets(scores)

    def log_weights(self, scores: Array) -> Array:
        """Logarithms of the probabilities of single labels, (n, k), before they are normalised, at temperature 1."""
        if not len(self.score_knots):
            return scores
        logarithms: Array = -np.logaddexp(0.0, -self._log_odds_of_sets(scores))
        return logarithms

    def _log_odds_of_sets(self, scores: Array) -> Array:
        best, second = best_two(scores)
        of_row = np.interp(best, self.best_knots, self.best_values)
        of_row += np.interp(second, self.second_knots, self.second_values)
        log_odds = Curve(self.score_knots, self.score_values)(scores) + of_row[:, None]
        return _tempered(log_odds + self.first_bonus * (scores == best[:, None]))

    def probability_above(self, margins: Array) -> Array:
        """The probability that a label is above another one, given that one of them is."""
        return sigmoid(_tempered(self.above_slope * margins))

    def recall_threshold(self, recall: float) -> float:
        """The probability from which labels are taken to find this share of the relevant ones on average.

        It comes from the instances of the calibration. For a guarantee on new data see `ConformalSets`.
        """
        check_real("recall", recall, at_least=0.01, at_most=0.99)
        return float(self.recall_thresholds[math.ceil(round(100 * recall, 6)) - 1])

    def describe(self) -> dict[str, Any]:
        """Return how the calibration was made, as JSON types."""
        shared = len(self.offsets) == 0 or bool((self.offsets == self.offsets[0]).all())
        return {
            "method": "softmax" if self.is_single else "monotone logistic",
            "documents": self.documents,
            "folds": self.folds or None,
            "set_measure": self.set_measure,
            "offsets": "shared" if shared else "per label",
        }


def fit_calibration(scores: Array, judged: Mask, relevant: Mask) -> dict[str, Any]:
    """Fit the log-odds to the scores of judged labels, (n, k), by penalised maximum likelihood."""
    best, second = best_two(scores)
    rows, columns, weight = informative_cells(scores, judged, relevant)
    outcome, own = relevant[rows, columns].astype(np.float64), scores[rows, columns]
    if scores.shape[1] < 2:  # the best score is the score itself, which must not lower its own probability
        (curve,), bonus = fit_curves((own,), outcome, weight)
        return _flat([curve, _ZERO, _ZERO], bonus)
    return _flat(*fit_curves((own, best[rows], second[rows]), outcome, weight, own == best[rows]))


def no_curves() -> dict[str, Any]:
    """What a ranker of shortlists has in place of curves for single labels."""
    return _flat([Curve(np.empty(0), np.empty(0))] * 3, 0.0)


def _flat(curves: list[Curve], bonus: float) -> dict[str, Any]:
    named = zip(("score", "best", "second"), curves, strict=True)
    found = {f"{name}_{part}": getattr(curve, part) for name, curve in named for part in ("knots", "values")}
    return {**found, "first_bonus": bonus}


def recall_thresholds(calibration: Calibration, scores: Array, relevant: Mask) -> Array:
    """Thresholds of conformal risk control for a recall of 1 % to 99 %, (99,); 0 where documents are too few."""
    from arcrank.rankers.risk_control import recall_threshold

    blocks = row_blocks(len(scores), scores.shape[1], cells=1 << 18)
    parts = [calibration.probabilities(scores[block])[relevant[block]] for block in blocks]
    share = np.broadcast_to(1.0 / np.maximum(1, relevant.sum(axis=1))[:, None], relevant.shape)[relevant]
    found = np.concatenate([np.empty(0), *parts]), share, 0.0, len(relevant)
    thresholds = (recall_threshold(*found, recall=percent / 100) for percent in range(1, 100))
    return np.array([0.0 if value is None else min(value, 1.0) for value in thresholds])


def fit_temperature(scores: Array, right: Array) -> float:
    """The temperature of the softmax that makes the right labels, (n,), most likely."""
    scores = scores - scores[np.arange(len(scores)), right][:, None]
    spread = float(np.abs(scores).mean()) or 1.0
    scores /= spread
    # Where every instance is right the likelihood has no maximum; the upper end is then as good as any.
    return likeliest_slope(lambda slope: float((_softmax(slope * scores) * scores).sum(axis=1).mean())) / spread


def best_two(scores: Array) -> tuple[Array, Array]:
    """The highest and the second highest score of each row; the highest twice where there is one label."""
    if scores.shape[1] < 2:
        return scores[:, 0], scores[:, 0]
    top = np.partition(scores, scores.shape[1] - 2, axis=1)[:, -2:]
    return top[:, 1], top[:, 0]


def _softmax(logarithms: Array) -> Array:
    values = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    normalised: Array = values / values.sum(axis=1, keepdims=True)
    return normalised


def _tempered(log_odds: Array) -> Array:
    """The same between -20 and 20; beyond, it grows like a logarithm."""
    beyond = np.maximum(np.abs(log_odds) - _LINEAR, 0.0)
    return np.sign(log_odds) * (np.minimum(np.abs(log_odds), _LINEAR) + np.log1p(beyond))

"""Totals of predicted label sets and probabilities over blocks of documents, and what an evaluation says of them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from arcrank._typing import Array, IntArray
from arcrank.metrics.label_sets import LabelCounts
from arcrank.metrics.ranking import Indicator, as_indicator
from arcrank.metrics.reliability import CalibrationSums, ReliabilityCurve, bootstrap_weights, cells_from, first_cells

__all__ = ["CalibrationError", "CalibrationEvaluation", "SetTotals", "ThresholdRow"]

AT_LEAST, CONFIDENCE, N_BINS = 0.05, 0.95, 15
THRESHOLDS = np.arange(1, 10) / 10
_N_GROUPS, _LARGEST_LOG_ODDS, _N_RESAMPLES = 2000, 12.0, 200


@dataclass
class CalibrationError:
    """An expected calibration error with its interval of 95 % confidence, and the bins that it was found with.

    The edges of the bins are rounded to steps of 0.012 in log-odds, so that documents need not stay in memory; the
    error may therefore differ slightly from that of `arcrank.metrics.expected_calibration_error`.
    """

    error: float
    low: float
    high: float
    reliability: ReliabilityCurve

    @classmethod
    def of(cls, sums: CalibrationSums) -> CalibrationError:
        """The error over bins of about equally many labels."""
        bins = sums.merged(N_BINS)
        return cls(bins.error(), *bins.interval(CONFIDENCE), bins.curve())

    def to_dict(self) -> dict[str, Any]:
        """The error for JSON."""
        numbers = {"error": self.error, "low": self.low, "high": self.high}
        curve = {name: values.tolist() for name, values in self.reliability._asdict().items()}
        curve["counts"] = [int(n) for n in curve["counts"]]
        return {name: value if math.isfinite(value) else None for name, value in numbers.items()} | curve


@dataclass
class ThresholdRow:
    """Label sets of all labels with a probability of at least `threshold`: what is promised, and what is observed.

    The means of the precision are over the documents whose set is not empty, those of the recall over the documents
    that have a right label; None where there are none.
    """

    threshold: float
    documents: int
    precision: float | None
    expected_precision: float | None
    recall: float | None
    expected_recall: float | None


@dataclass
class CalibrationEvaluation:
    """How far the probabilities of a model can be believed; `evaluate` makes it of models that have a calibration.

    `labels` is the error over all labels with a probability of at least 0.05, `first_label` that of the label with the
    highest probability of each document, `thresholds` compares label sets with what their probabilities promise, and
    `method` describes how the calibration was fitted.
    """

    labels: CalibrationError
    first_label: CalibrationError
    thresholds: list[ThresholdRow]
    method: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Everything for JSON."""
        return {
            "method": self.method,
            "labels": self.labels.to_dict(),
            "first_label": self.first_label.to_dict(),
            "thresholds": [asdict(row) for row in self.thresholds],
        }


class SetTotals:
    """Sums over blocks of documents with label sets, predicted sets and probabilities."""

    def __init__(self, n_labels: int) -> None:
        self._counts = np.zeros((3, n_labels))
        self._labels, self._first = (CalibrationSums(_N_GROUPS, _N_RESAMPLES) for _ in range(2))
        self._thresholds = _ThresholdTotals()
        self._random = np.random.default_rng(0)

    def add(self, counts: LabelCounts, Y: Any, probabilities: Array) -> None:
        """Add a block of documents: counts of each label, and the probabilities of cells with their outcomes Y.

        The columns of Y and of the probabilities, (n, m), may be other labels in each row, but hold all relevant ones.
        """
        truth = as_indicator(Y)
        self._counts += counts
        weights = bootstrap_weights(self._random, truth.shape[0], _N_RESAMPLES)
        all_cells, first = cells_from(truth, probabilities, AT_LEAST), first_cells(truth, probabilities)
        for sums, cells in ((self._labels, all_cells), (self._first, first)):
            sums.add(cells, _groups(cells.probability), weights)
        self._thresholds.add(truth, probabilities)

    @property
    def counts(self) -> LabelCounts:
        """The counts of each label, from which F1 is made."""
        return LabelCounts(*self._counts)

    def evaluation(self, method: dict[str, Any]) -> CalibrationEvaluation:
        """The calibration errors and the table of thresholds."""
        labels, first = CalibrationError.of(self._labels), CalibrationError.of(self._first)
        return CalibrationEvaluation(labels, first, self._thresholds.rows(), method)


def _groups(probability: Array) -> IntArray:
    """The group of each probability: steps of equal width in log-odds, fine enough to merge into equal-mass bins."""
    with np.errstate(divide="ignore"):
        log_odds = np.log(probability) - np.log1p(-probability)
    place = (log_odds / _LARGEST_LOG_ODDS + 1) / 2 * _N_GROUPS
    return np.clip(place, 0, _N_GROUPS - 1).astype(np.int64)


class _ThresholdTotals:
    """Sums over documents of precision and recall at each threshold, (9,) each."""

    def __init__(self) -> None:
        self.n_labelled = 0
        self.n_filled = np.zeros(len(THRESHOLDS), dtype=np.int64)
        self.precision, self.expected_precision = np.zeros((2, len(THRESHOLDS)))
        self.recall, self.expected_recall = np.zeros((2, len(THRESHOLDS)))

    def add(self, truth: Indicator, probabilities: Array) -> None:
        size, hits, mass = _set_sums(truth, probabilities)
        self.n_filled += (size > 0).sum(axis=0)
        self.precision += _shares(hits, size)
        self.expected_precision += _shares(mass, size)
        n_relevant = np.diff(truth.indptr)
        labelled = n_relevant > 0
        self.n_labelled += int(labelled.sum())
        self.recall += _shares(hits[labelled], n_relevant[labelled, None])
        self.expected_recall += _shares(mass[labelled], probabilities[labelled].sum(axis=1, keepdims=True))

    def rows(self) -> list[ThresholdRow]:
        made = []
        for j, threshold in enumerate(THRESHOLDS.tolist()):
            filled, labelled = int(self.n_filled[j]), self.n_labelled
            precision = _mean(self.precision[j], filled), _mean(self.expected_precision[j], filled)
            recall = _mean(self.recall[j], labelled), _mean(self.expected_recall[j], labelled)
            made.append(ThresholdRow(threshold, filled, *precision, *recall))
        return made


def _set_sums(truth: Indicator, probabilities: Array) -> tuple[Array, Array, Array]:
    """For each document and threshold the size of the set, its right labels and its sum of probabilities."""
    shape = truth.shape[0], len(THRESHOLDS)
    cells = cells_from(truth, probabilities, float(THRESHOLDS[0]))
    level = np.searchsorted(THRESHOLDS, cells.probability, side="right") - 1  # the highest threshold that it passes
    place = cells.document * shape[1] + level
    values = np.ones(len(place)), cells.outcome, cells.probability
    sums = (np.bincount(place, one, minlength=shape[0] * shape[1]).reshape(shape) for one in values)
    size, hits, mass = (one[:, ::-1].cumsum(axis=1)[:, ::-1] for one in sums)
    return size, hits, mass


def _shares(part: Array, whole: Array) -> Array:
    """The sum over documents of part / whole, without those where `whole` is 0."""
    whole = np.broadcast_to(whole, part.shape)
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0).sum(axis=0)


def _mean(total: float, n: int) -> float | None:
    return float(total) / n if n else None

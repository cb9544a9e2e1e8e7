"""Metrics of predicted label sets against the relevant labels.

`Y` and `predicted` are (n, k) indicators of {0, 1}, dense or scipy.sparse; `Y` may also be graphs of at most two
layers, whose top layer is the relevant one. Unlike the metrics of rankings, these count every row: an empty and a full
set are predictions like any other. A ratio whose denominator is 0 is 0, as in scikit-learn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from arcrank._typing import Array
from arcrank.errors import InputError
from arcrank.metrics.ranking import Indicator, as_indicator

__all__ = ["label_f1", "macro_f1", "micro_f1", "micro_precision", "micro_recall", "subset_accuracy"]


class LabelCounts(NamedTuple):
    """For each label the documents that it is predicted correctly for, predicted for, and relevant for: (k,) each."""

    correct: Array
    predicted: Array
    relevant: Array

    def f1(self) -> Array:
        """The F1 of each label, `2 TP / (2 TP + FP + FN)`."""
        return _ratio(2 * self.correct, self.predicted + self.relevant)

    def micro_f1(self) -> float:
        """The F1 of all labels together."""
        return float(_ratio(2 * self.correct.sum(), self.predicted.sum() + self.relevant.sum()))


def micro_f1(Y: Any, predicted: Any) -> float:
    """F1 over all cells of the indicator: `2 TP / (2 TP + FP + FN)`, with sums over documents and labels.

    Frequent labels weigh more than rare ones. It equals scikit-learn's `f1_score(average="micro")`.

    Examples
    --------
    >>> micro_f1([[1, 0, 0], [0, 1, 1]], [[1, 1, 0], [0, 1, 0]])
    0.666...
    """
    return label_counts(Y, predicted).micro_f1()


def macro_f1(Y: Any, predicted: Any) -> float:
    """The mean of the labels' F1: rare labels weigh as much as frequent ones.

    It equals scikit-learn's `f1_score(average="macro")`: a label that is never relevant and never predicted has 0.

    Examples
    --------
    >>> macro_f1([[1, 0, 0], [0, 1, 1]], [[1, 1, 0], [0, 1, 0]])  # (1 + 2/3 + 0) / 3
    0.555...
    """
    values = label_f1(Y, predicted)
    return float(values.mean()) if len(values) else float("nan")


def label_f1(Y: Any, predicted: Any) -> Array:
    """F1 of each label, (k,): `2 TP / (2 TP + FP + FN)`, with sums over documents.

    Examples
    --------
    >>> label_f1([[1, 0, 0], [0, 1, 1]], [[1, 1, 0], [0, 1, 0]]).round(3).tolist()
    [1.0, 0.667, 0.0]
    """
    return label_counts(Y, predicted).f1()


def micro_precision(Y: Any, predicted: Any) -> float:
    """The share of predicted labels that are relevant, over all documents: `TP / (TP + FP)`.

    Examples
    --------
    >>> micro_precision([[1, 0, 0], [0, 1, 1]], [[1, 1, 0], [0, 1, 0]])
    0.666...
    """
    counts = label_counts(Y, predicted)
    return float(_ratio(counts.correct.sum(), counts.predicted.sum()))


def micro_recall(Y: Any, predicted: Any) -> float:
    """The share of relevant labels that are predicted, over all documents: `TP / (TP + FN)`.

    Examples
    --------
    >>> micro_recall([[1, 0, 0], [0, 1, 1]], [[1, 1, 0], [0, 1, 0]])
    0.666...
    """
    counts = label_counts(Y, predicted)
    return float(_ratio(counts.correct.sum(), counts.relevant.sum()))


def subset_accuracy(Y: Any, predicted: Any) -> float:
    """The share of documents whose set is predicted exactly; NaN without documents.

    Examples
    --------
    >>> subset_accuracy([[1, 0, 0], [0, 1, 1]], [[1, 0, 0], [0, 1, 0]])
    0.5
    """
    equal = equal_rows(Y, predicted)
    return float(equal.mean()) if len(equal) else float("nan")


def equal_rows(Y: Any, predicted: Any) -> Array:
    """For each document 1.0 if its set is predicted exactly, else 0.0: (n,)."""
    truth, found = _check(Y, predicted)
    correct = _row_counts(truth, np.isin(_cells(truth), _cells(found), assume_unique=True))
    sizes = np.diff(truth.indptr)
    return ((correct == sizes) & (sizes == np.diff(found.indptr))).astype(np.float64)


def label_counts(Y: Any, predicted: Any) -> LabelCounts:
    """Count for each label correct predictions, predictions and documents; the counts of blocks can be added."""
    truth, found = _check(Y, predicted)
    both = truth.indices[np.isin(_cells(truth), _cells(found), assume_unique=True)]
    counts = [np.bincount(one, minlength=truth.shape[1]) for one in (both, found.indices, truth.indices)]
    return LabelCounts(*(one.astype(np.float64) for one in counts))


def _check(Y: Any, predicted: Any) -> tuple[Indicator, Indicator]:
    truth, found = as_indicator(Y), as_indicator(predicted, "predicted")
    if truth.shape != found.shape:
        raise InputError(
            f"predicted has shape {found.shape}, but Y has shape {truth.shape}: give one predicted set for each row "
            "of Y, with the columns in the same order."
        )
    return truth, found


def _cells(indicator: Indicator) -> Any:
    """The numbers of the cells that are 1, row by row."""
    rows = np.repeat(np.arange(indicator.shape[0]), np.diff(indicator.indptr))
    return rows * indicator.shape[1] + indicator.indices


def _row_counts(indicator: Indicator, chosen: Any) -> Any:
    """How many of the chosen entries each row has."""
    return np.diff(np.concatenate([[0], np.cumsum(chosen)])[indicator.indptr])


def _ratio(numerator: Any, denominator: Any) -> Array:
    numerator, denominator = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    return np.divide(numerator, denominator, out=np.zeros(denominator.shape), where=denominator > 0)

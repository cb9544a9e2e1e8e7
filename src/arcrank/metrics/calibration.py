"""Metrics of probabilities: whether a label with probability p is relevant in a share p of the documents.

`Y` is what the metrics of label sets take, `probabilities` is (n, k) with values from 0 to 1, as `predict_proba`
returns it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arcrank._typing import Array
from arcrank._validation import check_int, check_real
from arcrank.errors import InputError
from arcrank.metrics.ranking import Indicator, as_floats, as_indicator
from arcrank.metrics.reliability import Cells, ReliabilityCurve, cells_from, first_cells, sums_of

__all__ = [
    "expected_calibration_error",
    "expected_calibration_error_interval",
    "first_label_calibration_error",
    "reliability_curve",
]


def reliability_curve(outcomes: Any, probabilities: Any, n_bins: int = 15) -> ReliabilityCurve:
    """Mean probability, observed share and number of entries in bins of about equally many entries.

    `outcomes` are 0 or 1 and `probabilities` from 0 to 1, of the same shape. Entries of equal probability share a bin;
    bins without entries are left out.

    Examples
    --------
    >>> found = reliability_curve([0, 1, 0, 1], [0.2, 0.2, 0.8, 0.9], n_bins=2)
    >>> found.probability.round(3).tolist(), found.observed.tolist()
    ([0.2, 0.85], [0.5, 0.5])
    """
    outcome = as_floats(outcomes, "outcomes")
    probability = check_probabilities(probabilities, outcome.shape, "outcomes have")
    strange = outcome[(outcome != 0) & (outcome != 1)]
    if len(strange):
        raise InputError(f"outcomes hold the value {strange[0]:g}; an outcome is 0 or 1.")
    cells = Cells(np.zeros(outcome.size, dtype=np.intp), probability.ravel(), outcome.ravel() == 1)
    return sums_of(cells, min(1, outcome.size), check_bins(n_bins), 0, 0).curve()


def expected_calibration_error(Y: Any, probabilities: Any, *, n_bins: int = 15, at_least: float = 0.05) -> float:
    """ECE: the mean difference between the probability and the observed share, over bins of about equally many cells.

    `sum_b n_b / n |observed share of bin b - mean probability of bin b|`. A cell is a document and a label; only those
    with a probability of at least `at_least` count, because otherwise the many labels that are almost certainly
    irrelevant would hide the others. Cells of equal probability share a bin. NaN where there are no cells.

    The estimate is biased upwards: even perfect probabilities have an error above 0, the more so the fewer documents
    there are. `expected_calibration_error_interval` says how much that can be.

    References
    ----------
    Guo, Pleiss, Sun & Weinberger (2017), On calibration of modern neural networks.

    Examples
    --------
    >>> expected_calibration_error([[1, 0], [0, 1]], [[0.75, 0.25], [0.25, 0.75]], n_bins=2)
    0.25
    """
    truth, values = _check(Y, probabilities)
    cells = cells_from(truth, values, check_real("at_least", at_least, at_least=0, at_most=1))
    return sums_of(cells, truth.shape[0], check_bins(n_bins), 0, 0).error()


def first_label_calibration_error(Y: Any, probabilities: Any, n_bins: int = 15) -> float:
    """The expected calibration error of the label with the highest probability of each document.

    Of labels with equal probability it is the first column.

    Examples
    --------
    >>> first_label_calibration_error([[1, 0], [0, 1]], [[0.75, 0.2], [0.3, 0.5]], n_bins=1)
    0.375
    """
    truth, values = _check(Y, probabilities)
    return sums_of(first_cells(truth, values), truth.shape[0], check_bins(n_bins), 0, 0).error()


def expected_calibration_error_interval(
    Y: Any,
    probabilities: Any,
    *,
    n_bins: int = 15,
    at_least: float = 0.05,
    confidence: float = 0.95,
    n_resamples: int = 200,
    random_state: int = 0,
) -> tuple[float, float]:
    """A confidence interval of `expected_calibration_error`, by a Poisson bootstrap over documents.

    The lower end is 0 where perfect probabilities could have an error as large as the observed one by chance. In
    simulations the error of the population is inside the interval as often as `confidence` says, or more often.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> p = random.random((500, 4))
    >>> Y = random.random((500, 4)) < p
    >>> expected_calibration_error_interval(Y, p)[0]
    0.0
    >>> expected_calibration_error_interval(Y, p**2)[0] > 0.05
    True
    """
    truth, values = _check(Y, probabilities)
    cells = cells_from(truth, values, check_real("at_least", at_least, at_least=0, at_most=1))
    check_int("n_resamples", n_resamples, at_least=1)
    sums = sums_of(cells, truth.shape[0], check_bins(n_bins), n_resamples, random_state)
    return sums.interval(check_real("confidence", confidence, above=0, below=1))


def check_bins(n_bins: Any) -> int:
    """Return the number of bins."""
    return check_int("n_bins", n_bins, at_least=1)


def _check(Y: Any, probabilities: Any) -> tuple[Indicator, Array]:
    truth = as_indicator(Y)
    return truth, check_probabilities(probabilities, truth.shape, "Y has")


def check_probabilities(probabilities: Any, shape: tuple[int, ...], truth_has: str) -> Array:
    """Return probabilities as float64 in C order, of the given shape and from 0 to 1."""
    values = as_floats(probabilities, "probabilities")
    if values.shape != shape:
        raise InputError(
            f"probabilities have shape {values.shape}, but {truth_has} shape {shape}: give one probability for each "
            "entry of the truth, with the columns in the same order."
        )
    if values.size and not (values.min() >= 0 and values.max() <= 1):  # also where there is NaN
        strange = values[~((values >= 0) & (values <= 1))][0]
        raise InputError(
            f"probabilities hold the value {strange:g}; they must be from 0 to 1. For scores without a calibration use "
            "the metrics of rankings."
        )
    return values

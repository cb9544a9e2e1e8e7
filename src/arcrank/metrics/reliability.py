"""Sums behind calibration errors: they can be added over blocks of documents, and give a bootstrap interval."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from arcrank._typing import Array, IntArray, Mask
from arcrank.metrics.ranking import Indicator

__all__ = [
    "CalibrationSums",
    "Cells",
    "ReliabilityCurve",
    "bootstrap_weights",
    "cells_from",
    "equal_mass_bins",
    "first_cells",
    "sums_of",
]

_DOCUMENTS = 4096  # weights of so many documents are in memory at once


class ReliabilityCurve(NamedTuple):
    """Mean probability, observed share and number of entries of each bin, in the order of the probability.

    Examples
    --------
    >>> from arcrank.metrics import reliability_curve
    >>> found = reliability_curve([0, 0, 1, 1], [0.1, 0.3, 0.7, 0.9], n_bins=2)
    >>> found.probability.tolist(), found.observed.tolist(), found.counts.tolist()
    ([0.2, 0.8], [0.0, 1.0], [2.0, 2.0])
    """

    probability: Array
    observed: Array
    counts: Array


class Cells(NamedTuple):
    """Pairs of a document and a label, with the label's probability and whether it is relevant."""

    document: IntArray
    probability: Array
    outcome: Mask


def cells_from(truth: Indicator, probabilities: Array, at_least: float) -> Cells:
    """The cells whose probability is at least `at_least`."""
    k = truth.shape[1]
    chosen = np.flatnonzero(probabilities >= at_least)
    return _cells(truth, chosen // max(k, 1), chosen, probabilities.ravel()[chosen])


def first_cells(truth: Indicator, probabilities: Array) -> Cells:
    """The cell of the highest probability of each document; of equal ones the first."""
    n, k = truth.shape
    documents = np.arange(n if k else 0)
    chosen = documents * k + (probabilities.argmax(axis=1) if n and k else 0)
    return _cells(truth, documents, chosen, probabilities.ravel()[chosen])


def _cells(truth: Indicator, documents: IntArray, chosen: IntArray, probability: Array) -> Cells:
    """Look up the chosen cells in the sorted numbers of the relevant ones; the indicator is never made dense."""
    relevant = np.repeat(np.arange(truth.shape[0]), np.diff(truth.indptr)) * truth.shape[1] + truth.indices
    place = np.searchsorted(relevant, chosen)
    outcome = place < len(relevant)
    outcome[outcome] = relevant[place[outcome]] == chosen[outcome]
    return Cells(documents, probability, outcome)


def equal_mass_bins(counts: Array, n_bins: int) -> IntArray:
    """The bin of each group of entries, so that the bins have about the same number; the groups are in order.

    A group is never divided: it belongs to the bin of its middle entry. So the bins do not depend on the order of
    entries with equal probability.

    >>> equal_mass_bins(np.array([1.0, 1.0, 4.0, 2.0]), 2).tolist()
    [0, 0, 1, 1]
    """
    middle = np.cumsum(counts) - counts / 2
    total = max(float(np.sum(counts)), 1.0)
    return np.minimum((n_bins * middle / total).astype(np.int64), n_bins - 1)


def bootstrap_weights(random: np.random.Generator, n_documents: int, n_resamples: int) -> Array:
    """How often each document is in each resample, (n, n_resamples): independent Poisson variables with mean 1.

    Unlike a multinomial draw, this can be made block by block, and does not depend on the size of the blocks.
    """
    return random.poisson(1.0, (n_documents, n_resamples)).astype(np.float64)


class CalibrationSums:
    """For each group of cells the number, the sum of probabilities and the gap, also of resampled documents.

    `gap` is the number of relevant cells minus the sum of probabilities. With perfect calibration it is 0 on average
    and its variance is `variance`, the sum of p (1 - p).
    """

    def __init__(self, n_groups: int, n_resamples: int) -> None:
        self.count: Array = np.zeros(n_groups)
        self.probability: Array = np.zeros(n_groups)
        self.gap: Array = np.zeros(n_groups)
        self.variance: Array = np.zeros(n_groups)
        self.resampled_gap = np.zeros((n_groups, n_resamples))
        self.resampled_count = np.zeros(n_resamples)

    def add(self, cells: Cells, groups: IntArray, weights: Array) -> None:
        """Add a block of documents; `groups` has the group of each cell, `weights` a row for each document."""
        n, gaps = len(self.count), cells.outcome - cells.probability
        self.count += np.bincount(groups, minlength=n)
        self.probability += np.bincount(groups, cells.probability, minlength=n)
        self.gap += np.bincount(groups, gaps, minlength=n)
        self.variance += np.bincount(groups, cells.probability * (1 - cells.probability), minlength=n)
        by_document = sp.csr_array((gaps, (groups, cells.document)), shape=(n, len(weights)))
        self.resampled_gap += by_document @ weights
        self.resampled_count += np.bincount(cells.document, minlength=len(weights)) @ weights

    def merged(self, n_bins: int) -> CalibrationSums:
        """The sums over `n_bins` bins of about equally many cells."""
        bins = equal_mass_bins(self.count, n_bins)
        made = CalibrationSums(n_bins, len(self.resampled_count))
        for name in ("count", "probability", "gap", "variance", "resampled_gap"):
            np.add.at(getattr(made, name), bins, getattr(self, name))
        made.resampled_count = self.resampled_count
        return made

    def curve(self) -> ReliabilityCurve:
        """The bins that have cells."""
        used = self.count > 0
        count, probability, gap = (one[used] for one in (self.count, self.probability, self.gap))
        return ReliabilityCurve(probability / count, (probability + gap) / count, count)

    def error(self) -> float:
        """The mean over cells of |observed share - mean probability| of their bin; NaN without cells."""
        total = self.count.sum()
        return float(np.abs(self.gap).sum() / total) if total else float("nan")

    def interval(self, confidence: float) -> tuple[float, float]:
        """An interval of the error that allows for its upward bias: even perfect calibration has an error above 0.

        With d_b the share of all cells that is the gap of bin b and D_b its expectation, the error is sum |d_b| and
        estimates sum |D_b|. The triangle inequality gives the lower end, sum |D_b| >= sum |d_b| - sum |d_b - D_b|, and
        sum |d_b| >= sum s_b d_b with s_b the sign of D_b gives the upper one, sum |D_b| <= sum |d_b| + sum s_b (D_b -
        d_b). The resamples stand for the differences d - D, and the signs of d for those of D. Where all
        outcomes are the same no resample differs; so normal differences are used if they are larger, with the variance
        of perfect probabilities, but at most that of one rare event in each bin.
        """
        error = self.error()
        if np.isnan(error):
            return error, error
        gaps = self.gap / self.count.sum()
        resampled = self.resampled_gap / np.maximum(self.resampled_count, 1) - gaps[:, None]
        normal = np.random.default_rng(0).standard_normal(resampled.shape)
        noises = resampled, normal * np.sqrt(np.minimum(self.variance, 1.0))[:, None] / self.count.sum()
        level = (1 + confidence) / 2
        down = max(float(np.quantile(np.abs(noise).sum(axis=0), level)) for noise in noises)
        up = max(float(np.quantile(-np.sign(gaps) @ noise, level)) for noise in noises)
        return max(0.0, error - down), min(1.0, error + max(0.0, up))


def sums_of(cells: Cells, n_documents: int, n_bins: int, n_resamples: int, seed: Any) -> CalibrationSums:
    """The sums over equal-mass bins of all cells; weights of the resamples are drawn for a few documents at once."""
    values, inverse, counts = np.unique(cells.probability, return_inverse=True, return_counts=True)
    bins = equal_mass_bins(counts.astype(np.float64), n_bins)[inverse.reshape(-1)] if len(values) else inverse
    sums, random = CalibrationSums(n_bins, n_resamples), np.random.default_rng(seed)
    for start in range(0, n_documents, _DOCUMENTS):
        size = min(_DOCUMENTS, n_documents - start)
        part = slice(*np.searchsorted(cells.document, [start, start + size]))
        block = Cells(cells.document[part] - start, cells.probability[part], cells.outcome[part])
        sums.add(block, bins[part], bootstrap_weights(random, size, n_resamples))
    return sums

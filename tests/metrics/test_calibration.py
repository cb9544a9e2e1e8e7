"""Calibration errors against oracles in pure Python, their intervals against simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from arcrank import metrics
from arcrank.errors import InputError, ParameterError
from arcrank.graphs import LayeredGraphs
from arcrank.metrics.ranking import as_indicator
from arcrank.metrics.reliability import CalibrationSums, Cells, bootstrap_weights, cells_from, sums_of

TIED = st.sampled_from([0.0, 0.04, 0.05, 0.3, 0.31, 0.8, 1.0])


@st.composite
def truth_and_probabilities(draw):
    shape = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    return draw(hnp.arrays(bool, shape)), draw(hnp.arrays(np.float64, shape, elements=TIED))


def bins_of(pairs, n_bins):
    """Pairs (probability, outcome) in bins: those of equal probability together, by the place of their middle."""
    bins = {}
    for value in sorted({p for p, _ in pairs}):
        below, equal = sum(p < value for p, _ in pairs), [pair for pair in pairs if pair[0] == value]
        place = min(n_bins - 1, int(n_bins * (below + len(equal) / 2) / len(pairs)))
        bins.setdefault(place, []).extend(equal)
    return [bins[place] for place in sorted(bins)]


def error_of(pairs, n_bins):
    if not pairs:
        return math.nan
    gaps = [abs(sum(y for _, y in one) - sum(p for p, _ in one)) for one in bins_of(pairs, n_bins)]
    return sum(gaps) / len(pairs)


@given(truth_and_probabilities(), st.integers(1, 5))
@settings(max_examples=80, deadline=None)
def test_errors_equal_the_oracle(drawn, n_bins):
    Y, p = drawn
    cells = [(float(b), bool(a)) for a, b in zip(Y.ravel(), p.ravel(), strict=True) if b >= 0.05]
    first = [(max(b), a[list(b).index(max(b))]) for a, b in zip(Y.tolist(), p.tolist(), strict=True)]
    for truth in (Y, sp.csr_matrix(Y), LayeredGraphs.from_label_sets(Y)):
        found = metrics.expected_calibration_error(truth, p, n_bins=n_bins)
        assert found == pytest.approx(error_of(cells, n_bins), nan_ok=True)
        assert metrics.first_label_calibration_error(truth, p, n_bins) == pytest.approx(error_of(first, n_bins))


@given(truth_and_probabilities(), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_the_curve_equals_the_oracle(drawn, n_bins):
    Y, p = drawn
    bins = bins_of(list(zip(p.ravel().tolist(), Y.ravel().tolist(), strict=True)), n_bins)
    curve = metrics.reliability_curve(Y, p, n_bins)
    np.testing.assert_allclose(curve.probability, [sum(p for p, _ in one) / len(one) for one in bins], atol=1e-15)
    np.testing.assert_allclose(curve.observed, [sum(y for _, y in one) / len(one) for one in bins], atol=1e-15)
    np.testing.assert_array_equal(curve.counts, [len(one) for one in bins])


def made(seed, n, power, k=5):
    """Probabilities whose log-odds are `power` times those of the truth."""
    random = np.random.default_rng(seed)
    odds = random.normal(-2.5, 2, (n, k)) + random.normal(0, 1, (n, 1))
    return random.random((n, k)) < 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(-power * odds))


def test_intervals_cover_the_error_of_the_population():
    for power, error in ((1.0, 0.0), (0.5, metrics.expected_calibration_error(*made(0, 50_000, 0.5)))):
        found = [metrics.expected_calibration_error_interval(*made(seed, 150, power)) for seed in range(1, 41)]
        covered = sum(low <= error <= high for low, high in found)
        assert covered >= 36  # 38 of 40 are expected, and the intervals are conservative
    assert sum(low > 0 for low, _ in found) >= 36  # probabilities that are too close to 1/2 are noticed


def test_documents_are_resampled_not_cells():
    Y, p = made(1, 100, 0.7)
    low, high = metrics.expected_calibration_error_interval(Y, p)
    copies = np.tile(Y, (1, 8)), np.tile(p, (1, 8))  # eight labels that agree tell no more than one
    assert metrics.expected_calibration_error_interval(*copies) == pytest.approx((low, high))
    many = metrics.expected_calibration_error_interval(np.tile(Y, (8, 1)), np.tile(p, (8, 1)))
    assert many[1] - many[0] < 0.6 * (high - low)


def test_equal_outcomes_leave_uncertainty():
    Y, p = np.ones((40, 1)), np.full((40, 1), 0.98)
    low, high = metrics.expected_calibration_error_interval(Y, p)  # every resample has the same error, 0.02
    assert low == 0.0
    assert high > 0.04


def test_sums_of_blocks_are_those_of_all():
    Y, p = made(2, 300, 0.7)
    truth = as_indicator(Y)
    whole = sums_of(cells_from(truth, p, 0.05), 300, 15, 50, 7)
    groups = [whole.curve()]
    sums, random = CalibrationSums(2000, 50), np.random.default_rng(7)
    values = np.unique(p[p >= 0.05])
    for start in range(0, 300, 70):
        part = slice(start, start + 70)
        cells = cells_from(as_indicator(Y[part]), p[part], 0.05)
        weights = bootstrap_weights(random, len(Y[part]), 50)
        sums.add(cells, np.searchsorted(values, cells.probability), weights)
    merged = sums.merged(15)
    groups.append(merged.curve())
    for one, other in zip(*groups, strict=True):
        np.testing.assert_allclose(one, other)
    assert merged.error() == pytest.approx(whole.error())
    assert merged.interval(0.9) == pytest.approx(whole.interval(0.9))


def test_many_documents_are_resampled_a_few_at_a_time():
    n = 9000
    cells = Cells(np.repeat(np.arange(n), 2), np.full(2 * n, 0.25), np.arange(2 * n) % 4 == 0)
    sums = sums_of(cells, n, 3, 20, 0)
    weights = bootstrap_weights(np.random.default_rng(0), n, 20)
    np.testing.assert_allclose(sums.resampled_count, 2 * weights.sum(axis=0))
    assert sums.error() == 0.0


def test_nothing_to_measure():
    Y, p = np.zeros((3, 2)), np.full((3, 2), 0.01)
    assert math.isnan(metrics.expected_calibration_error(Y, p))
    assert all(map(math.isnan, metrics.expected_calibration_error_interval(Y, p)))
    assert math.isnan(metrics.first_label_calibration_error(Y[:0], p[:0]))
    assert len(metrics.reliability_curve([], []).counts) == 0


@pytest.mark.parametrize(
    ("p", "part"),
    [
        ([[0.5, 1.5]], "the value 1.5; they must be from 0 to 1"),
        ([[0.5, math.nan]], "the value nan"),
        ([[0.5]], r"have shape \(1, 1\), but Y has shape \(1, 2\)"),
        (sp.csr_matrix([[0.5, 0.5]]), "dense"),
    ],
)
def test_what_is_no_probability_is_refused(p, part):
    with pytest.raises(InputError, match=part):
        metrics.expected_calibration_error([[1, 0]], p)


def test_bad_parameters_are_refused():
    Y, p = [[1, 0]], [[0.5, 0.5]]
    with pytest.raises(ParameterError, match="n_bins"):
        metrics.first_label_calibration_error(Y, p, 0)
    with pytest.raises(ParameterError, match="at_least"):
        metrics.expected_calibration_error(Y, p, at_least=2)
    with pytest.raises(ParameterError, match="confidence"):
        metrics.expected_calibration_error_interval(Y, p, confidence=95)
    with pytest.raises(ParameterError, match="n_resamples"):
        metrics.expected_calibration_error_interval(Y, p, n_resamples=0)
    with pytest.raises(InputError, match="outcomes hold the value 2; an outcome is 0 or 1"):
        metrics.reliability_curve([2, 0], [0.5, 0.5])

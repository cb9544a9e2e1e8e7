"""Thresholds of promised recall and precision: against all thresholds, by the formulas of the papers."""

from __future__ import annotations

from math import ceil, e, exp, inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import binom

from arcrank.rankers import risk_control
from arcrank.rankers.risk_control import Cells, largest_loss, precision_threshold, recall_threshold

TIED = st.sampled_from([0.0, 0.005, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0])


@st.composite
def documents(draw, max_rows=40):
    """Probabilities, with ties, and relevant labels; the more probable ones are more often relevant."""
    n, k = draw(st.integers(1, max_rows)), draw(st.integers(1, 5))
    proba = draw(hnp.arrays(np.float64, (n, k), elements=TIED))
    luck = draw(hnp.arrays(np.float64, (n, k), elements=st.floats(0, 1)))
    return proba, luck <= proba


def mean_loss_of_recall(proba, relevant, unknown, t):
    losses = []
    for p, y, extra in zip(proba, relevant, unknown, strict=True):
        size = y.sum() + extra
        losses.append(((p < t) & y).sum() / size + extra / size if size else 0.0)
    return np.mean(losses)


def mean_loss_of_precision(proba, relevant, t):
    sets = proba >= t
    return np.mean([(s & ~y).sum() / s.sum() if s.any() else 0.0 for s, y in zip(sets, relevant, strict=True)])


def p_value(mean, n, risk):
    """Hoeffding-Bentkus, as in the paper."""
    a = min(mean, risk)
    h = (a * log(a / risk) if a else 0.0) + (1 - a) * log((1 - a) / (1 - risk))
    return min(exp(-n * h), e * binom.cdf(ceil(n * mean - 1e-9), n, risk))


@settings(max_examples=100, deadline=None)
@given(documents(), st.sampled_from([0.3, 0.5, 0.75, 0.9]), st.data())
def test_recall_against_all_thresholds(both, recall, data):
    proba, relevant = both
    n = len(proba)
    unknown = data.draw(hnp.arrays(np.int64, n, elements=st.sampled_from([0, 0, 0, 0, 0, 1])))
    share = 1 / np.maximum(1, relevant.sum(axis=1) + unknown)
    rows, columns = np.nonzero(relevant)
    found = recall_threshold(proba[rows, columns], share[rows], float(share @ unknown), n, recall)
    risk = {t: mean_loss_of_recall(proba, relevant, unknown, t) for t in [0.0, *proba.ravel(), inf]}
    passing = [t for t, loss in risk.items() if (n * loss + 1) / (n + 1) <= 1 - recall + 1e-12]
    # thresholds between two relevant labels have equal sets of relevant labels, so that the largest is one of these
    assert found == (max(passing) if passing else None)


@settings(max_examples=100, deadline=None)
@given(documents(), st.sampled_from([0.2, 0.5, 0.8]), st.sampled_from([0.1, 0.4]))
def test_precision_against_all_thresholds(both, precision, delta):
    proba, relevant = both
    cells = Cells()
    cells.add(proba[:3], relevant[:3])
    cells.add(proba[3:], relevant[3:])
    passed = inf
    for t in sorted({0.01, *proba[proba >= 0.01]}, reverse=True):
        if p_value(mean_loss_of_precision(proba, relevant, t), len(proba), 1 - precision) > delta:
            break
        passed = t
    assert precision_threshold(cells, precision, delta) == (None if passed == inf else passed)


@pytest.mark.parametrize(("n", "risk", "delta"), [(11, 0.2, 0.1), (100, 0.1, 0.05), (3000, 0.3, 0.2), (50, 0.9, 0.01)])
def test_the_largest_loss_has_the_p_value_delta(n, risk, delta):
    loss = largest_loss(n, risk, delta)
    assert p_value((loss - 1e-6) / n, n, risk) <= delta
    assert p_value((loss + 1e-6) / n, n, risk) > delta


def test_one_in_ten_may_be_missed_by_ten_documents():
    """(9 * 0 + 1) / (9 + 1) is 0.1, though 1 - 0.9 is less in floating point."""
    proba = np.linspace(0.1, 0.9, 9)
    assert recall_threshold(proba, np.ones(9), 0.0, 9, 0.9) == 0.1
    assert recall_threshold(proba[1:], np.ones(8), 0.0, 8, 0.9) is None


def test_no_cells():
    cells = Cells()
    cells.add(np.zeros((100, 3)), np.zeros((100, 3), dtype=bool))
    assert precision_threshold(cells, 0.8, 0.1) == 0.01


def test_the_floor_rises_where_cells_are_too_many(monkeypatch):
    monkeypatch.setattr(risk_control, "_MOST_CELLS", 1000)
    random = np.random.default_rng(0)
    proba = random.random((500, 20))
    relevant = random.random(proba.shape) < proba
    cells, every = Cells(), Cells()
    for start in range(0, 500, 10):
        cells.add(proba[start : start + 10], relevant[start : start + 10])
    monkeypatch.undo()
    every.add(proba, relevant)
    assert 300 < len(cells.proba) <= 1200
    np.testing.assert_array_equal(np.sort(cells.proba), np.sort(proba[proba >= cells.floor]))
    assert precision_threshold(cells, 0.98, 0.1) == precision_threshold(every, 0.98, 0.1) > cells.floor
    assert precision_threshold(cells, 0.5, 0.1) == cells.floor > precision_threshold(every, 0.5, 0.1)


def test_equal_cells_that_are_too_many(monkeypatch):
    monkeypatch.setattr(risk_control, "_MOST_CELLS", 10)
    cells = Cells()
    cells.add(np.full((20, 5), 0.5), np.ones((20, 5), dtype=bool))
    assert len(cells.proba) == 0
    assert 0.5 < precision_threshold(cells, 0.8, 0.1) < 0.51

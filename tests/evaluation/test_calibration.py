"""The totals of predicted sets and probabilities against arcrank.metrics and an oracle in pure Python."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank import metrics
from arcrank.evaluation.calibration import SetTotals
from arcrank.metrics.label_sets import label_counts


def made(n=400, k=6, seed=0):
    """Sets, and probabilities that are too close to one half; some sets are empty."""
    random = np.random.default_rng(seed)
    odds = random.normal(-2, 2, (n, k))
    return random.random((n, k)) < 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(-0.6 * odds))


def totals(Y, p, sizes=(400,)):
    found, start = SetTotals(Y.shape[1]), 0
    for size in sizes:
        part = slice(start, start + size)
        found.add(label_counts(Y[part], p[part] > 0.5), sp.csr_matrix(Y[part]), p[part])
        start += size
    return found


def test_f1_and_calibration_errors_are_those_of_the_metrics():
    Y, p = made()
    found = totals(Y, p)
    np.testing.assert_allclose(found.counts.f1(), metrics.label_f1(Y, p > 0.5))
    assert found.counts.micro_f1() == pytest.approx(metrics.micro_f1(Y, p > 0.5))
    told = found.evaluation({})
    assert told.labels.error == pytest.approx(metrics.expected_calibration_error(Y, p), abs=2e-3)  # other bin edges
    assert told.first_label.error == pytest.approx(metrics.first_label_calibration_error(Y, p), abs=2e-3)
    interval = metrics.expected_calibration_error_interval(Y, p)
    assert (told.labels.low, told.labels.high) == pytest.approx(interval, abs=4e-3)
    assert told.labels.reliability.counts.sum() == (p >= 0.05).sum()
    assert told.first_label.reliability.counts.sum() == len(Y)


def test_blocks_of_any_size_give_the_same():
    Y, p = made()
    whole, parts = (totals(Y, p, sizes).evaluation({}).to_dict() for sizes in ((400,), (1, 0, 250, 149)))
    for kind in ("labels", "first_label"):
        for name, values in whole[kind].items():
            assert parts[kind][name] == pytest.approx(values), name
    for one, other in zip(whole["thresholds"], parts["thresholds"], strict=True):
        assert one == pytest.approx(other)


def mean(values):
    return sum(values) / len(values) if values else None


def test_thresholds_equal_the_oracle():
    Y, p = made(n=60)
    p[0] = [0.1, 0.2, 0.3, 0.6, 0.7, 0.9]  # a label whose probability is the threshold is in the set
    rows = totals(Y, p, (60,)).evaluation({}).thresholds
    assert [row.threshold for row in rows] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    for row in rows:
        sets = [[j for j in range(6) if one[j] >= row.threshold] for one in p]
        filled = [i for i in range(60) if sets[i]]
        labelled = [i for i in range(60) if Y[i].any()]
        assert row.documents == len(filled)
        assert row.precision == pytest.approx(mean([mean([Y[i, j] for j in sets[i]]) for i in filled]))
        assert row.expected_precision == pytest.approx(mean([mean([p[i, j] for j in sets[i]]) for i in filled]))
        recalls = [sum(Y[i, j] for j in sets[i]) / Y[i].sum() for i in labelled]
        assert row.recall == pytest.approx(mean(recalls))
        assert row.expected_recall == pytest.approx(
            mean([sum(p[i, j] for j in sets[i]) / p[i].sum() for i in labelled])
        )


def test_certain_probabilities_and_no_documents():
    Y = np.eye(3, dtype=bool)
    sure = totals(Y, Y.astype(float), (3,)).evaluation({"method": "isotonic"})
    assert (sure.labels.error, sure.first_label.error) == (0.0, 0.0)
    assert (sure.thresholds[-1].precision, sure.thresholds[-1].recall) == (1.0, 1.0)
    nothing = SetTotals(3).evaluation({}).to_dict()
    assert nothing["labels"] == {
        "error": None,
        "low": None,
        "high": None,
        "probability": [],
        "observed": [],
        "counts": [],
    }
    assert nothing["thresholds"][0]["precision"] is None
    json.dumps(nothing, allow_nan=False)


def test_totals_do_not_grow_with_the_documents():
    Y, p = made(n=4000)
    tracemalloc.start()
    found = totals(Y, p, (4000,))
    first = tracemalloc.get_traced_memory()[0]
    for _ in range(10):
        found.add(label_counts(Y, p > 0.5), sp.csr_matrix(Y), p)
    later = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert later - first < p.nbytes / 2  # ten blocks, each of which has twice as much

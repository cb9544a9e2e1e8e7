"""Metrics of shortlists against their definitions, computed label by label."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank.errors import InputError, ParameterError
from arcrank.metrics import top_k


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    Y = rng.random((40, 12)) < 0.2
    Y[3] = False
    top = np.array([rng.permutation(12)[:6] for _ in range(40)])
    return Y, top, rng.uniform(0.1, 1.0, 12)


def _gains(row, labels, gain, discounted):
    places = enumerate(labels, start=1)
    return sum(gain[label] / (math.log2(p + 1) if discounted else 1.0) for p, label in places if row[label])


@pytest.mark.parametrize("r", [1, 3, 6])
def test_each_metric_equals_its_definition(case, r):
    Y, top, _ = case
    expected = {name: [] for name in ("precision_at", "recall_at", "f1_at", "ndcg_at")}
    for row, labels in zip(Y, top[:, :r], strict=True):
        if not row.any():
            continue
        hits, size = sum(row[label] for label in labels), row.sum()
        expected["precision_at"].append(hits / r)
        expected["recall_at"].append(hits / size)
        precision, recall = hits / r, hits / size
        expected["f1_at"].append(2 * precision * recall / (precision + recall) if hits else 0.0)
        best = sum(1 / math.log2(p + 2) for p in range(min(r, size)))
        expected["ndcg_at"].append(_gains(row, labels, np.ones(12), discounted=True) / best)
    for name, values in expected.items():
        assert getattr(top_k, name)(sp.csr_matrix(Y), top, r) == pytest.approx(np.mean(values), rel=1e-12)


@pytest.mark.parametrize("discounted", [False, True])
def test_propensity_scored_metrics_equal_their_definition(case, discounted):
    Y, top, propensity = case
    got = best = 0.0
    for row, labels in zip(Y, top[:, :4], strict=True):
        got += _gains(row, labels, 1 / propensity, discounted)
        ideal = sorted(np.flatnonzero(row), key=lambda label: propensity[label])[:4]
        best += _gains(row, ideal, 1 / propensity, discounted)
    metric = top_k.psndcg_at if discounted else top_k.psp_at
    assert metric(Y, top, 4, propensity) == pytest.approx(got / best, rel=1e-12)


def test_short_rows_are_filled_with_minus_one():
    assert top_k.precision_at([[1, 1, 0]], [[0, -1]], 2) == 0.5
    assert top_k.psp_at([[1, 1, 0]], [[0, -1]], 2, [0.5, 0.5, 0.5]) == 0.5


def test_rare_labels_have_low_propensities():
    Y = np.zeros((1000, 3), dtype=int)
    Y[:500, 0] = Y[:10, 1] = Y[0, 2] = 1
    found = top_k.propensities(Y)
    assert (np.diff(found) < 0).all()
    c = (math.log(1000) - 1) * 2.5**0.55
    assert found[1] == pytest.approx(1 / (1 + c * math.exp(-0.55 * math.log(10 + 1.5))))


def test_wrong_shortlists_are_refused():
    with pytest.raises(InputError, match="label numbers from 0 to 7; they must be columns of Y"):
        top_k.precision_at([[1, 0]], [[0, 7]], 2)
    with pytest.raises(InputError, match="a label twice in row 0"):
        top_k.precision_at([[1, 0]], [[0, 0]], 2)
    with pytest.raises(InputError, match="matrix of label numbers"):
        top_k.precision_at([[1, 0]], [["a", "b"]], 2)
    with pytest.raises(InputError, match="2 rows, but Y has 1"):
        top_k.precision_at([[1, 0]], [[0], [1]], 1)
    with pytest.raises(ParameterError, match="r must be"):
        top_k.recall_at([[1, 0]], [[0, 1]], 3)
    with pytest.raises(InputError, match="propensity must hold"):
        top_k.psp_at([[1, 0]], [[0, 1]], 1, [1.0])

"""Metrics of predicted label sets against scikit-learn, in every form of the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from arcrank import metrics
from arcrank.errors import InputError
from arcrank.graphs import LayeredGraphs
from arcrank.metrics.label_sets import label_counts

SETS = [metrics.micro_f1, metrics.macro_f1, metrics.micro_precision, metrics.micro_recall, metrics.subset_accuracy]


@st.composite
def truth_and_sets(draw):
    shape = draw(st.integers(1, 6)), draw(st.integers(2, 6))
    return draw(hnp.arrays(bool, shape)), draw(hnp.arrays(bool, shape))


def of_sklearn(Y, predicted):
    kept = {"zero_division": 0}
    return {
        "micro_f1": f1_score(Y, predicted, average="micro", **kept),
        "macro_f1": f1_score(Y, predicted, average="macro", **kept),
        "micro_precision": precision_score(Y, predicted, average="micro", **kept),
        "micro_recall": recall_score(Y, predicted, average="micro", **kept),
        "subset_accuracy": accuracy_score(Y, predicted),
    }


@given(truth_and_sets())
@settings(max_examples=30, deadline=None)
def test_all_equal_those_of_scikit_learn(drawn):
    Y, predicted = drawn
    expected = of_sklearn(Y, predicted)
    for truth in (Y, sp.csr_matrix(Y), LayeredGraphs.from_label_sets(Y)):
        for found in (predicted.astype(int), sp.csr_array(predicted), predicted):
            assert {one.__name__: one(truth, found) for one in SETS} == pytest.approx(expected)
    each = f1_score(Y, predicted, average=None, zero_division=0)
    np.testing.assert_allclose(metrics.label_f1(Y, sp.csr_matrix(predicted)), each)


@given(truth_and_sets(), st.integers(0, 6))
@settings(max_examples=40, deadline=None)
def test_counts_of_blocks_add_up(drawn, cut):
    Y, predicted = drawn
    whole = label_counts(Y, predicted)
    parts = [label_counts(Y[part], predicted[part]) for part in (slice(cut), slice(cut, None))]
    np.testing.assert_array_equal(whole, np.add(*parts))


def test_large_sparse_sets_are_never_dense():
    n, k = 60_000, 50_000  # 3 GB as booleans
    random = np.random.default_rng(0)
    Y, predicted = (sp.csr_array((np.ones(n), (np.arange(n), random.integers(0, 40, n))), (n, k)) for _ in "ab")
    same = (Y.indices == predicted.indices).mean()
    assert metrics.micro_f1(Y, predicted) == pytest.approx(same)
    assert metrics.subset_accuracy(Y, predicted) == pytest.approx(same)


def test_stored_zeros_and_duplicates_are_read_as_they_are_meant():
    predicted = sp.csr_matrix((np.array([1, 0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert metrics.subset_accuracy([[1, 0]], predicted) == 1.0
    assert predicted.nnz == 2  # the argument is not changed


def test_nothing_to_measure():
    assert math.isnan(metrics.subset_accuracy(np.zeros((0, 3)), np.zeros((0, 3))))
    assert metrics.micro_f1(np.zeros((2, 3)), np.zeros((2, 3))) == 0.0
    assert math.isnan(metrics.macro_f1(np.zeros((2, 0)), np.zeros((2, 0))))


@pytest.mark.parametrize(
    ("predicted", "part"),
    [
        ([[0.3, 1]], r"predicted holds the value 0\.3; .*predict\(X\)"),
        ([[1, 0], [0, 1]], r"predicted has shape \(2, 2\), but Y has shape \(1, 2\)"),
        ([["a"]], "Row 0 of predicted names the label 'a'"),
        ([1, 0], r"predicted has shape \(2,\)"),
    ],
)
def test_what_is_no_indicator_is_refused(predicted, part):
    with pytest.raises(InputError, match=part):
        metrics.micro_f1([[1, 0]], predicted)

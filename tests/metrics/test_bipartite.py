"""Bipartite metrics against oracles over explicit instances, and against scikit-learn."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import average_precision_score, roc_auc_score

from arcrank.errors import InputError, ParameterError
from arcrank.metrics.bipartite import auc, precision_recall, top_precision, uninterpolated_precision

TIED_SCORES = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 1.0, np.inf])


@st.composite
def truth_and_scores(draw, most=12):
    n = draw(st.integers(2, most))
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 1)))
    y[:2] = 0, 1
    return y, draw(hnp.arrays(np.float64, n, elements=TIED_SCORES))


def relevant_ranks(y, scores):
    return [sum(other >= scores[i] for other in scores) for i in range(len(y)) if y[i]]


@given(truth_and_scores())
@settings(max_examples=150, deadline=None)
def test_auc_equals_the_oracle_and_scikit_learn(drawn):
    y, scores = drawn
    arcs = [(scores[i], scores[j]) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]
    assert auc(y, scores) == pytest.approx(sum(head > tail for head, tail in arcs) / len(arcs))
    half = sum((head > tail) + (head == tail) / 2 for head, tail in arcs) / len(arcs)
    assert auc(y, scores, ties="half") == pytest.approx(half)
    finite = np.nan_to_num(scores, posinf=5, neginf=-5)
    assert auc(y, finite, ties="half") == pytest.approx(roc_auc_score(y, finite))


@given(truth_and_scores(), st.data())
@settings(max_examples=150, deadline=None)
def test_precisions_equal_the_oracle(drawn, data):
    y, scores = drawn
    r = data.draw(st.integers(1, len(y)))
    ranks = relevant_ranks(y, scores)
    precisions = [sum(other <= rank for other in ranks) / rank for rank in ranks if rank <= r]
    assert uninterpolated_precision(y, scores, r) == pytest.approx(sum(precisions) / len(ranks))
    assert top_precision(y, scores, r) == pytest.approx(sum(rank <= r for rank in ranks) / r)
    curve = precision_recall(y, scores, r)
    hits = [sum(rank <= cut for rank in ranks) for cut in range(1, r + 1)]
    np.testing.assert_allclose(curve.precision, np.array(hits) / np.arange(1, r + 1))
    np.testing.assert_allclose(curve.recall, np.array(hits) / len(ranks))


@given(truth_and_scores(most=6), st.data())
@settings(max_examples=40, deadline=None)
def test_random_ties_are_the_mean_over_all_orders_of_tied_instances(drawn, data):
    y, scores = drawn
    r = data.draw(st.integers(1, len(y)))
    orders = []
    for order in permutations(range(len(y))):
        if all(scores[a] >= scores[b] for a, b in pairwise(order)):
            strict = np.empty(len(y))
            strict[list(order)] = np.arange(len(y), 0, -1)
            orders.append([uninterpolated_precision(y, strict, r), top_precision(y, strict, r), auc(y, strict)])
    found = [
        uninterpolated_precision(y, scores, r, ties="random"),
        top_precision(y, scores, r, ties="random"),
        auc(y, scores, ties="half"),
    ]
    np.testing.assert_allclose(found, np.mean(orders, axis=0), atol=1e-12)


@pytest.mark.parametrize("measure", [uninterpolated_precision, top_precision])
def test_unknown_ties_of_precisions_are_refused(measure):
    with pytest.raises(ParameterError, match="ties = \"half\"|ties = 'half'"):
        measure([1, 0], [1.0, 2.0], 1, ties="half")


@given(truth_and_scores())
@settings(max_examples=60, deadline=None)
def test_uncut_precision_equals_scikit_learn_also_with_ties(drawn):
    y, scores = drawn
    finite = np.nan_to_num(scores, posinf=5, neginf=-5)
    assert uninterpolated_precision(y, finite) == pytest.approx(average_precision_score(y, finite))


def test_relevant_instances_below_the_cut_count_in_the_denominator():
    y, scores = [1, 0, 0, 1], [4.0, 3, 2, 1]
    assert uninterpolated_precision(y, scores) == pytest.approx((1 + 2 / 4) / 2)
    assert uninterpolated_precision(y, scores, r=2) == pytest.approx(1 / 2)


def test_top_precision_is_t9p_by_default():
    y = np.zeros(200, dtype=int)
    y[:10] = 1
    assert top_precision(y, -np.arange(200)) == 10 / 50
    assert top_precision(y, np.zeros(200)) == 0  # all tied: nobody is surely among the first 50


def test_all_relevant_is_legal_where_nothing_is_compared():
    assert uninterpolated_precision([1, 1], [2.0, 1.0]) == 1
    assert top_precision([0, 0], [2.0, 1.0], r=1) == 0


def test_dtypes_and_read_only():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 2, 50), rng.integers(0, 9, 50).astype(np.float64)
    frozen = scores.copy()
    frozen.flags.writeable = False
    for metric in (auc, uninterpolated_precision, top_precision):
        expected = metric(y, scores)
        assert metric(y.astype(bool), scores.astype(np.float32)) == expected
        assert metric(y.astype(float).tolist(), frozen) == expected


@pytest.mark.parametrize(
    ("y", "scores", "sentence"),
    [
        ([1, -1], [1.0, 2.0], "y holds -1.*unlabelled"),
        ([1, 0.5], [1.0, 2.0], "y holds 0.5"),
        ([1, np.nan], [1.0, 2.0], "y holds nan"),
        ([[1, 0]], [[1.0, 2.0]], r"y has shape \(1, 2\)"),
        ([1, 0], [1.0, 2.0, 3.0], r"scores have shape \(3,\), but y has shape \(2,\)"),
        ([1, 0], [np.nan, 2.0], r"NaN, first at position \(0,\)"),
        ([1, 0], sp.csr_matrix([1.0, 2.0]), "dense"),
        (["a", "b"], [1.0, 2.0], "y must be an array of real numbers"),
    ],
)
def test_bad_input_is_a_sentence(y, scores, sentence):
    for metric in (auc, uninterpolated_precision, precision_recall, lambda y, s: top_precision(y, s, 1)):
        with pytest.raises(InputError, match=sentence):
            metric(y, scores)


@pytest.mark.parametrize("y", [[0, 0], [1, 1], []])
def test_auc_needs_both_kinds(y):
    with pytest.raises(InputError, match="at least one of each"):
        auc(y, np.zeros(len(y)))


def test_no_relevant_instance():
    for metric in (uninterpolated_precision, precision_recall):
        with pytest.raises(InputError, match="no relevant instance among 2"):
            metric([0, 0], [1.0, 2.0])


def test_bad_parameters():
    for metric in (uninterpolated_precision, precision_recall, top_precision):
        for r in (0, 3, 1.0):
            with pytest.raises(ParameterError, match=r"r must be a whole number from 1 to 2 \(there are 2 instances\)"):
                metric([1, 0], [1.0, 2.0], r=r)
    with pytest.raises(ParameterError, match=r'"error".*"half"'):
        auc([1, 0], [1.0, 2.0], ties="b")

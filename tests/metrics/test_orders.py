"""Kendall tau, Spearman and NDCG against oracles over explicit arcs, SciPy and scikit-learn."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import ndcg_score

from arcrank.errors import InputError, ParameterError
from arcrank.graphs import LayeredGraphs
from arcrank.metrics.generalized import disagreement_error
from arcrank.metrics.orders import kendall_tau, ndcg_at, spearman

TIED_SCORES = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 1.0, 2.0, np.inf])


@st.composite
def truth_and_scores(draw, values):
    shape = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    truth = draw(hnp.arrays(np.float64, shape, elements=st.sampled_from([*values, np.nan])))
    return truth, draw(hnp.arrays(np.float64, shape, elements=TIED_SCORES))


positions_and_scores = truth_and_scores([1.0, 2.0, 2.5, 3.0, 4.0, 7.0])
grades_and_scores = truth_and_scores([0.0, 0.5, 1.0, 2.0, 3.0])


def judged(truth, scores):
    keep = ~np.isnan(truth)
    return truth[keep], scores[keep]


def tau_over_arcs(positions, scores):
    arcs = [(a, b) for a, b in itertools.permutations(range(len(positions)), 2) if positions[a] < positions[b]]
    wrong = sum(scores[a] <= scores[b] for a, b in arcs)
    return 1 - 2 * wrong / len(arcs) if arcs else math.nan


def ndcg_by_permutations(grades, scores, r):
    """The mean DCG over all orders that the scores allow, over the largest DCG of any order."""
    if len(set(grades)) < 2:
        return math.nan
    best_first = sorted(scores, reverse=True)
    gains, allowed = [], []
    for order in itertools.permutations(range(len(grades))):
        gains.append(sum(grades[label] / math.log2(place + 2) for place, label in enumerate(order[:r])))
        if [scores[label] for label in order] == best_first:
            allowed.append(gains[-1])
    return sum(allowed) / len(allowed) / max(gains)


def scipy_rows(function, R, scores):
    """SciPy's statistic of each row's judged labels; infinities replaced by ranks, which it does not take."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy warns of constant rows, which we skip
        rows = (judged(row, values) for row, values in zip(R, scores, strict=True))
        return [function(-p, scipy.stats.rankdata(s)).statistic if len(p) > 1 else math.nan for p, s in rows]


@given(positions_and_scores)
@settings(max_examples=150, deadline=None)
def test_tau_equals_the_oracle_and_the_disagreement_error(drawn):
    R, scores = drawn
    expected = [tau_over_arcs(*judged(*row)) for row in zip(R, scores, strict=True)]
    found = kendall_tau(R, scores, reduce="none")
    np.testing.assert_allclose(found, expected, atol=1e-12)
    errors = disagreement_error(LayeredGraphs.from_rankings(R), scores, reduce="none")
    used = ~np.isnan(found)
    np.testing.assert_allclose(found[used], 1 - 2 * errors[used], atol=1e-12)
    np.testing.assert_allclose(kendall_tau(R, scores), found[used].mean() if used.any() else math.nan)


@given(positions_and_scores)
@settings(max_examples=100, deadline=None)
def test_tau_b_equals_scipy(drawn):
    R, scores = drawn
    expected = scipy_rows(scipy.stats.kendalltau, R, scores)
    np.testing.assert_allclose(kendall_tau(R, scores, ties="b", reduce="none"), expected, atol=1e-12)


@given(positions_and_scores)
@settings(max_examples=100, deadline=None)
def test_spearman_equals_scipy(drawn):
    R, scores = drawn
    expected = scipy_rows(scipy.stats.spearmanr, R, scores)
    np.testing.assert_allclose(spearman(R, scores, reduce="none"), expected, atol=1e-12)


def test_without_ties_tau_is_the_classic_one():
    rng = np.random.default_rng(0)
    R, scores = rng.permuted(np.tile(np.arange(1.0, 301), (3, 1)), axis=1), rng.random((3, 300))
    expected = [scipy.stats.kendalltau(-r, s).statistic for r, s in zip(R, scores, strict=True)]
    np.testing.assert_allclose(kendall_tau(R, scores, reduce="none"), expected)
    np.testing.assert_allclose(kendall_tau(R, scores, ties="b", reduce="none"), expected)


@given(truth_and_scores([0.0, 0.5, 1.0, 2.0, 3.0]).filter(lambda drawn: drawn[0].shape[1] <= 5), st.data())
@settings(max_examples=60, deadline=None)
def test_ndcg_is_the_mean_over_the_orders_that_ties_allow(drawn, data):
    grades, scores = drawn
    r = data.draw(st.integers(1, grades.shape[1]))
    expected = [ndcg_by_permutations(*judged(*row), r) for row in zip(grades, scores, strict=True)]
    np.testing.assert_allclose(ndcg_at(grades, scores, r, reduce="none"), expected, atol=1e-12)


@given(grades_and_scores, st.data())
@settings(max_examples=100, deadline=None)
def test_ndcg_equals_scikit_learn(drawn, data):
    grades, scores = np.nan_to_num(drawn[0]), np.nan_to_num(drawn[1], posinf=9, neginf=-9)
    r = data.draw(st.integers(1, grades.shape[1]))
    for row, found in enumerate(ndcg_at(grades, scores, r, reduce="none")):
        if np.ptp(grades[row]) == 0:
            assert math.isnan(found)
        else:
            assert found == pytest.approx(ndcg_score(grades[[row]], scores[[row]], k=r))


def test_skipped_rows():
    R = np.array([[1, 1, 1], [1, np.nan, np.nan], [np.nan] * 3, [1, 2, 3]])
    scores = np.array([[1.0, 2, 3]] * 4)
    for metric in (kendall_tau, spearman):
        assert np.isnan(metric(R, scores, reduce="none")).tolist() == [True, True, True, False]
        assert metric(R, scores) == pytest.approx(-1)
        assert math.isnan(metric(R[:3], scores[:3]))
    assert np.isnan(ndcg_at(np.nan_to_num(R[:2]), scores[:2], 2, reduce="none")).tolist() == [True, False]


def test_constant_scores():
    R, scores = [[1, 2, 3]], [[5.0, 5, 5]]
    assert kendall_tau(R, scores) == -1  # every arc is tied, and a tie is wrong
    assert math.isnan(kendall_tau(R, scores, ties="b"))
    assert math.isnan(spearman(R, scores))


def test_read_only_float32_and_fortran_order():
    rng = np.random.default_rng(1)
    R, scores = rng.integers(1, 5, (20, 7)), rng.integers(0, 5, (20, 7)).astype(np.float64)
    frozen = scores.copy()
    frozen.flags.writeable = False
    for metric in (kendall_tau, spearman, lambda R, s: ndcg_at(R, s, 3)):
        expected = metric(R, scores)
        assert metric(R.astype(np.float32), scores.astype(np.float32)) == expected
        assert metric(R.tolist(), np.asfortranarray(scores)) == expected
        assert metric(np.asfortranarray(R), frozen) == expected


@pytest.mark.parametrize(
    ("R", "scores", "sentence"),
    [
        ([[0, 1]], [[1.0, 2.0]], "R holds 0 in row 0, column 0; it must be rank positions, 1 = best"),
        ([[1, np.inf]], [[1.0, 2.0]], "R holds inf"),
        ([1, 2], [1.0, 2.0], r"R has shape \(2,\)"),
        ([[1, 2]], [[1.0, 2.0, 3.0]], r"R has shape \(1, 2\)"),
        ([[1, 2]], [[np.nan, 2.0]], "NaN"),
        (LayeredGraphs.from_levels([[0, 1]]), [[1.0, 2.0]], "errors on graphs"),
    ],
)
def test_bad_input_is_a_sentence(R, scores, sentence):
    for metric in (kendall_tau, spearman):
        with pytest.raises(InputError, match=sentence):
            metric(R, scores)


def test_bad_grades_and_parameters():
    with pytest.raises(InputError, match="relevance holds -1 in row 0, column 1"):
        ndcg_at([[1, -1]], [[1.0, 2.0]], 1)
    with pytest.raises(ParameterError, match="there are 2 labels"):
        ndcg_at([[1, 0]], [[1.0, 2.0]], 3)
    with pytest.raises(ParameterError, match=r'choose "error".*or "b"'):
        kendall_tau([[1, 2]], [[1.0, 2.0]], ties="a")

"""The paper's Figure 3 against its own transcription, and Theorem 1 at every iteration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.compiled.loglinear_boosting import boosting_step
from arcrank.decompositions import get_decomposition
from arcrank.graphs import ArcGraphs, LayeredGraphs
from arcrank.losses import LogLinearLoss
from arcrank.solvers.design import LabelDesign
from arcrank.solvers.history import History
from arcrank.solvers.lbfgs import PrimalState
from arcrank.solvers.loglinear_boosting import LabelSums, solve_boosting
from tests.losses.test_loglinear import GRAPHS, NAMES, every_other
from tests.solvers.test_loglinear_dual import problem


def boost(X, g, cut, weight, iterations, virtual=0.0, smoothing=0.0):
    state, history = PrimalState(np.zeros((X.shape[1], g.n_labels))), History()
    loss = LogLinearLoss(g, cut, weight)
    solve_boosting(
        LabelSums(LabelDesign(X, g.n_labels), loss, g.arc_counts() > 0),
        state,
        smoothing=smoothing,
        virtual=virtual,
        tol=0.0,
        max_iter=iterations,
        history=history,
    )
    return state, history


@given(
    GRAPHS,
    st.sampled_from([*NAMES, every_other]),
    st.integers(0, 99),
    st.booleans(),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([0.0, 1e-9, 0.1, 5.0]),
)
def test_each_boosting_iteration_keeps_theorem_1(g, decomposition, seed, signed, virtual, smoothing):
    X, weight = problem(g, seed, signed)
    _, history = boost(X, g, get_decomposition(decomposition), weight, 6, virtual, smoothing)
    for now, after in zip(history.entries, history.entries[1:], strict=False):
        assert now["bound"] >= 0
        assert now["loss"] - after["loss"] >= now["bound"] - 1e-10


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_boosting_equals_a_transcription_of_figure_3(smoothing):
    """Arc by arc, base function by base function, as the paper writes it; no W is 0 here."""
    rng = np.random.default_rng(5)
    g = ArcGraphs.from_arcs([[(0, 1), (1, 2), (2, 0)], [(2, 1), (2, 0)]], 3)
    X, n, d, k = rng.normal(size=(2, 2)), 2, 2, 3
    lam = np.zeros((d, k))

    def pi(i, a):
        vector = np.zeros((d, k))
        vector[:, g.tail[a]] += X[i]
        vector[:, g.head[a]] -= X[i]
        return vector

    arcs = [(i, a) for i in range(n) for a in range(g.arc_ptr[i], g.arc_ptr[i + 1])]
    rho = max(np.abs(pi(i, a)).sum() for i, a in arcs)
    for _ in range(4):
        plus, minus = np.zeros((d, k)), np.zeros((d, k))
        for i, a in arcs:  # domination: the pieces of an instance are its heads
            mates = [b for j, b in arcs if j == i and g.head[b] == g.head[a]]
            s = len({int(g.head[b]) for j, b in arcs if j == i})
            q = np.exp((lam * pi(i, a)).sum()) / (1 + sum(np.exp((lam * pi(i, b)).sum()) for b in mates))
            plus += q / s * np.maximum(pi(i, a), 0)
            minus += q / s * np.maximum(-pi(i, a), 0)
        lam -= 0.5 * np.log((plus + smoothing) / (minus + smoothing)) / rho
    state, _ = boost(X, g, get_decomposition("domination"), np.ones(2), 4, smoothing=smoothing)
    np.testing.assert_allclose(state.W, lam, rtol=1e-10)


@pytest.mark.parametrize("smoothing", [1e-12, 0.1, 3.0])
def test_smoothing_bounds_the_step_where_w_is_0_and_the_bound_is_theorem_1_at_that_step(smoothing):
    plus, minus, rho = np.array([2.0, 0.0, 5.0, 0.7, 0.0]), np.array([0.0, 3.0, 1.0, 0.7, 0.0]), 4.0
    weights = np.zeros(5)
    bound = boosting_step(plus, minus, weights, rho, smoothing, 0.0)
    step = 0.5 * np.log((plus + smoothing) / (minus + smoothing))
    np.testing.assert_allclose(weights, -step / rho, atol=1e-15)
    assert weights[0] == pytest.approx(-0.5 * math.log(2.0 / smoothing + 1.0) / rho)
    assert bound == pytest.approx((plus * (1 - np.exp(-step)) + minus * (1 - np.exp(step))).sum() / rho)


def test_without_smoothing_weights_whose_step_would_be_infinite_stay_unchanged():
    weights = np.zeros(4)
    bound = boosting_step(np.array([2.0, 0.0, 0.0, 4.0]), np.array([0.0, 3.0, 0.0, 1.0]), weights, 2.0, 0.0, 0.0)
    np.testing.assert_allclose(weights, [0.0, 0.0, 0.0, -0.25 * math.log(4.0)])
    assert bound == pytest.approx((2.0 - 1.0) ** 2 / 2.0)  # Theorem 1's, from the last base function alone


def test_the_step_is_finite_at_the_smallest_positive_w():
    smallest, weights = np.nextafter(0.0, 1.0), np.zeros(2)
    bound = boosting_step(np.array([9.0, smallest]), np.array([smallest, 9.0]), weights, 1.0, 0.0, 0.0)
    np.testing.assert_allclose(weights, np.array([-0.5, 0.5]) * (math.log(9.0) - math.log(smallest)))
    assert bound == pytest.approx(18.0)


def test_smoothing_does_not_change_the_optimum():
    """Arcs of both directions keep every W above 0; the limit is the minimum of the same loss."""
    g = ArcGraphs.from_arcs([[(0, 1)], [(1, 0)], [(0, 1)]], 2)
    X, cut = np.array([[1.0], [1.0], [1.0]]), get_decomposition("disagreement")
    margins = [np.subtract(*boost(X, g, cut, np.ones(3), 300, smoothing=eps)[0].W[0]) for eps in (0.0, 1.0)]
    assert margins == pytest.approx([math.log(2.0)] * 2, abs=1e-6)  # two arcs of three: log odds 2 : 1


def test_boosting_with_nothing_to_learn():
    g = LayeredGraphs.from_label_sets([[1, 1], [0, 0]])
    state, history = boost(np.ones((2, 3)), g, get_decomposition("domination"), np.ones(2), 5)
    assert not state.W.any()
    assert history.entries == []

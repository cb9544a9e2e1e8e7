"""Dual ascent and L-BFGS on the log-linear problem: against each other, against SciPy, and their certificates."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from arcrank.decompositions import CONSTANT_CUT_DOMINATION, get_decomposition
from arcrank.graphs import LayeredGraphs
from arcrank.losses import LogLinearLoss
from arcrank.solvers.design import LabelDesign
from arcrank.solvers.flow_sums import FlowProblem
from arcrank.solvers.history import History
from arcrank.solvers.lbfgs import PrimalState, solve_lbfgs
from arcrank.solvers.loglinear_dual import DualAscent
from tests.losses.test_loglinear import GRAPHS, every_other

NAMES = ["zero-one", "disagreement", "domination", "dominated"]


def problem(g, seed, signed=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(len(g), 4)) if signed else rng.random((len(g), 4))
    return X, rng.uniform(0.1, 3.0, size=len(g))


def by_dual(X, g, cut, weight, normalize=True, tol=1e-8, max_iter=3000):
    ascent = DualAscent(X, g, cut, weight, normalize=normalize)
    state, history = ascent.start(), History()
    ascent.solve(state, tol=tol, max_iter=max_iter, random=np.random.RandomState(0), history=history)
    return state, history


def objective(X, g, cut, weight, normalize, W):
    return LogLinearLoss(g, cut, weight, normalize=normalize).value(X @ W) + 0.5 * np.vdot(W, W)


@given(GRAPHS, st.sampled_from([*NAMES, every_other]), st.integers(0, 99), st.booleans())
@settings(max_examples=40)
def test_dual_and_lbfgs_find_the_same_certified_optimum(g, decomposition, seed, normalize):
    cut = get_decomposition(decomposition)
    X, weight = problem(g, seed)
    dual, _ = by_dual(X, g, cut, weight, normalize)
    primal = PrimalState(np.zeros((4, g.n_labels)))
    loss = LogLinearLoss(g, cut, weight, normalize=normalize)
    solve_lbfgs(FlowProblem(LabelDesign(X, g.n_labels), loss), primal, tol=1e-8, max_iter=2000, history=History())
    assert dual.converged
    assert primal.converged
    values = [objective(X, g, cut, weight, normalize, state.W) for state in (dual, primal)]
    assert values[0] == pytest.approx(values[1], rel=1e-6, abs=1e-9)
    np.testing.assert_allclose(dual.W, primal.W, atol=1e-3)


@given(GRAPHS, st.sampled_from(NAMES), st.integers(0, 99))
@settings(max_examples=20)
def test_optimum_equals_scipys(g, decomposition, seed):
    cut = get_decomposition(decomposition)
    X, weight = problem(g, seed)
    shape = 4, g.n_labels
    generic = minimize(
        lambda w: objective(X, g, cut, weight, True, w.reshape(shape)), np.zeros(np.prod(shape)), method="BFGS"
    )
    state, _ = by_dual(X, g, cut, weight)
    assert objective(X, g, cut, weight, True, state.W) <= generic.fun * (1 + 1e-4) + 1e-9
    np.testing.assert_allclose(state.W.ravel(), generic.x, atol=5e-3)


@given(GRAPHS, st.sampled_from([*NAMES, every_other]), st.integers(0, 99))
@settings(max_examples=30)
def test_the_gap_bounds_the_distance_to_the_optimum(g, decomposition, seed):
    """Stopped at any time, primal - gap is a lower bound of the optimum."""
    cut = get_decomposition(decomposition)
    X, weight = problem(g, seed)
    best, _ = by_dual(X, g, cut, weight)
    optimum = objective(X, g, cut, weight, True, best.W)
    for passes in (1, 3):
        state, history = by_dual(X, g, cut, weight, tol=1e-12, max_iter=passes)
        value = objective(X, g, cut, weight, True, state.W)
        assert state.gap >= 0
        assert value - state.gap <= optimum + 1e-8
        assert state.loss == pytest.approx(value - 0.5 * np.vdot(state.W, state.W), rel=1e-9, abs=1e-9)
        assert len(history.entries) <= passes


@pytest.mark.parametrize("decomposition", NAMES)
def test_layers_and_arcs_have_the_same_dual_solution(decomposition):
    rng = np.random.default_rng(3)
    g = LayeredGraphs.from_levels(rng.integers(-1, 3, size=(30, 6)))
    X = sp.random(30, 8, density=0.4, random_state=0, format="csr")
    cut = get_decomposition(decomposition)
    layered, _ = by_dual(X, g, cut, np.full(30, 5.0))
    explicit, _ = by_dual(X, g.to_arcs(), cut, np.full(30, 5.0))
    np.testing.assert_allclose(layered.W, explicit.W, atol=2e-3)


def test_a_callback_stops_and_instances_of_weight_zero_do_not_matter():
    rng = np.random.default_rng(0)
    g = LayeredGraphs.from_levels(rng.integers(0, 3, size=(20, 4)))
    X = rng.normal(size=(20, 3))
    cut = get_decomposition("domination")
    ascent = DualAscent(X, g, cut, np.ones(20))
    state, history = ascent.start(), History(lambda entry: entry["iteration"] == 2)
    ascent.solve(state, tol=1e-12, max_iter=100, random=np.random.RandomState(0), history=history)
    assert len(history.entries) == 2
    weight = np.r_[np.ones(10), np.zeros(10)]
    half, _ = by_dual(X[:10], g[:10], cut, np.ones(10))
    whole, _ = by_dual(X, g, cut, weight)
    np.testing.assert_allclose(half.W, whole.W, atol=1e-3)


@pytest.mark.parametrize("relax", [1.0, 1.9])
@pytest.mark.parametrize("decomposition", ["zero-one", "domination", "dominated"])
def test_every_visit_raises_the_dual(decomposition, relax):
    rng = np.random.default_rng(4)
    g = LayeredGraphs.from_levels(rng.integers(-1, 3, size=(12, 5)))
    X = rng.normal(size=(12, 3))
    for cut in (get_decomposition(decomposition), CONSTANT_CUT_DOMINATION):
        ascent = DualAscent(X, g, cut, np.full(12, 30.0))
        state, last = ascent.start(), -np.inf
        arrays = np.zeros(12), np.zeros(12), np.zeros((12, 2), dtype=np.int64)
        for row in rng.integers(12, size=60):
            ascent._pass(state, *arrays, np.array([row]), 0.0, relax)
            ascent.measure(state, *arrays)
            assert state.primal - state.gap >= last - 1e-9 * state.primal
            last = state.primal - state.gap
        assert last > 0


@pytest.mark.parametrize("decomposition", ["zero-one", "domination", "dominated"])
def test_documents_that_contradict_each_other_converge_at_a_large_cost(decomposition):
    """Their flows grow to half of C, a few units with each visit."""
    rng = np.random.default_rng(5)
    X = np.repeat(rng.normal(size=(10, 20)), 2, axis=0)
    g = LayeredGraphs.from_single_labels(rng.integers(6, size=20), 6)
    state, history = by_dual(X, g, get_decomposition(decomposition), np.full(20, 100.0), tol=1e-3, max_iter=60)
    assert state.converged
    assert len(history.entries) < 60


def test_empty_instances_have_flows_but_no_weights():
    g = LayeredGraphs.from_single_labels([0, 1, 1], 3)
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0]])
    state, _ = by_dual(X, g, get_decomposition("domination"), np.ones(3))
    alone, _ = by_dual(X[2:], g[2:], get_decomposition("domination"), np.ones(1))
    assert state.converged
    np.testing.assert_allclose(state.W, alone.W, atol=1e-5)

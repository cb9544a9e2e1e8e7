from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from arcrank.decompositions import get_decomposition
from arcrank.graphs import LayeredGraphs
from arcrank.losses import LogLinearLoss
from arcrank.metrics.generalized import generalized_error
from tests.oracles import arcs_of, log_linear_loss
from tests.strategies import arc_graphs, graphs_and_scores, layered_graphs

NAMES = ["zero-one", "disagreement", "domination", "dominated"]
FINITE = st.floats(-4, 4, allow_subnormal=False)
GRAPHS = st.one_of(layered_graphs(), arc_graphs(weighted=True))


def every_other(heads, tails, row):
    return [list(range(start, len(heads), 2)) for start in range(min(2, len(heads)))] + [[0]]


def arc_weights(g, row):
    weight = getattr(g, "weight", None)
    return [1.0] * len(arcs_of(g, row)) if weight is None else weight[g.arc_ptr[row] : g.arc_ptr[row + 1]]


@given(graphs_and_scores(GRAPHS, FINITE), st.sampled_from([*NAMES, every_other]), st.booleans())
def test_loss_and_flows_equal_the_oracle(case, decomposition, normalize):
    g, scores = case
    weight = np.arange(1.0, len(g) + 1)
    loss = LogLinearLoss(g, get_decomposition(decomposition), weight, normalize=normalize)
    value, outflow, inflow = loss.flows(scores)
    total = 0.0
    for i in range(len(g)):
        one, out, into = log_linear_loss(arcs_of(g, i), arc_weights(g, i), scores[i], decomposition, i, normalize)
        total += weight[i] * one
        np.testing.assert_allclose(outflow[i], weight[i] * np.array(out), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(inflow[i], weight[i] * np.array(into), rtol=1e-9, atol=1e-12)
    assert value == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize("decomposition", NAMES)
def test_gradient_equals_finite_differences(decomposition):
    rng = np.random.default_rng(0)
    g = LayeredGraphs.from_levels(rng.integers(-1, 4, size=(6, 7)))
    loss = LogLinearLoss(g, get_decomposition(decomposition))
    scores = rng.normal(size=g.shape)
    _, outflow, inflow = loss.flows(scores)
    numeric = approx_fprime(scores.ravel(), lambda s: loss.value(s.reshape(g.shape)), 1e-7)
    np.testing.assert_allclose((inflow - outflow).ravel(), numeric, atol=1e-5)


@pytest.mark.parametrize("decomposition", [*NAMES, every_other])
@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
def test_derivatives_equal_finite_differences(decomposition, explicit, normalize):
    rng = np.random.default_rng(0)
    g = LayeredGraphs.from_levels(rng.integers(-1, 4, size=(6, 7)))
    weight = np.array([1.0, 2.0, 0.0, 0.5, 1.0, 3.0])
    cut = get_decomposition(decomposition)
    loss = LogLinearLoss(g.to_arcs() if explicit else g, cut, weight, normalize=normalize)
    scores = rng.normal(size=g.shape)
    value, gradient, curvature = loss.derivatives(scores)
    assert value == loss.value(scores)
    for label in range(7):
        step = 1e-5 * np.eye(7)[label]
        above, below = loss.derivatives(scores + step), loss.derivatives(scores - step)
        assert gradient[:, label].sum() == pytest.approx((above[0] - below[0]) / 2e-5, abs=1e-8)
        np.testing.assert_allclose(curvature[:, label], (above[1] - below[1])[:, label] / 2e-5, atol=1e-8)


@given(graphs_and_scores(GRAPHS, FINITE), st.sampled_from(NAMES))
def test_curvature_of_layers_equals_that_of_arcs(case, decomposition):
    g, scores = case
    cut = get_decomposition(decomposition)
    layered, explicit = (LogLinearLoss(one, cut).derivatives(scores)[2] for one in (g, g.to_arcs()))
    np.testing.assert_allclose(layered, explicit, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("decomposition", NAMES)
def test_curvature_of_widely_spread_scores_is_finite(decomposition):
    loss = LogLinearLoss(LayeredGraphs.from_levels([[0, 1, 2, 2]]), get_decomposition(decomposition))
    curvature = loss.derivatives(np.array([[3000.0, -2000.0, 2000.0, -4000.0]]))[2]
    assert (np.isfinite(curvature) & (curvature >= 0)).all()


@given(graphs_and_scores(GRAPHS, FINITE), st.sampled_from(NAMES))
def test_the_loss_bounds_the_error(case, decomposition):
    g, scores = case
    if getattr(g, "weight", None) is not None:
        g.weight = None  # errors ignore weights, and the bound is for weights of 1
    error = generalized_error(g, scores, decomposition, reduce="none").sum()
    assert error <= LogLinearLoss(g, get_decomposition(decomposition)).value(scores) / np.log(2) + 1e-9


@pytest.mark.parametrize("decomposition", NAMES)
def test_widely_spread_scores_stay_finite_and_exact(decomposition):
    """One global shift would underflow: each layer's sum must keep its own scale."""
    g = LayeredGraphs.from_levels([[0, 1, 2, 2]])
    scores = np.array([[3000.0, -2000.0, 2000.0, -4000.0]])
    explicit = LogLinearLoss(g.to_arcs(), get_decomposition(decomposition)).flows(scores)
    layered = LogLinearLoss(g, get_decomposition(decomposition)).flows(scores)
    for got, expected in zip(layered, explicit, strict=True):
        assert np.isfinite(got).all()
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("decomposition", NAMES)
def test_threads_do_not_change_the_result(decomposition):
    rng = np.random.default_rng(1)
    g = LayeredGraphs.from_levels(rng.integers(0, 3, size=(20_000, 12)))
    scores = rng.normal(size=g.shape)
    one = LogLinearLoss(g, get_decomposition(decomposition)).flows(scores)
    two = LogLinearLoss(g, get_decomposition(decomposition), n_jobs=2).flows(scores)
    assert one[0] == two[0]
    assert np.array_equal(one[1], two[1])
    assert np.array_equal(one[2], two[2])

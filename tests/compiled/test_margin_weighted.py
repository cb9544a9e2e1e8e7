from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from arcrank.compiled.losses import LN2, LOGISTIC, gain_of
from arcrank.compiled.margin_weighted import dual_of_weighted as dual_of
from arcrank.compiled.margin_weighted import loss_of_flows, step_of_flow

C = 1.7
FLOWS = st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.05, 20.0)), min_size=1, max_size=4)


def feasible(flows):
    """Weights, and flows that use nine tenths of what the piece can carry at most."""
    share, weight = np.array(flows).T
    used = share.sum()
    return weight, 0.9 * C / LN2 * weight * share / used if used > 0 else 0.0 * share


def h(weight, beta):
    """min_v c v + sum beta r(v), by a generic solver over log v."""
    if not beta.any():
        return 0.0

    def value(log_v):
        v = np.exp(log_v)
        x = v / weight
        return C / LN2 * v - float(beta @ (x + np.log(-np.expm1(-x))))

    grid = np.linspace(-25, 8, 400)
    best = grid[np.argmin([value(one) for one in grid])]
    return minimize_scalar(value, bounds=(best - 0.1, best + 0.1), method="bounded", options={"xatol": 1e-9}).fun


@given(FLOWS)
@settings(max_examples=40, deadline=None)
def test_the_dual_is_the_least_over_losses(flows):
    weight, beta = feasible(flows)
    beta[beta < 1e-6] = 0.0
    assert dual_of(C / LN2, weight, beta, len(beta)) == pytest.approx(h(weight, beta), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("total", [0.0, 0.01, 0.7, 2.0])
def test_equal_weights_give_the_entropy(total):
    beta, weight = total * np.array([0.3, 0.7]), np.full(2, 3.0)
    assert dual_of(C / LN2, weight, beta, 2) == pytest.approx(gain_of(LOGISTIC, 3.0 * C, total), abs=1e-12)


@given(FLOWS, st.floats(-8.0, 8.0), st.floats(0.01, 10.0))
@settings(max_examples=40, deadline=None)
def test_a_step_is_the_best_change_of_one_flow(flows, margin, curvature):
    weight, beta = feasible(flows)
    c, held = C / LN2, beta[0]
    step = step_of_flow(c, weight, beta, len(beta), 0, margin, curvature)
    assert beta[0] == held
    assert step >= -held

    def value(change):
        new = beta.copy()
        new[0] = held + change
        if new[0] < 0 or (new / weight).sum() >= c:
            return -np.inf
        return dual_of(c, weight, new, len(new)) - margin * change - 0.5 * curvature * change**2

    size = 1e-3 * max(abs(step), 1e-3)
    best = value(step)
    assert best >= max(value(step - size), value(step + size)) - 1e-9 * (1 + abs(best))
    assert best >= value(0.0) - 1e-9 * (1 + abs(best))


def test_no_flow_has_no_loss():
    assert loss_of_flows(1.0, np.ones(2), np.zeros(2), 2) == 0.0

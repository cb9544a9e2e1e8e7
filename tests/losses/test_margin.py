from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.compiled.losses import charge, cost_of, gain, gain_of
from arcrank.decompositions import get_decomposition
from arcrank.errors import ParameterError
from arcrank.losses.margin import MARGIN_LOSSES, get_margin_loss
from arcrank.metrics import generalized_error
from tests.plm_oracle import loss_at, objective
from tests.strategies import any_graphs, graphs_and_scores

NAMES = sorted(MARGIN_LOSSES)
MARGINS = np.array([-30.0, -2.0, -0.5, 0.0, 0.3, 0.99, 1.5, 40.0])


@pytest.mark.parametrize("name", NAMES)
def test_values_by_hand_and_derivatives_by_differences(name):
    loss = get_margin_loss(name, beta=2.0)
    np.testing.assert_allclose(loss.value(MARGINS), [loss_at(name, m, 2.0) for m in MARGINS])
    smooth = MARGINS[1:-1]
    numeric = (loss.value(smooth + 1e-7) - loss.value(smooth - 1e-7)) / 2e-7
    np.testing.assert_allclose(loss.derivative(smooth), numeric, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0])
def test_every_loss_bounds_the_error(name, beta):
    loss = get_margin_loss(name, beta)
    m = np.linspace(-5, 5, 101)
    assert loss.value(0.0) == pytest.approx(1.0)
    assert (np.diff(loss.value(m)) <= 0).all()
    assert (loss.value(m) >= (m <= 0) - 1e-12).all()


@given(graphs_and_scores(any_graphs, st.floats(-3, 3, allow_subnormal=False)), st.sampled_from(NAMES))
def test_the_cost_of_pieces_bounds_the_error_of_rankings(case, name):
    """Aiolli & Sperduti 2004, below eq. (1): the sum of losses is at least the number of violated pieces."""
    g, scores = case
    for decomposition in ("zero-one", "domination", "disagreement"):
        cost = objective(scores, 0.0, g, decomposition, name, 1.0, normalize=True)
        errors = generalized_error(g, scores, get_decomposition(decomposition), reduce="none").sum()
        assert errors <= cost + 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_the_dual_is_the_largest_lower_bound(name):
    """Fenchel: g(T) = min over margins of C L(m) + T m, which is reached at T = -C L'(m)."""
    loss, C = get_margin_loss(name, beta=2.0), 1.7
    m = np.linspace(-4, 4, 4001)
    for T in C * np.array([0.05, 0.2, 0.4]):
        assert float(loss.gain(T, C)) == pytest.approx((C * loss.value(m) + T * m).min(), abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_kernels_know_the_same_losses(name):
    loss, C = get_margin_loss(name, beta=2.0), 1.3
    for m in MARGINS:
        assert charge(loss.code, loss.target, m) == pytest.approx(float(loss.value(m)), rel=1e-12)
        for w in (0.5, 1.0, 3.0):
            scale, offset = loss.arc_terms(np.array([w]))
            factor = w if name == "logistic" else 1.0
            cost = factor * cost_of(loss.code, offset[0] - scale[0] * m)
            assert cost == pytest.approx(w * float(loss.value(m)), rel=1e-12)
    for T in (0.0, 0.1, 0.6):
        expected = float(loss.gain(T, C))
        assert gain(loss.code, loss.target, C, T) == pytest.approx(expected, abs=1e-12)
        if name != "beta-perceptron":
            linear = T if loss.code <= 1 else 0.0
            assert gain_of(loss.code, C, T) + linear == pytest.approx(expected, abs=1e-12)


def test_an_unknown_loss_is_refused():
    with pytest.raises(ParameterError, match="'hinge'.*got 'huber'"):
        get_margin_loss("huber")

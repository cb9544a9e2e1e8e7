"""The one-dimensional searches of the margin duals against bisection, where Newton's steps alone would cycle."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arcrank.compiled.losses import EXPONENTIAL, LOGISTIC
from arcrank.compiled.margin_arcs import step_of_total
from arcrank.compiled.margin_dual_centres import total_of_star
from arcrank.compiled.margin_dual_heads import level_of_heads
from arcrank.compiled.margin_dual_totals import solve_piece


def weight_at(loss, C, z):
    """T with slack urgency z."""
    if loss == LOGISTIC:
        return C / math.log(2) / (1 + math.exp(-z)) if z > -700 else 0.0
    return C * math.exp(min(z, 600.0))


def bisected(loss, C, lack):
    """T(z) at the root of an increasing function lack(z, T(z))."""
    low, high = -1e4, 1e4
    for _ in range(300):
        z = (low + high) / 2
        low, high = (z, high) if lack(z, weight_at(loss, C, z)) < 0 else (low, z)
    return weight_at(loss, C, low)


@given(
    loss=st.sampled_from([LOGISTIC, EXPONENTIAL]),
    C=st.floats(0.01, 100),
    share=st.floats(0, 0.999),
    u=st.floats(-20, 20),
    curvature=st.floats(1e-3, 1e3),
)
@example(loss=LOGISTIC, C=0.5, share=0.774, u=4.303686758024049, curvature=44.07854764031972)  # a cycle of two points
@example(loss=EXPONENTIAL, C=0.4, share=0.999, u=-3.35, curvature=951.0)  # exp(z) of the first guess is 1e200
@settings(max_examples=200, deadline=None)
def test_steps_of_one_arc(loss, C, share, u, curvature):
    T = share * C / math.log(2)
    new = bisected(loss, C, lambda z, found: z - u + curvature * (found - T))
    step = step_of_total(loss, C, T, u, curvature, T)
    assert abs(T + step - new) <= 1e-7 * (C + T + abs(new))


@given(
    loss=st.sampled_from([LOGISTIC, EXPONENTIAL]),
    C=st.floats(0.01, 100),
    q=st.floats(1e-3, 1e3),
    margin=st.floats(-1000, 20),
)
@settings(max_examples=100, deadline=None)
def test_totals_of_a_piece_of_one_arc(loss, C, q, margin):
    """One head and one tail: the margin grows by 2 q T."""
    room = np.zeros(1)
    T, _, _ = solve_piece((0, False, loss, 1.0), C, q, room, 1, room, 1, margin, 0.0)
    wanted = bisected(loss, C, lambda z, found: z + margin + 2 * q * found)
    assert abs(T - wanted) <= 1e-7 * (C + wanted)


@given(
    rooms=st.lists(st.floats(-5, 5), min_size=1, max_size=8),
    q=st.floats(1e-2, 1e2),
    extra=st.sampled_from([0.0, 0.5, 5.0]),
    cap=st.sampled_from([0.03, 0.3, np.inf]),
    start=st.sampled_from([0.0, 0.1, 0.7, 3.0]),
)
@settings(max_examples=300, deadline=None)
def test_totals_of_a_star_solve_their_equation(rooms, q, extra, cap, start):
    """The caps of the hinge make the sum neither convex nor concave in the total."""
    room, slope = np.array(rooms), q + extra
    total = total_of_star(room, len(room), q, slope, cap, start)
    flows = np.minimum(cap, np.maximum(0.0, room - q * total) / slope)
    assert abs(flows.sum() - total) <= 1e-9 * (1 + total)


@given(
    heads=st.lists(st.floats(-5, 5), min_size=1, max_size=6),
    tails=st.lists(st.floats(-5, 5), min_size=1, max_size=8),
    q=st.floats(1e-2, 1e2),
    extra=st.sampled_from([0.0, 0.5, 5.0]),
    cap=st.sampled_from([0.03, 0.3, np.inf]),
    start=st.floats(0, 1),
)
@settings(max_examples=300, deadline=None)
def test_the_level_of_heads_balances_their_flows(heads, tails, q, extra, cap, start):
    """Outflow rises and inflow falls in the level: there is none of them at the lowest head and the highest tail."""
    low, high = min(heads), max(tails)
    if low >= high:
        return
    heads, tails, slope = np.array(heads), np.array(tails), q + extra
    sizes = heads, len(heads), tails, len(tails)
    level = level_of_heads(*sizes, slope, cap, q, low, high, low + start * (high - low))
    outflow = np.minimum(cap, np.maximum(0.0, level - heads) / slope).sum()
    inflow = np.maximum(0.0, tails - level).sum() / q
    assert abs(outflow - inflow) <= 1e-9 * (outflow + inflow) + 1e-12 / q

"""Exponentials and logarithms of arrays against the standard library's, which are right to the last bit or two."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import wrightomega

from arcrank.compiled.fastmath import exp_array, log_array, math_buffers, omega_array

SMALLEST = np.finfo(float).tiny


def exponentials(x):
    x = np.array(x, dtype=float)
    exp_array(x, len(x), math_buffers(len(x)))
    return x


def logarithms(x):
    x = np.array(x, dtype=float)
    log_array(x, len(x), math_buffers(len(x)))
    return x


def test_exponentials_over_the_whole_range():
    x = np.concatenate([np.linspace(-708, 709, 100_001), np.linspace(-1, 1, 20_001), [0.0, -0.0, 1e-300, -1e-17]])
    np.testing.assert_allclose(exponentials(x), [math.exp(value) for value in x], rtol=1e-15)
    assert exponentials([0.0])[0] == 1.0


def test_exponentials_beyond_the_range():
    assert exponentials([-708.5, -745.0, -1e300, -np.inf]).tolist() == [0.0] * 4
    np.testing.assert_allclose(exponentials([709.5, 1e300, np.inf]), math.exp(709.0), rtol=1e-15)


@pytest.mark.parametrize("around", [0.5, math.sqrt(0.5), 1.0, math.sqrt(2.0), 2.0])
def test_logarithms_where_the_exponent_changes(around):
    x = around * (1 + np.linspace(-1e-3, 1e-3, 10_001))
    exact = np.array([math.log(value) for value in x])
    np.testing.assert_allclose(logarithms(x), exact, rtol=4e-16 if around == 1.0 else 1e-15, atol=1e-19)


def test_logarithms_over_the_whole_range():
    x = np.concatenate([np.logspace(-307.6, 308.2, 100_001), [SMALLEST, np.finfo(float).max, 1e-300, 1.0]])
    np.testing.assert_allclose(logarithms(x), [math.log(value) for value in x], rtol=1e-15)
    assert logarithms([1.0])[0] == 0.0


@given(st.lists(st.floats(SMALLEST, allow_infinity=False), min_size=1, max_size=40))
def test_only_the_first_numbers_are_replaced(x):
    array = np.array(x)
    log_array(array, len(x) - 1, math_buffers(len(x)))
    assert array[-1] == x[-1]
    np.testing.assert_allclose(array[:-1], [math.log(value) for value in x[:-1]], rtol=1e-15, atol=1e-16)


def omegas(z):
    z = np.array(z, dtype=float)
    w, logs = np.empty(len(z)), np.empty(len(z))
    omega_array(z, len(z), w, logs, math_buffers(len(z)))
    return w


def test_omega_over_the_whole_range():
    z = np.concatenate([np.linspace(-689, 2000, 100_001), np.linspace(-5, 5, 20_001), [1.0, 0.0, 1e5, 1e12]])
    np.testing.assert_allclose(omegas(z), wrightomega(z), rtol=1e-13)
    assert (omegas([-691.0, -800.0, -1e300]) <= 1e-300).all()

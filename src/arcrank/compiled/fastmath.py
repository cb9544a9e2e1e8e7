"""Exponentials and logarithms of whole arrays, in loops that the compiler turns into vector instructions.

libm's `exp` and `log` take one number at a time. Here each step is a simple loop over an array: split the exponent off
by integer arithmetic on the bits, then a polynomial. Relative errors are below 1e-15.

buffers : of `math_buffers`, two float64 arrays and int64 views of them
"""

from __future__ import annotations

import math

import numpy as np

from arcrank.compiled.jit import kernel

_LOG2E = 1.0 / math.log(2.0)
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # fdlibm: the first part has 33 bits
_ROUND = 1.5 * 2.0**52  # adding it rounds to a whole number, in the lowest bits
_LOWEST, _HIGHEST = -708.0, 709.0  # outside, exp underflows to 0 (it is below 1e-307) or is taken as exp(709)
_TINY = 1e-300
_TWO52, _TWO52_BITS = 2.0**52, 0x4330000000000000
_SQRT_HALF_BITS, _FRACTION_BITS = 0x3FE6A09E667F3BCD, (1 << 52) - 1


@kernel
def math_buffers(n):
    """Return what the functions below write to for arrays of up to n numbers."""
    one, two = np.empty(n), np.empty(n)
    return one, two, one.view(np.int64), two.view(np.int64)


@kernel
def exp_array(x, n, buffers):
    """Replace x[:n], which has no NaN, by its exponentials: 0 below -708, and exp(709) above 709."""
    buffer, _, bits, _ = buffers
    for j in range(n):
        buffer[j] = min(max(x[j], _LOWEST), _HIGHEST) * _LOG2E + _ROUND
    for j in range(n):
        r = min(max(x[j], _LOWEST), _HIGHEST)
        whole = buffer[j] - _ROUND
        r = (r - whole * _LN2_HIGH) - whole * _LN2_LOW
        # Taylor's series up to r^12 / 12!, for |r| <= ln 2 / 2.
        p = 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * (r * r) + r
        x[j] = (1.0 + p) * (0.0 if x[j] < _LOWEST else 1.0)
    for j in range(n):
        bits[j] = (bits[j] + 1023) << 52
    for j in range(n):
        x[j] *= buffer[j]


@kernel
def log_array(x, n, buffers):
    """Replace x[:n] by its natural logarithms; each must be normal and positive, at least 2.3e-308 and finite."""
    fraction, exponent, fraction_bits, exponent_bits = buffers
    # Many small loops: those with a division, or with three arrays, are not vectorised.
    for j in range(n):
        fraction[j] = x[j]
    for j in range(n):
        # x = 2^e m with sqrt(1/2) <= m < sqrt(2); e + 1022 is not negative, and as low bits of 2^52 it is a float.
        exponent_bits[j] = ((fraction_bits[j] - _SQRT_HALF_BITS + (1022 << 52)) >> 52) + _TWO52_BITS
    for j in range(n):
        fraction_bits[j] = ((fraction_bits[j] - _SQRT_HALF_BITS) & _FRACTION_BITS) + _SQRT_HALF_BITS
    for j in range(n):
        x[j] = exponent[j] - (_TWO52 + 1022.0)
    for j in range(n):
        fraction[j] = (fraction[j] - 1.0) / (fraction[j] + 1.0)
    for j in range(n):
        # log m = 2 atanh(s) with s = (m - 1) / (m + 1), |s| <= 0.1716
        s = fraction[j]
        z = s * s
        p = 2.0 / 21.0
        p = p * z + 2.0 / 19.0
        p = p * z + 2.0 / 17.0
        p = p * z + 2.0 / 15.0
        p = p * z + 2.0 / 13.0
        p = p * z + 2.0 / 11.0
        p = p * z + 2.0 / 9.0
        p = p * z + 2.0 / 7.0
        p = p * z + 0.4
        p = p * z + 2.0 / 3.0
        x[j] = x[j] * _LN2_HIGH + (2.0 * s + (p * z * s + x[j] * _LN2_LOW))


@kernel
def omega_array(z, n, w, logs, buffers):
    """Set w[:n] to Wright's omega of z[:n], the solution of w + log w = z; `logs` is overwritten.

    Two steps of fourth order (Fritsch, Shafer & Crowley 1973) from a start within a factor of two.
    """
    for j in range(n):
        w[j] = min(z[j], 1.0)
    exp_array(w, n, buffers)
    for j in range(n):
        w[j] = max(w[j] / (1.0 + 0.7 * w[j]), 0.5 * (z[j] + 1.0) if z[j] > 1.0 else _TINY)
    for _ in range(2):
        for j in range(n):
            logs[j] = w[j]
        log_array(logs, n, buffers)
        for j in range(n):
            rest = z[j] - w[j] - logs[j]
            one = 1.0 + w[j]
            two = 2.0 * one * (one + rest * (2.0 / 3.0))
            # Below -690 omega is less than 1e-300, and stays TINY.
            w[j] *= 1.0 + (rest / one) * ((two - rest) / (two - 2.0 * rest)) if z[j] > -690.0 else 1.0

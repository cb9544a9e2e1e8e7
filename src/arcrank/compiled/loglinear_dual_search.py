"""The line search and the sleep of instances that both log-linear dual ascents use.

Kernels take no functions as arguments, so the loops that visit instances and evaluate the slope stay in each ascent;
the decisions they make are here.
"""

from __future__ import annotations

from arcrank.compiled.jit import kernel

TINY = 1e-300  # stands for 0 in a logarithm or a denominator: at the boundary the entropy's derivatives are infinite
_LONGEST_SLEEP = 15  # visits


@kernel
def next_trial(t, low, high, slope, curvature):
    """Return the next t in (low, high) to evaluate: Newton's step from t, or the middle of the bracket."""
    target = t + slope / curvature if curvature > 0.0 else -1.0
    # A variable about to vanish makes the curvature explode, and Newton's step stalls near t = 1. A step that is small
    # against the bracket therefore bisects it; without this the ascent diverges for C >= 30.
    if not (low < target < high) or abs(target - t) < 0.02 * (high - low):
        return 0.5 * (low + high)
    return target


@kernel
def narrow(t, low, high, slope, gap):
    """Return the bracket (low, high) after seeing the slope at t, and whether the search may stop."""
    if slope >= 0.0:
        # The dual is concave along the step: it rises up to t, and at most slope * (high - t) <= 0.1 gap is left.
        return t, high, slope <= 0.1 * gap or high - t < 1e-3 * high
    return low, t, t - low < 1e-3 * t


@kernel
def sleep_longer(sleep, i):
    """Let instance i pass its next 1, 3, 7, then 15 visits."""
    sleep[i, 1] = min(2 * sleep[i, 1] + 1, _LONGEST_SLEEP)
    sleep[i, 0] = sleep[i, 1]

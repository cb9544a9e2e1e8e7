"""The update of the parallel boosting algorithm (Dekel et al. 2003, Fig. 3)."""

from __future__ import annotations

import math

from arcrank.compiled.jit import kernel


@kernel
def boosting_step(plus, minus, weights, rho, cap, virtual):
    """Subtract Lambda / rho from every weight, in place; return Theorem 1's bound on the decrease of the loss.

    Parameters
    ----------
    plus, minus : (m,) W+ and W- of the base functions
    weights : (m,) lambda
    rho : the largest sum of |pi| over base functions
    cap : the largest |Lambda|
    virtual : weight nu of the virtual examples that add nu (log(1 + e^l) + log(1 + e^-l)) for each weight l
    """
    bound = 0.0
    # For any Lambda the proof of Theorem 1 gives the bound W+ (1 - e^-Lambda) + W- (1 - e^Lambda); these are the
    # factors at the caps.
    shrink, grow = 1.0 - math.exp(-cap), 1.0 - math.exp(cap)
    for j in range(len(weights)):
        up, down = plus[j], minus[j]
        if virtual > 0.0:
            # The derivatives of the virtual loss by the two margins l and -l: they keep W+ and W- above 0, so that
            # the minimum is unique (the regularisation named after Theorem 1).
            sigma = 1.0 / (1.0 + math.exp(-weights[j]))
            up += virtual * sigma
            down += virtual * (1.0 - sigma)
        if up <= 0.0 and down <= 0.0:  # the base function is 0 on every arc: no step changes the loss
            continue
        step = cap if down <= 0.0 else -cap  # the ratio is 0 or infinite, and so is the best step
        if up > 0.0 and down > 0.0:
            step = min(cap, max(-cap, 0.5 * math.log(up / down)))
        if step == cap:
            bound += up * shrink + down * grow
        elif step == -cap:
            bound += up * grow + down * shrink
        else:  # the closed form at the uncapped step, which does not lose digits where W+ and W- are nearly equal
            bound += (math.sqrt(up) - math.sqrt(down)) ** 2
        weights[j] -= step / rho
    return bound / rho

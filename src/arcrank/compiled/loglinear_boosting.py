"""The update of the parallel boosting algorithm (Dekel et al. 2003, Fig. 3)."""

from __future__ import annotations

import math

from arcrank.compiled.jit import kernel


@kernel
def boosting_step(plus, minus, weights, rho, smoothing, virtual):
    """Subtract Lambda / rho from every weight, in place; return Theorem 1's bound on the decrease of the loss.

    Parameters
    ----------
    plus, minus : (m,) W+ and W- of the base functions
    weights : (m,) lambda
    rho : the largest sum of |pi| over base functions
    smoothing : eps, added to W+ and W- in the step (Schapire & Singer 1999, section 4.2); 0 is the paper's step
    virtual : weight nu of the virtual examples that add nu (log(1 + e^l) + log(1 + e^-l)) for each weight l
    """
    bound = 0.0
    for j in range(len(weights)):
        up, down = plus[j] + smoothing, minus[j] + smoothing
        if virtual > 0.0:
            # The derivatives of the virtual loss by the two margins l and -l: they keep W+ and W- above 0, so that
            # the minimum is unique (the regularisation named after Theorem 1).
            sigma = 1.0 / (1.0 + math.exp(-weights[j]))
            up += virtual * sigma
            down += virtual * (1.0 - sigma)
        if up <= 0.0 or down <= 0.0:  # eps = 0, and W+ or W- is 0: Lambda is infinite or undefined
            continue
        # For any Lambda the proof of Theorem 1 gives the bound W+ (1 - e^-Lambda) + W- (1 - e^Lambda). At the smoothed
        # Lambda it is this product, which is never negative and does not lose digits where W+ and W- are nearly equal.
        root_up, root_down = math.sqrt(up), math.sqrt(down)
        bound += (root_up - root_down) ** 2 * (1.0 + smoothing / (root_up * root_down))
        # 1/2 ln(W+ / W-) from the roots, whose ratio is finite even where W- is the smallest positive number
        weights[j] -= math.log(root_up / root_down) / rho
    return bound / rho

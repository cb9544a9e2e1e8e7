"""The update of the parallel boosting algorithm (Dekel et al. 2003, Fig. 3)."""

from __future__ import annotations

import math

from arcrank.compiled.jit import kernel


@kernel
def boosting_step(plus, minus, weights, rho, cap, virtual):
    """lambda -= 1/(2 rho) log(W+ / W-) for every base function, capped; returns Theorem 1's bound on the decrease.

    virtual : weight nu of the virtual examples that add nu (log(1 + e^l) + log(1 + e^-l)) for each weight l; they add
        nu sigma(l) to W+ and nu sigma(-l) to W-.
    """
    bound = 0.0
    shrink, grow = 1.0 - math.exp(-cap), 1.0 - math.exp(cap)
    for j in range(len(weights)):
        up, down = plus[j], minus[j]
        if virtual > 0.0:
            sigma = 1.0 / (1.0 + math.exp(-weights[j]))
            up += virtual * sigma
            down += virtual * (1.0 - sigma)
        if up <= 0.0 and down <= 0.0:
            continue
        step = cap if down <= 0.0 else -cap
        if up > 0.0 and down > 0.0:
            step = min(cap, max(-cap, 0.5 * math.log(up / down)))
        if step == cap:
            bound += up * shrink + down * grow
        elif step == -cap:
            bound += up * grow + down * shrink
        else:
            bound += (math.sqrt(up) - math.sqrt(down)) ** 2
        weights[j] -= step / rho
    return bound / rho

"""The exact solution of one head layer's flows in the log-linear dual, with all other flows held fixed.

A layer's heads are joined to all labels below it. With the layer's own flows taken off the scores, and q = ||x||^2,
the best flows satisfy, for some u,

`log(out_h / (c - out_h)) + q out_h = u - f_h`   and   `log in_t + q in_t = f_t + log F - u`,   F = sum out = sum in,

so that a tail is Wright's omega of a shifted score, a head a root of its own, and u the root of a decreasing function.
Where all heads share a piece (zero-one), `log out_h + q out_h = u - f_h`, and `log(c - F)` joins the tails' side.

A smaller q than the true one makes longer steps: the dual still rises as long as it is at least half of the true one,
since its entropy is concave and its other part a parabola. That is over-relaxation, which needs far fewer visits where
instances contradict each other and C is large.

Only tails that hold a share of the instance's gap move (`choose_tails`); the others keep their inflow.
"""

from __future__ import annotations

import math

import numpy as np

from arcrank.compiled.fastmath import exp_array, math_buffers, omega_array
from arcrank.compiled.jit import kernel
from arcrank.compiled.loglinear_dual_search import TINY

_BALANCED = 1e-7  # relative difference of outflow and inflow; its square is lost of the dual
_FROZEN = 0.1  # share of the instance's gap that the tails that do not move may hold


@kernel
def block_workspace(k):
    """Return the buffers of a visit: (exps, bare heads, outflow, slack, bare tails, w, z, logs, tails, buffers)."""
    floats = np.empty((8, k))
    first = floats[0], floats[1], floats[2], floats[3], floats[4]
    return *first, floats[5], floats[6], floats[7], np.empty(k, np.int64), math_buffers(k)


@kernel
def _head_outflow(c, q, target, y):
    """Return y with y + q c sigmoid(y) = target, by Newton's method in a bracket, from y on."""
    low, high = target - q * c, target
    if not low <= y <= high:
        y = 0.5 * (low + high)
    for _ in range(80):
        small = math.exp(-abs(y))
        share = (1.0 if y > 0.0 else small) / (1.0 + small)
        excess = y + q * c * share - target
        if excess > 0.0:
            high = y
        else:
            low = y
        new = y - excess / (1.0 + q * c * small / ((1.0 + small) * (1.0 + small)))
        if not low <= new <= high:
            new = 0.5 * (low + high)
        if abs(new - y) <= 1e-14 * (1.0 + abs(y)):
            return new
        y = new
    return y


@kernel
def _heads_at(shared, c, q, u, bare, n, cut, out, slack, z, logs, buffers):
    """Set the outflows of n heads at u; return their sum, its derivative and the shift of the tails.

    `cut`: the head whose score no flow moves, or -1. `slack` holds the log-odds of the outflows from call to call.
    """
    F, rate = 0.0, 0.0
    if shared:
        for h in range(n):
            z[h] = u - bare[h] + math.log(q)
        omega_array(z, n, out, logs, buffers)
        for h in range(n):
            w = out[h] if h != cut else math.exp(min(z[h], 700.0))
            out[h] = w / q
            F += out[h]
            rate += out[h] / (1.0 + (w if h != cut else 0.0))
        return F, rate, math.log(max(F, TINY)) - u + math.log(max(c - F, TINY))
    for h in range(n):
        own = q if h != cut else 0.0
        slack[h] = _head_outflow(c, own, u - bare[h], slack[h])
        small = math.exp(-abs(slack[h]))
        out[h] = c * (1.0 if slack[h] > 0.0 else small) / (1.0 + small)
        F += out[h]
        curve = c * small / ((1.0 + small) * (1.0 + small))
        rate += curve / (1.0 + own * curve)
    return F, rate, math.log(max(F, TINY)) - u


@kernel
def _tails_at(q, shift, bare, n, cut, z, w, logs, buffers):
    """Set w to q times the inflows of n tails; return their sum and its derivative."""
    base = shift + math.log(q)
    for j in range(n):
        z[j] = bare[j] + base
    omega_array(z, n, w, logs, buffers)
    if cut >= 0:
        w[cut] = math.exp(min(z[cut], 700.0))
    S, rate = 0.0, 0.0
    for j in range(n):
        S += w[j]
    for j in range(n):
        rate += w[j] / (1.0 + w[j])
    if cut >= 0:
        rate += w[cut] - w[cut] / (1.0 + w[cut])
    return S / q, rate / q


@kernel
def _balance(shared, c, q, u, frozen, n_heads, n_tails, cut_head, cut_tail, work):
    """Solve outflow = inflow + frozen for u; return both, 0 and 0 where there is no solution."""
    _, bare_heads, out, slack, bare_tails, w, z, logs, _, buffers = work
    low, high = -np.inf, np.inf
    F, S = 0.0, 0.0
    for _ in range(100):
        F, rate, shift = _heads_at(shared, c, q, u, bare_heads, n_heads, cut_head, out, slack, z, logs, buffers)
        if shared and c <= F:
            high = u
            u = 0.5 * (low + u) if low > -np.inf else u - 2.0
            continue
        S, rise = _tails_at(q, shift, bare_tails, n_tails, cut_tail, z, w, logs, buffers)
        S += frozen
        if F < TINY or S < TINY:
            return 0.0, 0.0
        difference = math.log(S / F)
        if abs(difference) <= _BALANCED:
            return F, S
        if difference > 0.0:
            low = u
        else:
            high = u
        # d shift / du = F'/F - 1, and for the shared slack -F'/(c - F) more: never positive.
        back = rate / F - 1.0 - (rate / (c - F) if shared else 0.0)
        slope = rise / S * back - rate / F
        new = u - max(-20.0, min(20.0, difference / min(slope, -1e-12)))
        if not low < new < high:
            new = 0.5 * (low + high)
            if not low < new < high:  # no number is between them
                return F, S
        u = new
    return F, S


@kernel
def _choose_tails(stop, judged, flows, inflow, total, gap, work):
    """List the tails whose inflow is far from the best one; return their number, and the inflow of the others."""
    exps, tails = work[0], work[8]
    # The divergence of a flow s from the best one b is at most (s - b)^2 / b. Tails above the mean move in any case: a
    # small change of the total may be a large one of what a head has left of c.
    scale, limit, mean = inflow / total, _FROZEN * gap / (judged - stop), inflow / (judged - stop)
    n, frozen = 0, 0.0
    for j in range(judged - stop):
        best = scale * exps[j]
        if best >= mean or (flows[j] - best) * (flows[j] - best) > limit * best:
            tails[n] = j
            n += 1
        else:
            frozen += flows[j]
    return n, frozen


@kernel
def relax_block(shared, c, used, q, relax, f, first, stop, judged, cut, flows, gap, change, work):
    """Solve the layer first:stop against the labels below it; flows, f and `change` (new less old net flow) follow.

    used : what the other layers of the piece hold, where it is shared; cut : position of the label whose score no
    flow moves, or -1. Return the new total outflow.
    """
    exps, bare_heads, out, slack, bare_tails, w, _, _, tails, buffers = work
    n_heads, room = stop - first, c - used
    old, top = 0.0, -np.inf
    for h in range(n_heads):
        old += flows[h]
    if room <= 1e-12 * c:
        return old
    for j in range(stop, judged):
        top = max(top, f[j])
    for j in range(stop, judged):
        exps[j - stop] = f[j] - top
    exp_array(exps, judged - stop, buffers)
    total = 0.0
    for j in range(judged - stop):
        total += exps[j]
    u = top + math.log(total)
    inflow = _best_outflow(shared, room, u, f, first, stop)
    n_tails, frozen = _choose_tails(stop, judged, flows[n_heads:], inflow, total, gap, work)
    own = max(q / relax, 1e-30)  # of an empty instance, whose flows move nothing
    for h in range(n_heads):
        bare_heads[h] = f[first + h] - (own * flows[h] if first + h != cut else 0.0)
        slack[h] = math.log(max(flows[h], TINY) / max(c - flows[h], TINY))
    cut_tail = -1
    for j in range(n_tails):
        at = stop + tails[j]
        bare_tails[j] = f[at] + (own * flows[n_heads + tails[j]] if at != cut else 0.0)
        if at == cut:
            cut_tail = j
    cut_head = cut - first if first <= cut < stop else -1
    if shared:
        u += math.log(max(room - old, 1e-3 * room))
    F, S = _balance(shared, room, own, u, frozen, n_heads, n_tails, cut_head, cut_tail, work)
    if F == 0.0 or frozen >= F or frozen >= S:
        return old
    # What is left of the difference is taken from the larger side, so that flows stay below c and sums agree.
    heads_by, tails_by = min(1.0, S / F), min(1.0, (F - frozen) / (S - frozen)) / own
    new = 0.0
    for h in range(n_heads):
        flow = out[h] * heads_by
        step = flow - flows[h]
        flows[h] = flow
        new += flow
        change[first + h] += step
        f[first + h] += q * step
    for j in range(n_tails):
        at, flow = tails[j], w[j] * tails_by
        step = flow - flows[n_heads + at]
        flows[n_heads + at] = flow
        change[stop + at] -= step
        f[stop + at] -= q * step
    if cut >= 0:
        f[cut] = 0.0
    return new


@kernel
def _best_outflow(shared, c, log_below, f, first, stop):
    """Return the outflow of the layer that would be best at the present scores."""
    if shared:
        top = 0.0
        for h in range(first, stop):
            top = max(top, log_below - f[h])
        total = 0.0
        for h in range(first, stop):
            total += math.exp(log_below - f[h] - top)
        return c * total / (total + math.exp(-top))
    flow = 0.0
    for h in range(first, stop):
        z = log_below - f[h]
        small = math.exp(-abs(z))
        flow += c * (1.0 if z > 0.0 else small) / (1.0 + small)
    return flow

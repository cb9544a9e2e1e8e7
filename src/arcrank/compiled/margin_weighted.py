"""The dual of the logistic loss where the arcs of a piece have different weights: `C max_a w_a log2(1 + exp(-m_a))`.

`w_a L(m_a) <= v` is `m_a >= r_a(v)`, a bound on the margin that falls with the loss v of the piece. With c = C / ln 2
and v in natural units, `r_a(v) = -log(exp(v / w_a) - 1)`, and the dual of a piece with flows beta >= 0 is

    h(beta) = min_v  c v + sum_a beta_a r_a(v),   where   sum_a beta_a / (w_a (1 - exp(-v / w_a))) = c   at the minimum.

Its derivative is r_a(v): at the optimum all arcs with flow have the margin r_a(v), one loss v, and no arc has a smaller
one. For equal weights h is the entropy of `losses.gain_of`. Two steps are exact: a change of one flow, found by its v,
and one that moves flow between two arcs at the same v, along which h is linear.

Arguments are those of `margin_arcs`; `offset` of the pieces and of the active arcs holds their weights.
"""

from __future__ import annotations

import math

from arcrank.compiled.jit import kernel
from arcrank.compiled.margin_arcs import SHARE, move, product


@kernel
def bound_at(v, w):
    """Return r(v) = -log(exp(v / w) - 1), the margin at which an arc of weight w has the loss v."""
    x = v / w
    return -x - math.log1p(-math.exp(-x)) if x > 1e-3 else -math.log(math.expm1(max(x, 1e-300)))


@kernel
def unit_at(v, w):
    """Return w (1 - exp(-v / w)), the flow that alone would make the loss v, per unit of c."""
    return -w * math.expm1(-v / w)


@kernel
def flow_share(v, weight, beta, count):
    """Return sum_a beta_a / (w_a (1 - exp(-v / w_a))), which is c at the minimum over v."""
    total = 0.0
    for j in range(count):
        if beta[j] > 0.0:
            total += beta[j] / unit_at(v, weight[j])
    return total


@kernel
def loss_of_flows(c, weight, beta, count):
    """Return the v of h(beta), 0 where there is no flow."""
    total, heaviest = 0.0, 0.0
    for j in range(count):
        if beta[j] > 0.0:
            total += beta[j]
            heaviest = max(heaviest, weight[j])
    if total <= 0.0:
        return 0.0
    # 1 - exp(-x) <= x, so the root is at least total / c; the share falls with v. Bisection, since it is flat far away.
    low, high = total / c, total / c
    while flow_share(high, weight, beta, count) > c and high < 700.0 * heaviest:
        low, high = high, 2.0 * high
    for _ in range(100):
        v = 0.5 * (low + high)
        if flow_share(v, weight, beta, count) > c:
            low = v
        else:
            high = v
        if high - low <= 1e-15 * high:
            break
    return high


@kernel
def dual_of_weighted(c, weight, beta, count):
    """Return h(beta)."""
    v = loss_of_flows(c, weight, beta, count)
    if v <= 0.0:
        return 0.0
    total = c * v
    for j in range(count):
        if beta[j] > 0.0:
            total += beta[j] * bound_at(v, weight[j])
    return total


@kernel
def _excess(v, c, weight, beta, count, j, margin, curvature, held):
    """Return r_j(v) - margin - curvature * step and the flow of arc j that makes the loss v, its own flow being 0."""
    new = (c - flow_share(v, weight, beta, count)) * unit_at(v, weight[j])
    return bound_at(v, weight[j]) - margin - curvature * (new - held), new


@kernel
def step_of_flow(c, weight, beta, count, j, margin, curvature):
    """Return the best change of one flow, at least -held; the excess falls with the v that the flow makes."""
    held = beta[j]
    beta[j] = 0.0
    low = loss_of_flows(c, weight, beta, count)  # below that of the others alone the flow would be negative
    new = 0.0
    if low <= 0.0 or _excess(low, c, weight, beta, count, j, margin, curvature, held)[0] > 0.0:
        high = max(2.0 * low, weight[j])
        while _excess(high, c, weight, beta, count, j, margin, curvature, held)[0] > 0.0:
            low, high = high, 2.0 * high
        for _ in range(200):
            v = 0.5 * (low + high)
            excess, new = _excess(v, c, weight, beta, count, j, margin, curvature, held)
            if excess > 0.0:
                low = v
            else:
                high = v
            if high - low <= 1e-15 * high:
                break
    beta[j] = held
    return max(0.0, new) - held


@kernel
def _loss_at(w, margin):
    """Return w log(1 + exp(-margin)) in natural units, without overflow."""
    return w * (max(0.0, -margin) + math.log1p(math.exp(-abs(margin))))


@kernel
def costliest_arc(p, pieces, f):
    """Return the arc of the largest w L(margin), and this loss."""
    _, arc_ptr, head, tail, _, weight, _ = pieces
    best, arc = -1.0, arc_ptr[p]
    for a in range(arc_ptr[p], arc_ptr[p + 1]):
        loss = _loss_at(weight[a], f[head[a]] - f[tail[a]])
        if loss > best:
            best, arc = loss, a
    return arc, best


@kernel
def _activate(a, pieces, active, count):
    """Add an arc to the active ones, unless it is there; return its place and the new count."""
    ids, head, tail, scale, weight, beta = active
    for j in range(count):
        if ids[j] == a:
            return j, count
    ids[count], head[count], tail[count] = a, pieces[2][a], pieces[3][a]
    scale[count], weight[count], beta[count] = 1.0, pieces[5][a], 0.0
    return count, count + 1


@kernel
def relax_weighted(p, pieces, c, q, inner, gram, f, change, active, count):
    """Make exact steps on the most violating arcs, until the violation has fallen to a share of the first one.

    The arc of the largest loss has too little flow where its loss is above v; one with flow and a smaller loss has too
    much. Violations are derivatives of the dual times the flow that moves the piece by one unit.
    """
    _, head, tail, _, weight, beta = active
    enough = 0.0
    for turn in range(inner):
        v = loss_of_flows(c, weight, beta, count)
        a, loss = costliest_arc(p, pieces, f)
        top, count = _activate(a, pieces, active, count)
        m_top = f[head[top]] - f[tail[top]]
        own = product(gram, head[top], tail[top], head[top], tail[top])
        if v <= 0.0:
            step = step_of_flow(c, weight, beta, count, top, m_top, max(1e-300, q * own))
            move(active, top, step, q, gram, f, change)
            continue
        u_top = unit_at(v, weight[top]) * (bound_at(v, weight[top]) - m_top)
        bottom, u_bottom = -1, 0.0
        for j in range(count):
            if beta[j] > 0.0:
                u = unit_at(v, weight[j]) * (bound_at(v, weight[j]) - (f[head[j]] - f[tail[j]]))
                if u < u_bottom:
                    bottom, u_bottom = j, u
        violation = max(0.0, u_top) - u_bottom
        if violation <= max(enough, 1e-13 * loss):
            break
        if turn == 0:
            enough = SHARE * violation
        if u_top > 0.0 and bottom >= 0 and bottom != top:
            # At the same v, h is linear in what is moved: the step is the gain over the squared length of the move.
            d_top, d_bottom = unit_at(v, weight[top]), unit_at(v, weight[bottom])
            length = d_top**2 * own
            length += d_bottom**2 * product(gram, head[bottom], tail[bottom], head[bottom], tail[bottom])
            length -= 2.0 * d_top * d_bottom * product(gram, head[top], tail[top], head[bottom], tail[bottom])
            step = min(beta[bottom] / d_bottom, violation / max(1e-300, q * length))
            move(active, bottom, -min(beta[bottom], step * d_bottom), q, gram, f, change)
            move(active, top, step * d_top, q, gram, f, change)
            continue
        j = top if u_top > 0.0 else bottom
        own = product(gram, head[j], tail[j], head[j], tail[j])
        step = step_of_flow(c, weight, beta, count, j, f[head[j]] - f[tail[j]], max(1e-300, q * own))
        move(active, j, step, q, gram, f, change)
    return count

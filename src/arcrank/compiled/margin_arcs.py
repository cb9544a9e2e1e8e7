"""Steps on the arcs of one piece: the dual of the Preference Learning Model (Aiolli & Sperduti 2004, eq. 8).

Every arc has the urgency `u = offset - scale * margin`; a piece costs `C l(max u)` with l(u) = max(0, u), max(0, u)^2,
log2(1 + e^u) or e^u, and its dual is `sum_a offset_a beta_a + h(T) - ||W||^2 / 2` with beta >= 0 and T = sum beta. At
the optimum all arcs with beta > 0 have one urgency, that of the slack, -h'(T) (or more, for the hinge at T = C), and
no arc has a larger one: the KKT conditions. A step moves weight between the two most violating of: the most urgent arc,
the least urgent arc with beta > 0, and the slack. Only arcs with beta > 0 are stored; on layered graphs the most urgent
one comes from a running minimum over the heads above, so that no arc is ever written out.

rule : (mode, mirror, loss, target), see margin_dual_layers; mode EXPLICIT reads pieces, the others layers
pieces : (row_ptr, arc_ptr, head, tail, scale, offset, factor); `factor` multiplies the C of a piece
active : (key, head, tail, scale, offset, beta) of the arcs of a piece that carry weight, and of those tried
gram : (k, k) Gram matrix of the codes, empty for the standard basis
"""

from __future__ import annotations

import math

import numpy as np

from arcrank.compiled.jit import kernel
from arcrank.compiled.losses import HINGE, LN2, LOGISTIC, SQUARED, gain_of

IDENTITY, CENTRES, EXPLICIT = 0, 1, 3
SHARE = 0.02  # a visit reduces a violation to this share: the other pieces and instances will change the scores anyway


@kernel
def slack_urgency(loss, C, T):
    """Return -h'(T), the urgency that an arc needs for more weight on the piece to raise the dual."""
    if loss == HINGE:
        return 0.0
    if loss == SQUARED:
        return T / (2.0 * C)
    if T <= 0.0:  # smooth losses are never 0: some weight is always wanted
        return -np.inf
    if loss == LOGISTIC:
        share = T * LN2 / C
        return math.log(share) - math.log1p(-share) if share < 1.0 else np.inf
    return math.log(T / C)


@kernel
def step_of_total(loss, C, T, u, curvature, held):
    """Return the best change of one arc's weight, at least -held: u - curvature * step = slack_urgency(T + step)."""
    # Hinge and squared hinge have a linear slack urgency and so a closed form; the hinge also keeps T <= C (eq. 7).
    if loss == HINGE:
        return min(C - T, max(-held, u / curvature))
    if loss == SQUARED:
        return max(-held, (u - T / (2.0 * C)) / (curvature + 1.0 / (2.0 * C)))
    # Newton's method on a bracket, in z = slack_urgency(new) as in margin_dual_layers._total_of_smooth.
    low, high = -np.inf, u + curvature * T  # the value of z at new = 0
    if loss != LOGISTIC and high > 0.0:
        # At z >= 0, C exp(z) = T + (u - z) / curvature <= T + u / curvature; from far above, a step gains only 1.
        high = min(high, max(0.0, math.log(high / (curvature * C))))
    z, new, width = high, T, np.inf
    for _ in range(200):
        share = 1.0 / (1.0 + math.exp(-z)) if z > -700.0 else 0.0
        new = C / LN2 * share if loss == LOGISTIC else C * math.exp(min(700.0, z))
        excess = z - u + curvature * (new - T)
        if excess > 0.0:
            # A smaller z makes a smaller `new`, so z - excess is not above the root.
            high, low = z, max(low, z - excess)
        else:
            low = z
        last = z
        z -= excess / (1.0 + curvature * new * (1.0 - share if loss == LOGISTIC else 1.0))
        # Newton's steps may go to and fro between two points, with a bracket that hardly shrinks.
        if not low < z < high or high - low > 0.5 * width:
            z = 0.5 * (low + high)
        width = high - low
        if abs(z - last) <= 1e-14 * (1.0 + abs(z)):
            break
    return max(-held, new - T)


@kernel
def most_urgent_of_layers(p, rule, start, order, f):
    """Return head and tail of the smallest margin: over the whole graph, or with one piece per centre of order[p]."""
    # A tail's smallest margin is against the lowest head above it: a running minimum finds it in O(k), not O(arcs).
    mode, mirror = rule[0], rule[1]
    sign = -1.0 if mirror else 1.0
    smallest, head, tail, low = np.inf, -1, -1, -1
    for b in range(len(start) - 1):
        for j in range(start[b], start[b + 1]):
            if low >= 0 and sign * (f[low] - f[order[j]]) < smallest:
                smallest, head, tail = sign * (f[low] - f[order[j]]), low, order[j]
        # The layer's labels become heads after they were tails: there are no arcs within a layer.
        for j in range(start[b], start[b + 1]):
            if mode == CENTRES:
                low = order[j] if j == p else low
            elif low < 0 or f[order[j]] < f[low]:
                low = order[j]
    return (tail, head) if mirror else (head, tail)


@kernel
def most_urgent_of_arcs(p, pieces, f):
    """Return the number of the piece's most urgent arc, the one that decides its loss (eq. 1)."""
    _, arc_ptr, head, tail, scale, offset, _ = pieces
    best, arc = -np.inf, -1
    for a in range(arc_ptr[p], arc_ptr[p + 1]):
        u = offset[a] - scale[a] * (f[head[a]] - f[tail[a]])
        if u > best:
            best, arc = u, a
    return arc


@kernel
def product(gram, a, b, c, d):
    """Return <M_a - M_b, M_c - M_d>: with <v_i, v_j> all that eq. (8) needs of Kesler's vectors (eq. 4)."""
    if len(gram) == 0:  # the standard basis: the Gram matrix is the identity
        return 1.0 * ((a == c) - (a == d) - (b == c) + (b == d))
    return gram[a, c] - gram[a, d] - gram[b, c] + gram[b, d]


@kernel
def move(active, j, step, q, gram, f, change):
    """Add `step` to the weight of arc j and to the scores."""
    _, head, tail, scale, _, beta = active
    h, t, amount = head[j], tail[j], step * scale[j]  # the arc's vector is multiplied by its scale
    beta[j] += step
    change[h] += amount
    change[t] -= amount
    if len(gram) == 0:
        f[h] += q * amount
        f[t] -= q * amount
    else:
        for r in range(len(f)):  # codes are not orthogonal: an arc moves the scores of all labels
            f[r] += q * amount * (gram[h, r] - gram[t, r])


@kernel
def add_most_urgent(p, rule, pieces, start, order, f, active, count):
    """Add the most urgent arc to the active ones, unless it is there; return its place and the new count."""
    ids, head, tail, scale, offset, beta = active
    if rule[0] == EXPLICIT:
        a = most_urgent_of_arcs(p, pieces, f)
        key, h, t, s, o = a, np.int64(pieces[2][a]), np.int64(pieces[3][a]), pieces[4][a], pieces[5][a]
    else:
        h, t = most_urgent_of_layers(p, rule, start, order, f)
        key = h * len(f) + t
        s, o = 1.0 / rule[3], 1.0 if rule[2] <= SQUARED else 0.0
    for j in range(count):
        if ids[j] == key:
            return j, count
    ids[count], head[count], tail[count], scale[count], offset[count], beta[count] = key, h, t, s, o, 0.0
    return count, count + 1


@kernel
def relax_piece(p, rule, pieces, start, order, C, q, inner, share, gram, f, change, active, count):
    """Make exact steps on the two most violating of arcs and slack, until the violation has fallen to this share.

    The paper's update (section 3, embedding optimization): chi_1 -= nu, chi_2 += nu.
    """
    loss = rule[2]
    _, head, tail, scale, offset, beta = active
    enough = 0.0
    for turn in range(inner):
        top, count = add_most_urgent(p, rule, pieces, start, order, f, active, count)
        u_top = offset[top] - scale[top] * (f[head[top]] - f[tail[top]])
        T, bottom, u_bottom = 0.0, -1, np.inf
        for j in range(count):
            T += beta[j]
            u = offset[j] - scale[j] * (f[head[j]] - f[tail[j]])
            if beta[j] > 0.0 and u < u_bottom:
                bottom, u_bottom = j, u
        slack = slack_urgency(loss, C, T)
        # At T = C the hinge has no slack left to give, so more weight can only come from another arc.
        full = loss == HINGE and T >= C
        violation = max(u_top, slack) - (u_bottom if full else min(u_bottom, slack))
        # Below 1e-13 of its terms an urgency is only rounding; arcs of tiny weight have tiny terms and still move.
        rounding = offset[top] + scale[top] * (abs(f[head[top]]) + abs(f[tail[top]]))
        if bottom >= 0:
            rounding = max(rounding, offset[bottom] + scale[bottom] * (abs(f[head[bottom]]) + abs(f[tail[bottom]])))
        if violation <= max(enough, 1e-13 * rounding):
            break
        if turn == 0 and violation < np.inf:
            enough = share * violation
        if u_top > slack and (full or u_bottom < slack) and bottom != top:
            # T does not change, so h does not either: the step is (u_top - u_bottom) / ||scaled difference||^2. With
            # codes the two vectors may be equal.
            curvature = scale[top] ** 2 * product(gram, head[top], tail[top], head[top], tail[top])
            curvature += scale[bottom] ** 2 * product(gram, head[bottom], tail[bottom], head[bottom], tail[bottom])
            cross = product(gram, head[top], tail[top], head[bottom], tail[bottom])
            curvature = max(1e-300, q * (curvature - 2.0 * scale[top] * scale[bottom] * cross))
            step = min(beta[bottom], (u_top - u_bottom) / curvature)
            move(active, bottom, -step, q, gram, f, change)
            move(active, top, step, q, gram, f, change)
            continue
        # One arc against the slack: the top one grows, or the bottom one shrinks.
        j, u = (top, u_top) if u_top > slack else (bottom, u_bottom)
        curvature = max(1e-300, q * scale[j] ** 2 * product(gram, head[j], tail[j], head[j], tail[j]))
        move(active, j, step_of_total(loss, C, T, u, curvature, beta[j]), q, gram, f, change)
    return count


@kernel
def load_arcs(p, rule, pieces, order, keys, values, e, stop, k, active):
    """Copy the stored arcs of piece p, which follow those of the pieces before it; return their number."""
    ids, head, tail, scale, offset, beta = active
    mode, mirror, loss, target = rule
    n = 0
    while e + n < stop:
        key = keys[e + n]
        if mode == EXPLICIT:
            if key >= pieces[1][p + 1]:
                break
            head[n], tail[n], scale[n], offset[n] = pieces[2][key], pieces[3][key], pieces[4][key], pieces[5][key]
        else:
            if mode == CENTRES and order[p] != (key % k if mirror else key // k):
                break
            head[n], tail[n], scale[n] = key // k, key % k, 1.0 / target
            offset[n] = 1.0 if loss <= SQUARED else 0.0
        ids[n], beta[n] = key, values[e + n]
        n += 1
    return n


@kernel
def dual_of(loss, C, active, count):
    """Return the piece's part of the dual, without the norm of W."""
    T, linear = 0.0, 0.0
    for j in range(count):
        T += active[5][j]
        linear += active[4][j] * active[5][j]
    return linear + gain_of(loss, C, T)

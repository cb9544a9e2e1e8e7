"""The weights of the constant feature, which follow the flows slowly.

All instances share this feature, so that a step of one instance changes the margins of all others: visits would undo
each other's work, and near the optimum the primal would change by far more than the dual. Instead a visit holds these
weights b fixed, as if they were given, and b goes a part of the way to what the flows make of it, `made`, some times in
a pass: the dual is `max over flows, min over b` of a function that is a parabola in b. At any b and flows,
`primal - dual` is the sum of the instances' gaps and `||b - made||^2 / 2`.

lag : (constant, made, responses, recent): the value of the feature, what the flows make of its weights, how much the
    flows of each label answered in the last pass to a change of its weight, and in this one; `made` is empty where the
    constant is a feature like the others. The constant is the last non-zero of every row.
"""

from __future__ import annotations

from arcrank.compiled.jit import kernel

FOLLOWS = 20  # times in a pass
_SHARE = 0.1  # of the way; more than about 1 / FOLLOWS of Newton's step, since the flows answer only when visited


@kernel
def add_constant(lag, weights, q, labels, net, n):
    """Note a change of an instance's flows; return what it adds to the rise of the dual at fixed weights."""
    constant, made, _, recent = lag
    rise = 0.0
    for j in range(n):
        r, step = labels[j], constant * net[j]
        rise += step * (weights[r] - made[r] - 0.5 * step)
        made[r] += step
        recent[r] += 1.0 / q
    return rise


@kernel
def follow(lag, weights):
    """Move the weights of the constant a part of the way to what the flows make of them."""
    constant, made, responses, recent = lag
    for r in range(len(made)):
        curvature = 1.0 + constant * constant * max(responses[r], recent[r])
        weights[r] += _SHARE * (made[r] - weights[r]) / curvature

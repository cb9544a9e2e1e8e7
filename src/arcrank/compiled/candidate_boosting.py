"""Dekel et al. 2003, Fig. 3, for joint features of instance and label: one pi for each arc and feature.

For arc e of instance i, `pi_{i,e} = z_tail - z_head`. With features of shared labels, x_w [y' = y], a head and a tail
have no feature in common, so that flows are enough there; here they have, and every arc is looked at.
"""

from __future__ import annotations

import math

import numpy as np

from arcrank.compiled.candidate_rows import difference
from arcrank.compiled.jit import kernel


@kernel
def largest_norm(candidate_ptr, arc_ptr, head, tail, Z, d):
    """Return rho, the largest sum of |pi| over features, of all arcs."""
    index, value = np.empty(d, np.int64), np.empty(d)
    largest = 0.0
    for i in range(len(arc_ptr) - 1):
        for a in range(arc_ptr[i], arc_ptr[i + 1]):
            n = difference(Z, candidate_ptr[i] + tail[a], candidate_ptr[i] + head[a], index, value)
            norm = 0.0
            for j in range(n):
                norm += abs(value[j])
            largest = max(largest, norm)
    return largest


@kernel
def arc_sums(candidate_ptr, pieces, weight, normalize, Z, scores, plus, minus):
    """Set W+ and W- to the sums of `q |pi|` over arcs with pi > 0 and pi < 0; return the loss.

    q is the weight of an arc in the derivative of the loss, divided by the number of pieces s_i where they are
    normalised, and summed over the pieces that hold the arc.
    """
    row_ptr, arc_ptr, head, tail, arc_weight = pieces
    plus[:] = 0.0
    minus[:] = 0.0
    index, value = np.empty(len(plus), np.int64), np.empty(len(plus))
    losses = 0.0
    for i in range(len(row_ptr) - 1):
        start, stop, first = row_ptr[i], row_ptr[i + 1], candidate_ptr[i]
        if start == stop:
            continue
        share = weight[i] / (stop - start) if normalize else weight[i]
        for p in range(start, stop):
            top = 0.0  # the 1 in the logarithm is exp(0)
            for a in range(arc_ptr[p], arc_ptr[p + 1]):
                top = max(top, scores[first + tail[a]] - scores[first + head[a]])
            total = math.exp(-top)
            for a in range(arc_ptr[p], arc_ptr[p + 1]):
                total += arc_weight[a] * math.exp(scores[first + tail[a]] - scores[first + head[a]] - top)
            loss = top + math.log(total)
            losses += share * loss
            for a in range(arc_ptr[p], arc_ptr[p + 1]):
                q = share * arc_weight[a] * math.exp(scores[first + tail[a]] - scores[first + head[a]] - loss)
                n = difference(Z, first + tail[a], first + head[a], index, value)
                for j in range(n):
                    if value[j] > 0.0:
                        plus[index[j]] += q * value[j]
                    else:
                        minus[index[j]] -= q * value[j]
    return losses

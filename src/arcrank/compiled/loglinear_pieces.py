"""The log-linear loss of explicit pieces and its flows: linear in arcs (Dekel et al. 2003, section 3)."""

from __future__ import annotations

import math

from arcrank.compiled.jit import kernel


@kernel
def piece_flows(pieces, scale, normalize, first, scores, outflow, inflow, losses):
    """Write `scale_i sum_pieces log(1 + sum_arcs w exp(-margin))` of a block of rows, and the flows.

    See `compiled.loglinear_layers` for what the flows are. Margins are computed three times rather than stored: the
    scores of a row are in the cache, and a piece may have any number of arcs.
    """
    row_ptr, arc_ptr, head, tail, weight = pieces
    for r in range(len(scores)):
        outflow[r], inflow[r], losses[r] = 0.0, 0.0, 0.0
        start, stop = row_ptr[first + r], row_ptr[first + r + 1]
        if start == stop:
            continue
        share = scale[first + r] / (stop - start) if normalize else scale[first + r]
        for p in range(start, stop):
            top = 0.0  # the 1 in the logarithm is exp(0), so the largest exponent is at least 0
            for a in range(arc_ptr[p], arc_ptr[p + 1]):
                top = max(top, scores[r, tail[a]] - scores[r, head[a]])
            total = math.exp(-top)
            for a in range(arc_ptr[p], arc_ptr[p + 1]):
                total += weight[a] * math.exp(scores[r, tail[a]] - scores[r, head[a]] - top)
            loss = top + math.log(total)
            losses[r] += share * loss
            # exp(x - loss) is exp(x) / (1 + sum) without either of them, which may overflow. An arc may be in several
            # pieces, so flows add up.
            for a in range(arc_ptr[p], arc_ptr[p + 1]):
                flow = share * weight[a] * math.exp(scores[r, tail[a]] - scores[r, head[a]] - loss)
                outflow[r, head[a]] += flow
                inflow[r, tail[a]] += flow

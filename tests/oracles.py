"""Pure-Python transcriptions over explicit arcs: slow, obvious, and independent of the library's kernels."""

from __future__ import annotations

from collections import defaultdict
from math import exp, log


def arcs_of(graphs, row):
    """The arcs of one instance, from levels or from the explicit list, as (head, tail) tuples."""
    if hasattr(graphs, "levels"):
        level = graphs.levels()[row].tolist()
        k = range(len(level))
        return [(h, t) for h in k for t in k if 0 <= level[h] < level[t]]
    start, stop = graphs.arc_ptr[row], graphs.arc_ptr[row + 1]
    return list(zip(graphs.head[start:stop].tolist(), graphs.tail[start:stop].tolist(), strict=True))


def pieces_of(arcs, decomposition, row=0):
    """The pieces of one graph as lists of arc positions."""
    if callable(decomposition):
        return [list(p) for p in decomposition([h for h, _ in arcs], [t for _, t in arcs], row)] if arcs else []
    groups = defaultdict(list)
    for position, (head, tail) in enumerate(arcs):
        key = {"zero-one": 0, "disagreement": position, "domination": head, "dominated": tail}[decomposition]
        groups[key].append(position)
    return list(groups.values())


def error_of(arcs, score, decomposition, row=0):
    """Dekel et al. 2003, eq. (1), for one instance."""
    pieces = pieces_of(arcs, decomposition, row)
    wrong = sum(any(score[arcs[a][0]] <= score[arcs[a][1]] for a in piece) for piece in pieces)
    return wrong / len(pieces) if pieces else 0.0


def log_linear_loss(arcs, weights, score, decomposition, row=0, normalize=True):
    """`1/s sum_pieces log(1 + sum_arcs w exp(-margin))` for one instance, and the flows of every label."""
    pieces = pieces_of(arcs, decomposition, row)
    share = 1 / len(pieces) if pieces and normalize else 1.0
    loss, outflow, inflow = 0.0, [0.0] * len(score), [0.0] * len(score)
    for piece in pieces:
        terms = [weights[a] * exp(score[arcs[a][1]] - score[arcs[a][0]]) for a in piece]
        loss += share * log(1 + sum(terms))
        for a, term in zip(piece, terms, strict=True):
            outflow[arcs[a][0]] += share * term / (1 + sum(terms))
            inflow[arcs[a][1]] += share * term / (1 + sum(terms))
    return loss, outflow, inflow

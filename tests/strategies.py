"""Hypothesis strategies: random graphs of both kinds, and scores with ties."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from arcrank.graphs import ArcGraphs, LayeredGraphs

SCORES = st.sampled_from([-np.inf, -2.0, -1.0, 0.0, 0.5, 1.0, 3.0, np.inf])


@st.composite
def layered_graphs(draw, max_rows=5, max_labels=6, max_level=3):
    n, k = draw(st.integers(0, max_rows)), draw(st.integers(1, max_labels))
    levels = draw(hnp.arrays(np.int64, (n, k), elements=st.integers(-1, max_level)))
    return LayeredGraphs.from_levels(levels)


@st.composite
def arc_graphs(draw, max_rows=5, max_labels=6, weighted=False):
    """Sparse, contradictory, cyclic and empty graphs."""
    n, k = draw(st.integers(0, max_rows)), draw(st.integers(1, max_labels))
    possible = [(h, t) for h in range(k) for t in range(k) if h != t]
    one = st.lists(st.sampled_from(possible), unique=True, max_size=12) if possible else st.just([])
    arcs = draw(st.lists(one, min_size=n, max_size=n))
    weights = None
    if weighted:
        weight = st.floats(0, 4, allow_subnormal=False)
        weights = [draw(st.lists(weight, min_size=len(a), max_size=len(a))) for a in arcs]
    return ArcGraphs.from_arcs(arcs, k, weights, conflicts="keep")


any_graphs = st.one_of(layered_graphs(), arc_graphs())


@st.composite
def graphs_and_scores(draw, graphs=any_graphs, elements=SCORES):
    g = draw(graphs)
    return g, draw(hnp.arrays(np.float64, g.shape, elements=elements))

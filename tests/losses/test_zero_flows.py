"""Flows at zero scores: closed forms and pieces against explicit arcs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from arcrank.decompositions import get_decomposition
from arcrank.graphs import LayeredGraphs
from arcrank.losses.zero_flows import zero_flows
from tests.oracles import arcs_of, pieces_of
from tests.strategies import any_graphs, arc_graphs

NAMES = ["zero-one", "disagreement", "domination", "dominated"]


def by_row(heads, tails, row):
    """A callable decomposition that depends on the instance: one piece, or one for each arc."""
    return [[a] for a in range(len(heads))] if row % 2 else [list(range(len(heads)))]


def oracle(graphs, decomposition):
    """Dekel et al. 2003, Fig. 3, at f = 0."""
    inflow, outflow = np.zeros(graphs.shape), np.zeros(graphs.shape)
    for row in range(len(graphs)):
        arcs = arcs_of(graphs, row)
        weight = getattr(graphs, "weight", None)
        w = np.ones(len(arcs)) if weight is None else weight[graphs.arc_ptr[row] :]
        pieces = pieces_of(arcs, decomposition, row)
        for piece in pieces:
            for a in piece:
                q = w[a] / (1 + sum(w[b] for b in piece)) / len(pieces)
                outflow[row, arcs[a][0]] += q
                inflow[row, arcs[a][1]] += q
    return inflow, outflow


def dense(flow):
    return flow.toarray() if sparse.issparse(flow) else flow


@given(any_graphs | arc_graphs(weighted=True), st.sampled_from([*NAMES, by_row]))
def test_flows_equal_the_oracle(graphs, decomposition):
    flows = zero_flows(graphs, get_decomposition(decomposition))
    for got, expected in zip(flows(slice(0, len(graphs))), oracle(graphs, decomposition), strict=True):
        np.testing.assert_allclose(dense(got), expected, atol=1e-12)


@pytest.mark.parametrize("decomposition", [*NAMES, by_row])
def test_blocks_of_rows_are_parts_of_the_whole(decomposition):
    graphs = LayeredGraphs.from_levels([[0, 1, 2], [1, 0, -1], [0, 0, 0], [2, 1, 0]])
    flows = zero_flows(graphs, get_decomposition(decomposition))
    for whole, part in zip(flows(slice(0, 4)), flows(slice(1, 3)), strict=True):
        np.testing.assert_array_equal(dense(whole)[1:3], dense(part))


def test_domination_by_hand():
    graphs = LayeredGraphs.from_levels([[0, 0, 1, 1]])
    inflow, outflow = zero_flows(graphs, get_decomposition("domination"))(slice(0, 1))
    np.testing.assert_allclose(outflow, [[1 / 3, 1 / 3, 0, 0]])
    np.testing.assert_allclose(inflow, [[0, 0, 1 / 3, 1 / 3]])

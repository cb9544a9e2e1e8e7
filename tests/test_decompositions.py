from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.decompositions import DECOMPOSITIONS, get_decomposition
from arcrank.errors import GraphError, ParameterError
from arcrank.graphs import ArcGraphs
from tests.oracles import arcs_of, pieces_of
from tests.strategies import arc_graphs

NAMES = ["zero-one", "disagreement", "domination", "dominated"]


@given(arc_graphs(weighted=True), st.sampled_from(NAMES))
def test_pieces_equal_the_oracle(g, name):
    cut = DECOMPOSITIONS[name].pieces(g)
    for row in range(len(g)):
        arcs = arcs_of(g, row)
        weight = g.weight[g.arc_ptr[row] : g.arc_ptr[row + 1]]
        expected = sorted(sorted((*arcs[a], weight[a]) for a in piece) for piece in pieces_of(arcs, name))
        got = []
        for p in range(cut.row_ptr[row], cut.row_ptr[row + 1]):
            at = slice(cut.arc_ptr[p], cut.arc_ptr[p + 1])
            got.append(sorted(zip(cut.head[at].tolist(), cut.tail[at].tolist(), cut.weight[at], strict=True)))
        assert sorted(got) == expected


def test_a_callable_may_repeat_and_leave_out_arcs():
    g = ArcGraphs.from_arcs([[], [(0, 1), (1, 2), (0, 2)]], 3)
    cut = get_decomposition(lambda heads, tails, row: [[0, 2], [2]]).pieces(g)
    assert cut.row_ptr.tolist() == [0, 0, 2]
    assert cut.arc_ptr.tolist() == [0, 2, 3]
    assert cut.tail.tolist() == [1, 2, 2]


def test_a_callable_knows_its_instance():
    g = ArcGraphs.from_arcs([[(0, 1), (1, 2)]] * 2, 3)
    cut = get_decomposition(lambda heads, tails, row: [[0], [1]] if row else []).pieces(g)
    assert cut.row_ptr.tolist() == [0, 0, 2]


@pytest.mark.parametrize(
    ("piece", "message"),
    [([], "non-empty"), ([1], r"0\.\.0"), ([0, 0], "twice"), ([[0]], "1-D"), ([0.5], "positions")],
)
def test_bad_pieces(piece, message):
    g = ArcGraphs.from_arcs([[(0, 1)]], 2)
    with pytest.raises(GraphError, match=message):
        get_decomposition(lambda heads, tails, row: [piece]).pieces(g)


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ParameterError, match="'domination'.*callable.*'dominate'"):
        get_decomposition("dominate")
    with pytest.raises(ParameterError):
        get_decomposition(3)

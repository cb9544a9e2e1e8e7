from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.decompositions import DECOMPOSITIONS
from arcrank.errors import ParameterError
from arcrank.rankers.preference_machine.bound import BoundTerms, most_arcs_of_a_piece, smallest_margin
from tests.oracles import arcs_of, pieces_of
from tests.strategies import any_graphs, graphs_and_scores


@given(graphs_and_scores(any_graphs, st.floats(-3, 3)))
def test_smallest_margins_and_largest_pieces_equal_the_arcs(case):
    g, scores = case
    margins = [scores[i, h] - scores[i, t] for i in range(len(g)) for h, t in arcs_of(g, i)]
    assert smallest_margin(g, scores) == min(margins, default=np.inf)
    for name in ("zero-one", "domination", "dominated", "disagreement"):
        sizes = [len(piece) for i in range(len(g)) for piece in pieces_of(arcs_of(g, i), name)]
        assert most_arcs_of_a_piece(g, DECOMPOSITIONS[name]) == max(sizes, default=0)


def test_the_formula_by_hand():
    terms = BoundTerms(n=1000, most_pieces=2, most_arcs=3, margin=0.5, radius=2.0)
    inner = 64 * 4 / 0.25 * np.log2(np.e * 1000 * 0.5 / 32) * np.log2(32_000 / 0.25)
    bound = terms.bound(0.05)
    assert bound.applies
    assert bound.value == pytest.approx(2 * 6 / 1000 * (inner + np.log2(80)))
    assert terms.bound(0.01).value > bound.value


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        (BoundTerms(10, 1, 1, -0.1, 2.0), "not separated"),
        (BoundTerms(10, 1, 1, 0.01, 2.0), "too few instances"),
        (BoundTerms(10, 0, 0, np.inf, 2.0), "no arcs"),
    ],
)
def test_it_says_when_it_does_not_apply(terms, reason):
    assert reason in terms.bound(0.05).reason
    assert terms.bound(0.05).value == np.inf


def test_delta_is_a_probability():
    with pytest.raises(ParameterError, match="between 0 and 1"):
        BoundTerms(10, 1, 1, 0.1, 2.0).bound(1.0)

"""Smallest margins, against all arcs."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arcrank.graphs.margins import smallest_margins
from tests.oracles import arcs_of
from tests.strategies import graphs_and_scores

FINITE = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 3.0])


@given(graphs_and_scores(elements=FINITE))
def test_smallest_margin_of_all_arcs(case):
    graphs, scores = case
    expected = [min((row[h] - row[t] for h, t in arcs_of(graphs, i)), default=math.nan) for i, row in enumerate(scores)]
    np.testing.assert_array_equal(smallest_margins(graphs, scores), np.array(expected).reshape(-1))

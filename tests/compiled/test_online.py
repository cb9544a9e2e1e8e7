"""Counting wrong arcs: by comparison and by sorting, against all arcs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.compiled import online
from tests.oracles import arcs_of
from tests.strategies import graphs_and_scores, layered_graphs

FINITE = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 3.0])


def counts(graphs, row, score):
    """Wrong arcs of each label as a head less those as a tail, and all of them."""
    wrong = [(h, t) for h, t in arcs_of(graphs, row) if score[h] <= score[t]]
    step = [sum(h == r for h, _ in wrong) - sum(t == r for _, t in wrong) for r in range(graphs.n_labels)]
    return step, len(wrong)


@pytest.mark.slow
@given(graphs_and_scores(layered_graphs(max_labels=9, max_level=5), FINITE))
def test_counts_of_layers_are_those_of_all_arcs(case):
    graphs, scores = case
    n_layers = max(2, graphs.n_layers)
    levels, sizes = np.empty(graphs.n_labels, np.int32), np.empty(n_layers, np.int64)
    step, tree = np.empty(graphs.n_labels), np.empty(n_layers + 1, np.int64)
    for i, score in enumerate(scores):
        arcs = online.read_layers(i, graphs.ptr, graphs.label, graphs.level, graphs.rest, levels, sizes)
        assert arcs == len(arcs_of(graphs, i))
        np.testing.assert_array_equal(levels, graphs.levels([i])[0])
        expected, wrong = counts(graphs, i, score)
        assert online.wrong_layers(levels, sizes, score, step, tree) == wrong
        if wrong:
            np.testing.assert_array_equal(step, expected)
        assert online._compare_sorted(levels, score, step, tree) == wrong
        np.testing.assert_array_equal(step, expected)


def test_normalizers_are_those_of_figure_2():
    assert [online.normalizer(loss, 3, 8) for loss in (online.INDICATOR, online.SIZE, online.NORMALIZED)] == [3, 1, 8]

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.errors import InputError, ParameterError
from arcrank.graphs import ArcGraphs, LayeredGraphs
from arcrank.metrics.generalized import (
    disagreement_error,
    dominated_error,
    domination_error,
    generalized_error,
    zero_one_error,
)
from tests.oracles import arcs_of, error_of
from tests.strategies import graphs_and_scores, layered_graphs
from tools.site.drawings import CYCLIC

NAMES = ["zero-one", "disagreement", "domination", "dominated"]


def neighbours_share(heads, tails, row):
    """A callable decomposition that overlaps, leaves arcs out and depends on the instance."""
    return [[a, a + 1] for a in range(row % 2, len(heads) - 1)]


@given(graphs_and_scores(), st.sampled_from([*NAMES, neighbours_share]))
def test_errors_equal_the_oracle(case, decomposition):
    g, scores = case
    got = generalized_error(g, scores, decomposition, reduce="none")
    expected = [error_of(arcs_of(g, i), scores[i], decomposition, i) for i in range(len(g))]
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    mean = generalized_error(g, scores, decomposition)
    assert mean == pytest.approx(np.mean(expected) if expected else 0.0)


@given(layered_graphs(max_rows=1, max_labels=6, max_level=5).filter(len), st.integers(0, 2**32 - 1))
def test_many_arcs_are_counted_by_sorting(g, seed):
    """Layers blown up until the disagreement kernel leaves the arc-by-arc count."""
    levels = np.repeat(g.levels(), 60, axis=1)
    scores = np.random.default_rng(seed).integers(0, 40, size=levels.shape).astype(float)
    big = LayeredGraphs.from_levels(levels)
    heads, tails = big.arcs(0)
    expected = np.mean(scores[0, heads] <= scores[0, tails]) if len(heads) else 0.0
    assert disagreement_error(big, scores) == pytest.approx(expected)


@given(graphs_and_scores())
def test_named_errors_are_the_generalized_one(case):
    g, scores = case
    for function, name in zip(
        [zero_one_error, disagreement_error, domination_error, dominated_error], NAMES, strict=True
    ):
        assert function(g, scores) == generalized_error(g, scores, name)


def test_dekel_figure_2():
    """The figure's fractions: 3 of 8 arcs, 2 of 4 heads and 3 of 5 tails disagree with the order 1 2 3 4 5.

    The drawing itself did not survive in the stored text; this is one of the four graphs that fit what is left of it
    (docs/concepts/decompositions.md).
    """
    arcs = [(head - 1, tail - 1) for head, tail in CYCLIC]
    g, scores = ArcGraphs.from_arcs([arcs], 5), [[5, 4, 3, 2, 1]]
    assert disagreement_error(g, scores) == pytest.approx(3 / 8)
    assert domination_error(g, scores) == pytest.approx(2 / 4)
    assert dominated_error(g, scores) == pytest.approx(3 / 5)
    assert zero_one_error(g, scores) == 1


def test_aiolli_sperduti_figure_1():
    """Label [1|2|3] under the ranking [3|1|2]: the preferences of (e) cost 2, those of (f) cost 1."""
    scores = [[2, 1, 3]]
    e = LayeredGraphs.from_rankings([[1, 2, 3]])
    f = LayeredGraphs.from_rankings([[1, 2, 3]], arcs="adjacent")
    assert disagreement_error(e, scores) * e.n_arcs == pytest.approx(2)
    assert disagreement_error(f, scores) * f.n_arcs == pytest.approx(1)


def test_supervision_of_any_kind_is_taken():
    assert zero_one_error(["a", "b"], [[1, 0], [1, 0]]) == 0.5
    assert domination_error(np.array([[1, 0, 1]]), [[1, 2, 3]]) == 0.5


def test_no_instances_and_no_arcs():
    empty = ArcGraphs.from_arcs([], 3)
    assert zero_one_error(empty, np.empty((0, 3))) == 0
    assert domination_error(LayeredGraphs.from_label_sets([[1, 1], [0, 0]]), [[0, 0], [0, 0]]) == 0


def test_read_only_float32_and_fortran_scores():
    g = LayeredGraphs.from_levels([[0, 1, 2], [2, 1, 0]])
    scores = np.asfortranarray([[1, 2, 3], [1, 2, 3]], dtype=np.float32)
    scores.flags.writeable = False
    assert disagreement_error(g, scores) == 0.5


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1, 2]], r"\(1, 3\); got \(1, 2\)"),
        ([[1, np.nan, 2]], "label 1 for instance 0 is NaN"),
        ([["a", "b", "c"]], "numbers"),
        ([1, 2, 3], r"got \(3,\)"),
    ],
)
def test_bad_scores(scores, message):
    with pytest.raises(InputError, match=message):
        zero_one_error(LayeredGraphs.from_single_labels([0], 3), scores)


def test_bad_reduce():
    with pytest.raises(ParameterError, match="'sum'"):
        zero_one_error(["a", "b"], [[1, 0], [1, 0]], reduce="sum")


def test_a_callable_gets_the_row_of_the_whole_however_long():
    n, k = 3_000, 600  # more cells than one block holds
    levels = np.ones((n, k), dtype=int)
    levels[:, 0] = 0
    seen = []

    def one_piece(heads, tails, row):
        seen.append(row)
        return [[0]]

    generalized_error(LayeredGraphs.from_levels(levels), np.zeros((n, k)), one_piece)
    assert seen == [*range(n)]

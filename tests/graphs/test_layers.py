from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from arcrank.errors import ArcrankError, GraphError, InputError, ParameterError
from arcrank.graphs import LayeredGraphs
from tests.oracles import arcs_of
from tests.strategies import layered_graphs

LEVELS = hnp.arrays(np.int64, st.tuples(st.integers(0, 6), st.integers(1, 6)), elements=st.integers(-1, 4))


@given(LEVELS)
def test_levels_survive(levels):
    if levels.size and levels.max() >= levels.shape[1]:
        levels = np.minimum(levels, levels.shape[1] - 1)
    assert np.array_equal(LayeredGraphs.from_levels(levels).levels(), levels)


@given(layered_graphs())
def test_arcs_and_their_number(g):
    for row in range(len(g)):
        heads, tails = g.arcs(row)
        assert sorted(zip(heads.tolist(), tails.tolist(), strict=True)) == sorted(arcs_of(g, row))
        assert g.arc_counts()[row] == len(heads)
    assert g.n_arcs == sum(g.arc_counts()) == g.to_arcs().n_arcs


@given(layered_graphs(), st.data())
def test_slices_are_rows(g, data):
    rows = data.draw(st.lists(st.integers(0, len(g) - 1), max_size=8) if len(g) else st.just([]))
    assert np.array_equal(g[rows].levels(), g.levels()[rows])
    assert np.array_equal(g[rows, ...].levels(), g.levels()[rows])
    assert g[1:] == g[np.arange(len(g)) >= 1]


def test_large_level_numbers_are_renumbered_in_order():
    g = LayeredGraphs.from_levels([[0, 70, -1], [900, 70, 70]])
    assert g.levels().tolist() == [[0, 1, -1], [2, 1, 1]]


def test_single_labels():
    g = LayeredGraphs.from_single_labels([2, 0], 3)
    assert g.levels().tolist() == [[1, 1, 0], [0, 1, 1]]
    assert g.n_arcs == 4
    assert g.shape == (2, 3)


@pytest.mark.parametrize("make", [np.array, sp.csr_matrix, sp.coo_matrix, lambda y: np.array(y, dtype=bool)])
def test_label_sets(make):
    Y = [[1, 0, 1], [0, 0, 0], [1, 1, 1]]
    g = LayeredGraphs.from_label_sets(make(Y))
    assert g.levels().tolist() == [[0, 1, 0], [1, 1, 1], [0, 0, 0]]
    assert g.arc_counts().tolist() == [2, 0, 0]
    assert g.to_indicator().toarray().tolist() == np.array(Y, dtype=bool).tolist()


def test_all_labels_relevant_in_every_row():
    assert LayeredGraphs.from_label_sets(np.ones((3, 2), dtype=bool)).arc_counts().tolist() == [0, 0, 0]


def test_sparse_label_sets_cost_only_their_relevant_labels():
    n, k = 20_000, 50_000
    rng = np.random.default_rng(0)
    Y = sp.csr_matrix((np.ones(n), (np.arange(n), rng.integers(k, size=n))), shape=(n, k))
    g = LayeredGraphs.from_label_sets(Y)
    stored = sum(a.nbytes for a in (g.ptr, g.label, g.level, g.rest))
    assert stored < 40 * n  # a byte for each cell would be 50,000 n
    assert g.n_arcs == n * (k - 1)
    assert g[:100].to_indicator().nnz == 100


def test_rankings_with_ties_and_gaps():
    g = LayeredGraphs.from_rankings([[1, 2, 2, 4], [np.nan, 2, 1, np.nan]])
    assert g.levels().tolist() == [[0, 1, 1, 2], [-1, 1, 0, -1]]


def test_adjacent_arcs_only():
    g = LayeredGraphs.from_rankings([[1, 2, 3], [2, 1, 1]], arcs="adjacent")
    assert [list(zip(*map(np.ndarray.tolist, g.arcs(i)), strict=True)) for i in range(2)] == [
        [(0, 1), (1, 2)],
        [(1, 0), (2, 0)],
    ]


def test_distances_collapse_to_layers():
    D = [[0.0, 1.5, 7.0, np.inf, np.nan]]
    assert LayeredGraphs.from_distances(D).levels().tolist() == [[0, 1, 2, 3, -1]]
    assert LayeredGraphs.from_distances(D, n_layers=2).levels().tolist() == [[0, 1, 1, 1, -1]]


def test_equality_and_repr():
    g = LayeredGraphs.from_levels([[0, 1, 1]])
    assert g == LayeredGraphs.from_single_labels([0], 3)
    assert g == g.to_arcs()
    assert g != LayeredGraphs.from_single_labels([1], 3)
    assert g != LayeredGraphs.from_single_labels([0], 3, labels=["a", "b", "c"])
    assert g != "something else"
    assert repr(g) == "LayeredGraphs(1 instances, 3 labels, 2 layers, 2 arcs)"


def test_graphs_that_are_not_label_sets_say_so():
    with pytest.raises(GraphError, match="3 layers"):
        LayeredGraphs.from_levels([[0, 1, 2]]).to_indicator()
    with pytest.raises(GraphError, match="Label 2 of instance 1 was not judged"):
        LayeredGraphs.from_levels([[0, 1, 1], [0, 1, -1]]).to_indicator()


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: LayeredGraphs.from_levels([[0, -2]]), InputError, "Instance 0 has level -2 for label 1"),
        (lambda: LayeredGraphs.from_levels([[0, 0.5]]), InputError, "whole numbers"),
        (lambda: LayeredGraphs.from_levels([0, 1]), InputError, "2-D"),
        (lambda: LayeredGraphs.from_levels([[0], [0, 1]]), InputError, "rectangular"),
        (lambda: LayeredGraphs.from_levels(np.empty((2, 0))), InputError, "no columns"),
        (lambda: LayeredGraphs.from_levels(sp.csr_matrix((1, 2))), InputError, "toarray"),
        (lambda: LayeredGraphs.from_single_labels([0, 3], 3), InputError, r"Instance 1 has label 3; .* 0\.\.2"),
        (lambda: LayeredGraphs.from_single_labels(["a"], 3), InputError, "as_graphs"),
        (lambda: LayeredGraphs.from_single_labels([0], 0), GraphError, "n_labels"),
        (lambda: LayeredGraphs.from_label_sets([[0, 2]]), InputError, "got 2"),
        (lambda: LayeredGraphs.from_rankings([[0, 1]]), InputError, "rank 0 for label 0"),
        (lambda: LayeredGraphs.from_rankings([[1, 2]], arcs="none"), ParameterError, "'adjacent'"),
        (lambda: LayeredGraphs.from_distances([[-1, 0]]), InputError, "distance -1"),
        (lambda: LayeredGraphs.from_distances([[1, 0]], n_layers=0), ParameterError, "n_layers"),
        (lambda: LayeredGraphs.from_levels([[0, 1]], labels=["a"]), InputError, "1 label names for 2 labels"),
        (lambda: LayeredGraphs.from_levels([[0, 1]], labels=["a", "a"]), InputError, "'a' is given more than once"),
        (lambda: LayeredGraphs.from_levels([[0, 1]])[0, 1], InputError, "indexed by instance"),
    ],
)
def test_bad_input(build, error, message):
    assert issubclass(error, ArcrankError)
    with pytest.raises(error, match=message):
        build()


def test_rows_out_of_range():
    with pytest.raises(IndexError):
        LayeredGraphs.from_levels([[0, 1]])[1]

"""Graphs meet a model's labels by name: order is no meaning, and a name that is not there is no other one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from arcrank.errors import InputError
from arcrank.graphs import ArcGraphs, LayeredGraphs, as_graphs, concatenate
from arcrank.graphs.align import align_labels
from tests.strategies import any_graphs, arc_graphs

NAMES = np.array(list("abcdefghij"), dtype=object)


def arcs_by_name(graphs):
    names = graphs.labels.tolist()
    return [{(names[h], names[t]) for h, t in zip(*graphs.arcs(i), strict=True)} for i in range(len(graphs))]


@given(any_graphs, st.randoms(use_true_random=False))
def test_the_order_of_labels_means_nothing(graphs, random):
    named = graphs.with_labels(NAMES[: graphs.n_labels])
    order = random.sample(named.labels.tolist(), graphs.n_labels)
    aligned = align_labels(named, order)
    assert aligned.labels.tolist() == order
    assert arcs_by_name(aligned) == arcs_by_name(named)
    back = align_labels(aligned, named.labels)
    assert back == named
    if isinstance(back, LayeredGraphs):
        assert back.levels().tolist() == named.levels().tolist()


def test_the_same_labels_are_the_same_graphs():
    graphs = as_graphs(["a", "b"])
    assert align_labels(graphs, ["a", "b"]) is graphs
    numbered = as_graphs(np.eye(3))
    assert align_labels(numbered, np.arange(3)) is numbered


@given(hnp.arrays(bool, st.tuples(st.integers(0, 5), st.integers(1, 6))), st.randoms(use_true_random=False))
def test_labels_that_label_sets_lack_are_irrelevant(Y, random):
    names = NAMES[: Y.shape[1]].tolist()
    wanted = random.sample([*names, "y", "z"], len(names) + 2)
    aligned = align_labels(LayeredGraphs.from_label_sets(Y, labels=names), wanted)
    sets = [[name for name, is_relevant in zip(names, row, strict=True) if is_relevant] for row in Y]
    assert aligned.levels().tolist() == [[int(name not in one) for name in wanted] for one in sets]


@given(
    hnp.arrays(np.int64, st.tuples(st.integers(0, 5), st.integers(3, 6)), elements=st.integers(-1, 3)),
    st.randoms(use_true_random=False),
)
def test_labels_that_other_graphs_lack_are_not_judged(levels, random):
    levels[:, :3] = 0, 1, 2  # no instance is a label set
    names = NAMES[: levels.shape[1]].tolist()
    wanted = random.sample([*names, "y", "z"], len(names) + 2)
    graphs = LayeredGraphs.from_levels(levels, labels=names)
    aligned = align_labels(graphs, wanted)
    of_name = [dict(zip(names, row, strict=True)) for row in graphs.levels().tolist()]
    assert aligned.levels().tolist() == [[row.get(name, -1) for name in wanted] for row in of_name]
    assert arcs_by_name(aligned) == arcs_by_name(graphs)


@given(arc_graphs(weighted=True))
def test_arcs_gain_nothing_by_more_labels(graphs):
    named = graphs.with_labels(NAMES[: graphs.n_labels])
    aligned = align_labels(named, ["z", *named.labels.tolist()[::-1]])
    assert aligned.n_labels == graphs.n_labels + 1
    assert arcs_by_name(aligned) == arcs_by_name(named)
    assert np.array_equal(aligned.weight, graphs.weight)


def test_two_ranks_are_no_label_set():
    """Ranks of two of many labels say nothing of the others; single labels do."""
    ranks = LayeredGraphs.from_rankings([[1, 2], [2, 1]], labels=["a", "b"])
    assert align_labels(ranks, ["b", "a", "c"]).levels().tolist() == [[1, 0, -1], [0, 1, -1]]
    assert align_labels(as_graphs(["a", "b"]), ["b", "a", "c"]).levels().tolist() == [[1, 0, 1], [0, 1, 1]]


def test_kinds_that_mix_in_a_file_keep_their_meaning():
    graphs = as_graphs([["a"], ["b"]], labels=["a", "b", "c"])
    layers = as_graphs([[["c"], ["a", "b"]]])
    both = align_labels(concatenate([graphs, layers]), ["d", "c", "b", "a"])
    assert both.levels().tolist() == [[1, 1, 1, 0], [1, 1, 0, 1], [-1, 0, 1, 1]]


@pytest.mark.parametrize(
    ("graphs", "row"),
    [
        (as_graphs([["a"], ["a", "x"]]), 1),
        (as_graphs([["a"], ["a"], ["x", "y", "a"]]), 2),
        (as_graphs([[["a"], ["b"]], [["b"], ["x"]]]), 1),
        (as_graphs([["b", "a", "x"]], kind="ranking"), 0),
        (as_graphs(np.array([[1, 2, 3]]), labels=["a", "b", "x"]), 0),
        (as_graphs([[("a", "b")], [("x", "a")]]), 1),
        (as_graphs([[("a", "b")], [("a", "x")]]), 1),
    ],
)
def test_unknown_labels_are_named(graphs, row):
    with pytest.raises(InputError, match=rf"Instance {row} judges the label 'x', .* 3 labels \('a', 'b', 'c'\)"):
        align_labels(graphs, ["a", "b", "c"])


def test_all_unknown_labels_are_named():
    with pytest.raises(InputError, match="label 'x', .*unknown are also 'y', 'z'"):
        align_labels(as_graphs(["x", "y", "z"]), ["a", "b", "c"])


@pytest.mark.parametrize(
    "graphs",
    [
        as_graphs([["a"], ["b"]], labels=["a", "x", "b"]),
        as_graphs([[["a"], ["b"]], [["b"], ["a"]]], labels=["x", "a", "b"]),
        as_graphs([[("a", "b")], [("b", "a")]], labels=["b", "x", "a"]),
        LayeredGraphs.from_levels([[0, 1, -1], [1, 0, -1]], labels=["a", "b", "x"]),
    ],
)
def test_labels_that_no_instance_uses_are_left_out(graphs):
    aligned = align_labels(graphs, ["b", "a"])
    assert aligned.labels.tolist() == ["b", "a"]
    assert arcs_by_name(aligned) == [{("a", "b")}, {("b", "a")}]


def test_graphs_without_names_fit_numbered_labels_only():
    graphs = as_graphs(np.eye(3))
    with pytest.raises(InputError, match=r"no names, .* which of them is 'a'.*with_labels\(ranker.labels_\)"):
        align_labels(graphs, ["a", "b", "c"])
    with pytest.raises(InputError, match="3 labels without names, where 2 are expected"):
        align_labels(graphs, [0, 1])
    with pytest.raises(InputError, match=r"'a'.*3 labels \(0, 1, 2\).*with_labels\(None\)"):
        align_labels(graphs.with_labels(["a", "b", "c"]), [0, 1, 2])


def test_numbers_match_in_every_type():
    graphs = as_graphs(np.array([0.0, 2.0, 1.0]))
    assert align_labels(graphs, np.arange(3)).levels().tolist() == graphs.levels().tolist()


def test_as_graphs_takes_named_graphs_to_other_labels_by_name():
    graphs = as_graphs(["a", "b"])
    assert as_graphs(graphs, labels=["b", "a"]).levels().tolist() == [[1, 0], [0, 1]]
    arcs = ArcGraphs.from_arcs([[(0, 1)]], 2)
    assert as_graphs(arcs, labels=["p", "q"]).labels.tolist() == ["p", "q"]
    with pytest.raises(InputError, match="more than once"):
        as_graphs(graphs, labels=["a", "b", "a"])

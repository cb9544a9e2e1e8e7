from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcrank import PreferenceMachine
from arcrank.errors import InputError
from arcrank.graphs import Hierarchy, LayeredGraphs, as_graphs, from_costs
from arcrank.metrics import disagreement_error, dominated_error, domination_error, generalized_error, zero_one_error
from tests.oracles import arcs_of, pieces_of
from tests.strategies import layered_graphs

COSTS = np.array([[0.0, 1.0, 5.0, 0.0], [2.0, 0.0, 3.0, 1.0], [4.0, 4.0, 0.0, 0.5], [1.0, 2.0, 3.0, 0.0]])


def explicit(graphs):
    return [dict(zip(arcs_of(graphs, row), weights, strict=True)) for row, weights in enumerate(row_weights(graphs))]


def row_weights(graphs):
    return [graphs.weight[a:b].tolist() for a, b in zip(graphs.arc_ptr, graphs.arc_ptr[1:], strict=False)]


@given(layered_graphs(max_labels=4))
@settings(max_examples=40, deadline=None)
def test_an_arc_weighs_the_cost_of_its_tail_where_its_head_is_right(graphs):
    k = graphs.n_labels
    found = from_costs(graphs, COSTS[:k, :k])
    for row, arcs in enumerate(explicit(found)):
        wanted = {(h, t): COSTS[h, t] for h, t in arcs_of(graphs, row) if COSTS[h, t] > 0}
        assert arcs == wanted


def test_weights_of_given_arcs_are_multiplied():
    graphs = as_graphs([[("a", "b")], [("b", "a")]])
    graphs = type(graphs).from_arcs([[(0, 1)], [(1, 0)]], 2, [[2.0], [3.0]])
    assert from_costs(graphs, [[0, 10], [100, 0]]).weight.tolist() == [20.0, 300.0]


def test_costs_of_instances_are_differences():
    graphs = from_costs(None, [[0.0, 1.0, 3.0], [2.0, 2.0, 0.5], [1.0, np.nan, 0.0]], labels=["a", "b", "c"])
    assert explicit(graphs) == [
        {(0, 1): 1.0, (0, 2): 3.0, (1, 2): 2.0},
        {(2, 0): 1.5, (2, 1): 1.5},
        {(2, 0): 1.0},
    ]
    assert graphs.labels.tolist() == ["a", "b", "c"]


def test_a_hierarchy_costs_the_steps_between_leaves():
    tree = Hierarchy({"A": None, "A1": "A", "A2": "A", "A21": "A2", "A22": "A2", "B": None})
    parent = {
        "A (other)": "A",
        "A1": "A",
        "A2 (other)": "A2",
        "A21": "A2",
        "A22": "A2",
        "B": "root",
        "A2": "A",
        "A": "root",
    }

    def up(leaf):
        path = [leaf]
        while path[-1] in parent:
            path.append(parent[path[-1]])
        return path

    for i, a in enumerate(tree.leaves):
        for j, b in enumerate(tree.leaves):
            common = next(node for node in up(a) if node in up(b))
            assert tree.leaf_costs()[i, j] == up(a).index(common) + up(b).index(common)
    graphs = from_costs([["A21"], ["B", "A"]], tree)
    assert graphs.labels.tolist() == list(tree.leaves)
    assert explicit(graphs)[0][(3, 4)] == 2.0
    assert explicit(graphs)[1][(0, 1)] == 2.0


@pytest.mark.parametrize("name", ["zero-one", "disagreement", "domination", "dominated"])
@given(graphs=layered_graphs(max_labels=4), data=st.data())
@settings(max_examples=25, deadline=None)
def test_weighted_errors_are_those_of_an_oracle(name, graphs, data):
    k = graphs.n_labels
    weighted = from_costs(graphs, COSTS[:k, :k])
    scores = np.array(
        data.draw(
            st.lists(st.lists(st.integers(0, 3), min_size=k, max_size=k), min_size=len(graphs), max_size=len(graphs))
        )
    )
    scores = scores.reshape(len(graphs), k)
    found = generalized_error(weighted, scores, name, reduce="none", weighted=True)
    for row, arcs in enumerate(explicit(weighted)):
        keys = list(arcs)
        pieces = pieces_of(keys, name, row)
        charges = [
            max([arcs[keys[a]] for a in one if scores[row, keys[a][0]] <= scores[row, keys[a][1]]], default=0.0)
            for one in pieces
        ]
        assert found[row] == pytest.approx(np.mean(charges) if charges else 0.0)


def test_the_four_errors_count_weights_only_on_request():
    graphs = from_costs([0, 1], 10.0 * (1 - np.eye(3)), labels=[0, 1, 2])
    scores = np.array([[0.0, 1.0, 2.0], [0.0, 2.0, 1.0]])
    for error in (zero_one_error, disagreement_error, domination_error, dominated_error):
        assert error(graphs, scores, weighted=True) == 10 * error(graphs, scores)
    layered = LayeredGraphs.from_single_labels([0, 1], 3)
    assert zero_one_error(layered, scores, weighted=True) == zero_one_error(layered, scores) == 0.5


def test_a_machine_avoids_what_is_expensive():
    random = np.random.RandomState(0)
    y = random.randint(0, 3, size=300)
    X = np.eye(3)[y] + 0.9 * random.randn(300, 3)
    costs = np.array([[0.0, 1.0, 20.0], [1.0, 0.0, 20.0], [1.0, 1.0, 0.0]])
    settings = {"C": 0.1, "random_state": 0}
    plain = PreferenceMachine(**settings).fit(X[:150], y[:150])
    costly = PreferenceMachine(**settings).fit(X[:150], from_costs(y[:150], costs))
    paid = [costs[y[150:], machine.score_labels(X[150:]).argmax(axis=1)].mean() for machine in (plain, costly)]
    assert paid[1] < 0.7 * paid[0]


@pytest.mark.parametrize(
    ("y", "costs", "message"),
    [
        ([0, 1], np.ones((3, 3)), r"square matrix over the 2 labels of y, got shape \(3, 3\)"),
        ([0, 1], [[0.0, -1.0], [1.0, 0.0]], r"costs\[0, 1\] is -1.0; costs must be finite and at least 0"),
        ([0, 1], [[0.0, np.nan], [1.0, 0.0]], "costs between labels hold NaN"),
        (None, [1.0, 2.0], "costs must be a matrix of numbers"),
        (None, [["a", "b"]], "costs must be a matrix of numbers"),
    ],
)
def test_refusals(y, costs, message):
    with pytest.raises(InputError, match=message):
        from_costs(y, costs)

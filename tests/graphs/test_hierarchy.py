from __future__ import annotations

import copy
import pickle
from collections import deque
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.errors import GraphError, InputError, ParameterError
from arcrank.graphs import Hierarchy


@st.composite
def hierarchies(draw, max_labels=9):
    n = draw(st.integers(1, max_labels))
    parents = {f"n{j}": draw(st.sampled_from([None, *(f"n{i}" for i in range(j))])) for j in range(n)}
    order = draw(st.permutations(list(parents)))
    return Hierarchy({label: parents[label] for label in order})


def distances_by_search(tree: Hierarchy, correct: set[str]) -> dict[str, int]:
    """Breadth-first search from the correct leaves over the tree with its root and dummies."""
    parents: dict[str, str] = {label: parent or "(root)" for label, parent in tree.parents.items()}
    parents |= {leaf: leaf.removesuffix(" (other)") for leaf in tree.leaves if leaf not in parents}
    neighbours: dict[str, set[str]] = {}
    for child, parent in parents.items():
        neighbours.setdefault(child, set()).add(parent)
        neighbours.setdefault(parent, set()).add(child)
    found, queue = dict.fromkeys(correct, 0), deque(correct)
    while queue:
        node = queue.popleft()
        for other in neighbours[node] - set(found):
            found[other] = found[node] + 1
            queue.append(other)
    return found


@given(hierarchies(), st.data())
def test_layers_are_the_distances_that_occur(tree, data):
    one = st.lists(st.sampled_from(tree.labels), unique=True, max_size=4)
    sets = data.draw(st.lists(one, max_size=4))
    n_layers = data.draw(st.sampled_from([None, 2, 3]))
    levels = tree.leaf_graphs(sets, n_layers).levels()
    for row, correct in enumerate(tree.leaf_sets(sets)):
        if not correct:
            assert (levels[row] == -1).all()
            continue
        distance = distances_by_search(tree, set(correct))
        occurring = sorted({distance[leaf] for leaf in tree.leaves})
        expected = [occurring.index(distance[leaf]) for leaf in tree.leaves]
        if n_layers is not None:
            expected = [min(level, n_layers - 1) for level in expected]
        assert levels[row].tolist() == expected


def test_paths_end_in_leaves():
    tree = Hierarchy({"C": None, "C1": "C", "C11": "C1", "E": None})
    assert tree.leaves == ("C (other)", "C1 (other)", "C11", "E")
    ends = tree.leaf_sets([["C", "C1", "C11"], ["C", "C1"], ["C"], ["C", "E"], []])
    assert ends == [["C11"], ["C1 (other)"], ["C (other)"], ["C (other)", "E"], []]
    assert tree.path("C11") == ("C11", "C1", "C")
    assert repr(tree) == "Hierarchy(4 labels, 4 leaves (2 dummies), depth 3)"
    assert tree.leaf_graphs([["E"]]).labels.tolist() == list(tree.leaves)
    assert np.array_equal(tree.leaf_graphs([[]]).arc_counts(), [0])


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({"a": "b", "b": "c", "c": "a"}, "cycle: a -> b -> c -> a. Give one of these labels another parent"),
        ({"a": "a"}, "cycle: a -> a"),
        ({"a": "b"}, "parent 'b' of 'a' is not in the hierarchy"),
        ({}, "empty"),
        ({"a": None, "b": "a", "a (other)": "a"}, "'a \\(other\\)' has the name of a dummy leaf"),
    ],
)
def test_bad_hierarchies(parents, message):
    with pytest.raises(GraphError, match=message):
        Hierarchy(parents)


def test_bad_labels():
    tree = Hierarchy({"a": None})
    with pytest.raises(InputError, match="Instance 1 has the label 'z'"):
        tree.leaf_graphs([["a"], ["z"]])
    with pytest.raises(InputError, match="list of labels"):
        tree.leaf_graphs(["a"])
    with pytest.raises(ParameterError, match="n_layers"):
        tree.leaf_graphs([["a"]], n_layers=1)


def test_it_is_the_mapping_from_labels_to_parents():
    parents = {"C": None, "C1": "C", "E": None}
    tree = Hierarchy(parents)
    assert isinstance(tree, Mapping)
    assert list(tree) == list(tree.keys()) == ["C", "C1", "E"]
    assert list(tree.items()) == list(parents.items())
    assert list(tree.values()) == [None, "C", None]
    assert tree["C1"] == tree.get("C1") == "C"
    assert tree["C"] is None
    assert tree.get("X", "none") == "none"
    assert "E" in tree
    assert "X" not in tree
    with pytest.raises(KeyError):
        tree["X"]


def test_equal_to_a_mapping_with_the_same_pairs():
    parents = {"C": None, "C1": "C"}
    assert Hierarchy(parents) == parents == Hierarchy(Hierarchy(parents))
    assert Hierarchy(parents) != {"C": None}
    assert Hierarchy(parents) != [("C", None), ("C1", "C")]


def test_pickled_copied_and_printed():
    tree = Hierarchy({"C": None, "C1": "C", "E": None})
    for again in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert again == tree
        assert again.leaves == tree.leaves
        assert repr(again) == repr(tree) == "Hierarchy(3 labels, 3 leaves (1 dummies), depth 2)"

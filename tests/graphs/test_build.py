from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold, cross_validate

from arcrank.errors import InputError, ParameterError
from arcrank.graphs import ArcGraphs, Hierarchy, LayeredGraphs, as_graphs


@pytest.mark.parametrize(
    ("y", "levels", "labels"),
    [
        (["b", "a", "b"], [[1, 0], [0, 1], [1, 0]], ["a", "b"]),
        (np.array([3, 5]), [[0, 1], [1, 0]], [3, 5]),
        (np.array([1.0, 0.0]), [[1, 0], [0, 1]], [0.0, 1.0]),
        (np.array(["b", "a"], dtype=object), [[1, 0], [0, 1]], ["a", "b"]),
        (np.array([[True, False]]), [[0, 1]], None),
        (np.array([[1, 0], [1, 1]]), [[0, 1], [0, 0]], None),
        (sp.csr_matrix([[0, 1]]), [[1, 0]], None),
        (np.array([[1, 2], [2.0, np.nan]]), [[0, 1], [0, -1]], None),
        ([["a"], ["b", "c"], []], [[0, 1, 1], [1, 0, 0], [1, 1, 1]], ["a", "b", "c"]),
        ([{"a"}, {"b", "c"}], [[0, 1, 1], [1, 0, 0]], ["a", "b", "c"]),
        ([("a",), ("b", "a")], [[0, 1], [0, 0]], ["a", "b"]),
        ([[["a"], ["b", "c"]], [["c"], ["a"]]], [[0, 1, 1], [1, -1, 0]], ["a", "b", "c"]),
        ([[np.str_("a")], ["b"]], [[0, 1], [1, 0]], ["a", "b"]),
    ],
)
def test_kinds_are_told_apart(y, levels, labels):
    g = as_graphs(y)
    assert isinstance(g, LayeredGraphs)
    assert g.levels().tolist() == levels
    assert (g.labels if labels is None else g.labels.tolist()) == labels


def test_arcs_by_name():
    g = as_graphs([[("x", "y"), ("y", "z")], [], [("z", "x")]])
    assert isinstance(g, ArcGraphs)
    assert g.labels.tolist() == ["x", "y", "z"]
    assert g.arcs(0)[0].tolist() == [0, 1]
    assert g.arcs(2)[1].tolist() == [0]
    assert as_graphs([[("x", "y"), ("y", "x")]], conflicts="keep").n_arcs == 2


def test_data_frames_and_series():
    class Series:  # what pandas and polars share
        def to_numpy(self):
            values = np.empty(2, dtype=object)
            values[:] = [["a", "b"], ["b"]]
            return values

    assert as_graphs(Series()).levels().tolist() == [[0, 0], [1, 0]]


@pytest.mark.parametrize("kind", ["ranks", "levels", "distances", "indicator"])
def test_kind_says_what_a_matrix_is(kind):
    y = np.array([[1, 1]])
    expected = {"ranks": [[0, 0]], "levels": [[1, 1]], "distances": [[0, 0]], "indicator": [[0, 0]]}
    assert as_graphs(y, kind=kind).levels().tolist() == expected[kind]


def test_given_labels_fix_the_columns():
    assert as_graphs(["a", "b"], labels=["b", "z", "a"]).levels().tolist() == [[1, 1, 0], [0, 1, 1]]
    assert as_graphs([["a"]], labels=["b", "a"]).levels().tolist() == [[1, 0]]
    assert as_graphs(np.array([[1, 0]]), labels=["p", "q"]).labels.tolist() == ["p", "q"]
    assert as_graphs([[], []], labels=["a", "b"]).n_arcs == 0
    g = LayeredGraphs.from_single_labels([0], 2)
    assert as_graphs(g) is g
    assert as_graphs(g, labels=["p", "q"]).labels.tolist() == ["p", "q"]


def test_odd_names_are_kept_exactly():
    names = [" a ", "a", "\n", "ü🙂", "x" * 10_000]
    g = as_graphs([[name] for name in names])
    assert g.labels.tolist() == sorted(names)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (np.array([[0, 1, 2]]), {}, "kind='levels'"),
        (np.array([[1.0, np.nan]]), {}, "kind='ranks'"),
        (np.array([[-1, 2]]), {}, "could mean several things"),
        (np.array([["a", "b"]]), {}, "kind='arcs'.*kind='ranking'.*kind='sets'"),
        (np.array([[3], [5]]), {}, r"y\.ravel\(\)"),
        (np.zeros((2, 2, 2)), {}, "1-D"),
        ("abc", {}, "one entry for each instance"),
        (5, {}, "one entry for each instance"),
        ([("a", "b"), ("b", "c")], {}, "label sets, or one arc each, 'a' preferred to 'b'"),
        ([[0, 1], [1, 0]], {}, "kind='indicator'"),
        ([["a"], [["b"], ["c"]]], {}, "Instances 0 and 1 are given in different ways"),
        ([["a"], "b"], {}, "Instances 0 and 1"),
        ([["a", "b", "a"]], {}, "'a' twice"),
        ([[["a"], ["b", "a"]]], {}, "'a' twice"),
        ([["a", 1, 2]], {}, "different types"),
        ([["a"], ["b", float("nan")], ["c"]], {}, "different types"),
        ([[1.0], [2.0, float("nan")]], {}, "label name nan stands for a missing value"),
        ([[], []], {}, "no labels"),
        (["a", "c"], {"labels": ["a", "b"]}, "Instance 1 has the label 'c', which is not among the 2 labels"),
        ([["a"], ["c"]], {"labels": ["a", "b"]}, "Instance 1 has the label 'c'"),
        (np.array([0.5, 1]), {}, "whole numbers or names"),
        (np.array(["a", None], dtype=object), {}, "Instance 1 has no label"),
        (np.array([[1, 0]]), {"labels": ["a"]}, "1 label names for 2 labels"),
        (np.array([[1, 0]]), {"kind": "single"}, "1-D"),
    ],
)
def test_bad_input(y, options, message):
    with pytest.raises(InputError, match=message):
        as_graphs(y, **options)


@pytest.mark.parametrize("name", ["", "\0", "a\0", "a\0b"])
@pytest.mark.parametrize(
    "build",
    [
        lambda name: as_graphs([name, "b"]),
        lambda name: as_graphs((name, "b")),
        lambda name: as_graphs(np.array([name, "b"], dtype=object)),
        lambda name: as_graphs([[name], ["b"]]),
        lambda name: as_graphs([[(name, "b")]]),
        lambda name: as_graphs([[[name], ["b"]]]),
        lambda name: as_graphs([[name, "b", "c"]], kind="ranking"),
        lambda name: as_graphs(np.eye(2), labels=[name, "b"]),
        lambda name: as_graphs(np.eye(2)).with_labels([name, "b"]),
        lambda name: ArcGraphs.from_arcs([[(0, 1)]], 2, labels=[name, "b"]),
        lambda name: Hierarchy({name: None, "b": None}),
    ],
)
def test_names_that_cannot_be_read_are_refused(name, build):
    with pytest.raises(InputError, match="is empty|holds a NUL character"):
        build(name)


def test_a_numpy_array_has_lost_its_nul_characters():
    with pytest.raises(InputError, match="is empty"):
        as_graphs(np.array(["\0", "b"]))


def test_unknown_kind():
    with pytest.raises(ParameterError, match="'single'"):
        as_graphs([1], kind="class")


class _ArcCounter(BaseEstimator):
    """Scores how many arcs it was shown, to see what cross-validation passes on."""

    def fit(self, X, y):
        assert len(X) == len(y)
        return self

    def score(self, X, y):
        return y.n_arcs


@pytest.mark.parametrize("as_arcs", [False, True])
def test_scikit_learn_can_split_graphs(as_arcs):
    g = as_graphs(np.arange(10) % 3)
    g = g.to_arcs() if as_arcs else g
    scores = cross_validate(_ArcCounter(), np.zeros((10, 1)), g, cv=KFold(5))["test_score"]
    assert scores.tolist() == [4.0] * 5

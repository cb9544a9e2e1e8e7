"""Supervision that means something else than it seems to: told, or refused, never garbled."""

from __future__ import annotations

import io
import json
from collections import OrderedDict

import numpy as np
import pytest

from arcrank.datasets import read_corpus
from arcrank.errors import ArcrankError
from arcrank.graphs import as_graphs


class Frame:
    """What of a pandas data frame counts here."""

    def __init__(self, values, columns):
        self.values, self.columns = np.asarray(values), columns

    def to_numpy(self):
        return self.values


@pytest.mark.parametrize(
    ("y", "kind", "message"),
    [
        (["cat", "a"], "sets", r"Instance 0 has 'cat', where a list of labels belongs; write \['cat'\]"),
        ([{"a": 1}], None, "Instance 0 has {'a': 1} instead of a label"),
        ([{"a": 1}], "sets", "where a list of labels belongs"),
        ([["a"], ["b", {"c": 1}]], None, "Instance 1 has {'c': 1} instead of a label"),
        ([OrderedDict(a=1)], None, "name or a number"),
        ([[("a", "b")]], "sets", "kind='arcs'"),
        ([[("a", "b"), ("b", "a")]], None, r"as_graphs\(y, conflicts='keep'\)"),
        ([["a", "b"]], "layers", "where a layer"),
        ([["ab"]], "arcs", "where an arc"),
        ([[1, 2, 3]], "arcs", "where an arc"),
        ([{"a", "b"}], "arcs", "which has no order, where an arc"),
        ([[{"a", "b"}]], "arcs", "which has no order, where an arc"),
        ([{"a", "b", "c"}], "ranking", "which has no order, where a list of labels"),
        (["abc"], "ranking", "Instance 0 has 'abc', where a list of labels"),
        ([["a", "b"], ["a", ["b", "a"]]], "ranking", "Instance 1 has the label 'a' twice"),
        ([[["a", "b"], ["b", "c"]]], None, r"tuples \(a, b\) or pass as_graphs\(y, kind='arcs'\)"),
        ({"a": 1}, "sets", "one entry for each instance"),
        (5, "sets", "one entry for each instance"),
        (np.array([[0, 3]]), None, "kind='grades'"),
        (np.array([[0.0, np.inf]]), "grades", "finite"),
    ],
)
def test_what_is_no_label_is_refused(y, kind, message):
    with pytest.raises(ArcrankError, match=message):
        as_graphs(y, kind=kind)


PAIRS = [["ann", "bob"], ["bob", "cid"], ["ann", "cid"]]


@pytest.mark.parametrize(
    "pairs", [PAIRS, [tuple(one) for one in PAIRS], [*PAIRS, []], [np.array(one) for one in PAIRS]]
)
def test_two_names_in_every_row_are_sets_or_arcs(pairs):
    """A data frame's columns of winners and losers, as lists: never a label set without being asked."""
    with pytest.raises(ArcrankError, match=r"kind='arcs'.*\{'ann', 'bob'\}.*kind='sets'"):
        as_graphs(pairs)
    given = as_graphs(pairs, kind="arcs")
    assert given == as_graphs([[tuple(one)] if len(one) else [] for one in pairs])
    sets = [frozenset(map(str, one)) for one in pairs]
    assert as_graphs(pairs, kind="sets") == as_graphs(sets) == as_graphs([set(one) for one in sets])


@pytest.mark.parametrize("pairs", [np.array(PAIRS), np.array(PAIRS, dtype=object), Frame(PAIRS, ["winner", "loser"])])
def test_columns_of_winners_and_losers(pairs):
    with pytest.raises(ArcrankError, match="kind='arcs'"):
        as_graphs(pairs)
    assert as_graphs(pairs, kind="arcs") == as_graphs([[tuple(one)] for one in PAIRS])
    assert as_graphs(pairs, kind="ranking") == as_graphs([[[head], [tail]] for head, tail in PAIRS])


@pytest.mark.parametrize(
    "sets", [[*PAIRS, ["ann"]], [["a", "b", "c"], ["a", "b"]], [["a"], ["b"]], [{"a", "b"}, ["a", "c"]]]
)
def test_other_lists_are_label_sets(sets):
    assert as_graphs(sets) == as_graphs(sets, kind="sets")


@pytest.mark.parametrize("one", [["a", ["c", "d"], "b"], ("a", {"d", "c"}, "b"), [["a"], ("c", "d"), np.array(["b"])]])
def test_a_ranking_lists_labels_best_first(one):
    graphs = as_graphs([one, []], kind="ranking", labels=["a", "b", "c", "d", "e"])
    assert graphs.levels().tolist() == [[0, 2, 1, 1, -1], [-1] * 5]


def test_a_ranking_says_the_same_in_python_and_in_a_file():
    ranking = ["tea", ["milk", "water"], "oil"]
    row = json.dumps({"text": "x", "ranking": ranking}).encode()
    assert read_corpus(io.BytesIO(row), "jsonl").graphs() == as_graphs([ranking], kind="ranking")


def test_arcs_may_be_lists_of_two_where_kind_says_so():
    assert as_graphs([[["a", "b"], ["b", "c"]], []], kind="arcs") == as_graphs([[("a", "b"), ("b", "c")], []])


def test_grades():
    grades = [[5, 3, 5], [-1.5, np.nan, 4]]
    assert as_graphs(grades, kind="grades").levels().tolist() == [[0, 1, 0], [1, -1, 0]]
    assert as_graphs(np.array([[0, 200]], dtype=np.uint8), kind="grades").levels().tolist() == [[1, 0]]


@pytest.mark.parametrize(("values", "kind"), [([[1, 0]], None), ([[1, 2]], None), ([[0, 7]], "grades")])
def test_columns_of_a_data_frame_name_the_labels(values, kind):
    assert as_graphs(Frame(values, ["tea", "milk"]), kind=kind).labels.tolist() == ["tea", "milk"]
    assert as_graphs(Frame(values, ["tea", "milk"]), kind=kind, labels=["t", "m"]).labels.tolist() == ["t", "m"]
    assert as_graphs(Frame(values, [0, 1]), kind=kind).labels is None

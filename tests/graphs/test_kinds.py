"""Supervision that means something else than it seems to: told, or refused, never garbled."""

from __future__ import annotations

import warnings
from collections import OrderedDict

import numpy as np
import pytest

from arcrank.errors import ArcrankError
from arcrank.graphs import as_graphs

STARS = np.array([[5, 3, 4], [4, 4, 2], [3, 5, 5]])


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
        ([{"a": 1}], None, "Instance 0 has {'a': 1} in the place of a label"),
        ([{"a": 1}], "sets", "where a list of labels belongs"),
        ([["a"], ["b", {"c": 1}]], None, "Instance 1 has {'c': 1} in the place of a label"),
        ([OrderedDict(a=1)], None, "name or a number"),
        ([[("a", "b")]], "sets", "kind='arcs'"),
        ([[("a", "b"), ("b", "a")]], None, r"as_graphs\(y, conflicts='keep'\)"),
        ([["a", "b"]], "layers", "where a layer"),
        ([["ab"]], "arcs", "where an arc"),
        ([[1, 2]], "arcs", "where an arc"),
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


def test_arcs_may_be_lists_of_two_where_kind_says_so():
    assert as_graphs([[["a", "b"], ["b", "c"]], []], kind="arcs") == as_graphs([[("a", "b"), ("b", "c")], []])


def test_grades():
    grades = [[5, 3, 5], [-1.5, np.nan, 4]]
    assert as_graphs(grades, kind="grades").levels().tolist() == [[0, 1, 0], [1, -1, 0]]
    assert as_graphs(np.array([[0, 200]], dtype=np.uint8), kind="grades").levels().tolist() == [[1, 0]]


def test_stars_taken_as_ranks_are_warned_of_once():
    with pytest.warns(UserWarning, match=r"taken as ranks.*kind='grades'") as caught:
        as_graphs(STARS)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        as_graphs(STARS, kind="ranks")


@pytest.mark.parametrize(
    "ranks",
    [
        [[1, 2, 3], [3, 1, 2]],
        [[2, 2, 3], [3, 3, 3]],  # a tie that takes the last of its places, as predict has it
        [[1.5, 1.5, 3]],
        [[2, np.nan, 3]],
        [[1, 2]] * 10 + [[2, 3]],
    ],
)
def test_ranks_are_not_warned_of(ranks):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        graphs = as_graphs(np.array(ranks))
    assert not told
    assert graphs == as_graphs(np.array(ranks), kind="ranks")


@pytest.mark.parametrize(("values", "kind"), [([[1, 0]], None), ([[1, 2]], None), ([[0, 7]], "grades")])
def test_columns_of_a_data_frame_name_the_labels(values, kind):
    assert as_graphs(Frame(values, ["tea", "milk"]), kind=kind).labels.tolist() == ["tea", "milk"]
    assert as_graphs(Frame(values, ["tea", "milk"]), kind=kind, labels=["t", "m"]).labels.tolist() == ["t", "m"]
    assert as_graphs(Frame(values, [0, 1]), kind=kind).labels is None

"""Tables of scores as graphs."""

import numpy as np
import pytest

from arcrank.errors import InputError, ParameterError
from arcrank.graphs import ArcGraphs, as_graphs, from_scores

SCORES = [[0.5, 0.0, 0.5], [np.nan, 2.0, 3.0], [1.0, 1.0, 1.0]]


def test_only_which_label_is_better():
    assert from_scores(SCORES, ["a", "b", "c"]) == as_graphs(SCORES, kind="grades", labels=["a", "b", "c"])
    assert from_scores(SCORES, better="lower").levels().tolist() == [[1, 0, 1], [-1, 0, 1], [0, 0, 0]]


def test_how_much_better():
    found = from_scores(SCORES, ["a", "b", "c"], margin="difference")
    expected = ArcGraphs.from_arcs([[(0, 1), (2, 1)], [(2, 1)], []], 3, [[0.5, 0.5], [1], []], labels=["a", "b", "c"])
    assert found == expected
    lower = from_scores(SCORES, better="lower", margin="difference")
    assert lower.head.tolist() == expected.tail.tolist()


def test_what_is_refused():
    with pytest.raises(InputError, match="a row for each instance"):
        from_scores([1.0, 2.0])
    with pytest.raises(InputError, match="infinite"):
        from_scores([[1.0, np.inf]])
    with pytest.raises(ParameterError, match="better must be"):
        from_scores([[1.0, 2.0]], better="more")

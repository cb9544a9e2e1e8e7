from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.errors import GraphError, InputError, ParameterError
from arcrank.graphs import ArcGraphs
from tests.oracles import arcs_of
from tests.strategies import arc_graphs


@given(arc_graphs(weighted=True), st.data())
def test_slices_keep_arcs_and_weights(g, data):
    rows = data.draw(st.lists(st.integers(0, len(g) - 1), max_size=8) if len(g) else st.just([]))
    part = g[rows]
    assert len(part) == len(rows)
    assert part.n_arcs == sum(g.arc_counts()[rows])
    for new, old in enumerate(rows):
        assert arcs_of(part, new) == arcs_of(g, old)
        at, was = slice(*part.arc_ptr[new : new + 2]), slice(*g.arc_ptr[old : old + 2])
        assert np.array_equal(part.weight[at], g.weight[was])


def test_equality_ignores_the_order_of_arcs():
    a = ArcGraphs.from_arcs([[(0, 1), (1, 2)]], 3, [[1.0, 2.0]])
    assert a == ArcGraphs.from_arcs([[(1, 2), (0, 1)]], 3, np.array([2.0, 1.0]))
    assert a != ArcGraphs.from_arcs([[(1, 2), (0, 1)]], 3, [[1.0, 2.0]])
    assert a != ArcGraphs.from_arcs([[(1, 2), (0, 1)]], 3)
    assert ArcGraphs.from_arcs([[(0, 1)]], 3) == ArcGraphs.from_arcs([[(0, 1)]], 3, [[1.0]])
    assert repr(a) == "ArcGraphs(1 instances, 3 labels, 2 weighted arcs)"


def test_contradictions_are_kept_when_asked_for():
    both = [[(0, 1), (1, 0)]]
    assert ArcGraphs.from_arcs(both, 2, conflicts="keep").n_arcs == 2
    with pytest.raises(GraphError, match=r"Instance 0 has together with its reverse the arc 'a' -> 'b'.*keep"):
        ArcGraphs.from_arcs(both, 2, labels=["a", "b"])


def test_longer_cycles_are_always_legal():
    assert ArcGraphs.from_arcs([[(0, 1), (1, 2), (2, 0)]], 3).n_arcs == 3


@pytest.mark.parametrize(
    ("arcs", "options", "error", "message"),
    [
        ([[], [(1, 1)]], {}, GraphError, "Instance 1 has the self-loop 1 -> 1"),
        ([[(0, 1), (0, 1)]], {}, GraphError, "Instance 0 has twice the arc 0 -> 1"),
        ([[(0, 1)], [(0, 3)]], {}, GraphError, r"Instance 1 has the arc \(0, 3\); labels are numbered 0\.\.2"),
        ([[(0, -1)]], {}, GraphError, "labels are numbered"),
        ([[(0, 1)], [(0, 1, 2)]], {}, GraphError, r"Instance 1 has the arc \(0, 1, 2\)"),
        ([[("a", "b")]], {}, GraphError, "as_graphs"),
        ([[(0, 1)]], {"weights": [[-1.0]]}, InputError, "weight -1.0"),
        ([[(0, 1)]], {"weights": [[np.nan]]}, InputError, "weight nan"),
        ([[(0, 1)]], {"weights": [[1.0, 2.0]]}, InputError, "one number for each arc"),
        ([[(0, 1)]], {"weights": np.ones(2)}, InputError, "2 arc weights for 1 arcs"),
        ([[(0, 1)]], {"conflicts": "drop"}, ParameterError, "'drop'"),
        ([[(0, 1)]], {"n_labels": 0}, GraphError, "n_labels"),
    ],
)
def test_bad_input(arcs, options, error, message):
    with pytest.raises(error, match=message):
        ArcGraphs.from_arcs(arcs, **{"n_labels": 3, **options})


def test_flat_weights():
    g = ArcGraphs.from_arcs([[(0, 1)], [(1, 2)]], 3, [0.5, 2])
    assert g.weight.tolist() == [0.5, 2.0]

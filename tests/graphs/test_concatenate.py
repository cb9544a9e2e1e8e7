from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.errors import InputError
from arcrank.graphs import ArcGraphs, LayeredGraphs, concatenate
from tests.strategies import any_graphs


@given(any_graphs, st.integers(0, 5))
def test_a_split_is_undone(g, at):
    assert concatenate([g[:at], g[at:]]) == g


def test_mixed_kinds_become_arcs():
    layered = LayeredGraphs.from_levels([[0, 1, 2]])
    weighted = ArcGraphs.from_arcs([[(2, 0)]], 3, [[0.5]])
    both = concatenate([layered, weighted])
    assert isinstance(both, ArcGraphs)
    assert both[:1] == layered.to_arcs()
    assert np.array_equal(both.weight, [1, 1, 1, 0.5])


def test_different_labels_are_refused():
    with pytest.raises(InputError, match="different labels"):
        concatenate([LayeredGraphs.from_levels([[0, 1]]), LayeredGraphs.from_levels([[0, 1]], labels=["a", "b"])])
    with pytest.raises(InputError, match="nothing to concatenate"):
        concatenate([])

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from arcrank.decompositions import DECOMPOSITIONS, get_decomposition
from arcrank.graphs import LayeredGraphs
from arcrank.losses.margin import MARGIN_LOSSES, get_margin_loss
from arcrank.rankers.preference_machine.prediction import best_cuts
from tests.plm_oracle import objective

NAMES = sorted(set(DECOMPOSITIONS) - {"identity"})
SCORES = hnp.arrays(np.float64, st.tuples(st.just(1), st.integers(2, 5)), elements=st.floats(-2, 2, width=16))


def cost_of_set(scores, relevant, decomposition, loss, aggregate, normalize):
    """The PLM loss of one instance under the supposition that `relevant` is its label set."""
    levels = np.ones(scores.shape, dtype=int)
    levels[0, list(relevant)] = 0
    graphs = LayeredGraphs.from_levels(levels)
    return objective(scores, 0.0, graphs, decomposition, loss, 1.0, aggregate=aggregate, normalize=normalize)


def by_pairs(heads, tails, row):
    """A callable that is the domination decomposition."""
    return [np.flatnonzero(np.asarray(heads) == h) for h in np.unique(heads)]


@given(
    SCORES, st.sampled_from([*NAMES, by_pairs]), st.sampled_from(sorted(MARGIN_LOSSES)), st.booleans(), st.booleans()
)
def test_no_cut_and_no_other_set_of_that_size_costs_less(scores, decomposition, loss, added, normalize):
    switches = {"aggregate": "sum" if added else "max", "normalize": normalize}
    order = np.argsort(-scores, axis=1, kind="stable")
    cut, charge = get_decomposition(decomposition), get_margin_loss(loss)
    size = int(best_cuts(scores, order, cut, charge, **switches)[0])
    k = scores.shape[1]
    name = "domination" if callable(decomposition) else decomposition
    costs = {q: cost_of_set(scores, order[0, :q], name, loss, **switches) for q in range(1, k)}
    assert costs[size] <= min(costs.values()) * (1 + 1e-9) + 1e-12
    others = [cost_of_set(scores, chosen, name, loss, **switches) for chosen in combinations(range(k), size)]
    assert costs[size] <= min(others) * (1 + 1e-9) + 1e-12


def test_equal_costs_are_resolved_by_the_larger_gap_then_the_smaller_set():
    switches = {"aggregate": "max", "normalize": False}
    cut, loss = get_decomposition("domination"), get_margin_loss("hinge")
    scores = np.array([[9.0, 7.0, 2.0, 0.0], [9.0, 6.0, 3.0, 0.0]])
    order = np.argsort(-scores, axis=1)
    assert best_cuts(scores, order, cut, loss, **switches).tolist() == [2, 1]


def test_a_single_label():
    scores = np.zeros((3, 1))
    cut, loss = get_decomposition("domination"), get_margin_loss("hinge")
    sizes = best_cuts(scores, np.zeros((3, 1), dtype=int), cut, loss, aggregate="max", normalize=False)
    assert sizes.tolist() == [1, 1, 1]


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_single_labels_are_best_predicted_by_the_highest_score(loss):
    scores = np.random.default_rng(0).normal(size=(20, 4))
    for decomposition in NAMES:
        for row in scores:
            costs = [cost_of_set(row[None], [r], decomposition, loss, "max", False) for r in range(4)]
            assert costs[int(row.argmax())] <= min(costs) + 1e-12

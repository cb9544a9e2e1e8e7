"""The paper's Figure 3 against its own transcription, and Theorem 1 at every iteration."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arcrank.decompositions import get_decomposition
from arcrank.graphs import ArcGraphs, LayeredGraphs
from arcrank.losses import LogLinearLoss
from arcrank.solvers.design import LabelDesign
from arcrank.solvers.history import History
from arcrank.solvers.lbfgs import PrimalState
from arcrank.solvers.loglinear_boosting import CAP, solve_boosting
from tests.losses.test_loglinear import GRAPHS, NAMES, every_other
from tests.solvers.test_loglinear_dual import problem


def boost(X, g, cut, weight, iterations, virtual=0.0):
    state, history = PrimalState(np.zeros((X.shape[1], g.n_labels))), History()
    loss = LogLinearLoss(g, cut, weight)
    solve_boosting(
        LabelDesign(X, g.n_labels),
        loss,
        g.arc_counts() > 0,
        state,
        virtual=virtual,
        tol=0.0,
        max_iter=iterations,
        history=history,
    )
    return state, history


@given(GRAPHS, st.sampled_from([*NAMES, every_other]), st.integers(0, 99), st.booleans(), st.sampled_from([0.0, 0.3]))
def test_each_boosting_iteration_keeps_theorem_1(g, decomposition, seed, signed, virtual):
    X, weight = problem(g, seed, signed)
    _, history = boost(X, g, get_decomposition(decomposition), weight, 6, virtual)
    for now, after in zip(history.entries, history.entries[1:], strict=False):
        assert now["bound"] >= 0
        assert now["loss"] - after["loss"] >= now["bound"] - 1e-10


def test_boosting_equals_a_transcription_of_figure_3():
    """Arc by arc, base function by base function, as the paper writes it."""
    rng = np.random.default_rng(5)
    g = ArcGraphs.from_arcs([[(0, 1), (1, 2), (2, 0)], [(2, 1), (2, 0)]], 3)
    X, n, d, k = rng.normal(size=(2, 2)), 2, 2, 3
    lam = np.zeros((d, k))

    def pi(i, a):
        vector = np.zeros((d, k))
        vector[:, g.tail[a]] += X[i]
        vector[:, g.head[a]] -= X[i]
        return vector

    arcs = [(i, a) for i in range(n) for a in range(g.arc_ptr[i], g.arc_ptr[i + 1])]
    rho = max(np.abs(pi(i, a)).sum() for i, a in arcs)
    for _ in range(4):
        plus, minus = np.zeros((d, k)), np.zeros((d, k))
        for i, a in arcs:  # domination: the pieces of an instance are its heads
            mates = [b for j, b in arcs if j == i and g.head[b] == g.head[a]]
            s = len({int(g.head[b]) for j, b in arcs if j == i})
            q = np.exp((lam * pi(i, a)).sum()) / (1 + sum(np.exp((lam * pi(i, b)).sum()) for b in mates))
            plus += q / s * np.maximum(pi(i, a), 0)
            minus += q / s * np.maximum(-pi(i, a), 0)
        with np.errstate(divide="ignore"):
            lam -= np.clip(0.5 * np.log(plus / minus), -CAP, CAP) / rho
    state, _ = boost(X, g, get_decomposition("domination"), np.ones(2), 4)
    np.testing.assert_allclose(state.W, lam, rtol=1e-10)


def test_boosting_with_nothing_to_learn():
    g = LayeredGraphs.from_label_sets([[1, 1], [0, 0]])
    state, history = boost(np.ones((2, 3)), g, get_decomposition("domination"), np.ones(2), 5)
    assert not state.W.any()
    assert history.entries == []

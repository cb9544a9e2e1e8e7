"""The bound on the leave-one-out error: at any tolerance, for every kind of piece, against the exact solution."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcrank.decompositions import DECOMPOSITIONS
from arcrank.graphs import ArcGraphs
from arcrank.rankers.preference_machine.leave_one_out import count_pieces_within, widest_code_distance
from arcrank.rankers.preference_machine.machine import PreferenceMachine
from tests.oracles import arcs_of, pieces_of
from tests.strategies import any_graphs, graphs_and_scores

EXACT = {"tol": 1e-10, "max_iter": 20_000, "random_state": 0}
NAMES = ["zero-one", "domination", "dominated", "disagreement"]


def problem(seed, n=25):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, 4)), random.integers(0, 3, n)


def piece_margins(graphs, scores, name):
    """The smallest margin of every piece, and its instance, arc by arc."""
    found = []
    for i in range(len(graphs)):
        arcs = arcs_of(graphs, i)
        for piece in pieces_of(arcs, name):
            found.append((min(scores[i, arcs[a][0]] - scores[i, arcs[a][1]] for a in piece), i))
    return found


def test_the_bound_counts_all_support_vectors_of_the_exact_solution():
    missed = []
    for seed, kernel in itertools.product(range(4), ["linear", "rbf"]):
        X, y = problem(seed, n=150)  # more than a kernel machine solves together
        exact = PreferenceMachine(C=0.3, kernel=kernel, **EXACT).fit(X, y)
        share = len(exact.support_) / len(y)
        assert exact.leave_one_out_bound_ == pytest.approx(share)  # nothing is added where the gap is closed
        for tol in (0.9, 0.5, 0.1, 0.01):
            machine = PreferenceMachine(C=0.3, kernel=kernel, tol=tol, random_state=seed).fit(X, y)
            assert share <= machine.leave_one_out_bound_ <= 1
            missed.append(len(machine.support_) / len(y) < share)
    assert any(missed)  # the instances that carry flow at this tolerance would not be enough


@pytest.mark.parametrize(
    "options",
    [
        {"decomposition": "domination"},
        {"decomposition": "dominated", "loss": "squared-hinge"},
        {"decomposition": "disagreement", "kernel": "rbf"},
        {"decomposition": "identity", "codes": "one-vs-one"},
        {"decomposition": "domination", "aggregate": "sum", "loss": "beta-perceptron", "beta": 2.0},
        {"decomposition": "domination", "kernel": "rbf", "codes": "error-correcting", "C": 0.03},
    ],
    ids=str,
)
def test_pieces_below_the_margin_of_the_exact_solution_are_counted_at_any_tolerance(options):
    options = {"C": 1.0, "intercept": "regularised"} | options
    for seed in range(2):
        random = np.random.default_rng(seed)
        X = random.normal(size=(20, 3))
        scores = X @ random.normal(size=(3, 4)) + 0.5 * random.normal(size=(20, 4))
        Y = scores > np.sort(scores, axis=1)[:, [1 + seed]]
        exact = PreferenceMachine(**options, tol=1e-6, max_iter=20_000, random_state=0).fit(X, Y)
        scores, target = exact.score_labels(X), options.get("beta", 1.0)
        name = "disagreement" if "aggregate" in options else options["decomposition"].replace("identity", "zero-one")
        margins = np.array([margin for margin, _ in piece_margins(exact._graphs_of(Y), scores, name)])
        certain = np.mean(margins < target - 0.02)
        assert 0 < certain < 1
        assert certain <= exact.leave_one_out_bound_ <= np.mean(margins < target + 0.1)
        for tol in (0.3, 0.03):
            assert PreferenceMachine(**options, tol=tol, random_state=seed).fit(X, Y).leave_one_out_bound_ >= certain


def test_the_exact_leave_one_out_error_is_below_the_bound_of_a_loose_fit():
    for seed in range(4):
        X, y = problem(seed, n=15)
        wrong = [
            PreferenceMachine(C=0.3, **EXACT).fit(np.delete(X, i, axis=0), np.delete(y, i)).predict(X[[i]])[0] != y[i]
            for i in range(len(y))
        ]
        assert 0 < np.mean(wrong) <= PreferenceMachine(C=0.3, tol=0.5, random_state=0).fit(X, y).leave_one_out_bound_


def test_instances_without_weight_are_counted_where_they_are_ranked_wrongly():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], *[[1.0, 0.1]] * 8]), np.array([0, 1, *[1] * 8])
    weight = np.array([1.0, 1.0, *[0.0] * 8])  # these are on the wrong side, and leaving one out changes nothing
    machine = PreferenceMachine(C=100, tol=1e-8).fit(X, y, sample_weight=weight)
    assert (machine.predict(X) != y).mean() == 0.8
    assert machine.leave_one_out_bound_ >= 0.8


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_every_piece_is_a_support_vector_of_a_loss_that_never_vanishes(loss):
    X, y = problem(0)
    assert PreferenceMachine(loss=loss, tol=0.1).fit(X, y).leave_one_out_bound_ == 1.0


@given(graphs_and_scores(any_graphs, st.integers(-3, 3).map(float)), st.sampled_from([0.0, 1.0, 1.5]))
def test_counts_equal_those_of_the_arcs(case, limit):
    g, scores = case
    limits = limit + np.arange(len(g)) % 2
    for name in NAMES:
        for single in (False, True):
            margins = piece_margins(g, scores, "disagreement" if single else name)
            expected = sum(margin <= limits[i] for margin, i in margins)
            score = scores.__getitem__
            assert count_pieces_within(g, score, limits, DECOMPOSITIONS[name], single=single) == expected


def test_arcs_without_weight_make_no_piece():
    g = ArcGraphs.from_arcs([[(0, 1), (1, 2)]], n_labels=3, weights=[[0.0, 1.0]])
    scores = np.zeros((1, 3))
    assert count_pieces_within(g, scores.__getitem__, np.ones(1), DECOMPOSITIONS["disagreement"], single=False) == 1


def test_the_widest_distance_of_codes():
    codes = np.random.default_rng(0).normal(size=(5, 3))
    assert widest_code_distance(np.eye(4)) == pytest.approx(widest_code_distance(None))
    assert widest_code_distance(codes) == pytest.approx(max(np.linalg.norm(a - b) for a in codes for b in codes))

"""A user's own grouping is what it says to every learner and measure, whatever its name."""

from __future__ import annotations

import numpy as np
import pytest

from arcrank import LogLinearRanker, PreferenceMachine
from arcrank.decompositions import DECOMPOSITIONS, Grouping
from arcrank.graphs import as_graphs
from arcrank.losses import LogLinearLoss
from arcrank.metrics import generalized_error
from arcrank.rankers.preference_machine.bound import most_arcs_of_a_piece
from arcrank.text import InformativeSelector

NAMES = ["zero-one", "disagreement", "domination", "dominated"]
KEYS = {
    "zero-one": lambda head, tail: np.zeros_like(head),
    "disagreement": lambda head, tail: np.arange(len(head)),
    "domination": lambda head, tail: head,
    "dominated": lambda head, tail: tail,
}
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(30, 6))
SETS = RANDOM.random((30, 5)) < 0.4
SETS[:5, 0] = True  # no label set is empty of arcs throughout
GRAPHS = as_graphs(SETS)


def own(name, called):
    """The grouping of the papers under a name of the user's, without their kernels."""
    return Grouping(called, KEYS[name])


@pytest.mark.parametrize("called", ["mine", "zero-one", "domination"])
@pytest.mark.parametrize("name", NAMES)
def test_losses_and_errors_are_those_of_the_pieces(name, called):
    scores, cut = RANDOM.normal(size=(30, 5)), own(name, called)
    assert generalized_error(GRAPHS, scores, cut) == pytest.approx(generalized_error(GRAPHS, scores, name))
    ours = LogLinearLoss(GRAPHS, cut).value(scores)
    assert ours == pytest.approx(LogLinearLoss(GRAPHS, DECOMPOSITIONS[name]).value(scores))
    assert most_arcs_of_a_piece(GRAPHS, cut) == most_arcs_of_a_piece(GRAPHS, DECOMPOSITIONS[name])


@pytest.mark.parametrize("called", ["mine", "domination"])
@pytest.mark.parametrize("solver", ["dual", "lbfgs", "boosting"])
@pytest.mark.parametrize("name", NAMES)
def test_log_linear_rankers_learn_the_same(name, solver, called):
    settings = {"C": 1.0, "solver": solver, "tol": 1e-6, "random_state": 0, "max_iter": 500}
    ours = LogLinearRanker(own(name, called), **settings).fit(X, SETS)
    theirs = LogLinearRanker(name, **settings).fit(X, SETS)
    np.testing.assert_allclose(ours.score_labels(X), theirs.score_labels(X), atol=5e-3)
    assert ours.score(X, GRAPHS) == pytest.approx(theirs.score(X, GRAPHS), abs=0.02)


@pytest.mark.parametrize("called", ["mine", "zero-one", "domination"])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("aggregate", ["max", "sum"])
@pytest.mark.parametrize("name", NAMES)
def test_preference_machines_learn_and_predict_the_same(name, aggregate, normalize, called):
    settings = {"C": 1.0, "aggregate": aggregate, "normalize": normalize, "tol": 1e-7, "random_state": 0}
    ours = PreferenceMachine(own(name, called), **settings).fit(X, SETS)
    theirs = PreferenceMachine(name, **settings).fit(X, SETS)
    assert ours.objective_ == pytest.approx(theirs.objective_, rel=1e-5)
    np.testing.assert_allclose(ours.score_labels(X), theirs.score_labels(X), atol=5e-3)
    # At the same weights the cost of a label set, and so the prediction, is the same.
    ours.coef_, ours.intercept_ = theirs.coef_, theirs.intercept_
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("name", NAMES)
def test_the_margin_bound_is_that_of_the_pieces(name):
    wide, sets = np.hstack([X, np.eye(30)]), SETS  # separable
    ours = PreferenceMachine(own(name, "mine"), C=100, tol=1e-6, random_state=0).fit(wide, sets)._bound_terms
    theirs = PreferenceMachine(name, C=100, tol=1e-6, random_state=0).fit(wide, sets)._bound_terms
    assert (ours.most_pieces, ours.most_arcs) == (theirs.most_pieces, theirs.most_arcs)


@pytest.mark.parametrize("name", ["zero-one", "domination", "dominated"])
def test_informative_words_are_those_of_the_pieces(name):
    counts = np.abs(np.round(3 * X))
    ours = InformativeSelector(3, decomposition=own(name, "domination")).fit(counts, GRAPHS)
    theirs = InformativeSelector(3, decomposition=name).fit(counts, GRAPHS)
    assert np.array_equal(ours.get_support(), theirs.get_support())

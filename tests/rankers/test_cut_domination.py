"""Domination with a cut: the kernels on layers against explicit pieces, and against a generic solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone

from arcrank import CUT, LogLinearRanker, PreferenceMachine
from arcrank.decompositions import CUT_DOMINATION, DOMINATION, CallableDecomposition
from arcrank.graphs import as_graphs
from arcrank.graphs.cut import insert_cut
from arcrank.losses import LogLinearLoss
from arcrank.losses.margin import get_margin_loss
from arcrank.rankers.preference_machine.leave_one_out import count_pieces_within
from arcrank.solvers.margin_pieces import piece_counts


def problems():
    return st.tuples(st.integers(0, 10_000), st.integers(2, 9), st.integers(1, 5))


def random_sets(seed, n, k):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)), (rng.random((n, k)) < 0.4).astype(int)


def by_definition(heads, tails, row):
    """The pieces in words: one for each head but the cut, and one for each arc of the cut."""
    heads_but_cut = sorted(set(heads.tolist()) - {0})
    return [np.flatnonzero(heads == h) for h in heads_but_cut] + [[a] for a in np.flatnonzero(heads == 0)]


@given(problems())
@settings(max_examples=30, deadline=None)
def test_pieces_are_those_of_the_definition(problem):
    _, Y = random_sets(*problem)
    graphs = insert_cut(as_graphs(Y))
    ours = CUT_DOMINATION.pieces(graphs.to_arcs())
    oracle = CallableDecomposition(by_definition).pieces(graphs.to_arcs())

    def pieces(parts):
        ends = zip(parts.arc_ptr, parts.arc_ptr[1:], strict=False)
        return sorted(sorted(zip(parts.head[a:b].tolist(), parts.tail[a:b].tolist(), strict=True)) for a, b in ends)

    assert pieces(ours) == pieces(oracle)
    assert np.diff(ours.row_ptr).tolist() == piece_counts(graphs, "cut-domination").tolist()


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
@given(problem=problems())
@settings(max_examples=8, deadline=None)
def test_layers_and_explicit_pieces_have_one_optimum(loss, problem):
    X, Y = random_sets(*problem)
    graphs = insert_cut(as_graphs(Y))
    given = {"loss": loss, "C": 0.7, "tol": 1e-7, "max_iter": 20_000, "random_state": 0}
    machine = PreferenceMachine("domination", cut_label=True, calibration_folds=0, **given)
    arcs = clone(machine).fit(X, graphs.to_arcs())
    machine.fit(X, Y)
    no_cut = np.eye(graphs.n_labels)[:, 1:]  # the code of the cut, and so its score, is 0
    explicit = PreferenceMachine(by_definition, codes=no_cut, **given).fit(X, graphs.with_labels(None))
    scores = explicit.score_labels(X)
    for ours in (machine, arcs):
        assert ours.objective_ == pytest.approx(explicit.objective_, rel=1e-5)
        np.testing.assert_allclose(ours.score_labels(X), scores[:, 1:], atol=2e-3)
    assert machine.leave_one_out_bound_ == pytest.approx(explicit.leave_one_out_bound_, abs=0.2)


def test_kernel_machines_have_a_constant_cut_too():
    X, Y = random_sets(7, 40, 5)
    given = {"loss": "squared-hinge", "kernel": "rbf", "C": 3.0, "tol": 1e-7, "max_iter": 5000, "random_state": 0}
    given["intercept"] = "regularised"
    machine = PreferenceMachine("domination", cut_label=True, calibration_folds=0, **given).fit(X, Y)
    graphs = insert_cut(as_graphs(Y)).with_labels(None)
    explicit = PreferenceMachine(by_definition, codes=np.eye(6)[:, 1:], **given).fit(X, graphs)
    np.testing.assert_allclose(machine.score_labels(X), explicit.score_labels(X)[:, 1:], atol=2e-3)


@pytest.mark.parametrize("solver", ["dual", "lbfgs"])
@pytest.mark.parametrize("as_arcs", [False, True])
def test_the_log_linear_ranker_has_a_constant_cut(solver, as_arcs):
    """The optimum of a generic solver over weights of the labels, with 0 as the score of the cut."""
    X, Y = random_sets(11, 30, 4)
    graphs = insert_cut(as_graphs(Y))
    ranker = LogLinearRanker(
        C=2.0, solver=solver, cut_label=True, intercept="regularised", calibration_folds=0, tol=1e-9, max_iter=20_000
    ).fit(X, graphs.to_arcs() if as_arcs else Y)
    design = np.hstack([X, np.ones((30, 1))])
    loss = LogLinearLoss(graphs.to_arcs(), DOMINATION)

    def objective(flat):
        scores = np.hstack([np.zeros((30, 1)), design @ flat.reshape(5, 4)])
        return 0.5 * float(flat @ flat) + 2.0 * loss.value(scores)

    best = minimize(objective, np.zeros(20), method="L-BFGS-B", options={"maxiter": 5000, "maxfun": 10**6})
    np.testing.assert_allclose(ranker.score_labels(X), design @ best.x.reshape(5, 4), atol=2e-3)


@given(problems(), st.floats(0, 2))
@settings(max_examples=30, deadline=None)
def test_pieces_within_a_margin_are_counted_as_on_arcs(problem, limit):
    _, Y = random_sets(*problem)
    graphs = insert_cut(as_graphs(Y))
    scores = np.random.default_rng(problem[0]).normal(size=graphs.shape)
    limits = np.full(len(graphs), limit)
    counted = count_pieces_within(graphs, scores.__getitem__, limits, CUT_DOMINATION, single=False)
    pieces = CUT_DOMINATION.pieces(graphs.to_arcs())
    rows = np.repeat(np.arange(len(graphs)), np.diff(pieces.arc_ptr[pieces.row_ptr]))
    margins = scores[rows, pieces.head] - scores[rows, pieces.tail]
    ends = zip(pieces.arc_ptr, pieces.arc_ptr[1:], strict=False)
    assert counted == sum(margins[a:b].min() <= limit for a, b in ends)


def star_arcs(Y):
    """Arcs to and from the cut only: what one-vs-rest knows."""
    return [[(j, CUT) if relevant else (CUT, j) for j, relevant in enumerate(row)] for row in Y.tolist()]


@pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])
def test_on_star_graphs_the_objective_is_that_of_one_vs_rest_with_a_rank_one_term(loss):
    """1/2 (sum ||u_r||^2 - ||sum u_r||^2 / (k + 1)) + C sum L(+-u_r x), with u_r = w_r - w_cut."""
    X, Y = random_sets(3, 40, 5)
    C, k, d = 0.5, 5, X.shape[1] + 1
    machine = PreferenceMachine(
        "disagreement", loss=loss, C=C, intercept="regularised", cut_label=True, calibration_folds=0, tol=1e-8,
        max_iter=20_000, random_state=0,
    ).fit(X, as_graphs(star_arcs(Y), kind="arcs"))  # fmt: skip
    margin_loss = get_margin_loss(loss, 1.0)
    design, signs = np.hstack([X, np.ones((len(X), 1))]), 2 * Y - 1

    def objective(flat):
        u = flat.reshape(k, d)
        regulariser = 0.5 * ((u**2).sum() - (u.sum(axis=0) ** 2).sum() / (k + 1))
        return regulariser + C * float(np.sum(margin_loss.value(signs * (design @ u.T))))

    best = minimize(objective, np.zeros(k * d), method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-14})
    assert machine.objective_ == pytest.approx(best.fun, rel=1e-3)
    found = np.hstack([machine.coef_, machine.intercept_[:, None]])
    assert objective(found.ravel()) == pytest.approx(best.fun, rel=1e-3)


def test_with_the_cut_at_zero_a_star_is_one_vs_rest():
    """The code of the cut is 0 where codes are given, so the identity matrix makes k independent machines."""
    from sklearn.svm import LinearSVC

    X, Y = random_sets(5, 60, 4)
    machine = PreferenceMachine(
        "disagreement", "squared-hinge", C=0.5, intercept="regularised", codes=np.eye(4), cut_label=True,
        calibration_folds=0, tol=1e-8, max_iter=20_000, random_state=0,
    ).fit(X, as_graphs(star_arcs(Y), kind="arcs"))  # fmt: skip
    constant = clone(machine).set_params(decomposition="domination", codes=None)
    constant.fit(X, as_graphs(star_arcs(Y), kind="arcs"))
    for label in range(4):
        peer = LinearSVC(C=0.5, tol=1e-8, max_iter=100_000, random_state=0).fit(X, Y[:, label])
        for ours in (machine, constant):
            np.testing.assert_allclose(ours.coef_[label], peer.coef_[0], atol=1e-3)
            assert ours.intercept_[label] == pytest.approx(peer.intercept_[0], abs=1e-3)


def test_pure_domination_is_another_objective():
    _, Y = random_sets(1, 30, 4)
    graphs = insert_cut(as_graphs(Y))
    assert piece_counts(graphs, "cut-domination").sum() > piece_counts(graphs, DOMINATION.layered).sum()

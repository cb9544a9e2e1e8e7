from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcrank.compiled.losses import LOGISTIC, WEIGHTED
from arcrank.decompositions import CUT_DOMINATION, get_decomposition
from arcrank.graphs import ArcGraphs, LayeredGraphs
from arcrank.losses.margin import MARGIN_LOSSES, get_margin_loss
from arcrank.solvers.history import History
from arcrank.solvers.kernel_cache import KernelRows
from arcrank.solvers.margin_dual import KernelDual, LinearDual
from arcrank.solvers.margin_problem import LayeredProblem, PieceProblem, make_problem
from tests import plm_oracle
from tests.strategies import arc_graphs, layered_graphs

pytest.importorskip("cvxpy")
C, BETA = 0.7, 2.0
LOSSES = sorted(MARGIN_LOSSES)
NAMES = ["zero-one", "domination", "dominated", "disagreement"]
CYCLIC = [[(0, 1), (1, 2), (2, 0)], [(3, 1), (1, 0)], [], [(0, 3), (3, 2), (2, 1), (1, 0), (0, 2)]] * 2
WEIGHTS = [[0.5, 2, 1], [0, 3], [], [1, 2, 0.3, 0.7, 2]] * 2


def graphs_of(kind):
    rng = np.random.default_rng(3)
    if kind == "cyclic":
        return ArcGraphs.from_arcs(CYCLIC, 4)
    if kind == "weighted":
        return ArcGraphs.from_arcs(CYCLIC, 4, WEIGHTS)
    low, high = {"two layers": (0, 2), "three layers": (-1, 3)}[kind]
    return LayeredGraphs.from_levels(rng.integers(low, high, size=(8, 4)))


def task_of(g, decomposition, loss="hinge", cost=C, **options):
    return make_problem(
        g, get_decomposition(decomposition), get_margin_loss(loss, BETA), np.full(len(g), cost), **options
    )


def solve(X, task, kernel=False, tol=1e-6, store=None, max_iter=3000, **options):
    if kernel:
        solver = KernelDual(KernelRows(lambda rows: X[rows] @ X.T, (X**2).sum(axis=1), megabytes=1), task)
    else:
        solver = LinearDual(X, task, **options)
    solution = solver.start(store)
    history = History()
    solver.solve(solution, tol=tol, max_iter=max_iter, random=np.random.RandomState(0), history=history)
    return solution, history


def scores_of(X, task, solution, kernel=False):
    if kernel:
        flows = task.embed(solution.weights)
        scores = X @ X.T @ flows
    else:
        scores = X @ solution.weights
    return scores if task.codes is None else scores @ task.codes.T


def check_optimum(X, g, decomposition, loss, codes=None, kernels=(False, True), **options):
    """Both solvers reach the generic solver's optimum, and the gap they state is honest."""
    best, _ = plm_oracle.solve(X, g, decomposition, loss, C, codes=codes, beta=BETA, **options)
    task = task_of(g, decomposition, loss, codes=codes, **options)
    for kernel in kernels:
        solution, _ = solve(X, task, kernel)
        scores = scores_of(X, task, solution, kernel)
        W = X.T @ task.embed(solution.weights) if kernel else solution.weights
        square = np.vdot(W, W)
        primal = plm_oracle.objective(scores, square, g, decomposition, loss, C, beta=BETA, **options)
        assert solution.converged
        assert solution.primal == pytest.approx(primal, rel=1e-9)
        assert primal == pytest.approx(best, rel=1e-4)
        assert solution.dual <= best * (1 + 1e-6)


@pytest.mark.parametrize("kind", ["two layers", "three layers", "cyclic"])
@pytest.mark.parametrize("decomposition", NAMES)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimum_equals_a_generic_solver(kind, decomposition, loss):
    X = np.random.default_rng(1).normal(size=(8, 3))
    check_optimum(X, graphs_of(kind), decomposition, loss)


@pytest.mark.parametrize("decomposition", ["zero-one", "domination"])
@pytest.mark.parametrize("loss", LOSSES)
def test_arc_weights(decomposition, loss):
    X = np.random.default_rng(2).normal(size=(8, 3))
    check_optimum(X, graphs_of("weighted"), decomposition, loss, kernels=(False,))


@pytest.mark.parametrize("kind", ["two layers", "three layers", "cyclic"])
@pytest.mark.parametrize("decomposition", NAMES)
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_codes(kind, decomposition, loss):
    rng = np.random.default_rng(4)
    X, codes = rng.normal(size=(8, 2)), rng.normal(size=(4, 3))
    check_optimum(X, graphs_of(kind), decomposition, loss, codes)


@pytest.mark.parametrize("kind", ["two layers", "cyclic"])
@pytest.mark.parametrize("aggregate", ["max", "sum"])
@pytest.mark.parametrize("normalize", [False, True])
def test_switches(kind, aggregate, normalize):
    X = np.random.default_rng(5).normal(size=(8, 3))
    check_optimum(X, graphs_of(kind), "domination", "hinge", aggregate=aggregate, normalize=normalize)


def test_callables_may_repeat_and_drop_arcs():
    def cut(heads, tails, row):
        return [list(range(start, len(heads), 2)) for start in range(min(2, len(heads)))] + [[0]]

    X = np.random.default_rng(6).normal(size=(8, 3))
    check_optimum(X, graphs_of("cyclic"), cut, "hinge")
    check_optimum(X, graphs_of("three layers"), cut, "squared-hinge")


def test_the_sum_makes_domination_and_disagreement_one():
    X = np.random.default_rng(7).normal(size=(8, 3))
    for g in (graphs_of("three layers"), graphs_of("cyclic")):
        values = [solve(X, task_of(g, d, aggregate="sum"))[0].primal for d in ("domination", "disagreement")]
        assert values[0] == pytest.approx(values[1], rel=2e-6)


def test_the_beta_perceptron_is_the_hinge_at_another_cost():
    X, g = np.random.default_rng(8).normal(size=(8, 3)), graphs_of("three layers")
    ours, _ = solve(X, task_of(g, "domination", "beta-perceptron"), tol=1e-9)
    hinge, _ = solve(X, task_of(g, "domination", "hinge", C / BETA**2), tol=1e-9)
    np.testing.assert_allclose(ours.weights, BETA * hinge.weights, atol=1e-3)
    assert ours.primal == pytest.approx(BETA**2 * hinge.primal, rel=1e-7)


@settings(max_examples=25)
@given(st.one_of(layered_graphs(), arc_graphs(weighted=True)), st.sampled_from(NAMES), st.sampled_from(LOSSES))
def test_any_graph_is_solved_and_measured_rightly(g, decomposition, loss):
    """Empty, cyclic and contradictory graphs, instances of length 0 among them."""
    X = np.random.default_rng(len(g)).normal(size=(len(g), 3))
    X[::3] = 0.0
    task = task_of(g, decomposition, loss)
    solution, _ = solve(X, task, tol=1e-3)
    square = float(np.vdot(solution.weights, solution.weights))
    primal = plm_oracle.objective(X @ solution.weights, square, g, decomposition, loss, C, beta=BETA)
    assert solution.converged
    assert solution.primal == pytest.approx(primal, rel=1e-9, abs=1e-12)
    flows = task.net_flows(slice(0, len(g)), solution.store)
    np.testing.assert_allclose(solution.weights, X.T @ flows, atol=1e-9)


@pytest.mark.parametrize("weight", [1e-13, 1e-14, 1e-39, 1e-100])
@pytest.mark.parametrize("loss", LOSSES)
def test_arcs_of_tiny_weight_are_learnt(weight, loss):
    weights = [[weight], [weight, 2 * weight], [weight]]
    g = ArcGraphs.from_arcs([[(0, 1)], [(1, 2), (0, 2)], [(2, 0)]], n_labels=3, weights=weights)
    X = np.random.default_rng(9).normal(size=(3, 3))
    solution, _ = solve(X, task_of(g, "zero-one", loss), tol=1e-3)
    assert solution.converged
    assert np.abs(solution.weights).max() > 0


def test_layered_graphs_never_write_out_arcs_where_flows_do():
    two, three = graphs_of("two layers"), graphs_of("three layers")
    assert all(isinstance(task_of(two, name), LayeredProblem) for name in NAMES)
    assert isinstance(task_of(three, "domination"), LayeredProblem)
    identity = task_of(three, "zero-one")
    assert isinstance(identity, PieceProblem)
    assert not len(identity.pieces[2])
    assert not len(task_of(two, "dominated", codes=np.ones((4, 1))).pieces[2])


@pytest.mark.parametrize("decomposition", NAMES)
def test_a_warm_start_at_the_optimum_is_done_at_once(decomposition):
    X, g = np.random.default_rng(9).normal(size=(8, 3)), graphs_of("three layers")
    task = task_of(g, decomposition)
    for kernel in (False, True):
        first, _ = solve(X, task, kernel)
        again, _ = solve(X, task, kernel, store=first.store.scaled(np.ones(8), task.widest))
        np.testing.assert_allclose(again.primal, first.primal, rtol=2e-6)
        assert again.passes <= 1
        larger = task_of(g, decomposition, cost=2 * C)
        scaled, _ = solve(X, larger, kernel, store=first.store.scaled(np.full(8, 2.0), task.widest))
        assert scaled.primal == pytest.approx(solve(X, larger)[0].primal, rel=1e-5)


def big_problem():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(1500, 10)) * (rng.random((1500, 10)) < 0.4)
    levels = 1 - (X @ rng.normal(size=(10, 6)) > 0.8).astype(int)
    return X, LayeredGraphs.from_levels(levels)


def test_shrinking_and_threads_do_not_change_the_optimum():
    X, g = big_problem()
    task = task_of(g, "domination")
    plain, _ = solve(X, task, shrinking=False, tol=1e-4)
    shrunk, _ = solve(X, task, shrinking=True, tol=1e-4)
    threads, _ = solve(X, task, shrinking=True, tol=1e-4, n_jobs=2)
    assert plain.primal == pytest.approx(shrunk.primal, rel=2e-4)
    assert np.array_equal(shrunk.weights, threads.weights)
    assert shrunk.primal == threads.primal


@pytest.mark.parametrize("decomposition", ["zero-one", "domination", "dominated"])
def test_weights_of_a_constant_feature_that_follow_slowly_reach_the_same_optimum(decomposition):
    X, g = big_problem()
    X = np.hstack([X, np.full((len(X), 1), 2.0)])
    task = task_of(g, decomposition)
    plain, _ = solve(X, task, tol=1e-4)
    slow, _ = solve(X, task, tol=1e-4, constant=2.0)
    W, flows = slow.weights, task.net_flows(slice(0, len(g)), slow.store)
    assert plain.converged
    assert slow.converged
    # Flows and weights are two points, whose objectives bound the optimum from both sides.
    if slow.made is not None:
        np.testing.assert_allclose(np.vstack([W[:-1], slow.made]), X.T @ flows, atol=1e-8)
    primal = plm_oracle.objective(X @ W, np.vdot(W, W), g, decomposition, "hinge", C, beta=BETA)
    assert slow.primal == pytest.approx(primal, rel=1e-9)
    assert slow.dual <= plain.primal
    assert plain.dual <= slow.primal
    assert np.linalg.norm(W - plain.weights) <= slow.distance + plain.distance


def test_a_constant_that_does_not_settle_is_released():
    X, g = big_problem()
    X = np.hstack([X, np.full((len(X), 1), 2.0)])
    solver = LinearDual(X, task_of(g, "domination"), constant=2.0)
    solution = solver.start()
    limits = {"max_iter": 5, "random": np.random.RandomState(0), "history": History()}
    solver.solve(solution, tol=1e-9, **limits)
    before = solution.primal, solution.dual
    solver._release_constant(solution)
    flows = solver._problem.net_flows(slice(0, len(g)), solution.store)
    np.testing.assert_allclose(solution.weights, X.T @ flows, atol=1e-8)
    assert solution.dual == pytest.approx(before[1], rel=1e-9)
    solver.solve(solution, tol=1e-3, max_iter=500, random=np.random.RandomState(0), history=History())
    assert solution.converged


def test_a_small_cache_changes_nothing():
    X, g = big_problem()
    task = task_of(g, "zero-one")
    values = []
    for megabytes in (0.1, 5, 100):
        rows = KernelRows(lambda wanted: X[wanted] @ X.T, (X**2).sum(axis=1), megabytes)
        solver = KernelDual(rows, task)
        solution = solver.start()
        solver.solve(solution, tol=1e-3, max_iter=200, random=np.random.RandomState(0), history=History())
        assert solution.converged
        values.append(solution.primal)
    assert values[0] == pytest.approx(values[2], rel=2e-3)


def test_a_callback_stops():
    X, g = big_problem()
    solver = LinearDual(X, task_of(g, "zero-one"))
    solution = solver.start()
    history = History(lambda entry: entry["iteration"] == 2)
    solver.solve(solution, tol=1e-9, max_iter=100, random=np.random.RandomState(0), history=history)
    assert [sorted(entry) for entry in history.entries] == [["gap", "iteration", "loss", "seconds"]] * 2
    assert not solution.converged
    assert solution.relative_gap > 1e-9


@pytest.mark.parametrize("cost", [0.05, 30.0])
def test_different_weights_in_a_piece_under_the_logistic_loss(cost):
    rng = np.random.default_rng(6)
    X, codes, g = rng.normal(size=(8, 3)), rng.normal(size=(4, 2)), graphs_of("weighted")
    for M in (None, codes):
        task = task_of(g, "zero-one", "logistic", cost, codes=M)
        assert task.rule[2] == WEIGHTED
        value, scores = plm_oracle.solve(X, g, "zero-one", "logistic", cost, codes=M)
        for kernel in (False, True):
            solution, _ = solve(X, task, kernel, tol=1e-5)
            assert solution.converged
            assert solution.primal == pytest.approx(value, rel=2e-5)
            np.testing.assert_allclose(scores_of(X, task, solution, kernel), scores, atol=0.05)


def test_equal_weights_under_the_logistic_loss_need_no_steps_of_their_own():
    assert task_of(graphs_of("cyclic"), "zero-one", "logistic").rule[2] == LOGISTIC


@pytest.mark.parametrize("decomposition", ["domination", "disagreement", "cut-domination"])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
def test_watched_labels_of_three_layers_reach_the_optimum(decomposition, loss):
    """More labels than an instance may watch, the cut (label 0) between the others, and a cost of many approaches."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(30, 5))
    above = X @ rng.normal(size=(5, 24)) > 2.5
    g = LayeredGraphs.from_levels(np.hstack([np.ones((30, 1), int), np.where(above, 0, 2)]))
    cut = CUT_DOMINATION if decomposition == "cut-domination" else get_decomposition(decomposition)
    values = []
    for graphs in (g, g.to_arcs()):
        task = make_problem(graphs, cut, get_margin_loss(loss, BETA), np.full(30, 3.0))
        values.append(solve(X, task, tol=1e-3)[0])
    assert all(solution.converged for solution in values)
    assert values[0].primal == pytest.approx(values[1].primal, rel=1e-3)


def test_a_rescaled_solution_is_measured_at_the_new_costs():
    X, g = big_problem()
    task = task_of(g, "domination", "squared-hinge")
    solver = LinearDual(X, task)
    solution = solver.start()
    limits = {"tol": 1e-4, "max_iter": 500, "random": np.random.RandomState(0), "history": History()}
    solver.solve(solution, **limits)
    costs, before = 3 * task.cost, solution.weights.copy()
    solver.rescale(solution, costs)
    np.testing.assert_allclose(solution.weights, 3 * before)
    primal = plm_oracle.objective(
        X @ solution.weights, np.vdot(solution.weights, solution.weights), g, "domination", "squared-hinge", 3 * C
    )
    assert solution.primal == pytest.approx(primal, rel=1e-9)
    solver.solve(solution, **limits)
    alone, _ = solve(X, task_of(g, "domination", "squared-hinge", 3 * C), tol=1e-4)
    assert solution.primal == pytest.approx(alone.primal, rel=2e-4)


def many_documents(seed):
    """Label sets that follow from sparse features, so that a large cost leaves most margins at 1."""
    rng = np.random.default_rng(seed)
    X = rng.random((300, 60)) * (rng.random((300, 60)) < 0.15)
    scores = X @ rng.normal(size=(60, 6)) + 0.05 * rng.normal(size=(300, 6))
    return X, LayeredGraphs.from_label_sets(scores > np.quantile(scores, 0.7, axis=1, keepdims=True))


@pytest.mark.parametrize("decomposition", ["zero-one", "domination", "disagreement"])
def test_longer_weights_finish_a_fit(decomposition):
    """They are no weights of the flows, but their primal and the distance from the optimum are stated rightly."""
    found = []
    for seed in range(4):
        X, g = many_documents(seed)
        task = task_of(g, decomposition, cost=30.0)
        solution, _ = solve(X, task, tol=2e-3)
        found.append(solution.scale)
        assert solution.converged
        square = float(np.vdot(solution.weights, solution.weights))
        primal = plm_oracle.objective(X @ solution.weights, square, g, decomposition, "hinge", 30.0, beta=BETA)
        assert solution.primal == pytest.approx(primal, rel=1e-9)
        best, _ = solve(X, task_of(g, decomposition, cost=30.0), tol=1e-7, max_iter=30_000)
        assert solution.dual <= best.primal * (1 + 1e-9)
        assert np.linalg.norm(solution.weights - best.weights) <= solution.distance + best.distance
        flows = task.net_flows(slice(0, len(X)), solution.store)
        np.testing.assert_allclose(solution.weights, solution.scale * (X.T @ flows), atol=1e-9)
    assert max(found) > 1.0


def test_a_longer_solution_goes_on_from_the_weights_of_its_flows():
    X, g = many_documents(0)
    task = task_of(g, "domination", cost=30.0)
    solver = LinearDual(X, task)
    solution, options = solver.start(), {"max_iter": 30_000, "random": np.random.RandomState(0), "history": History()}
    solver.solve(solution, tol=1e-2, **options)
    solution.weights *= 1.01 / solution.scale
    solution.scale = 1.01
    solver.solve(solution, tol=1e-6, **options)
    best, _ = solve(X, task_of(g, "domination", cost=30.0), tol=1e-6, max_iter=30_000)
    assert solution.primal == pytest.approx(best.primal, rel=3e-6)
    solver.solve(solution, tol=1e-2, **options)
    solution.weights *= 1.01 / solution.scale
    solution.scale = 1.01
    solver.rescale(solution, 2.0 * task.cost)
    square = float(np.vdot(solution.weights, solution.weights))
    primal = plm_oracle.objective(X @ solution.weights, square, g, "domination", "hinge", 60.0, beta=BETA)
    assert solution.primal == pytest.approx(primal, rel=1e-9)
    assert solution.dual <= primal


def test_a_callback_stops_a_fit_that_is_being_finished(monkeypatch):
    X, g = many_documents(0)
    finished, finish = [], LinearDual._finish
    monkeypatch.setattr(LinearDual, "_finish", lambda self, *rest: finished.append(1) or finish(self, *rest))
    solver = LinearDual(X, task_of(g, "domination", cost=30.0))
    history = History(lambda _entry: bool(finished))
    solver.solve(solver.start(), tol=1e-9, max_iter=30_000, random=np.random.RandomState(0), history=history)
    assert len(finished) == 1

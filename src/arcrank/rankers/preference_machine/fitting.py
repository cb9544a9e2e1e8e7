"""How `PreferenceMachine` learns from labels that all instances share: linear, with a kernel, or with landmarks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from arcrank._typing import Array
from arcrank.decompositions import DISAGREEMENT
from arcrank.graphs import PreferenceGraphs
from arcrank.graphs.base import FEW_CELLS, row_blocks
from arcrank.rankers.base import add_intercept
from arcrank.rankers.kernels import Kernel
from arcrank.rankers.linear import relative_to_cut
from arcrank.rankers.preference_machine.bound import BoundTerms, most_arcs_of_a_piece, smallest_margin
from arcrank.rankers.preference_machine.landmarks import make_landmarks
from arcrank.solvers.history import History
from arcrank.solvers.kernel_cache import KernelRows

if TYPE_CHECKING:
    from arcrank.rankers.preference_machine.machine import PreferenceMachine
    from arcrank.solvers.flow_store import FlowStore
    from arcrank.solvers.margin_dual import KernelDual, LinearDual, Solution
    from arcrank.solvers.margin_problem import MarginProblem

__all__ = ["fit_kernel", "fit_landmarks", "fit_linear", "solve", "warn_unconverged"]

_SUSPECTS = 64  # instances of highest cost, among which a violated arc is looked for first


def fit_linear(
    machine: PreferenceMachine, X: Any, graphs: PreferenceGraphs, problem: MarginProblem, constant: float
) -> None:
    """Fit weights of the features, (n, d) with `constant` as a further one."""
    from arcrank.solvers.margin_dual import LinearDual

    design = sp.csr_matrix(add_intercept(X, constant) if machine.fit_intercept else X)
    held = constant if machine.fit_intercept else 0.0
    solver = LinearDual(design, problem, shrinking=machine.shrinking, n_jobs=machine.n_jobs, constant=held)
    solution = solve(machine, solver, graphs, problem)
    W = solution.weights
    weights = W if problem.codes is None else W @ problem.codes.T
    if problem.codes is not None:
        machine.embedding_ = W[: X.shape[1]].T
    machine.support_ = np.flatnonzero(solution.store.count)

    def score(rows: Any) -> Array:
        return np.asarray(design[rows] @ weights)

    _note_margin_bound(machine, graphs, problem, solver, float(np.vdot(W, W)), score)
    _note_leave_one_out(machine, graphs, problem, solver, solution, score)
    machine._set_weights(weights, X.shape[1], constant, in_place=True)


def fit_kernel(
    machine: PreferenceMachine, X: Any, graphs: PreferenceGraphs, problem: MarginProblem, kernel: Kernel
) -> None:
    """Fit weights of the training instances."""
    from arcrank.solvers.margin_dual import KernelDual

    rows = KernelRows(lambda wanted: kernel.between(X[wanted], X, np.matmul), kernel.diagonal(X), machine.cache_mb)
    solver = KernelDual(rows, problem, n_jobs=machine.n_jobs)
    solution = solve(machine, solver, graphs, problem)
    flows = solution.weights if problem.codes is None else solution.weights @ (problem.codes @ problem.codes.T)
    _keep_support(machine, X, kernel, np.flatnonzero(solution.store.count), flows)
    square = float(np.vdot(solution.weights, solver.scores))
    _note_margin_bound(machine, graphs, problem, solver, square, solver.scores.__getitem__)
    _note_leave_one_out(machine, graphs, problem, solver, solution, solver.scores.__getitem__)


def fit_landmarks(
    machine: PreferenceMachine,
    X: Any,
    graphs: PreferenceGraphs,
    problem: MarginProblem,
    kernel: Kernel,
    constant: float,
) -> None:
    """Fit a linear machine to the features of the landmarks, and keep it as a kernel machine."""
    assert machine.landmarks is not None
    found = make_landmarks(kernel, X, int(machine.landmarks), check_random_state(machine.random_state))
    features = found.features(X)
    fit_linear(machine, features, graphs, problem, constant)
    machine._kernel, machine.support_, machine.support_vectors_ = found.kernel, found.rows, found.vectors
    machine.dual_coef_ = found.coefficients(machine.coef_.T)
    del machine.coef_


def _keep_support(machine: PreferenceMachine, X: Any, kernel: Kernel, support: NDArray[np.intp], flows: Array) -> None:
    machine._kernel = kernel
    weights = flows[support]
    machine.support_, machine.dual_coef_ = support, relative_to_cut(weights) if machine.cut_label else weights
    machine.intercept_ = np.zeros(machine.dual_coef_.shape[1])
    machine.support_vectors_ = X[:0] if machine.kernel == "precomputed" else X[support]


def solve(
    machine: PreferenceMachine, solver: LinearDual | KernelDual, graphs: PreferenceGraphs, problem: Any
) -> Solution:
    """Solve the dual, and note how it went."""
    solution = solver.start(_warm(machine, graphs, problem))
    history = History(machine.callback, machine.max_iter, machine.verbose)
    random = check_random_state(machine.random_state)
    try:
        solver.solve(solution, tol=machine.tol, max_iter=int(machine.max_iter), random=random, history=history)
    finally:
        history.close()
    machine.history_, machine.n_iter_ = history.entries, solution.passes
    machine.duality_gap_, machine.objective_ = solution.relative_gap, solution.primal
    if machine.warm_start:
        machine._dual = machine._pieces(), machine._loss().name, graphs, problem.cost, solution.store
    if not solution.converged and solution.passes >= machine.max_iter:
        warn_unconverged(machine, solution.relative_gap)
    return solution


def _warm(machine: PreferenceMachine, graphs: PreferenceGraphs, problem: Any) -> FlowStore | None:
    """The last dual variables, scaled to the new costs, if they belong to the same pieces."""
    if not machine.warm_start or not hasattr(machine, "_dual"):
        return None
    cut, loss, old_graphs, cost, store = machine._dual
    if cut is not machine._pieces() or loss != machine._loss().name or old_graphs.shape != graphs.shape:
        return None
    if old_graphs is not graphs and old_graphs != graphs:
        return None
    factor = np.divide(problem.cost, cost, out=np.zeros_like(cost), where=cost > 0)
    scaled: FlowStore = store.scaled(factor, problem.widest)
    return scaled


def warn_unconverged(machine: PreferenceMachine, gap: float) -> None:
    """Say that the machine has not converged."""
    warnings.warn(
        f"{type(machine).__name__} stopped after max_iter = {machine.max_iter} passes with a relative duality gap of "
        f"{gap:.2g}, above tol = {machine.tol:g}. Raise max_iter or tol, lower C, or scale X.",
        ConvergenceWarning,
        stacklevel=5,
    )


def _note_margin_bound(
    machine: PreferenceMachine,
    graphs: PreferenceGraphs,
    problem: MarginProblem,
    solver: LinearDual | KernelDual,
    square: float,
    score: Callable[[Any], Array],
) -> None:
    """The terms of Theorem 1; scores are only computed for all rows where no arc of a few is violated."""
    suspects = solver.costliest(_SUSPECTS)
    smallest = smallest_margin(graphs[suspects], score(suspects))
    if smallest > 0:
        blocks = row_blocks(*graphs.shape, FEW_CELLS)
        smallest = min((smallest_margin(graphs[block], score(block)) for block in blocks), default=np.inf)
    longest = 1.0 if problem.codes is None else float(np.sqrt((problem.codes**2).sum(axis=1).max()))
    machine._bound_terms = BoundTerms(
        n=len(graphs),
        most_pieces=int(problem.pieces_of.max(initial=0)),
        most_arcs=most_arcs_of_a_piece(graphs, machine._pieces() if machine.aggregate == "max" else DISAGREEMENT),
        margin=smallest / np.sqrt(square) if square > 0 else 0.0,
        radius=2.0 * longest * solver.radius,
    )


def _note_leave_one_out(
    machine: PreferenceMachine,
    graphs: PreferenceGraphs,
    problem: MarginProblem,
    solver: LinearDual | KernelDual,
    solution: Solution,
    score: Callable[[Any], Array],
) -> None:
    """LOO <= |V|/N: V holds the pieces whose margin may be charged by the loss at the exact solution W*.

    A margin changes by at most ||W - W*|| ||M_head - M_tail|| ||x|| on the way there.
    """
    from arcrank.rankers.preference_machine.leave_one_out import (
        count_pieces_within,
        last_charged_margin,
        widest_code_distance,
    )

    change = solution.distance * widest_code_distance(problem.codes) * solver.lengths
    limit = last_charged_margin(machine._loss()) + change
    support = count_pieces_within(graphs, score, limit, machine._pieces(), single=machine.aggregate == "sum")
    machine.leave_one_out_bound_ = support / max(1, int(problem.pieces_of.sum()))

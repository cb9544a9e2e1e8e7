"""The coding problem: an embedding and the codes of the labels, learnt in turn (Aiolli & Sperduti 2004, section 3).

A machine minimizes `J(A) = 1/2 ||A||^2 + C sum_pieces max_arcs w L(margin)` over (k, d) weights A; scores are A x. With
codes of length s, A = M W' with M (k, s) and W (d, s): the same J over matrices of rank s. It depends on the spaces
that M and W span, not on their bases, so each step takes an orthonormal basis of what it keeps:

- M'M = I gives ||A|| = ||W||: W is the solution of the paper's embedding problem (5) with codes M.
- W'W = I gives ||A|| = ||M||: M is the solution of a machine without codes on the s-dimensional instances W'x.

Both are convex, and the A of the step before is feasible in each, so J falls until both steps have nothing to gain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcrank._typing import Array
from arcrank.graphs.base import row_blocks
from arcrank.losses.zero_flows import FlowsOf
from arcrank.solvers.flow_store import FlowStore
from arcrank.solvers.history import History
from arcrank.solvers.margin_dual import LinearDual
from arcrank.solvers.margin_problem import MarginProblem

__all__ = ["Factors", "centroid_codes", "learn_codes"]


_MOST_ROUNDS = 50
_POWERS = 4  # steps of the subspace iteration of the start
_SPARE = 10  # more dimensions than wanted in it, which make it converge faster


@dataclass
class Factors:
    """Weights of rank s, `A = codes @ embedding.T`, and how good they are.

    codes : (k, s) with singular values as lengths of its columns, in descending order
    embedding : (d, s) with orthonormal columns
    objective : J(A)
    gap : the relative duality gap of the step that found them
    """

    codes: Array
    embedding: Array
    objective: float
    gap: float
    converged: bool
    passes: int = 0


class _Steps:
    """Steps of one kind: each starts from the dual variables of the last one, which are feasible for any features.

    A step is solved to half of tol: a gain of tol could not be seen through a gap of the same size.
    """

    def __init__(self, tol: float, max_iter: int, random: np.random.RandomState, options: dict[str, Any]) -> None:
        self._tol = tol
        self._limits: dict[str, Any] = {"tol": 0.5 * tol, "max_iter": max_iter, "random": random}
        self._options = options
        self._store: FlowStore | None = None
        self.passes = 0

    def solve(self, X: Any, problem: MarginProblem) -> tuple[Array, dict[str, Any]]:
        """The weights of a convex step, and its objective, gap and whether it reached tol."""
        solver = LinearDual(X, problem, **self._options)
        solution = solver.start(self._store)
        solver.solve(solution, **self._limits, history=History())
        self._store = solution.store
        self.passes += solution.passes
        gap = solution.relative_gap
        return solution.weights, {"objective": solution.primal, "gap": gap, "converged": gap <= self._tol}


def learn_codes(
    X: Any,
    make: Callable[[Array | None], MarginProblem],
    codes: Array,
    *,
    tol: float,
    max_iter: int,
    random: np.random.RandomState,
    history: History,
    **options: Any,
) -> Factors:
    """Alternate the two steps from (k, s) codes on until a round lowers J by less than tol.

    A step that does not lower J, as its tolerance allows, is not taken; so J falls with every entry of the history.

    make : from codes, or None for those that are to be learnt, to the problem of a step
    options : of LinearDual
    """
    embedding_steps, coding_steps = (_Steps(tol, max_iter, random, options) for _ in range(2))
    coding, best = make(None), Factors(codes, np.zeros((X.shape[1], codes.shape[1])), np.inf, np.inf, converged=False)
    for _ in range(_MOST_ROUNDS):
        before, basis = best.objective, orthonormal(best.codes)
        W, facts = embedding_steps.solve(X, make(basis))
        best, stop = _better(best, Factors(basis, W, **facts), history)
        if stop:
            break
        span = orthonormal(best.embedding)
        M, facts = coding_steps.solve(np.asarray(X @ span), coding)
        best, stop = _better(best, Factors(M.T, span, **facts), history)
        if stop or best.objective >= before * (1.0 - tol):
            break
    best.passes = embedding_steps.passes + coding_steps.passes
    return principal(best)


def _better(best: Factors, found: Factors, history: History) -> tuple[Factors, bool]:
    """The better one, noted where it is new, and whether the callback wants to stop."""
    if found.objective >= best.objective:
        return best, False
    return found, history.add(loss=found.objective, gap=found.gap)


def orthonormal(columns: Array) -> Array:
    """An orthonormal basis of a space that has these columns in it."""
    basis: Array = np.linalg.qr(columns)[0]
    return np.ascontiguousarray(basis)


def principal(factors: Factors) -> Factors:
    """The same A with orthonormal directions of instances, the most important first, and signs that are fixed."""
    Q, R = np.linalg.qr(factors.embedding)
    left, sizes, right = np.linalg.svd(factors.codes @ R.T, full_matrices=False)
    signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(len(sizes))])
    factors.codes = np.ascontiguousarray(left * (sizes * signs))
    factors.embedding = np.ascontiguousarray((Q @ right.T) * signs)
    return factors


def centroid_codes(X: Any, flows: FlowsOf, shape: tuple[int, int], length: int, random: np.random.RandomState) -> Array:
    """(k, s) codes to start from: the best s dimensions of the labels' centroids.

    The (d, k) centroids X'F, with F the flows at zero scores, are the direction of steepest descent of J at A = 0. They
    are never stored: subspace iteration needs only their products with (k, s) and (d, s) matrices.
    """
    k = shape[1]
    basis = orthonormal(random.standard_normal((k, min(k, length + _SPARE))))

    def nets() -> Any:
        for block in row_blocks(*shape):
            inflow, outflow = flows(block)
            yield block, outflow - inflow

    for _ in range(_POWERS):
        centroids = np.zeros((X.shape[1], basis.shape[1]))
        for block, net in nets():
            centroids += X[block].T @ (net @ basis)
        product = np.zeros((k, basis.shape[1]))
        for block, net in nets():
            product += net.T @ (X[block] @ centroids)
        basis = np.linalg.svd(product, full_matrices=False)[0]
    return np.ascontiguousarray(basis[:, :length])

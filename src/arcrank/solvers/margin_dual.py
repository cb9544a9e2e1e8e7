"""The dual of the Preference Learning Model, instance by instance, with the duality gap as stopping rule.

The gap is a sum over instances, `P - D = sum_i [cost_i - g(flows_i) + flows_i . scores_i]`, every part being at least
0. A visit sees its instance's part; instances whose part is negligible sleep, longer each time. When the parts seen on
the way sum up to little enough, all instances are measured at the same weights: that is the certificate.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from arcrank._features import squared_lengths
from arcrank._typing import Array, Mask
from arcrank.graphs.base import row_blocks
from arcrank.solvers.flow_store import FlowStore
from arcrank.solvers.history import History
from arcrank.solvers.kernel_cache import KernelRows
from arcrank.solvers.margin_problem import MarginProblem

_NEGLIGIBLE = 0.1  # share of the allowed gap that sleeping instances may hold
_WAITING = 0.05  # share of the present mean gap below which an instance waits; with more, passes lose their use
_LONGEST_SLEEP = 8  # passes
_FULL_EVERY = 4  # passes; those between look only at the labels that each instance watches
_VISITS = 1000  # that a pass makes at least: it repeats a small set of instances, for it costs nothing
_BATCH, _CYCLES = 128, 4  # instances that a kernel machine solves together, and rounds over them
_MOST_ROOM = 1 << 22  # dual variables of a batch for which there is room at once
_ROUNDING = 1e-12  # share of the primal that rounding may hide of the gap
_APPROACH, _APPROACHES = 5.0, 6  # factor between the costs of a cold start, and the most of them
_FEW_VISITS = 10.0  # up to which C q there is none of them
_APPROACH_PASSES, _NEAR_ENOUGH = 12, 0.01  # at each of them: passes at most, and the relative gap that is enough
_FIRST_PASSES, _RELAX = 3, 1.3  # passes of plain steps, and the factor of the steps after them
_LEAST = 0.2  # share of the squared length of an instance that counts, however much of it is the constant
_NEARLY, _SMALL = 4.0, 0.01  # a fit is finished from this multiple of tol on, and from this relative gap
_BETWEEN = 6  # passes between two attempts
_SETTLE = 0.5  # the factor of steps in such a pass
_LONGER = 0.125  # share of the relative gap by which weights are made longer
_PATIENCE, _PROGRESS = 25, 0.8  # after so many passes the gap must be at most this share, or steps become plain
_TINY = 1e-30  # stands for the squared length of an empty instance


@dataclass
class Solution:
    """Dual variables, what they make, and how good it is.

    weights : (d, s) W of a linear machine, or (n, k) net flows of a kernel machine
    made : what the flows make of the last row of W, where that follows them slowly; see `LinearDual`
    scale : what the W of the flows was multiplied by in the end; see `LinearDual._finish`
    """

    store: FlowStore
    weights: Array
    primal: float = np.inf
    dual: float = -np.inf
    converged: bool = False
    passes: int = 0
    made: Array | None = None
    scale: float = 1.0

    @property
    def lag(self) -> float:
        """The distance of the weights from those that the flows make."""
        return 0.0 if self.made is None else float(np.linalg.norm(self.weights[-1] - self.made))

    @property
    def relative_gap(self) -> float:
        """(primal - dual) / primal, at least 0."""
        return max(0.0, self.primal - self.dual) / self.primal if self.primal > 0 else 0.0

    @property
    def distance(self) -> float:
        """A bound on the distance of W from the optimal W*, at any tolerance.

        Both objectives are strongly concave or convex in W: primal - P* and D* - dual are each at least
        1/2 ||W - W*||^2, the latter for the W that the flows make. So the gap bounds its square, where these are one.
        """
        gap, lag = max(0.0, self.primal - self.dual) + _ROUNDING * self.primal, self.lag
        if self.scale != 1.0:
            return float(np.sqrt(2.0 * gap))  # the dual tells nothing about these weights
        return 0.5 * lag + float(np.sqrt(max(0.0, gap - 0.25 * lag**2)))


@dataclass
class Alarm:
    """Which instances a pass visits: the sleeping ones wake after 1, 3, 7, ... passes."""

    n: int
    enabled: bool
    wake: NDArray[np.int64] = field(init=False)
    wait: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.wake, self.wait = np.zeros(self.n, dtype=np.int64), np.zeros(self.n, dtype=np.int64)

    def awake(self, number: int) -> NDArray[np.int64]:
        """Instances that pass `number` visits."""
        return np.flatnonzero(self.wake <= number)

    def note(self, number: int, visited: NDArray[np.int64], quiet: Mask) -> None:
        """Let instances whose flow barely changed sleep longer, and visit the others in the next pass."""
        if self.enabled:
            longer = np.minimum(2 * self.wait[visited] + 1, _LONGEST_SLEEP)
            self.wait[visited] = np.where(quiet, longer, 0)
            self.wake[visited] = number + 1 + self.wait[visited]

    def ring(self, rows: Mask) -> None:
        """Wake these instances."""
        self.wake[rows], self.wait[rows] = 0, 0


@dataclass
class Patience:
    """Whether longer steps and weights that lag behind still help: the dual does not fall, and the gap does."""

    lost: bool = False
    _passes: int = 0
    _gap: float = np.inf
    _dual: float = -np.inf

    def look(self, solution: Solution) -> None:
        """After a pass."""
        gap = solution.primal - solution.dual
        self._dual = max(self._dual, solution.dual)
        self._passes += 1
        if self._dual - solution.dual > 0.5 * (solution.primal - self._dual):
            self.lost = True
        if self._passes % _PATIENCE == 0:
            self.lost = self.lost or gap > _PROGRESS * self._gap
            self._gap = gap


class _Dual:
    """What both machines know: the part of each instance in gap and primal, and its squared length."""

    gaps: Array
    costs: Array
    live: NDArray[np.int64]
    _square: Array

    def costliest(self, count: int) -> NDArray[np.int64]:
        """The instances that cost most at the present weights, at most `count`."""
        return np.argsort(-self.costs, kind="stable")[:count]

    @property
    def lengths(self) -> Array:
        """The lengths of the instances, (n,)."""
        return np.sqrt(self._square)

    @property
    def radius(self) -> float:
        """The largest length of an instance."""
        return float(self.lengths.max(initial=0.0))


class LinearDual(_Dual):
    """A linear machine: works on W, never on a kernel matrix; a pass costs O(non-zeros of X times labels).

    constant : the value of the last column of X, if that is a constant feature. Its weights then follow the flows
        slowly (`compiled.margin_dual_constant`), unless instances are few.
    """

    def __init__(
        self, X: Any, problem: MarginProblem, *, shrinking: bool = True, n_jobs: int = 1, constant: float = 0.0
    ) -> None:
        X = sp.csr_matrix(X)
        self._X = X
        self._rows = np.ascontiguousarray(X.data), X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64)
        self._square = np.maximum(squared_lengths(X), _TINY)
        self._problem = problem
        self.live = np.flatnonzero((problem.pieces_of > 0) & (problem.cost > 0))
        self._shrinking = shrinking
        self._n_jobs = n_jobs
        self._constant = constant if problem.exact_visits and len(self.live) > _VISITS else 0.0
        self._curvature = self._square  # by which flows change their own scores
        self.gaps, self.costs = np.zeros(X.shape[0]), np.zeros(X.shape[0])

    def start(self, store: FlowStore | None = None) -> Solution:
        """From given dual variables, or from 0."""
        W = np.zeros((self._X.shape[1], self._problem.n_embedded))
        if store is None:  # at W = 0 a piece costs C L(0) = C
            primal = float((self._problem.cost * self._problem.pieces_of).sum())
            empty = FlowStore.empty(self._X.shape[0], self._problem.widest)
            return Solution(empty, W, primal, 0.0, made=self._made(W))
        for block in row_blocks(*self._problem.shape):
            W += self._X[block].T @ self._problem.embed(self._problem.net_flows(block, store))
        solution = Solution(store, W, made=self._made(W))
        self.measure(solution)
        return solution

    def _made(self, W: Array) -> Array | None:
        return W[-1].copy() if self._constant != 0.0 else None

    def _hold_constant(self, solution: Solution) -> None:
        """Let the weights of the constant follow the flows of this solution, if they do not do so at once."""
        made = solution.made
        if made is None:
            nothing = np.zeros(0)
            self._curvature, self._problem.lag = self._square, (0.0, nothing, nothing, nothing)
        else:
            self._curvature = np.maximum(self._square - self._constant**2, _LEAST * self._square)
            self._problem.lag = self._constant, made, np.zeros(len(made)), np.zeros(len(made))

    def _release_constant(self, solution: Solution) -> None:
        """From now on, treat the constant as a feature like the others."""
        assert solution.made is not None
        solution.weights[-1], solution.made = solution.made, None
        self._hold_constant(solution)
        self.measure(solution)

    def solve(
        self, solution: Solution, *, tol: float, max_iter: int, random: np.random.RandomState, history: History
    ) -> None:
        """Ascend in place until the relative gap is at most tol."""
        if not solution.store.count.any():
            self._approach(solution, max_iter, random)
        self._ascend(solution, tol=tol, max_iter=max_iter, random=random, history=history)
        solution.store.trim()

    def rescale(self, solution: Solution, costs: Array) -> None:
        """Replace the costs by a multiple of them, and multiply flows and weights alike: the start for another C."""
        self._unscale(solution)
        ratios = costs[self.live] / self._problem.cost[self.live]
        factor = float(ratios[0]) if len(ratios) else 1.0
        self._problem.cost = costs
        solution.store.value[: solution.store.used[0]] *= factor  # what is behind was never written
        solution.weights *= factor
        if solution.made is not None:
            solution.made *= factor
        solution.passes = 0
        self.measure(solution)

    def _approach(self, solution: Solution, max_iter: int, random: np.random.RandomState) -> None:
        """Start from the scaled flows of smaller costs: from 0, those of instances that stay violated grow slowly."""
        costs = self._problem.cost
        scale = float((costs * self._square)[self.live].max(initial=0.0))
        # Flows of C grow from 0 in about C q visits, which are worth a detour only where these are many.
        if scale <= _FEW_VISITS:
            return
        least = 2 if self._problem.exact_visits else 0
        steps = [step for step in range(_APPROACHES, 0, -1) if scale > _APPROACH ** (step - 1 + least)]
        for step in steps:
            self.rescale(solution, costs / _APPROACH**step)
            passes = min(max_iter, _APPROACH_PASSES)
            self._ascend(solution, tol=_NEAR_ENOUGH, max_iter=passes, random=random, history=History())
        if steps:
            self.rescale(solution, costs)

    def _ascend(
        self, solution: Solution, *, tol: float, max_iter: int, random: np.random.RandomState, history: History
    ) -> None:
        self._problem.begin()
        self._unscale(solution)
        self._hold_constant(solution)
        # A pass over few instances repeats them, so nothing is saved where some of them sleep, and the others wait.
        alarm = Alarm(len(self.live), self._shrinking and len(self.live) > _VISITS)
        close = not self._shrinking
        patience = Patience()
        exact = True  # the gap of the start was measured, so that nothing is done where it is small enough
        last = -_BETWEEN  # when finishing was tried
        for number in range(max_iter):
            if exact and solution.relative_gap <= tol:
                break
            if _finishes(solution, tol) and number - last > _BETWEEN:
                last, exact = number, True
                self._finish(solution, tol, random)
                alarm.ring(self.gaps[self.live] > self._negligible(solution, tol))
                if history.add(loss=solution.primal, gap=solution.relative_gap):
                    break
                continue
            negligible = self._negligible(solution, tol)
            visited = alarm.awake(number)
            repeats = max(1, _VISITS // max(1, len(visited)))
            order = np.concatenate([random.permutation(visited) for _ in range(repeats)])
            full = number % _FULL_EVERY == 0 or close
            self._problem.relax = 1.0 if number < _FIRST_PASSES or patience.lost else _RELAX
            self.visit(solution, self.live[order], full, negligible)
            alarm.note(number, visited, self.gaps[self.live[visited]] <= negligible)
            solution.passes += 1
            solution.primal = solution.dual + self._gap(solution)
            patience.look(solution)
            if solution.made is not None:
                _, _, responses, recent = self._problem.lag
                responses[:], recent[:] = recent, 0.0
                if patience.lost:
                    self._release_constant(solution)
            close = solution.relative_gap <= tol or not self._shrinking
            exact = solution.relative_gap <= tol and full
            if exact:
                self.measure(solution)
                alarm.ring(self.gaps[self.live] > negligible)
            if history.add(loss=solution.primal, gap=solution.relative_gap):
                break
        if not exact:
            self.measure(solution)
        solution.converged = solution.relative_gap <= tol

    def _finish(self, solution: Solution, tol: float, random: np.random.RandomState) -> None:
        """Settle the margins of all instances by a pass of short steps, and measure W and a multiple of it.

        Most pieces of a hinge end with a margin of exactly 1. A visit leaves one instance there and moves the others a
        little, by less where steps are short. The margins of the rest are on both sides of 1, and those below cost C
        times what they lack: slightly longer weights are a better solution.
        """
        self._problem.relax = _SETTLE
        self.visit(solution, self.live[random.permutation(len(self.live))], True, 0.0)
        solution.passes += 1
        self.measure(solution)
        if solution.relative_gap <= tol:
            return
        before = solution.primal, self.gaps.copy()
        # The last digits of the gap depend on the processor, and weights must not.
        solution.scale = 1.0 + float(f"{_LONGER * solution.relative_gap:.1e}")
        solution.weights *= solution.scale
        self._measure_costs(solution)
        solution.primal = 0.5 * float(np.vdot(solution.weights, solution.weights)) + float(self.costs.sum())
        if solution.relative_gap > tol:
            self._unscale(solution)
            solution.primal, self.gaps[:] = before

    @staticmethod
    def _unscale(solution: Solution) -> None:
        """Return to the weights that the flows make."""
        if solution.scale != 1.0:
            solution.weights /= solution.scale
            solution.scale = 1.0

    def _negligible(self, solution: Solution, tol: float) -> float:
        """The part of the gap below which an instance may wait: small for what tol allows, or for the present mean."""
        allowed, present = tol * solution.primal, solution.primal - solution.dual
        return max(_NEGLIGIBLE * allowed, _WAITING * present) / max(1, len(self.live))

    def visit(self, solution: Solution, visits: NDArray[np.int64], full: bool, quiet: float) -> None:
        """Visit these instances, moving the flows of those whose part of the gap is above `quiet`."""
        first, store = 0, solution.store
        while first < len(visits):
            first, rise = self._problem.linear_pass(
                self._rows, self._curvature, visits, first, full, quiet, solution.weights, store, self.gaps, self.costs
            )
            solution.dual += rise
            if first < len(visits):
                store.repack(self._problem.widest)

    def measure(self, solution: Solution) -> None:
        """Primal and dual at the present weights: a pass in which everything is quiet."""
        self._measure_costs(solution)
        solution.primal = 0.5 * float(np.vdot(solution.weights, solution.weights)) + float(self.costs.sum())
        solution.dual = solution.primal - self._gap(solution)

    def _measure_costs(self, solution: Solution) -> None:
        """The part of each instance in the primal and the gap at the present weights."""
        solution.store.repack(self._problem.widest)

        def work(visits: NDArray[np.int64]) -> None:
            arrays = solution.weights, solution.store, self.gaps, self.costs
            self._problem.linear_pass(self._rows, self._curvature, visits, 0, True, np.inf, *arrays)

        _in_threads(work, self.live, self._n_jobs)

    def _gap(self, solution: Solution) -> float:
        """Primal less dual, by the parts of the instances when they were last seen."""
        return float(self.gaps.sum()) + 0.5 * solution.lag**2


class KernelDual(_Dual):
    """A kernel machine: keeps the scores of all instances, and visits in batches those that hold a part of the gap."""

    def __init__(self, rows: KernelRows, problem: MarginProblem, *, n_jobs: int = 1) -> None:
        self._kernel = rows
        self._problem = problem
        self.live = np.flatnonzero((problem.pieces_of > 0) & (problem.cost > 0))
        self._n_jobs = n_jobs
        self.gaps, self.costs = np.zeros(problem.shape[0]), np.zeros(problem.shape[0])
        self._square = np.maximum(rows.diagonal, _TINY)
        self._gram = None if problem.codes is None else problem.codes @ problem.codes.T
        self.scores = np.zeros(problem.shape)

    def start(self, store: FlowStore | None = None) -> Solution:
        """From given dual variables, or from 0."""
        flows = np.zeros(self._problem.shape)
        if store is None:
            return Solution(FlowStore.empty(len(flows), self._problem.widest), flows)
        flows[:] = self._problem.net_flows(slice(0, len(flows)), store)
        support = np.flatnonzero(flows.any(axis=1))
        for at in range(0, len(support), _BATCH):
            self._add(support[at : at + _BATCH], flows[support[at : at + _BATCH]])
        return Solution(store, flows)

    def solve(
        self, solution: Solution, *, tol: float, max_iter: int, random: np.random.RandomState, history: History
    ) -> None:
        """Ascend in place until the relative gap is at most tol."""
        self.measure(solution)
        for _ in range(max_iter):
            if solution.relative_gap <= tol:
                break
            negligible = _NEGLIGIBLE * tol * solution.primal / max(1, len(self.live))
            visited = random.permutation(self.live[self.gaps[self.live] > negligible])
            for at in range(0, len(visited), _BATCH):
                self._step(solution, visited[at : at + _BATCH], negligible)
            self.measure(solution)
            solution.passes += 1
            if history.add(loss=solution.primal, gap=solution.relative_gap):
                break
        solution.converged = solution.relative_gap <= tol

    def _step(self, solution: Solution, batch: NDArray[np.int64], quiet: float) -> None:
        """Solve a batch by its own small kernel matrix, then correct the scores of all instances."""
        K = self._kernel.rows(batch)
        coefficients = np.zeros((len(batch), self._problem.shape[1]))
        widest = self._problem.widest
        solution.store.repack(
            widest, max(16, min(len(batch), _MOST_ROOM // widest))
        )  # a batch ends where there is none
        own = np.ascontiguousarray(K[:, batch]), self.scores[batch]
        measured = self.gaps, self.costs
        self._problem.gram_pass(self._square, batch, *own, _CYCLES, quiet, solution.store, *measured, coefficients)
        solution.weights[batch] += coefficients
        self.scores += K.T @ self._spread(coefficients)

    def _add(self, rows: NDArray[np.int64], flows: Array) -> None:
        self.scores += self._kernel.rows(rows).T @ self._spread(flows)

    def _spread(self, flows: Array) -> Array:
        return flows if self._gram is None else flows @ self._gram

    def measure(self, solution: Solution) -> None:
        """Primal and dual of all instances; `||W||^2 = sum_i flows_i . scores_i`."""
        nothing = np.zeros((0, 0))
        solution.store.repack(self._problem.widest)

        def work(rows: NDArray[np.int64]) -> None:
            scores = self.scores[rows]
            store, measured = solution.store, (self.gaps, self.costs)
            self._problem.gram_pass(self._square, rows, nothing, scores, 1, np.inf, store, *measured, nothing)

        _in_threads(work, self.live, self._n_jobs)
        square = float(np.vdot(solution.weights, self.scores))
        solution.primal = 0.5 * square + float(self.costs.sum())
        solution.dual = solution.primal - float(self.gaps.sum())


def _finishes(solution: Solution, tol: float) -> bool:
    """Whether the gap is so small that `_finish` may end it."""
    return tol < solution.relative_gap <= min(_NEARLY * tol, _SMALL)


def _in_threads(work: Any, rows: NDArray[np.int64], n_jobs: int) -> None:
    """Kernels release the GIL, and parts do not touch each other's results."""
    if n_jobs == 1 or len(rows) < 1000:
        work(rows)
        return
    with ThreadPoolExecutor(n_jobs) as threads:
        list(threads.map(work, np.array_split(rows, n_jobs)))

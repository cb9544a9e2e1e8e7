r"""Dual ascent on partitions with safe addition: CoCoA+ (Ma, Smith, Jaggi, Jordan, Richtarik & Takac 2015).

With P partitions, each one ascends on its own instances for one pass as if the others moved as much as it does: along a
step of its flows the quadratic term of the dual counts sigma' = P times. The sum of such steps never lowers the dual.
Multiplying X by sqrt(P) and dividing W by it has this effect without another kernel: scores stay the same, and squared
lengths are P times as large.

A partition's flows stay at its worker, together with V_p, its part of `W = sum_p V_p`, and the number of the round
after which they are part of W. The client gets the sum of V_p and never adds to W itself, so whatever happened to a
partition, W is that of the flows which exist: a partition whose flows were lost starts from 0, reports its V_p and
learns again from the next round on. A round that is repeated finds its work done and reports the same V_p. The
certificate is the global duality gap; it is measured at flows that make exactly this W.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from arcrank._typing import Array
from arcrank.distributed.blocks import Block
from arcrank.distributed.partitions import Partitions, Sums
from arcrank.solvers.history import History
from arcrank.solvers.loglinear_dual import DualAscent, DualState

__all__ = ["DualRound", "solve_dual"]

_FORGOTTEN = 3600.0
"""Seconds after which the flows of a run whose client has gone are dropped."""


@dataclass(frozen=True)
class DualRound:
    """What a round of all partitions has in common."""

    run: str
    number: int
    cost: float
    n_partitions: int
    skip: float
    seed: int


class _LocalFlows:
    """The flows of one partition between rounds, at the worker that last visited it."""

    def __init__(self, block: Block, job: DualRound) -> None:
        self.scale = float(np.sqrt(job.n_partitions))
        X = sp.csr_matrix(block.X)
        X = sp.csr_matrix((self.scale * X.data, X.indices, X.indptr), shape=X.shape)
        plan = block.plan
        self.ascent = DualAscent(X, block.graphs, plan.decomposition, job.cost * block.weight, normalize=plan.normalize)
        n = len(block.weight)
        self.flows, self.V = np.zeros(self.ascent.n_flows), np.zeros(self.ascent.shape)
        self.gaps, self.losses, self.sleep = np.zeros(n), np.zeros(n), np.zeros((n, 2), dtype=np.int64)
        self.number = job.number if job.number == 0 else -1  # all weights start at 0, and so do all flows
        self.used = time.monotonic()
        self.lock = threading.Lock()

    def state(self, W: Array) -> DualState:
        return DualState(W / self.scale, self.flows)

    def ascend(self, W: Array, job: DualRound, index: int) -> None:
        """Make one pass from the common weights on, and add its change to V."""
        state = self.state(W)
        start = state.W.copy()
        rows = np.random.RandomState([job.seed, job.number, index]).permutation(len(self.gaps))
        self.sleep[self.gaps > job.skip] = 0
        self.ascent.ascend(state, self.gaps, self.losses, self.sleep, rows, job.skip)
        self.V += (state.W - start) / self.scale

    def measure(self, W: Array) -> None:
        self.ascent.measure(self.state(W), self.gaps, self.losses, self.sleep)


_FLOWS: dict[tuple[str, int], _LocalFlows] = {}
_FLOWS_LOCK = threading.Lock()


def _flows_of(block: Block, job: DualRound) -> _LocalFlows:
    with _FLOWS_LOCK:
        found = _FLOWS.get((job.run, block.index))
        if found is None:
            _drop_forgotten()
            found = _FLOWS[job.run, block.index] = _LocalFlows(block, job)
    found.used = time.monotonic()
    return found


def _drop_forgotten() -> None:
    old = time.monotonic() - _FORGOTTEN
    for key in [key for key, one in _FLOWS.items() if one.used < old]:
        del _FLOWS[key]


def drop_flows(run: str) -> None:
    """Forget the flows of a run in this process."""
    with _FLOWS_LOCK:
        for key in [key for key in _FLOWS if key[0] == run]:
            del _FLOWS[key]


def ascend_sums(block: Block, W: Array, job: DualRound) -> Sums:
    """Return V_p after the round, the loss and the gap that the pass saw, and 1 where flows were not those of W."""
    local = _flows_of(block, job)
    with local.lock:
        stale = local.number not in (job.number, job.number + 1)
        if local.number == job.number:
            local.ascend(W, job, block.index)
        local.number = job.number + 1
        return local.V.copy(), float(local.losses.sum()), float(local.gaps.sum()), int(stale)


def measure_sums(block: Block, W: Array, job: DualRound) -> Sums:
    """Return the exact loss and gap of a partition, and 1 where its flows are not those of W."""
    local = _flows_of(block, job)
    with local.lock:
        if local.number == job.number:
            local.measure(W)
        return float(local.losses.sum()), float(local.gaps.sum()), int(local.number != job.number)


@dataclass
class _Progress:
    """The client's state: the weights of a round, and how far they are from the optimum."""

    state: DualState
    number: int = 0
    skip: float = 0.0
    usual: float = 0.4  # how much smaller the gap is after a round than what the round saw on its way
    exact: bool = False


def solve_dual(
    partitions: Partitions,
    shape: tuple[int, int],
    n: int,
    *,
    run: str,
    cost: float,
    tol: float,
    max_iter: int,
    seed: int,
    history: History,
) -> DualState:
    """Ascend until the relative global duality gap is at most tol; `flows` of the result are empty."""
    now = _Progress(DualState(np.zeros(shape), np.zeros(0)))
    for _ in range(max_iter):
        _ascend(partitions, now, _job(partitions, now, run, cost, seed))
        estimate = now.state.relative_gap
        now.exact = now.usual * estimate <= tol and _measure(partitions, now, _job(partitions, now, run, cost, seed))
        if now.exact and estimate > 0:
            now.usual = max(0.1, min(1.0, now.state.relative_gap / estimate))
        stop = history.add(loss=now.state.loss, gap=now.state.relative_gap)
        now.skip = max(0.1 * tol * now.state.primal, 0.03 * now.state.gap) / max(1, n)
        now.state.converged = now.exact and now.state.relative_gap <= tol
        if stop or now.state.converged:
            break
    if not now.exact:
        _measure(partitions, now, _job(partitions, now, run, cost, seed))
        now.state.converged = now.exact and now.state.relative_gap <= tol
    return now.state


def _job(partitions: Partitions, now: _Progress, run: str, cost: float, seed: int) -> DualRound:
    return DualRound(run, now.number, cost, len(partitions), now.skip, seed)


def _ascend(partitions: Partitions, now: _Progress, job: DualRound) -> None:
    now.state.W, now.state.loss, now.state.gap, stale = partitions.sum(ascend_sums, now.state.W, job)
    now.number += 1
    if stale:  # what lost partitions saw is not known; the next round knows
        now.state.loss = now.state.gap = np.inf


def _measure(partitions: Partitions, now: _Progress, job: DualRound) -> bool:
    """Measure loss and gap; False where a partition was lost since, so that its flows are not those of W."""
    loss, gap, stale = partitions.sum(measure_sums, now.state.W, job)
    if stale:
        return False
    now.state.loss, now.state.gap = loss, gap
    return True

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
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from arcrank._typing import Array
from arcrank.distributed.blocks import Block
from arcrank.distributed.partitions import Partitions, Sums
from arcrank.solvers.history import History
from arcrank.solvers.loglinear_dual import DualAscent, DualState

__all__ = [
    "DualRound",
    "LocalDual",
    "LogLinearFlows",
    "ascend_sums",
    "drop_flows",
    "fit_dual",
    "flows_of",
    "solve_dual",
]

_FORGOTTEN = 3600.0
"""Seconds after which the flows of a run whose client has gone are dropped."""
_TRIES = 3
"""Measurements of the last gap, each of which the loss of a worker may spoil."""


class LocalDual(Protocol):
    """The dual variables of one partition, and the parts of its instances in gap and loss that were last seen."""

    gaps: Array
    losses: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the weights."""

    def ascend(self, W: Array, random: np.random.RandomState, skip: float) -> None:
        """Visit all instances once in random order, changing W; those whose gap is at most `skip` stay."""

    def measure(self, W: Array) -> None:
        """Note the exact gaps and losses at W."""


class LogLinearFlows:
    """A `LocalDual` of the log-linear loss."""

    def __init__(self, block: Block, X: sp.csr_matrix, cost: float) -> None:
        plan, n = block.plan, len(block.weight)
        self._ascent = DualAscent(X, block.graphs, plan.decomposition, cost * block.weight, normalize=plan.normalize)
        self.shape = self._ascent.shape
        self._flows = np.zeros(self._ascent.n_flows)
        self.gaps, self.losses, self._sleep = np.zeros(n), np.zeros(n), np.zeros((n, 2), dtype=np.int64)

    def ascend(self, W: Array, random: np.random.RandomState, skip: float) -> None:
        """As `LocalDual.ascend`."""
        rows, state = random.permutation(len(self.gaps)), DualState(W, self._flows)
        self._sleep[self.gaps > skip] = 0
        self._ascent.ascend(state, self.gaps, self.losses, self._sleep, rows, skip)

    def measure(self, W: Array) -> None:
        """As `LocalDual.measure`."""
        self._ascent.measure(DualState(W, self._flows), self.gaps, self.losses, self._sleep)


@dataclass(frozen=True)
class DualRound:
    """What a round of all partitions has in common; `make` returns the `LocalDual` of a block."""

    run: str
    make: Callable[[Any, sp.csr_matrix, float], LocalDual]
    cost: float
    n_partitions: int
    seed: int
    number: int = 0
    skip: float = 0.0


class _LocalFlows:
    """The flows of one partition between rounds, at the worker that last visited it."""

    def __init__(self, block: Block, job: DualRound) -> None:
        self.scale = float(np.sqrt(job.n_partitions))
        X = sp.csr_matrix(block.X)
        X = sp.csr_matrix((self.scale * X.data, X.indices, X.indptr), shape=X.shape)
        self.dual = job.make(block, X, job.cost)
        self.V = np.zeros(self.dual.shape)
        self.number = job.number if job.number == 0 else -1  # all weights start at 0, and so do all flows
        self.used = time.monotonic()
        self.lock = threading.Lock()

    def ascend(self, W: Array, job: DualRound, index: int) -> None:
        """Make one pass from the common weights on, and add its change to V."""
        start = W / self.scale
        moved = start.copy()
        self.dual.ascend(moved, np.random.RandomState([job.seed, job.number, index]), job.skip)
        self.V += (moved - start) / self.scale

    def measure(self, W: Array) -> None:
        self.dual.measure(W / self.scale)

    def sums(self) -> tuple[float, float]:
        return float(self.dual.losses.sum()), float(self.dual.gaps.sum())


_FLOWS: dict[tuple[str, int], _LocalFlows] = {}
_FLOWS_LOCK = threading.Lock()


def flows_of(block: Block, job: DualRound) -> _LocalFlows:
    """Return the flows of a partition in this process, or all 0 where there are none."""
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
    local = flows_of(block, job)
    with local.lock:
        stale = local.number not in (job.number, job.number + 1)
        if local.number == job.number:
            local.ascend(W, job, block.index)
        local.number = job.number + 1
        return local.V.copy(), *local.sums(), int(stale)


def measure_sums(block: Block, W: Array, job: DualRound) -> Sums:
    """Return the exact loss and gap of a partition, and 1 where its flows are not those of W."""
    local = flows_of(block, job)
    with local.lock:
        if local.number == job.number:
            local.measure(W)
        return *local.sums(), int(local.number != job.number)


@dataclass
class _Progress:
    """The client's state: the weights of a round, and how far they are from the optimum."""

    state: DualState
    job: DualRound
    usual: float = 0.4  # how much smaller the gap is after a round than what the round saw on its way
    exact: bool = False


def solve_dual(
    partitions: Partitions,
    shape: tuple[int, int],
    n: int,
    job: DualRound,
    *,
    tol: float,
    max_iter: int,
    history: History,
) -> tuple[DualState, DualRound]:
    """Ascend until the relative global duality gap is at most tol; return the weights, and the round they belong to.

    `flows` of the result are empty.
    """
    now = _Progress(DualState(np.zeros(shape), np.zeros(0)), job)
    for _ in range(max_iter):
        _ascend(partitions, now)
        estimate = now.state.relative_gap
        now.exact = now.usual * estimate <= tol and _measure(partitions, now)
        if now.exact and estimate > 0:
            now.usual = max(0.1, min(1.0, now.state.relative_gap / estimate))
        stop = history.add(loss=now.state.loss, gap=now.state.relative_gap)
        if np.isfinite(now.state.gap):
            skip = max(0.1 * tol * now.state.primal, 0.03 * now.state.gap) / max(1, n)
            now.job = replace(now.job, skip=skip)
        if stop or (now.exact and now.state.relative_gap <= tol):
            break
    for _ in range(_TRIES):
        now.exact = now.exact or _measure(partitions, now)
        if not now.exact:  # after a round the weights are those of all flows again
            _ascend(partitions, now)
    now.state.converged = now.exact and now.state.relative_gap <= tol
    return now.state, now.job


def _ascend(partitions: Partitions, now: _Progress) -> None:
    now.state.W, now.state.loss, now.state.gap, stale = partitions.sum(ascend_sums, now.state.W, now.job)
    now.job = replace(now.job, number=now.job.number + 1)
    if stale:  # what lost partitions saw is not known; the next round knows
        now.state.loss = now.state.gap = np.inf


def _measure(partitions: Partitions, now: _Progress) -> bool:
    """Measure loss and gap; False where a partition was lost since, so that its flows are not those of W."""
    loss, gap, stale = partitions.sum(measure_sums, now.state.W, now.job)
    if stale:
        return False
    now.state.loss, now.state.gap = loss, gap
    return True


def fit_dual(
    ranker: Any, blocks: Any, make: Callable[..., LocalDual], shape: tuple[int, int], n: int, history: History
) -> tuple[DualState, DualRound]:
    """Solve with the parameters of a ranker; the caller drops the flows of the round that is returned."""
    seed = int(check_random_state(ranker.random_state).randint(2**31))
    job = DualRound(blocks.cluster.run, make, ranker.C_, len(blocks), seed)
    return solve_dual(blocks, shape, n, job, tol=ranker.tol, max_iter=int(ranker.max_iter), history=history)

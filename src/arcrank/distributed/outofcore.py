"""Log-linear rankers of data larger than memory, on one machine: dual ascent over blocks of mapped shards.

The dual variables are in a mapped file too, so that the anonymous memory of a fit is that of
the weights and of one block. The blocks of a pass are visited in random order and the instances of a block in random
order, all with the same weights: it is the dual ascent of `LogLinearRanker` with another order of visits, and the
duality gap is measured over all blocks.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from arcrank._typing import Array
from arcrank.distributed.shards import ShardFolder
from arcrank.errors import ParameterError, ResourceError
from arcrank.graphs import LayeredGraphs
from arcrank.memory import gigabytes
from arcrank.rankers.base import add_intercept
from arcrank.rankers.loglinear import LogLinearRanker
from arcrank.rankers.scale import scale_of_sums, scale_sums
from arcrank.rankers.thresholds import MOST_CELLS, set_sizes, thresholds_of
from arcrank.solvers.history import History
from arcrank.solvers.loglinear_dual import DualAscent, DualState, count_flows
from arcrank.solvers.products import row_products

__all__ = ["OutOfCorePlan", "fit_shards", "plan_shards"]

_BASE = 250e6
"""Bytes of a process that has imported NumPy, SciPy and the compiled kernels."""
_NS_PER_VALUE_AND_LABEL = 105.0
"""All passes to a gap of 1e-2, for documents of `benchmarks/outofcore.py`: between 61 s of CPU for 80,938 of them
(37 passes) and 1,576 s for 809,383 (70 passes)."""


@dataclass(frozen=True)
class OutOfCorePlan:
    """How many rows a block has, and what a fit needs."""

    block_rows: int
    bytes: float
    disk: float
    seconds: float

    def describe(self) -> str:
        """Say it in one line.

        >>> OutOfCorePlan(1000, 6.1e9, 1e9, 840.0).describe()
        'needs 6.1 GB of memory and 1.0 GB of disk, about 14 min, in blocks of 1,000 documents'
        """
        minutes = self.seconds / 60
        time = f"{minutes:.0f} min" if minutes >= 1 else f"{self.seconds:.0f} s"
        return (
            f"needs {gigabytes(int(self.bytes))} of memory and {gigabytes(int(self.disk))} of disk, about {time}, "
            f"in blocks of {self.block_rows:,} documents"
        )


def plan_shards(folder: ShardFolder, memory: float) -> OutOfCorePlan:
    """Choose the rows of a block so that a fit takes at most `memory` bytes that are not mapped.

    Examples
    --------
    >>> import tempfile
    >>> from arcrank.distributed import ShardFolder, plan_shards, write_shards
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_shards(folder, [([[1.0, 0.0], [0.0, 1.0]], [["tea"], ["milk"]])], labels=["milk", "tea"])
    ...     plan_shards(ShardFolder(folder), memory=1e9).describe()
    'needs 250 MB of memory and 0 MB of disk, about 0 s, in blocks of 2 documents'
    """
    n, k, d = max(1, folder.n_rows), len(folder.labels), folder.n_features
    weights = 8.0 * (d + 1) * k
    fixed = _BASE + 2 * weights + 8 * min(MOST_CELLS, n * k) * 2.5 + 32.0 * n  # scores for thresholds; gaps, losses
    per_row = 40.0 * folder.n_values / n + 40.0 * k
    rows = int((memory - fixed) / per_row)
    if rows < 1:
        raise ResourceError(
            f"Training on these shards needs at least {gigabytes(int(fixed + per_row))} of memory, and "
            f"{gigabytes(int(memory))} are allowed; allow more, or use fewer features."
        )
    rows = min(rows, n, 100_000)
    seconds = 1e-9 * _NS_PER_VALUE_AND_LABEL * folder.n_values * k
    return OutOfCorePlan(rows, fixed + rows * per_row, 8.0 * n * k, seconds)


@dataclass
class _Block:
    """Rows of one shard; flows and what the last visits saw are those of these rows."""

    shard: int
    rows: slice
    flows: slice
    gaps: Array = field(repr=False)
    losses: Array = field(repr=False)
    sleep: Any = field(repr=False)


class _Blocks:
    """All blocks of a folder, with their flows in one mapped file."""

    def __init__(self, folder: ShardFolder, ranker: LogLinearRanker, block_rows: int, scratch: Path) -> None:
        self.folder, self._ranker = folder, ranker
        self._cut = ranker._pieces()
        self.blocks = list(self._lay_out(block_rows))
        size = max(1, self.blocks[-1].flows.stop) if self.blocks else 1
        self._flows = np.memmap(scratch / "flows", dtype=np.float64, mode="w+", shape=(size,))

    def _lay_out(self, block_rows: int) -> Iterator[_Block]:
        at = 0
        for number, shard in enumerate(self.folder.shards):
            graphs = self.folder.read(number)[1]
            for start in range(0, shard.rows, block_rows):
                rows = slice(start, min(shard.rows, start + block_rows))
                n, flows = rows.stop - start, count_flows(_rows_of(graphs, rows), self._cut)
                sleep = np.zeros((n, 2), dtype=np.int64)
                yield _Block(number, rows, slice(at, at + flows), np.zeros(n), np.zeros(n), sleep)
                at += flows

    def read(self, block: _Block) -> tuple[sp.csr_matrix, LayeredGraphs]:
        """Return the features, without the constant one, and graphs of a block."""
        X, graphs = self.folder.read(block.shard)
        return X[block.rows], _rows_of(graphs, block.rows)

    def visit(self, block: _Block, state: DualState, random: Any, skip: float) -> None:
        """Ascend on a block with the common weights; with random=None only measure."""
        X, graphs = self.read(block)
        ranker = self._ranker
        X = add_intercept(X, ranker._constant) if ranker.fit_intercept else X
        weight = np.full(len(graphs), ranker.C_)
        ascent = DualAscent(X, graphs, self._cut, weight, normalize=ranker.normalize)
        local = DualState(state.W, self._flows[block.flows])
        if random is None:
            ascent.measure(local, block.gaps, block.losses, block.sleep)
        else:
            block.sleep[block.gaps > skip] = 0
            order = random.permutation(len(graphs))
            ascent.ascend(local, block.gaps, block.losses, block.sleep, order, skip)

    def total(self, state: DualState) -> None:
        """Note the loss and the gap that the last visits saw."""
        state.loss = float(sum(block.losses.sum() for block in self.blocks))
        state.gap = float(sum(block.gaps.sum() for block in self.blocks))


def _rows_of(graphs: LayeredGraphs, rows: slice) -> LayeredGraphs:
    return graphs.take(np.arange(rows.start, rows.stop))


def fit_shards(
    ranker: LogLinearRanker, folder: str | os.PathLike[str], *, memory: float = 2e9, scratch: str | None = None
) -> LogLinearRanker:
    """Fit a ranker by dual ascent over the blocks of a folder of shards.

    Parameters
    ----------
    ranker : LogLinearRanker
        Its solver is "auto" or "dual", and it has no cut label.
    folder : path
        As `write_shards` or `arcrank data convert` makes it.
    memory : float
        Bytes that the process may take, mapped files not counted.
    scratch : path, optional
        A folder on a disk for the dual variables, 8 bytes for each document and label; by default next to the shards.

    Examples
    --------
    >>> import tempfile
    >>> from arcrank import LogLinearRanker
    >>> from arcrank.distributed import fit_shards, write_shards
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_shards(folder, [([[1.0, 0.0], [0.0, 1.0]], [["tea"], ["milk"]])], labels=["milk", "tea"])
    ...     ranker = fit_shards(LogLinearRanker(C=10), folder, memory=1e9)
    >>> ranker.rank([[2.0, 0.0]]).tolist()
    [['tea', 'milk']]
    """
    ranker.check_parameters()
    if ranker.solver not in ("auto", "dual") or ranker.cut_label or ranker.loss is not None:
        raise ParameterError("Shards are learnt by solver='dual', without cut_label and without a custom loss.")
    shards = ShardFolder(folder)
    plan = plan_shards(shards, memory)
    _note_data(ranker, shards)
    with tempfile.TemporaryDirectory(prefix=".arcrank-flows-", dir=scratch or shards.folder) as place:
        blocks = _Blocks(shards, ranker, plan.block_rows, Path(place))
        shape = shards.n_features + ranker.fit_intercept, len(shards.labels)
        state, history = DualState(np.zeros(shape), np.zeros(0)), ranker._history()
        try:
            _solve(blocks, state, ranker, history)
        finally:
            ranker._finish(state, history, shards.n_features)
        ranker.thresholds_ = _thresholds(blocks, ranker)
    return ranker


def _note_data(ranker: LogLinearRanker, shards: ShardFolder) -> None:
    """Note labels, features and the scale of the data, one shard at a time."""
    sums = np.zeros(3)
    seen = np.zeros(len(shards.labels), dtype=bool)
    for number, shard in enumerate(shards.shards):
        X, graphs = shards.read(number)
        sums += scale_sums(X, np.ones(shard.rows))
        seen[graphs.label] = True
    ranker.labels_, ranker.n_features_in_, ranker._kind = shards.labels, shards.n_features, "sets"
    ranker._top_seen, ranker.solver_ = seen, "dual"
    ranker._drop_calibration()
    if shards.feature_names is not None:
        ranker.feature_names_in_ = np.array(shards.feature_names, dtype=object)
    ranker._set_scale(scale_of_sums((sums[0], sums[1], sums[2]), shards.n_features), len(shards.labels))


def _solve(blocks: _Blocks, state: DualState, ranker: LogLinearRanker, history: History) -> None:
    """Ascend as `DualAscent.solve` does, block by block."""
    random = check_random_state(ranker.random_state)
    n, skip, usual = max(1, blocks.folder.n_rows), 0.0, 0.4
    for _ in range(ranker.max_iter):
        for number in random.permutation(len(blocks.blocks)):
            blocks.visit(blocks.blocks[number], state, random, skip)
        blocks.total(state)
        estimate = state.relative_gap
        exact = usual * estimate <= ranker.tol
        if exact:
            _measure(blocks, state)
            usual = max(0.1, min(1.0, state.relative_gap / estimate)) if estimate > 0 else usual
        stop = history.add(loss=state.loss, gap=state.relative_gap)
        state.converged = exact and state.relative_gap <= ranker.tol
        if stop or state.converged:
            break
        skip = max(0.1 * ranker.tol * state.primal, 0.03 * state.gap) / n
    if not state.converged:
        _measure(blocks, state)
        state.converged = state.relative_gap <= ranker.tol


def _measure(blocks: _Blocks, state: DualState) -> None:
    for block in blocks.blocks:
        blocks.visit(block, state, None, 0.0)
    blocks.total(state)


def _thresholds(blocks: _Blocks, ranker: LogLinearRanker) -> Any:
    step = 1 + blocks.folder.n_rows * len(ranker.labels_) // MOST_CELLS
    scores, sizes, offset = [], [], 0
    for block in blocks.blocks:
        X, graphs = blocks.read(block)
        first = -offset % step
        scores.append(row_products(X[first::step], ranker.coef_.T) + ranker.intercept_)
        sizes.append(set_sizes(graphs)[first::step])
        offset += len(graphs)
    return thresholds_of(np.concatenate(scores), np.concatenate(sizes))

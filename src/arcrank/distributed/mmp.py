"""Online rankers on a Dask cluster: iterative parameter mixing (McDonald, Hall & Mann 2010)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from arcrank._features import canonical_csr, squared_lengths
from arcrank._typing import Array, IntArray
from arcrank.decompositions import DOMINATION
from arcrank.distributed.base import DaskEstimator
from arcrank.distributed.blocks import Block, BlockPlan, prepare
from arcrank.distributed.cluster import ClusterPartitions
from arcrank.distributed.fitting import check_facts, learn_data, n_columns
from arcrank.distributed.partitions import Sums
from arcrank.distributed.raw import DataSummary
from arcrank.errors import InputError
from arcrank.graphs.unseen import seen_on_top
from arcrank.rankers.online.mmp import MMPRanker
from arcrank.solvers.history import History
from arcrank.solvers.online import LOSSES, Progress, Prototypes

__all__ = ["DaskMMPRanker"]


@dataclass(frozen=True)
class _Epoch:
    """What a pass over all partitions has in common."""

    rule: int
    average: bool
    shuffle: bool
    seed: int
    number: int


def pass_facts(block: Block) -> dict[str, Any]:
    """Return what the client reports of a block."""
    arcs = block.graphs.arc_counts()
    return {
        "arcs": int(arcs.sum()),
        "seen": seen_on_top(block.graphs),
        "fewest": int(arcs[arcs > 0].min(initial=2**53)),
    }


_ADDED = [0, 1, 2, 4]  # of the sums of `Progress`: all but the largest squared length


def _from_the_start(W: Array) -> IntArray:
    """Say that all labels were known before the first round."""
    return np.zeros(W.shape[1], dtype=np.int64)


def pass_sums(block: Block, W: Array, epoch: _Epoch) -> Sums:
    """Learn a block once from the weights W on; return sums over its rounds.

    The weights after the pass and their mean over it count once for each round, so that a partition's part of the
    mixture is its share of the rounds.
    """
    model = Prototypes(W.copy(), np.zeros(W.shape if epoch.average else (0, 0)), _from_the_start(W))
    n, progress = len(block.graphs), Progress()
    random = np.random.RandomState([epoch.seed, epoch.number, block.index])
    rows = random.permutation(n) if epoch.shuffle else np.arange(n)
    model.learn(epoch.rule, canonical_csr(block.X), block.graphs, rows.astype(np.int64), progress)
    rounds = progress.rounds
    mean = rounds * model.mean(rounds) if epoch.average else np.zeros(0)
    return rounds * model.weights, mean, rounds, progress.skipped, progress.sums[_ADDED]


def longest_square(block: Block) -> float:
    """Return the largest squared length of an instance with arcs."""
    squares = squared_lengths(canonical_csr(block.X))
    return float(squares[block.graphs.arc_counts() > 0].max(initial=0.0))


class DaskMMPRanker(DaskEstimator, MMPRanker):
    """`MMPRanker` fitted on the partitions of a Dask cluster by iterative parameter mixing.

    In each epoch every partition is learnt from the same weights on, and the weights after it are averaged, each with
    the number of its documents. With one partition and without `shuffle` the result is that of one machine; with more
    it is another one, and needs several epochs: `benchmarks/distributed_mixing.py` measures what it costs in accuracy.

    Parameters
    ----------
    loss, epochs, average, shuffle, kernel, gamma, degree, coef0, random_state, verbose, cut_label, cut_level,
    set_measure, calibration_folds
        As in `MMPRanker`. There is no kernel. With cut_label, `calibration_folds` must be 0: calibrate `to_local()` on
        data that fit into memory.
    client : distributed.Client, str or None
        The client, the address of a scheduler, or None for the default client of this process.
    timeout : float
        Seconds that may pass without a task being finished, before a `ClusterError` is raised.

    Attributes
    ----------
    labels_, coef_, history_, n_rounds_, n_skipped_
        As in `MMPRanker`. Of `cumulative_losses_` there is the last row only.
    n_instances_ : int
        The number of instances of all partitions.

    Examples
    --------
    >>> import numpy as np, dask
    >>> from distributed import Client
    >>> from arcrank.distributed import DaskMMPRanker
    >>> with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
    ...     blocks = [dask.delayed((np.eye(2), ["tea", "milk"])), dask.delayed((np.ones((1, 2)), ["tea"]))]
    ...     ranker = DaskMMPRanker(epochs=3, client=client).fit(blocks)
    >>> ranker.to_local().rank([[2.0, 0.0]]).tolist()
    [['tea', 'milk']]
    """

    _local_class = MMPRanker

    def __init__(
        self,
        loss: str = "indicator",
        epochs: int = 1,
        average: bool = False,
        shuffle: bool = False,
        kernel: str | Callable[[Any, Any], Any] | None = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        random_state: Any = None,
        verbose: int = 0,
        cut_label: bool = False,
        cut_level: int | None = None,
        set_measure: str | None = "micro_f1",
        calibration_folds: int = 3,
        client: Any = None,
        timeout: float = 300.0,
    ) -> None:
        super().__init__(
            loss,
            epochs,
            average,
            shuffle,
            kernel,
            gamma,
            degree,
            coef0,
            random_state,
            verbose,
            cut_label,
            cut_level,
            set_measure,
            calibration_folds,
        )
        self.client = client
        self.timeout = timeout

    def check_parameters(self) -> None:
        """Raise a `ParameterError` for the first parameter that `fit` would refuse, without any data."""
        super().check_parameters()
        self._refuse_folds()
        self._refuse_changed({"kernel": None})

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from a Dask collection, delayed blocks of (X, y), or a folder of shards, in `epochs` passes.

        X : dask.array or dask.dataframe (then y is one too, with the same partitions), dask.bag of objects as in JSON
            lines, list of delayed blocks, or the path of a folder with a file for each partition
        """
        self.check_parameters()
        raw, data = self._load(X, y, None)
        if data.kind == "candidates":
            raise InputError("DaskMMPRanker ranks labels, got candidates; use DaskLogLinearRanker for them.")
        plan = BlockPlan(data, DOMINATION, True, None, bool(self.cut_label), self.cut_level)
        blocks = raw.derive(prepare, plan, keep=data.kept)
        del raw
        facts = blocks.map(pass_facts)
        learn_data(self, data, facts)
        check_facts(self, data, facts)
        self._mix(blocks, data, min(one["fewest"] for one in facts))
        self.n_instances_ = data.n
        return self

    def to_local(self) -> Any:
        """Return the plain ranker of the same parameters, fitted if this one is; it goes on learning on its own."""
        local = super().to_local()
        for name in ("_model", "_progress"):
            if name in local.__dict__:
                setattr(local, name, copy.deepcopy(getattr(local, name)))
        return local

    def _mix(self, blocks: ClusterPartitions, data: DataSummary, fewest: int) -> None:
        self._start(len(self.labels_))
        W = np.zeros((data.n_features, n_columns(data, cut=bool(self.cut_label))))
        seed = int(check_random_state(self.random_state).randint(2**31))
        history = History(total=self.epochs, verbose=self.verbose)
        mean, rounds, skipped, losses = np.zeros_like(W), 0, 0, np.zeros(len(_ADDED))
        for number in range(self.epochs):
            epoch = _Epoch(LOSSES[self.loss], bool(self.average), bool(self.shuffle), seed, number)
            total, total_mean, new, left_out, lost = blocks.sum(pass_sums, W, epoch)
            W = total / new if new else W
            mean = mean + total_mean if self.average else mean
            rounds, skipped, losses = rounds + new, skipped + left_out, losses + lost
            history.add(**dict(zip(("loss1", "loss2", "loss3"), (losses[:3] / max(1, rounds)).tolist(), strict=True)))
        history.close()
        self.history_ = history.entries
        # The mean of `Prototypes` is weights - late / rounds.
        late = rounds * W - mean if self.average else np.zeros((0, 0))
        self._model = Prototypes(W, late, _from_the_start(W))
        square = max(blocks.map(longest_square))
        curve = (losses[:3] / max(1, rounds))[None, :] if rounds else np.empty((0, 3))
        counters = np.array([rounds, skipped, fewest, max(1, rounds), len(curve)], dtype=np.int64)
        self._progress = Progress(counters, np.insert(losses, 3, square), curve)

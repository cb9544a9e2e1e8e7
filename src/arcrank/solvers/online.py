"""What an online ranker keeps between documents, and a pass over some of them.

Nothing here imports numba before the first pass, so a trained ranker scores without it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array, IntArray
from arcrank.errors import GraphError, InputError
from arcrank.graphs import LayeredGraphs, PreferenceGraphs

__all__ = [
    "LOSSES",
    "N_SUMS",
    "PERCEPTRON",
    "Progress",
    "Prototypes",
    "born_later",
    "check_born",
    "check_progress",
    "graph_arrays",
]


LOSSES = {"indicator": 0, "size": 1, "normalized": 2, "average_precision": 4}
"""The rules of MMP: losses 1, 2 and 3 of Crammer & Singer 2002, and 1 - average precision."""
PERCEPTRON = 3
N_SUMS = 5
"""Sums of `Progress`; files of earlier versions have one less, that of the loss that steps are made for."""
_NO_ARCS_YET = np.iinfo(np.int64).max
_MOST_ROUNDS = 1 << 53  # far from where 64 bits overflow
_MOST_POINTS = 1 << 16  # that of compiled.online, which must not be imported here; a test holds them together


def _fresh_counters() -> NDArray[np.int64]:
    return np.array([0, 0, _NO_ARCS_YET, 1, 0], dtype=np.int64)


@dataclass(eq=False)
class Progress:
    """How a stream went so far: counts, summed losses and the curve of their means; see `compiled.online`."""

    counters: NDArray[np.int64] = field(default_factory=_fresh_counters)
    sums: Array = field(default_factory=lambda: np.zeros(N_SUMS))
    curve: Array = field(default_factory=lambda: np.empty((0, 3)))

    @property
    def rounds(self) -> int:
        """Documents with arcs that were seen."""
        return int(self.counters[0])

    @property
    def skipped(self) -> int:
        """Documents without arcs, which do not count as rounds."""
        return int(self.counters[1])

    @property
    def fewest_arcs(self) -> int:
        """The fewest arcs that a document with arcs had."""
        return int(self.counters[2])

    def reserve(self, n: int) -> None:
        """Make room in the curve for n more rounds."""
        needed = min(_MOST_POINTS, int(self.counters[4]) + n)
        if needed > len(self.curve):
            wider = np.empty((min(_MOST_POINTS, max(needed, 2 * len(self.curve))), 3))
            wider[: len(self.curve)] = self.curve
            self.curve = wider

    def losses(self) -> tuple[NDArray[np.int64], Array]:
        """Round numbers, (m,), and the means of losses 1-3 over the rounds up to each, (m, 3); the last is now."""
        stride, points = int(self.counters[3]), int(self.counters[4])
        numbers = stride * np.arange(1, points + 1)
        if self.rounds % stride == 0:
            return numbers, self.curve[:points].copy()
        now = self.sums[None, :3] / self.rounds
        return np.append(numbers, self.rounds), np.concatenate([self.curve[:points], now])

    def mean_losses(self) -> list[float]:
        """Losses 1-3, means over all rounds."""
        return [float(total) / max(1, self.rounds) for total in self.sums[:3]]

    @property
    def largest_square(self) -> float:
        """The largest squared length of a document with arcs."""
        return float(self.sums[3])

    @property
    def own_loss(self) -> float:
        """The sum of the loss that steps are made for, where it is none of the losses 1-3."""
        return float(self.sums[4])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Copies of all that a later run needs to go on."""
        curve = self.curve[: self.counters[4]].copy()
        return {"counters": self.counters.copy(), "sums": self.sums.copy(), "curve": curve}


def check_progress(counters: NDArray[Any], sums: NDArray[Any], curve: NDArray[Any]) -> None:
    """Refuse a stored `Progress` that contradicts itself: compiled code writes to the curve by its counters."""
    shapes = counters.shape == (5,) and sums.shape == (N_SUMS,) and curve.ndim == 2 and curve.shape[1] == 3
    if not shapes or counters.dtype != np.int64 or sums.dtype != np.float64 or curve.dtype != np.float64:
        raise InputError(
            f"The state has counters of shape {counters.shape}, sums of shape {sums.shape} and a curve of shape "
            f"{curve.shape}; it needs (5,) int64, ({N_SUMS},) float64 and (points, 3) float64."
        )
    rounds, skipped, fewest, stride, points = counters.tolist()
    counted = 0 <= rounds <= _MOST_ROUNDS and 0 <= skipped <= _MOST_ROUNDS and fewest >= 1
    if not counted or not 1 <= stride <= _MOST_ROUNDS or not points == rounds // stride == len(curve) <= _MOST_POINTS:
        raise InputError(
            f"The state has the counters {counters.tolist()} and a curve of {len(curve)} points, which is "
            "impossible; pass a state that get_state returned."
        )


@dataclass(eq=False)
class Prototypes:
    """Weights (d, k), and the sums that their mean over all rounds needs (empty where it is not wanted).

    `born` is the number of rounds before each label was known, (k,).
    """

    weights: Array
    late: Array
    born: IntArray
    _mean: Array | None = field(default=None, repr=False)

    @classmethod
    def zeros(cls, d: int, k: int, average: bool) -> Prototypes:
        """Prototypes of k labels before the first round."""
        return cls(np.zeros((d, k)), np.zeros((d, k) if average else (0, 0)), np.zeros(k, dtype=np.int64))

    @property
    def n_columns(self) -> int:
        """The number of labels."""
        return self.weights.shape[1]

    def grow(self, k: int, rounds: int) -> None:
        """Add labels of zero weight after so many rounds."""
        self.born = born_later(self.born, k, rounds)
        self.weights = _wider(self.weights, k)
        self.late = _wider(self.late, k) if len(self.late) else self.late

    def mean(self, rounds: int) -> Array:
        """The mean of the weights after rounds 1..T, or the last weights where no mean is kept.

        The mean of a label runs over the rounds in which it was known. Over all rounds, a label that appeared late
        would be compared with the others at a fraction of its weights.
        """
        if not len(self.late) or not rounds:
            return self.weights
        if self._mean is None:  # made when it is asked for: a block must not cost d x k operations
            self._mean = self.mean_of(slice(None), rounds)
        return self._mean

    def mean_of(self, features: Any, rounds: int) -> Array:
        """The rows of `mean` for some features, computed without the others."""
        weights = self.weights[features]
        if not len(self.late) or not rounds:
            return weights
        # `late` counts rounds from the first on; counted from round b = born on, it is late - b weights.
        return weights - (self.late[features] - self.born * weights) / np.maximum(1, rounds - self.born)

    def forget_mean(self) -> None:
        """Compute the mean anew when it is asked for; passes call this, since they change the weights in place."""
        self._mean = None

    def learn(self, rule: int, X: Any, graphs: PreferenceGraphs, rows: IntArray, progress: Progress) -> None:
        """See the rows of X, CSR (n, d), in the given order."""
        from arcrank.compiled.online import mmp_arcs, mmp_layered, perceptron

        progress.reserve(len(rows))
        self.forget_mean()
        out: list[Any] = [self.weights, self.late, progress.counters, progress.sums, progress.curve]
        given: list[Any] = [rows, *csr_arrays(X), *graph_arrays(graphs)]
        if rule == PERCEPTRON:
            if not isinstance(graphs, LayeredGraphs) or graphs.n_layers > 2:
                raise GraphError(
                    f"PerceptronRanker needs label sets, got {graphs!r}; use MMPRanker for other preferences."
                )
            seen = perceptron(*given, *out)
        elif isinstance(graphs, LayeredGraphs):
            seen = mmp_layered(*[*given, rule, *out])
        else:
            seen = mmp_arcs(*[*given, rule, *out])
        check_seen(seen, rows)


def check_seen(seen: int, rows: IntArray) -> None:
    """Raise unless all rows have been seen."""
    if seen < len(rows):
        raise InputError(
            f"The scores of row {rows[seen]} are no longer finite: the features are too large. Scale them, e.g. to "
            "rows of unit length, and fit again."
        )


def csr_arrays(X: Any) -> tuple[NDArray[np.int64], NDArray[np.int32], Array]:
    """The arrays of a CSR matrix in the dtypes that kernels are compiled for."""
    data = np.ascontiguousarray(X.data, dtype=np.float64)
    return X.indptr.astype(np.int64, copy=False), X.indices.astype(np.int32, copy=False), data


def graph_arrays(graphs: PreferenceGraphs) -> tuple[Any, ...]:
    """The arrays of graphs, in the order of the kernels' arguments."""
    if isinstance(graphs, LayeredGraphs):
        return graphs.ptr, graphs.label, graphs.level, graphs.rest, max(2, graphs.n_layers)
    arcs = graphs.to_arcs()
    return arcs.arc_ptr, arcs.head, arcs.tail


def born_later(born: IntArray, k: int, rounds: int) -> NDArray[np.int64]:
    """The rounds before each of k labels, of which the last ones are new after so many rounds."""
    return np.append(born, np.full(k - len(born), rounds, dtype=np.int64))


def check_born(born: NDArray[Any], k: int, rounds: int) -> None:
    """Refuse stored numbers of rounds before the labels that cannot be."""
    if born.shape != (k,) or (k and not 0 <= born.min() <= born.max() <= rounds):
        raise InputError(
            f"The state has the rounds before {born.shape} labels, where there are {k} labels and {rounds} rounds; it "
            "is damaged, or of another ranker."
        )


def _wider(weights: Array, k: int) -> Array:
    wider = np.zeros((len(weights), k))
    wider[:, : weights.shape[1]] = weights
    return wider

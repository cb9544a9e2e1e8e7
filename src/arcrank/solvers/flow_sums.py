"""The loss of weights, and its flows times the features: what the primal solvers ask of the data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from arcrank._typing import Array
from arcrank.compiled.products import add_flows, score_rows
from arcrank.graphs.base import row_blocks
from arcrank.losses import FlowLoss, LogLinearLoss
from arcrank.solvers.design import Design, LabelDesign, csr_triple

__all__ = ["FlowProblem", "PrimalProblem", "RowBlocks"]

_CELLS = 1 << 16
"""Scores of a block: with its flows they stay in the processor's cache, and no (n, k) array is made."""


class PrimalProblem(Protocol):
    """A loss of weights, to which solvers add `1/2 ||W||^2`."""

    weight_shape: tuple[int, ...]

    def flow_sums(self, W: Array) -> tuple[float, Array]:
        """The loss at the weights, and minus its gradient: `X'(outflow - inflow)`."""


class FlowProblem:
    """Features, and a loss of their scores."""

    def __init__(self, features: Design, loss: FlowLoss) -> None:
        self.weight_shape = features.weight_shape
        self._features, self._loss = features, loss
        self._blocks = RowBlocks.of(features, loss)

    def flow_sums(self, W: Array) -> tuple[float, Array]:
        """The loss at the weights, and `X'(outflow - inflow)`."""
        if self._blocks is None:
            value, outflow, inflow = self._loss.flows(self._features.scores(W))
            return value, self._features.transposed(outflow - inflow)
        value, total = 0.0, np.zeros(self.weight_shape)
        for rows, part, outflow, inflow in self._blocks.flows(W):
            value += part
            self._blocks.add(rows, outflow - inflow, total)
        return value, total


class RowBlocks:
    """CSR features and a log-linear loss, a block of rows after the other."""

    def __init__(self, X: Any, loss: LogLinearLoss) -> None:
        self._X, self._loss = csr_triple(X), loss

    @classmethod
    def of(cls, features: Design, loss: FlowLoss) -> RowBlocks | None:
        """Return blocks where they can be computed one after the other, by one thread; else None."""
        if not isinstance(features, LabelDesign) or not isinstance(loss, LogLinearLoss):
            return None
        return cls(features.X, loss) if sp.issparse(features.X) and features.n_jobs == 1 else None

    def flows(self, W: Array) -> Iterator[tuple[slice, float, Array, Array]]:
        """Yield rows, their loss, and their outflow and inflow, (m, k)."""
        W = np.ascontiguousarray(W)
        for rows in row_blocks(*self._loss.shape, cells=_CELLS):
            scores = np.empty((rows.stop - rows.start, W.shape[1]))
            score_rows(rows.start, *self._X, W, scores)
            yield rows, *self._loss.flows_of(rows, scores)

    def add(self, rows: slice, flow: Array, total: Array) -> None:
        """Add `X' flow` of these rows to total, (d, k)."""
        add_flows(rows.start, *self._X, flow, total)

"""Where a fit goes on from the last one: the dual variables, and the weights that they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank.solvers.flow_store import FlowStore
from arcrank.solvers.shortlist_arrays import SparseWeights

__all__ = ["WarmState"]


@dataclass(frozen=True)
class WarmState:
    """The solution of one problem at one C.

    Attributes
    ----------
    problem : tuple
        What the dual variables belong to: data, loss, pieces and constant feature. C, the prior and the votes of
        neighbours may be others in the next fit.
    C : float
        The weight of the data term.
    store : FlowStore
        The dual variables.
    moved, bias : float32
        W - W0 = sum_i x_i (outflow_i - inflow_i)' on the pattern, and the weights of the constant feature.
    """

    problem: tuple[Any, ...]
    C: float
    store: FlowStore
    moved: NDArray[np.float32]
    bias: NDArray[np.float32]

    def resume(self, C: float, weights: SparseWeights, bias: NDArray[np.float32]) -> FlowStore:
        """Move weights that are at the prior, and return the dual variables; both are scaled to the new C.

        Scaled variables are dual feasible, and W - W0 is linear in them.
        """
        factor = np.float32(C / self.C)
        weights.weight[:] += factor * self.moved
        bias[:] = factor * self.bias
        return self.store.scaled(np.full(len(self.store.count), C / self.C), 1024)

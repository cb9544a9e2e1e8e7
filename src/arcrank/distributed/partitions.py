"""What every engine offers: a function of each partition, and the sum of its results.

Solvers are written once against `Partitions`; `cluster.ClusterPartitions` runs a task for each partition on Dask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

__all__ = ["Partitions", "Sums", "add_sums"]

Sums = tuple[Any, ...]
"""Numbers and arrays that are added element by element; those of all partitions have the same shapes."""


class Partitions(Protocol):
    """Partitions of the training data; `function` is called as `function(partition, *broadcast)`."""

    def __len__(self) -> int: ...

    def map(self, function: Callable[..., Any], *broadcast: Any) -> list[Any]:
        """Return the result for each partition, in order; for small results only."""

    def sum(self, function: Callable[..., Sums], *broadcast: Any) -> Sums:
        """Return the sum of the results over partitions, in an order that does not depend on who computed them."""


def add_sums(parts: Sequence[Sums]) -> Sums:
    """Add sums element by element, from the first to the last.

    >>> add_sums([(1.0, np.ones(2)), (2.0, np.ones(2))])
    (3.0, array([2., 2.]))
    """
    if len(parts) == 1:
        return parts[0]
    return tuple(_total(values) for values in zip(*parts, strict=True))


def _total(values: Sequence[Any]) -> Any:
    if not isinstance(values[0], np.ndarray):
        return sum(values[1:], start=values[0])
    total = values[0] + values[1]  # a new array: results of tasks may still be read by others
    for value in values[2:]:
        total += value
    return total

"""The dual variables of the Preference Learning Model: few are not zero, and only those are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array


@dataclass
class FlowStore:
    """The non-zero dual variables of n instances in one pool: those of i at start[i]:start[i] + count[i]."""

    start: NDArray[np.int64]
    count: NDArray[np.int64]
    room: NDArray[np.int64]
    key: NDArray[np.int64]
    value: Array
    used: NDArray[np.int64]

    @classmethod
    def empty(cls, n: int, widest: int) -> FlowStore:
        """A store for n instances without flow, with room for the first pass."""
        size = 4 * n + 16 * widest
        start, count, room = np.zeros((3, n), dtype=np.int64)
        return cls(start, count, room, np.empty(size, dtype=np.int64), np.empty(size), np.zeros(1, dtype=np.int64))

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """The arrays in the order in which kernels take them."""
        return self.start, self.count, self.room, self.key, self.value, self.used

    def repack(self, widest: int, instances: int = 16) -> None:
        """Close the holes that moved entries left, and make room for more: those of so many instances at least.

        Keys and values move one after the other, so that there is never a second pool.
        """
        live = int(self.count.sum())
        size = live + live // 2 + instances * widest
        if live == self.used[0] and size <= len(self.key):
            return
        start = np.concatenate([[0], np.cumsum(self.count)[:-1]]).astype(np.int64)
        at = np.repeat(self.start - start, self.count)
        at += np.arange(live)
        self.key = _gathered(self.key, at, size)
        self.value = _gathered(self.value, at, size)
        self.start, self.room = start, self.count.copy()
        self.used[0] = live

    def scaled(self, factor: Array, widest: int) -> FlowStore:
        """A copy with the variables of each instance multiplied."""
        copy = FlowStore(*(array.copy() for array in self.arrays()))
        copy.repack(widest)
        live = int(copy.used[0])
        copy.value[:live] *= np.repeat(factor, copy.count)
        return copy


def _gathered(array: NDArray[Any], at: NDArray[np.int64], size: int) -> NDArray[Any]:
    found = np.empty(size, dtype=array.dtype)
    np.take(array, at, out=found[: len(at)], mode="clip")  # the default mode would make a copy first
    return found

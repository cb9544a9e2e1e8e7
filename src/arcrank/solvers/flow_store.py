"""The dual variables of the Preference Learning Model: few are not zero, and only those are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcrank._typing import Array

_SPARE = 8  # a pool has room for one in so many entries more
_BLOCKS, _LEAST = 64, 64  # the entries of so many blocks of instances are moved in turn, of so many at least


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

        Entries move within the pool, which then grows: there is never a second one.
        """
        live = int(self.count.sum())
        size = live + live // _SPARE + instances * widest
        if live == self.used[0] and size <= len(self.key):
            return
        self._close_holes()
        self._resize(size)

    def trim(self) -> None:
        """Give up all room that is not used."""
        self._close_holes()
        self._resize(int(self.count.sum()))

    def _resize(self, size: int) -> None:
        self.key, self.value = _resized(self.key, size), _resized(self.value, size)
        self.room[:] = self.count
        self.used[0] = self.count.sum()

    def _order(self) -> NDArray[np.intp]:
        """The instances in the order in which their entries are stored."""
        return np.argsort(self.start, kind="stable")

    def _close_holes(self) -> None:
        """Move entries to the front, a block of instances after the other, in the order in which they are stored."""
        order, to = self._order(), 0
        step = max(_LEAST, len(order) // _BLOCKS)
        for first in range(0, len(order), step):
            block = order[first : first + step]
            count = self.count[block]
            end = to + np.cumsum(count)
            at = np.repeat(self.start[block] - (end - count), count) + np.arange(to, end[-1])
            for array in (self.key, self.value):
                array[to : end[-1]] = array[at]
            self.start[block] = end - count
            to = int(end[-1])

    def scaled(self, factor: Array, widest: int) -> FlowStore:
        """A copy with the variables of each instance multiplied."""
        copy = FlowStore(*(array.copy() for array in self.arrays()))
        copy.repack(widest)
        order = copy._order()
        copy.value[: copy.used[0]] *= np.repeat(factor[order], copy.count[order])
        return copy


def _resized(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return the array with another length, where possible in its own memory."""
    own = array if array.flags.owndata else array.copy()  # one that another process sent does not own it
    own.resize(size, refcheck=False)
    return own

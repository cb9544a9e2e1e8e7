"""Progress of an experiment: a call after every cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

__all__ = ["Tick", "ticked"]

T = TypeVar("T")
Tick = Callable[[], object]


def ticked(cells: Iterable[T], tick: Tick) -> Iterator[T]:
    """Yield the cells, calling `tick` after each.

    Examples
    --------
    >>> calls = []
    >>> list(ticked("ab", lambda: calls.append("tick"))), calls
    (['a', 'b'], ['tick', 'tick'])
    """
    for cell in cells:
        yield cell
        tick()

"""Shared by the benchmarks: alternating timing, and a line that says whether a promise is kept."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from statistics import median
from typing import Any


def alternate(tasks: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Run every task in each round and return the median seconds of each."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            seconds[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in seconds.items()}


def first_call(task: Callable[[], Any]) -> float:
    """Seconds of the first call: with an empty kernel cache it compiles."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def peak_bytes(task: Callable[[], Any]) -> int:
    """Peak memory of arrays allocated by the task."""
    tracemalloc.start()
    try:
        task()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def report(what: str, value: float, limit: float, *, at_least: bool = False) -> None:
    """Print the measured ratio, what was promised, and whether it is kept."""
    kept = value >= limit if at_least else value <= limit
    word = "at least" if at_least else "at most"
    print(f"{what:<68} {value:8.3g}   promised {word} {limit:g}: {'kept' if kept else 'MISSED'}", flush=True)

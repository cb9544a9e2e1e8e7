"""Counts and times for Prometheus, in its text format 0.0.4."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from arcrank.server.store import ModelStore

__all__ = ["Metrics", "resident_bytes"]

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """What this process has answered so far."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.in_flight = 0
        self.feedback: Counter[tuple[str, str]] = Counter()
        self._times: dict[str, list[int]] = {}
        self._sums: Counter[str] = Counter()

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self.requests[route, method, status] += 1
        buckets = self._times.setdefault(route, [0] * (len(_BOUNDS) + 1))
        buckets[bisect_left(_BOUNDS, seconds)] += 1
        self._sums[route] += seconds  # type: ignore[assignment]

    def text(self, store: ModelStore) -> str:
        """Return all metrics."""
        return "\n".join([*self._request_lines(), *self._time_lines(), *self._model_lines(store), ""])

    def _request_lines(self) -> Iterator[str]:
        yield from _head("arcrank_requests_total", "counter", "Answers by route, method and status.")
        for (route, method, status), n in sorted(self.requests.items()):
            yield _line("arcrank_requests_total", n, route=route, method=method, status=str(status))
        yield from _head("arcrank_requests_in_flight", "gauge", "Requests that are being answered.")
        yield _line("arcrank_requests_in_flight", self.in_flight)
        yield from _head("arcrank_feedback_total", "counter", "Preferences and retractions by model and state.")
        for (model, state), n in sorted(self.feedback.items()):
            yield _line("arcrank_feedback_total", n, model=model, state=state)
        yield from _head("process_resident_memory_bytes", "gauge", "Memory of this process.")
        yield _line("process_resident_memory_bytes", resident_bytes(), pid=str(os.getpid()))

    def _time_lines(self) -> Iterator[str]:
        name = "arcrank_request_seconds"
        yield from _head(name, "histogram", "Time from the request's headers to the end of the answer.")
        for route, buckets in sorted(self._times.items()):
            total = 0
            for bound, n in zip((*map(str, _BOUNDS), "+Inf"), buckets, strict=True):
                total += n
                yield _line(f"{name}_bucket", total, route=route, le=bound)
            yield _line(f"{name}_sum", self._sums[route], route=route)
            yield _line(f"{name}_count", total, route=route)

    def _model_lines(self, store: ModelStore) -> Iterator[str]:
        slots = store.slots.items()
        yield from _head("arcrank_model_info", "gauge", "The models that are served.")
        for name, slot in slots:
            yield _line("arcrank_model_info", 1, model=name, checksum=slot.model.checksum)
        yield from _head("arcrank_queue_documents", "gauge", "Documents that wait to be ranked.")
        for name, slot in slots:
            yield _line("arcrank_queue_documents", slot.queue.length, model=name)
        yield from _head("arcrank_model_swaps_total", "counter", "Model files that were taken up while serving.")
        for name, slot in slots:
            yield _line("arcrank_model_swaps_total", slot.swaps, model=name, result="taken")
            yield _line("arcrank_model_swaps_total", slot.refused, model=name, result="refused")
        yield from _head("arcrank_feedback_pending", "gauge", "Preferences that the model has not learnt.")
        for name, slot in slots:
            yield _line("arcrank_feedback_pending", 0 if slot.learning is None else slot.learning.pending, model=name)


def resident_bytes() -> int:
    """The memory of this process, 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _head(name: str, kind: str, text: str) -> tuple[str, str]:
    return f"# HELP {name} {text}", f"# TYPE {name} {kind}"


def _line(name: str, value: float, **labels: str) -> str:
    r"""One sample.

    >>> _line("requests", 2, model='a"b')
    'requests{model="a\\"b"} 2'
    """
    shown = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{shown}}} {value}" if shown else f"{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

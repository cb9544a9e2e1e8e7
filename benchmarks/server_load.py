"""Requests per second and latency of `arcrank serve` with single documents of Reuters, beside a bare loop.

`python -m benchmarks.server_load [REQUESTS]`. The client runs on the same machine: of two cores, the server has one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import arcrank
from arcrank import LogLinearRanker, make_ranking_pipeline
from arcrank.datasets import Corpus, load_reuters21578
from arcrank.inference.array_model import load_for_ranking
from arcrank.inference.predictor import Predictor
from arcrank.text import TextFeatures
from benchmarks.timing import report

CACHED = Path(tempfile.gettempdir()) / "arcrank-benchmark-reuters.arcrank"


def reuters_model() -> tuple[Path, list[str]]:
    corpus = load_reuters21578()
    if not CACHED.exists():
        train = corpus.split("train")
        model = make_ranking_pipeline(TextFeatures(), LogLinearRanker(C=10, cut_label=True))
        model.fit(train.texts, [frozenset(labels) for labels in train.label_sets])
        arcrank.save(model, CACHED)
    return CACHED, corpus.split("test").texts


def bare_loop(path: Path, texts: list[str]) -> tuple[float, float]:
    """Tokenising, scoring and selecting five labels, one document after the other.

    The model is read as the server reads it. The result is documents per second, and milliseconds of CPU time each.
    """
    predictor = Predictor(load_for_ranking(path))
    found = []
    for part in [texts[:200], *[texts] * 3]:  # the first is to get warm
        start, cpu = time.perf_counter(), time.process_time()
        for text in part:
            list(predictor.rank(Corpus(labels=[], texts=[text], label_sets=[[]]), 5))
        cpu, seconds = time.process_time() - cpu, time.perf_counter() - start
        found.append((len(part) / seconds, 1e3 * cpu / len(part)))
    return max(one[0] for one in found[1:]), min(one[1] for one in found[1:])


def cpu_seconds(process: Any) -> float:
    """What a process has used; on a busy machine it says more than requests per second."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Served:
    """`arcrank serve` as a process."""

    def __init__(self, *arguments: str, port: int = 8765) -> None:
        self.port = port
        command = [sys.executable, "-m", "arcrank", "serve", *arguments, "--port", str(port)]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        self.wait()

    def wait(self) -> None:
        for _ in range(1200):
            try:
                self.get("/readyz")
                return
            except OSError:
                time.sleep(0.05)
        raise TimeoutError

    def get(self, path: str) -> bytes:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=30) as answer:
            return answer.read()

    def resident_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/statm").read_text().split()
        return int(status[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def load(
    port: int, path: str, texts: list[str], connections: int, requests: int, *, form: bool = False
) -> dict[str, Any]:
    given = {"port": port, "path": path, "texts": texts[:500], "connections": connections, "requests": requests}
    given["form"] = form
    command = [sys.executable, "-m", "benchmarks.server_client"]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measured(
    process: Any, port: int, path: str, texts: list[str], connections: int, requests: int, *, form: bool = False
) -> dict[str, Any]:
    """The figures of one load, with the server's CPU time per request."""
    start = cpu_seconds(process)
    found = load(port, path, texts, connections, requests, form=form)
    found["cpu_ms"] = 1e3 * (cpu_seconds(process) - start) / requests
    return found


def describe(found: dict[str, Any]) -> str:
    return (
        f"{found['per_second']:,.0f} requests/s, p50 {found['p50_ms']:.1f} ms, p99 {found['p99_ms']:.1f} ms, "
        f"{found['cpu_ms']:.2f} ms of CPU time per request, {found['errors']} errors"
    )


def main() -> None:
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    path, texts = reuters_model()
    bare, bare_cpu = bare_loop(path, texts[:500])
    print(f"bare loop: {bare:,.0f} documents/s, {bare_cpu:.2f} ms of CPU time each")
    served = Served(str(path))
    route = f"/v1/models/{path.stem}/rank"
    try:
        load(served.port, route, texts, 8, 500)
        for connections in (1, 8, 64):
            found = measured(served.process, served.port, route, texts, connections, requests // 30)
            print(f"{connections} connections: {describe(found)}", flush=True)
        report("requests/s at 64 connections, share of the bare loop", found["per_second"] / bare, 1 / 3, at_least=True)
        report("the same by CPU time", bare_cpu / found["cpu_ms"], 1 / 3, at_least=True)
        load(served.port, route, texts, 64, requests // 10)  # memory is flat once caches are full
        first, errors = served.resident_mb(), 0
        for _ in range(4):
            found = load(served.port, route, texts, 64, requests // 4)
            memory = f"{served.resident_mb():.0f} MB, {first:.0f} MB at first"
            print(f"{found['requests']:,} requests: {found['errors']} errors, {memory}", flush=True)
            errors += found["errors"]
        report(f"errors of {requests:,} requests", errors, 0)
        report("growth of resident memory over these requests, MB", served.resident_mb() - first, 16)
    finally:
        served.stop()


if __name__ == "__main__":
    main()

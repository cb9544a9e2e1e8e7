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
from arcrank.inference.predictor import Predictor
from arcrank.text import TextFeatures

CACHED = Path(tempfile.gettempdir()) / "arcrank-benchmark-reuters.arcrank"


def reuters_model() -> tuple[Path, list[str]]:
    corpus = load_reuters21578()
    if not CACHED.exists():
        train = corpus.split("train")
        model = make_ranking_pipeline(TextFeatures(), LogLinearRanker(C=10, cut_label=True))
        model.fit(train.texts, [frozenset(labels) for labels in train.label_sets])
        arcrank.save(model, CACHED)
    return CACHED, corpus.split("test").texts


def bare_loop(path: Path, texts: list[str]) -> float:
    """Documents per second of tokenising, scoring and selecting five labels, one after the other."""
    predictor = Predictor(arcrank.load(path))
    start = time.perf_counter()
    for text in texts:
        list(predictor.rank(Corpus(labels=[], texts=[text], label_sets=[[]]), 5))
    return len(texts) / (time.perf_counter() - start)


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


def main() -> None:
    requests = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    path, texts = reuters_model()
    bare_loop(path, texts[:200])
    bare = bare_loop(path, texts[:1000])
    print(f"bare loop: {bare:,.0f} documents/s")
    served = Served(str(path))
    route = f"/v1/models/{path.stem}/rank"
    try:
        load(served.port, route, texts, 8, 500)
        for connections in (1, 8, 64):
            found = load(served.port, route, texts, connections, requests // 30)
            share = found["per_second"] / bare
            print(
                f"{connections} connections: {found['per_second']:,.0f} requests/s ({share:.2f} of the bare loop), "
                f"p50 {found['p50_ms']:.1f} ms, p99 {found['p99_ms']:.1f} ms, {found['errors']} errors",
                flush=True,
            )
        first = served.resident_mb()
        for _ in range(4):
            found = load(served.port, route, texts, 64, requests // 4)
            memory = f"{served.resident_mb():.0f} MB, {first:.0f} MB at first"
            print(f"{found['requests']:,} requests: {found['errors']} errors, {memory}", flush=True)
    finally:
        served.stop()


if __name__ == "__main__":
    main()

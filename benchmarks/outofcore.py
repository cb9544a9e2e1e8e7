"""Log-linear domination on generated documents with the shape of RCV1-v2, out of core: time and anonymous memory.

    python -m benchmarks.outofcore [DOCUMENTS] [FOLDER]

The whole size is 809,383 documents, 9,325 terms, 121 terms per document and 103 topics. Shards are written first; the
fit runs in a process of its own, whose RssAnon is sampled every 50 ms.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from arcrank import LogLinearRanker
from arcrank.distributed.outofcore import fit_shards, plan_shards
from arcrank.distributed.shards import ShardFolder, write_shards

WHOLE, TERMS, LENGTH, TOPICS = 809_383, 9_325, 121, 103
_ROWS = 20_000


def documents(n: int, seed: int = 0) -> tuple[Any, Any]:
    """Rows of unit length with Zipf-distributed terms, and label sets that follow from a hidden linear model."""
    random = np.random.RandomState(seed)
    chances = 1.0 / np.arange(10, TERMS + 10)
    columns = random.choice(TERMS, size=(n, LENGTH), p=chances / chances.sum())
    values = 1.0 + random.exponential(size=columns.shape)
    X = sp.csr_matrix((values.ravel(), columns.ravel(), np.arange(n + 1) * LENGTH), shape=(n, TERMS))
    X.sum_duplicates()
    X = sp.diags(1.0 / np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())) @ X
    hidden = np.random.RandomState(1).randn(TERMS, TOPICS)
    scores = X @ hidden + 0.3 * random.randn(n, TOPICS) - np.linspace(0.0, 2.0, TOPICS)
    top = np.argpartition(-scores, 3, axis=1)[:, :3]
    Y = sp.csr_matrix((np.ones(3 * n), top.ravel(), np.arange(n + 1) * 3), shape=(n, TOPICS))
    return X.tocsr(), Y


def generate(n: int) -> Iterator[tuple[Any, Any]]:
    """Blocks of documents."""
    for start in range(0, n, _ROWS):
        yield documents(min(_ROWS, n - start), seed=start)


def anonymous_bytes() -> int:
    """RssAnon of this process."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("RssAnon")).split()[1])


class Peak(threading.Thread):
    """The largest RssAnon while the thread runs."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.largest = 0

    def run(self) -> None:
        while True:
            self.largest = max(self.largest, anonymous_bytes())
            time.sleep(0.05)


def fit(folder: str) -> None:
    peak = Peak()
    peak.start()
    shards = ShardFolder(folder)
    print("plan:", plan_shards(shards, 2e9).describe(), flush=True)
    start, cpu = time.perf_counter(), time.process_time()
    ranker = LogLinearRanker(decomposition="domination", solver="dual", tol=1e-2, random_state=0, verbose=2)
    fit_shards(ranker, folder, memory=2e9)
    print(
        f"{shards.n_rows:,} documents: gap {ranker.duality_gap_:.1e} after {ranker.n_iter_} passes, "
        f"{time.perf_counter() - start:.0f} s ({time.process_time() - cpu:.0f} s of CPU), "
        f"RssAnon at most {peak.largest / 1e9:.2f} GB"
    )


def main(n: int, place: str | None) -> None:
    with tempfile.TemporaryDirectory(dir=place) as folder:
        shards = os.path.join(folder, "shards")
        write_shards(shards, generate(n), labels=[f"T{j:03}" for j in range(TOPICS)], n_features=TERMS)
        subprocess.run([sys.executable, "-m", "benchmarks.outofcore", "--fit", shards], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fit"]:
        fit(sys.argv[2])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else WHOLE, sys.argv[2] if len(sys.argv) > 2 else None)

"""Time loading RCV1-sized weights against reading the same bytes; damage a model 3,000 times; kill 200 saves.

python -m benchmarks.modelfile
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import arcrank
from arcrank.modelfile import read_card
from benchmarks.timing import alternate, peak_bytes, report

LABELS, FEATURES = 103, 47_237  # RCV1
DAMAGED, KILLED = 3_000, 200
ROUNDS = 21


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rcv1.arcrank"
        arcrank.save(_rcv1_sized(), path, card={"corpus": "random weights"})
        _time(path)
    _harm()


def _rcv1_sized() -> Any:
    """A log-linear ranker with random weights, in memory as `fit` leaves them."""
    ranker = arcrank.LogLinearRanker().fit(np.eye(2), ["a", "b"])
    ranker._set_weights(np.random.default_rng(0).normal(size=(FEATURES + 1, LABELS)), FEATURES)
    ranker.labels_, ranker.n_features_in_ = np.array([f"topic {j}" for j in range(LABELS)]), FEATURES
    return ranker


def _time(path: Path) -> None:
    model, copy = arcrank.load(path), path.with_name("copy")
    seconds = alternate(
        {
            "read the file (read_bytes)": path.read_bytes,
            "read into memory that is there": lambda: _read_into(path),
            "numpy.load of the weights": lambda: _numpy_load(path),
            "arcrank.load": lambda: arcrank.load(path),
            "read_card": lambda: read_card(path),
            "arcrank.save": lambda: arcrank.save(model, copy),
        },
        rounds=ROUNDS,
    )
    size = path.stat().st_size
    print(f"{size:,} bytes: {LABELS} labels, {FEATURES:,} features; medians of {ROUNDS}, load {os.getloadavg()[0]:.1f}")
    for name, value in seconds.items():
        print(f"  {name:<32} {value * 1000:8.1f} ms")
    report("arcrank.load / reading the file", seconds["arcrank.load"] / seconds["read the file (read_bytes)"], 2)
    report("peak memory of arcrank.load / file", peak_bytes(lambda: arcrank.load(path)) / size, 2)


_there = bytearray()


def _read_into(path: Path) -> None:
    """The least that reading can take: no new memory, no second copy."""
    if not _there:
        _there.extend(bytes(path.stat().st_size))
    with open(path, "rb", buffering=0) as file:
        file.readinto(_there)


def _numpy_load(path: Path) -> None:
    plain = path.with_suffix(".npy")
    if not plain.exists():
        np.save(plain, arcrank.load(path).coef_)
    np.load(plain)


def _harm() -> None:
    damage, kills = _count("damage", DAMAGED), _count("kill", KILLED)
    print(f"{DAMAGED:,} damaged copies: {damage}")
    print(f"{KILLED} saves killed with SIGKILL: {kills}")
    report("damaged copies that scored wrongly, crashed or hung", DAMAGED - _sum(damage, "refused", "unharmed"), 0)
    report("killed saves after which neither model was whole", KILLED - kills["whole"], 0)
    report("litter after the save that follows", kills["litter after the next save"], 0)


def _count(what: str, n: int) -> dict[str, int]:
    """Count in a separate process, so that a crash is noticed and contained."""
    command = [sys.executable, "-m", "tests.modelfile.harm", what, str(n)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=1800)
    counts: dict[str, int] = json.loads(done.stdout)
    return counts


def _sum(counts: dict[str, int], *names: str) -> int:
    return sum(counts.get(name, 0) for name in names)


if __name__ == "__main__":
    main()

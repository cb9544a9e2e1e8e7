"""Train from a 1 GB file of texts with an online learner: the memory of the whole command.

python -m benchmarks.train_command [GIGABYTES]

The file is generated: 100 labels with characteristic words among 50,000, about a kilobyte per document.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.rank_command import peak_memory
from benchmarks.timing import report

N_LABELS, N_WORDS, LENGTH = 100, 50_000, 130
PROMISED_BYTES = 1e9


def write_texts(path: Path, size: float) -> int:
    """Write rows until the file has `size` bytes, and return their number."""
    random = np.random.default_rng(0)
    words = np.array([f"w{number:x}" for number in range(N_WORDS)])
    common = 1 / np.arange(1, N_WORDS + 1)
    common /= common.sum()
    rows = 0
    with path.open("w") as file:
        while file.tell() < size:
            numbers = random.choice(N_WORDS, (1000, LENGTH), p=common)
            labels = random.integers(0, N_LABELS, (1000, 2))
            numbers[:, :10] = labels[:, [0, 1] * 5] * 300 + random.integers(0, 300, (1000, 10))
            for text, pair in zip(words[numbers].tolist(), labels.tolist(), strict=True):
                names = sorted({f"label {number}" for number in pair})
                file.write(json.dumps({"text": " ".join(text) + "." * 200, "labels": names}) + "\n")
            rows += 1000
    return rows


def main() -> None:
    size = float(sys.argv[1]) * 1e9 if len(sys.argv) > 1 else 1e9
    with tempfile.TemporaryDirectory() as name:
        data, model = Path(name) / "texts.jsonl", Path(name) / "model.arcrank"
        rows = write_texts(data, size)
        start = time.perf_counter()
        peak = peak_memory(
            [sys.executable, "-m", "arcrank", "train", str(data), "--model", str(model), "--learner", "mmp"]
        )
        seconds = time.perf_counter() - start
        written = data.stat().st_size
        print(f"{rows:,} documents, {written / 1e9:.2f} GB in {seconds:.0f} s: {rows / seconds:,.0f} documents/s")
        report("arcrank train --learner mmp: peak memory in GB", peak / 1e9, PROMISED_BYTES / 1e9)


if __name__ == "__main__":
    main()

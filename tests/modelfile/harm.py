"""What can happen to a model file: bytes that change, and processes that are killed while they save.

python -m tests.modelfile.harm damage 3000
python -m tests.modelfile.harm kill 200
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import arcrank
from arcrank.errors import ModelFileError
from tests.modelfile.models import MODELS, scores_of

SECONDS = 5  # a load that takes longer hangs


def damaged_copies(whole: bytes, n: int, seed: int = 0) -> Iterator[tuple[str, bytes]]:
    """Yield n copies with something changed, as many in the length, the header and the data each."""
    draw = random.Random(seed)
    start = 8 + int.from_bytes(whole[:8], "little")
    regions = {"length": (0, 8), "header": (8, start), "data": (start, len(whole))}
    kinds = sorted(_KINDS)
    made = 0
    while made < n:
        region, kind = draw.choice(sorted(regions)), draw.choice(kinds)
        copy = _KINDS[kind](draw, bytearray(whole), *regions[region])
        if copy != whole:
            made += 1
            yield f"{kind} in the {region}", bytes(copy)


def _flip_bit(draw: random.Random, copy: bytearray, low: int, high: int) -> bytearray:
    copy[draw.randrange(low, high)] ^= 1 << draw.randrange(8)
    return copy


def _change_bytes(draw: random.Random, copy: bytearray, low: int, high: int) -> bytearray:
    for _ in range(draw.choice((1, 1, 2, 8))):
        copy[draw.randrange(low, high)] = draw.randrange(256)
    return copy


def _change_digit(draw: random.Random, copy: bytearray, low: int, high: int) -> bytearray:
    """What JSON still reads: another number."""
    digits = [at for at in range(low, high) if chr(copy[at]).isdigit()]
    if digits:
        copy[draw.choice(digits)] = ord(draw.choice("0123456789"))
    return copy


def _cut(draw: random.Random, copy: bytearray, low: int, high: int) -> bytearray:
    return copy[: draw.randrange(low, high)]


def _take_out(draw: random.Random, copy: bytearray, low: int, high: int) -> bytearray:
    at = draw.randrange(low, high)
    del copy[at : at + draw.choice((1, 8, 100))]
    return copy


def _put_in(draw: random.Random, copy: bytearray, low: int, high: int) -> bytearray:
    at = draw.randrange(low, high + 1)
    copy[at:at] = draw.randbytes(draw.choice((1, 8, 100)))
    return copy


def _blank(draw: random.Random, copy: bytearray, low: int, high: int) -> bytearray:
    """A hole, as a file system leaves it after a crash."""
    at = draw.randrange(low, high)
    end = min(high, at + draw.choice((8, 64, 4096)))
    copy[at:end] = bytes(end - at)
    return copy


def _exchange(draw: random.Random, copy: bytearray, low: int, high: int) -> bytearray:
    width = min(8, (high - low) // 2)
    a, b = (draw.randrange(low, high - width + 1) for _ in range(2))
    copy[a : a + width], copy[b : b + width] = copy[b : b + width], copy[a : a + width]
    return copy


_KINDS: dict[str, Callable[[random.Random, bytearray, int, int], bytearray]] = {
    "a flipped bit": _flip_bit,
    "changed bytes": _change_bytes,
    "a changed digit": _change_digit,
    "an end": _cut,
    "missing bytes": _take_out,
    "additional bytes": _put_in,
    "a hole": _blank,
    "exchanged bytes": _exchange,
}


def judge(path: Path, expected: Any) -> str:
    """Load a damaged copy: "refused", "unharmed" (what changed does not matter), "wrong scores" or a crash's name."""
    before = signal.signal(signal.SIGALRM, _too_late)
    signal.alarm(SECONDS)
    try:
        model = arcrank.load(path)
        return "unharmed" if scores_of(model).tobytes() == expected.tobytes() else "wrong scores"
    except ModelFileError:
        return "refused"
    except TimeoutError:
        return "hang"
    except Exception as error:
        return f"crash: {type(error).__name__}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _too_late(*_: Any) -> None:
    raise TimeoutError


def count_damage(folder: Path, n: int, seed: int = 0, name: str = "log-linear dual text") -> Counter[str]:
    """Damage a text model n times and count what comes of it."""
    whole, copy = folder / "whole", folder / "copy"
    model = MODELS[name]()
    arcrank.save(model, whole, card={"measures": {"ap": 0.5}})
    expected, counts = scores_of(model), Counter[str]()
    for _, data in damaged_copies(whole.read_bytes(), n, seed):
        copy.write_bytes(data)
        counts[judge(copy, expected)] += 1
    return counts


def count_kills(folder: Path, n: int, seed: int = 0, rows: int = 100_000) -> Counter[str]:
    """Kill n processes that save two models in turn to one path, and count what is found there."""
    path, draw, counts = folder / "model", random.Random(seed), Counter[str]()
    models = [_wide(value, rows) for value in (1.0, 2.0)]
    arcrank.save(models[0], path)
    for _ in range(n):
        child = _saving_for_ever(path, models)
        time.sleep(draw.uniform(0.0, 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        counts["killed in the middle"] += len(litter_of(folder)) > 0
        counts[_found(path, models)] += 1
        arcrank.save(models[0], path)
        counts["litter after the next save"] += len(litter_of(folder))
    return counts


def litter_of(folder: Path) -> list[Path]:
    return sorted(folder.glob(".arcrank-*"))


def _wide(value: float, rows: int) -> Any:
    ranker = arcrank.RocchioRanker().fit([[1.0], [0.0]], ["a", "b"])
    ranker.coef_, ranker.n_features_in_ = np.full((2, rows), value), rows
    return ranker


def _saving_for_ever(path: Path, models: list[Any]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        while True:
            for model in models:
                arcrank.save(model, path)
    finally:
        os._exit(1)


def _found(path: Path, models: list[Any]) -> str:
    try:
        weights = arcrank.load(path).coef_
    except Exception as error:
        return f"not whole: {error}"
    return "whole" if any(np.array_equal(weights, model.coef_) for model in models) else "a mixture"


def main() -> None:
    what, n = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        counts = (count_damage if what == "damage" else count_kills)(Path(folder), n)
    sys.stdout.write(json.dumps(counts) + "\n")


if __name__ == "__main__":
    main()

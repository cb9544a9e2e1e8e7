"""Load and use 11,000 forged model files with valid checksums, and measure the memory that loading can take.

python -m benchmarks.hostile_files

Every forged file must be refused with a `ModelFileError`, or be another model that gives finite scores for inputs of
up to 1e6. Scores are finite because no stored weight is above 1e100.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

import arcrank
from arcrank.errors import ModelFileError
from arcrank.modelfile import read_card
from arcrank.text import HashedTextFeatures, TextFeatures
from benchmarks.timing import peak_bytes, report
from tests.modelfile.models import MODELS
from tests.modelfile.trials import GOOD, saved, verdicts

EACH, LEARNER = 400, 500  # mutants of each model, and of each learner at least
MEASURED = 100  # mutants of each large model
_draw = np.random.default_rng(0)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        _try_all(Path(folder))
        _measure_all(Path(folder))


def _try_all(folder: Path) -> None:
    files = {name: saved(make(), folder) for name, make in MODELS.items()}
    learners = {name: _learner(folder, whole) for name, whole in files.items()}
    counts: dict[str, Counter[str]] = {}
    for name, whole in files.items():
        n = max(EACH, math.ceil(LEARNER / list(learners.values()).count(learners[name])))
        for kind, verdict in verdicts(whole, n, 0, folder):
            counts.setdefault(learners[name], Counter())[_short(verdict)] += 1
            if verdict not in GOOD:
                print(f"  {name}, {kind}: {verdict}", file=sys.stderr)
    for learner, found in counts.items():
        print(f"  {learner:<28} {found.total():6,} files  {dict(found)}")
    _report(sum(counts.values(), Counter[str]()))
    report("fewest forged files of a learner", min(found.total() for found in counts.values()), LEARNER, at_least=True)


def _report(total: Counter[str]) -> None:
    report("forged files", total.total(), 10_000, at_least=True)
    for name in ("crash", "hang", "raw error", "not finite"):
        report(f"forged files that end in: {name}", total[name], 0)


def _short(verdict: str) -> str:
    return next((name for name in ("crash", "raw error") if verdict.startswith(name)), verdict)


def _learner(folder: Path, whole: bytes) -> str:
    path = folder / "one"
    path.write_bytes(whole)
    return str(read_card(path)["learner"])


def _measure_all(folder: Path) -> None:
    """Peak memory of loading beyond that of loading the smallest model, relative to the file."""
    path = folder / "small"
    arcrank.save(arcrank.RocchioRanker().fit([[1.0], [0.0]], ["a", "b"]), path)
    arcrank.load(path)
    baseline = peak_bytes(lambda: arcrank.load(path))
    print(f"peak memory of loading the smallest model: {baseline:,} bytes")
    for name, make in LARGE.items():
        arcrank.save(make(), path)
        whole = path.read_bytes()
        own = (peak_bytes(lambda: arcrank.load(path)) - baseline) / len(whole)
        print(f"{name}: {len(whole):,} bytes; the model itself takes {own:.2f} times that when it is loaded")
        peaks = [verdict.split() for _, verdict in verdicts(whole, MEASURED, 0, folder, _measure)]
        refused = max((int(peak) - baseline) / len(whole) for verdict, peak in peaks if verdict == "refused")
        report(f"  refused copies, most (memory - baseline) / file: {name}", refused, 2)
        valid = max(((int(peak) - baseline) / len(whole) for verdict, peak in peaks if verdict == "valid"), default=0.0)
        report(f"  other copies, the same beside the model itself: {name}", valid / max(2.0, own), 1.05)


def _measure(path: Path) -> str:
    verdicts: list[str] = []

    def load() -> None:
        try:
            arcrank.load(path)
            verdicts.append("valid")
        except ModelFileError:
            verdicts.append("refused")

    peak = peak_bytes(load)
    return f"{verdicts[0]} {peak}"


def _named(k: int) -> list[str]:
    return [f"label {j}" for j in range(k)]


def _dense() -> Any:
    ranker = arcrank.RocchioRanker().fit(np.eye(50), _named(50))
    ranker.coef_, ranker.n_features_in_ = _draw.normal(size=(50, 20_000)), 20_000
    return ranker


def _terms() -> Any:
    names = sorted({f"{word:x}" for word in _draw.integers(2**40, size=50_000)})
    features = TextFeatures(min_df=1).fit(["a b"])
    state = features.get_state() | {"terms": names, "idf": np.ones(len(names))}
    ranker = arcrank.RocchioRanker().fit(np.eye(20), _named(20))
    ranker.coef_, ranker.n_features_in_ = _draw.normal(size=(20, len(names))), len(names)
    return make_pipeline(TextFeatures.from_state(state), ranker)


def _mostly_zero() -> Any:
    rows = sp.random(2_000, 2**18, 5e-5, "csr", random_state=0)
    ranker = arcrank.MMPRanker(average=True).fit(rows, np.array(_named(20))[np.arange(2_000) % 20])
    return make_pipeline(HashedTextFeatures(n_features=2**18), ranker)


def _kernel() -> Any:
    rows = sp.random(2_000, 5_000, 0.02, "csr", random_state=0)
    return arcrank.MMPRanker(kernel="rbf").fit(rows, np.arange(2_000) % 5)


LARGE: dict[str, Callable[[], Any]] = {
    "dense weights": _dense,
    "terms and weights": _terms,
    "mostly zero rows": _mostly_zero,
    "support vectors": _kernel,
}


if __name__ == "__main__":
    main()

"""Time what a user waits for before anything happens: short commands against `import sklearn`, and the first fit.

    ARCRANK_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.startup [NAME ...]

commands : `arcrank rank` of one document by a small and by a large model, `explain`, `info`, `--help`, `import arcrank`
    and the interpreter alone; each in turn, as ratios to `import sklearn`
first : the time of the first fit with an empty kernel cache less that of the second one, on the clock, since AutoRanker
    compiles in two processes; other jobs must not run beside it

Python writes bytecode, as it does for an installed package; the first round, which is not counted, compiles it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from arcrank import LogLinearRanker, make_ranking_pipeline, save
from arcrank.datasets import load_reuters21578
from arcrank.text import TextFeatures
from benchmarks.timing import report

ROUNDS = 9
ANCHOR = "import sklearn"
LIMITS = {"arcrank rank, small model": 0.4, "arcrank rank, large model": 0.4, "arcrank explain": 0.4}
HELP_SECONDS = 0.10
DOCUMENT = "oil prices rise"


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def seconds_of(arguments: list[str]) -> tuple[float, float]:
    """Seconds on the clock and of the processor of one run of the interpreter."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command: Any = [sys.executable, *arguments]
    subprocess.run(command, check=True, input=DOCUMENT.encode(), capture_output=True, env=environment())
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_models(folder: Path) -> dict[str, Path]:
    """A model of 500 and one of all training documents of Reuters, both with a cut and probabilities."""
    corpus = load_reuters21578("modapte").split("train")
    paths = {}
    for name, n in {"small": 500, "large": len(corpus)}.items():
        ranker = LogLinearRanker(C=10, cut_label=True, tol=0.05, random_state=0)
        model = make_ranking_pipeline(TextFeatures(), ranker).fit(corpus.texts[:n], corpus.indicator()[:n])
        paths[name] = folder / f"{name}.arcrank"
        save(model, paths[name])
        print(f"{name} model: {paths[name].stat().st_size / 1e6:.1f} MB, {model[-1].coef_.shape} weights")
    return paths


def commands() -> None:
    with tempfile.TemporaryDirectory() as folder:
        models = write_models(Path(folder))
        tasks = {
            ANCHOR: ["-c", "import sklearn"],
            "arcrank rank, small model": ["-m", "arcrank", "rank", str(models["small"]), "-"],
            "arcrank rank, large model": ["-m", "arcrank", "rank", str(models["large"]), "-"],
            "arcrank explain": ["-m", "arcrank", "explain", str(models["small"]), "--text", DOCUMENT],
            "arcrank info": ["-m", "arcrank", "info", str(models["small"])],
            "arcrank rank --help": ["-m", "arcrank", "rank", "--help"],
            "arcrank --help": ["-m", "arcrank", "--help"],
            "import arcrank": ["-c", "import arcrank"],
            "the interpreter": ["-c", "pass"],
        }
        runs = [{name: seconds_of(arguments) for name, arguments in tasks.items()} for _ in range(1 + ROUNDS)][1:]
    for name in tasks:
        wall, cpu = (median(run[name][at] for run in runs) for at in range(2))
        ratios = [median(run[name][at] / run[ANCHOR][at] for run in runs) for at in range(2)]
        print(f"{name:28} {wall:6.3f} s, {cpu:6.3f} s of CPU; ratios {ratios[0]:.2f}, {ratios[1]:.2f}", flush=True)
        if name in LIMITS:
            report(f"{name} / {ANCHOR}, wall", ratios[0], LIMITS[name])
        if name == "arcrank --help":
            report(f"{name}: seconds of CPU", cpu, HELP_SECONDS)


FIRST_FIT = """
import sys, time
from sklearn.datasets import make_multilabel_classification
from arcrank import AutoRanker, LogLinearRanker, PreferenceMachine
X, Y = make_multilabel_classification(300, 50, n_classes=8, random_state=0)
seconds = []
for _ in range(2):
    start = time.perf_counter()
    eval(sys.argv[1]).fit(X, Y)
    seconds.append(time.perf_counter() - start)
print(seconds[0] - seconds[1])
"""


def first() -> None:
    for ranker, limit in {"PreferenceMachine()": 5, "LogLinearRanker(solver='dual')": 5, "AutoRanker()": 10}.items():
        with tempfile.TemporaryDirectory() as folder:
            command, env = [sys.executable, "-c", FIRST_FIT, ranker], {**environment(), "NUMBA_CACHE_DIR": folder}
            done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
        report(f"{ranker}: seconds of compilation", float(done.stdout), limit)


SECTIONS = {"commands": commands, "first": first}


def main() -> None:
    for name in sys.argv[1:] or SECTIONS:
        print(f"\n{name}", flush=True)
        SECTIONS[name]()


if __name__ == "__main__":
    main()

"""Time the corpora: our SGML reader beside BeautifulSoup, and the parsed cache beside parsing.

    ARCRANK_DATA=... python -m benchmarks.datasets [--rounds 5]

What is compared runs in turn in one process; medians, and the ratios that are promised (20 and 10). BeautifulSoup only
builds its trees, from text already decoded; ours gives the finished stories.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from bs4 import BeautifulSoup

from arcrank.datasets import Corpus, load_debtags, load_rcv1, load_reuters21578
from arcrank.datasets.locate import cache_folder, find, members
from arcrank.datasets.reuters import parse_sgml


def alternate(rounds: int, *tasks: Callable[[], object]) -> list[float]:
    """Run the tasks in turn and return the median seconds of each."""
    seconds: list[list[float]] = [[] for _ in tasks]
    for _ in range(rounds):
        for task, taken in zip(tasks, seconds, strict=True):
            start = time.perf_counter()
            task()
            taken.append(time.perf_counter() - start)
    return [median(taken) for taken in seconds]


def sgml_files() -> list[bytes]:
    path = find("reuters21578", what="Reuters-21578")
    return [stream.read() for _, stream in members(path, "reut2-*.sgm")]


def parse_ours(files: list[bytes]) -> int:
    return sum(1 for content in files for _ in parse_sgml(content, "sgml"))


def parse_with_beautiful_soup(texts: list[str]) -> None:
    for text in texts:
        BeautifulSoup(text, "html.parser")


def load_without_cache(load: Callable[[], Corpus]) -> None:
    shutil.rmtree(cache_folder(), ignore_errors=True)
    load()


def report(name: str, slow: float, fast: float, promised: float) -> None:
    ratio = slow / fast
    kept = "yes" if ratio >= promised else "NO"
    print(f"{name:44} {slow:8.3f} s {fast:8.4f} s   {ratio:6.1f} times (at least {promised:.0f}: {kept})")


def compare_readers(files: list[bytes], rounds: int) -> None:
    texts = [content.decode("latin-1") for content in files]
    soup, ours = alternate(rounds, partial(parse_with_beautiful_soup, texts), partial(parse_ours, files))
    report("22 SGML files: BeautifulSoup, arcrank", soup, ours, 20)


def compare_cache(files: list[bytes], rounds: int) -> None:
    loaders = {
        "Reuters-21578": partial(load_reuters21578, "modapte"),
        "RCV1-v2": load_rcv1,
        "debtags": load_debtags,
    }
    for name, load in loaders.items():
        fresh, again = alternate(rounds, partial(load_without_cache, load), load)
        report(f"{name}: loaded from its files, from the cache", fresh, again, 10)
    parsed, again = alternate(rounds, partial(parse_ours, files), loaders["Reuters-21578"])
    report("Reuters-21578: SGML parsed alone, cache", parsed, again, 10)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    rounds = options.parse_args().rounds
    files = sgml_files()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = str(Path(folder))
        load_reuters21578("modapte")
        compare_cache(files, rounds)
    compare_readers(files, min(rounds, 3))


if __name__ == "__main__":
    main()

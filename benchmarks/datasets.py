"""Time the corpora: our SGML reader against BeautifulSoup, and the parsed cache against parsing.

    ARCRANK_DATA=... python -m benchmarks.datasets

The candidates alternate in one process; medians, and the promised ratios (20 and 10). BeautifulSoup only builds its
trees, from decoded text; ours returns the finished stories.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bs4 import BeautifulSoup

from arcrank.datasets import Corpus, load_debtags, load_rcv1, load_reuters21578
from arcrank.datasets.locate import cache_folder, find
from arcrank.datasets.reuters import parse_sgml
from arcrank.io.compressed import members
from benchmarks.timing import alternate, report

ROUNDS = 5


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


def compare(what: str, slow: Callable[[], object], fast: Callable[[], object], rounds: int, promised: float) -> None:
    seconds = alternate({"slow": slow, "fast": fast}, rounds)
    name = f"{what} ({seconds['slow']:.2f} s, {seconds['fast']:.3f} s)"
    report(name, seconds["slow"] / seconds["fast"], promised, at_least=True)


def compare_readers(files: list[bytes], rounds: int) -> None:
    texts = [content.decode("latin-1") for content in files]
    soup, ours = partial(parse_with_beautiful_soup, texts), partial(parse_ours, files)
    compare("22 SGML files: BeautifulSoup / arcrank", soup, ours, rounds, 20)


def compare_cache(files: list[bytes], rounds: int) -> None:
    loaders = {
        "Reuters-21578": partial(load_reuters21578, "modapte"),
        "RCV1-v2": load_rcv1,
        "debtags": load_debtags,
    }
    for name, load in loaders.items():
        compare(f"{name}: its files / the cache", partial(load_without_cache, load), load, rounds, 10)
    compare("Reuters-21578: SGML alone / the cache", partial(parse_ours, files), loaders["Reuters-21578"], rounds, 10)


def main() -> None:
    files = sgml_files()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = str(Path(folder))
        load_reuters21578("modapte")
        compare_cache(files, ROUNDS)
    compare_readers(files, 3)


if __name__ == "__main__":
    main()

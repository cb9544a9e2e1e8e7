"""What maintainers are told: the benchmarks that there are, and files that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_benchmark_has_its_place_on_the_page():
    page = (ROOT / "docs" / "maintainers" / "benchmarks.md").read_text(encoding="utf-8")
    shared = {"__init__", "__main__", "timing", "server_client"}
    folder = ROOT / "benchmarks"
    modules = {path.stem for path in folder.glob("*.py")} - shared | {
        path.parent.name for path in folder.glob("*/__main__.py")
    }
    assert {*re.findall(r"^::: benchmarks\.(\w+)$", page, flags=re.MULTILINE)} == modules


def test_files_that_the_pages_name_exist():
    pages = [*(ROOT / "docs" / "maintainers").glob("*.md"), ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md"]
    named = re.compile(r"`((?:src|tests|docs|benchmarks|tools|examples)/[\w./-]+)`")
    lost = [f"{page.name}: {path}" for page in pages for path in named.findall(page.read_text(encoding="utf-8"))
            if "NAME" not in path and not (ROOT / path).exists()]  # fmt: skip
    assert not lost

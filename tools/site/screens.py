"""Pictures of the report as a browser shows it: `python -m tools.site.screens` (needs Chromium; some minutes).

Trains on the debtags sample with the command, evaluates on its test split, and photographs the head of the report.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tools.site.pictures import PICTURES

_ARCRANK = [sys.executable, "-m", "arcrank"]
_SCHEMES = {"dark": 0, "light": 1}  # as Chromium numbers the reader's preferences
_SIZE = "1000,1560"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        report = write_report(Path(folder))
        for scheme, number in _SCHEMES.items():
            target = PICTURES / f"report-{scheme}.png"
            options = [f"--blink-settings=preferredColorScheme={number}", f"--window-size={_SIZE}"]
            browser = ["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", *options]
            subprocess.run([*browser, f"--screenshot={target}", report.as_uri()], check=True, capture_output=True)
            print(target)


def write_report(folder: Path) -> Path:
    """Train and evaluate as a user would, and return the report."""
    for split in ("train", "test"):
        arcrank("data", "convert", "debtags-sample", f"{split}.jsonl", "--split", split, folder=folder)
    arcrank("train", "train.jsonl", "--model", "mine.arcrank", folder=folder)
    arcrank("evaluate", "mine.arcrank", "test.jsonl", "--report", "report.html", folder=folder)
    return folder / "report.html"


def arcrank(*arguments: str, folder: Path) -> None:
    subprocess.run([*_ARCRANK, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()

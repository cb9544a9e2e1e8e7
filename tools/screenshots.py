"""Make the screenshots of docs/guides/server.md: `python -m tools.screenshots`. It needs chromium."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import arcrank
from arcrank import MMPRanker, make_ranking_pipeline
from arcrank.datasets import load_debtags_sample
from arcrank.server.app import Application
from arcrank.server.run import Server, bind
from arcrank.server.settings import Settings
from arcrank.text import HashedTextFeatures

TOKEN = "a-token-for-screenshots"
TEXT = (
    "Turn-based strategy game for the terminal\n"
    "A small game of colonies in space that is played over the network. Maps are drawn with ncurses, and players can "
    "write their own opponents in Python. Includes an editor for maps and a server that keeps the scores."
)
PICTURES = Path(__file__).parents[1] / "docs" / "pictures"


def model_file(folder: str) -> Path:
    corpus = load_debtags_sample().split("train")
    model = make_ranking_pipeline(
        HashedTextFeatures(n_features=2**14), MMPRanker(cut_label=True, calibration_folds=0, epochs=3)
    )
    model.fit(corpus.texts, [frozenset(labels) for labels in corpus.label_sets])
    path = Path(folder) / "packages.arcrank"
    arcrank.save(model, path)
    return path


def start(path: Path) -> tuple[Server, int]:
    listener = bind("127.0.0.1", 0)
    server = Server(Application([path], Settings(allow_learning=True, token=TOKEN)))
    threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    return server, listener.getsockname()[1]


def take(browser: Any, port: int, name: str, width: int, height: int, scheme: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=1.5)
    page.goto(f"http://127.0.0.1:{port}/#token={TOKEN}")
    page.fill("#text", TEXT)
    page.wait_for_selector("#why:not([hidden]) mark")
    page.evaluate("() => document.getElementById('text').scrollTo(0, 0)")
    page.keyboard.press("Escape")
    for _ in range(2):
        page.keyboard.press("j")
    page.wait_for_timeout(600)
    page.screenshot(path=PICTURES / f"server-{name}.png")
    page.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server, port = start(model_file(folder))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        take(browser, port, "light", 1280, 860, "light")
        take(browser, port, "dark", 1280, 860, "dark")
        take(browser, port, "phone", 320, 720, "light")
        browser.close()
        server.should_exit = True


if __name__ == "__main__":
    main()

"""Make the screenshots of docs/guides/server.md: `python -m tools.screenshots`. It needs chromium.

`tests/server/test_page.py` takes the same pictures of a small model.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import arcrank
from arcrank import OnlinePreferenceMachine, make_ranking_pipeline
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
VIEWS = {"light": (1280, 860, "light"), "dark": (1280, 860, "dark"), "phone": (320, 860, "light")}


def model_file(folder: str) -> Path:
    """The model of the guide."""
    corpus = load_debtags_sample().split("train")
    ranker = OnlinePreferenceMachine(cut_label=True, calibration_folds=0, epochs=3, shuffle=True, random_state=0)
    model = make_ranking_pipeline(HashedTextFeatures(n_features=2**16), ranker)
    model.fit(corpus.texts, [frozenset(labels) for labels in corpus.label_sets])
    path = Path(folder) / "packages.arcrank"
    arcrank.save(model, path)
    return path


def start(path: Path) -> tuple[Server, str]:
    """A server in a thread, and its address."""
    listener = bind("127.0.0.1", 0)
    server = Server(Application([path], Settings(allow_learning=True, token=TOKEN)))
    threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()
    while not server.started:
        time.sleep(0.01)
    return server, f"http://127.0.0.1:{listener.getsockname()[1]}"


def take(browser: Any, address: str, folder: Path, text: str = TEXT) -> None:
    """A ranked document with one label selected, in each view."""
    for name, (width, height, scheme) in VIEWS.items():
        size = {"width": width, "height": height}
        page = browser.new_page(viewport=size, color_scheme=scheme, device_scale_factor=1.5)
        page.goto(f"{address}/#token={TOKEN}")
        page.fill("#text", text)
        page.wait_for_selector("#why:not([hidden]) mark")
        page.fill("#text", text)  # the time that is shown is not that of the first request
        page.wait_for_timeout(400)  # until bars have their length
        page.evaluate("() => document.getElementById('text').scrollTo(0, 0)")
        page.keyboard.press("Escape")
        for _ in range(2):
            page.keyboard.press("j")
        page.wait_for_timeout(400)
        page.screenshot(path=folder / f"server-{name}.png")
        page.close()


def main() -> None:
    """Write the pictures."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server, address = start(model_file(folder))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        take(browser, address, PICTURES)
        browser.close()
        server.should_exit = True


if __name__ == "__main__":
    main()

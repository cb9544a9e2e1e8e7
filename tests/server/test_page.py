"""The page in a real browser: Debian's chromium, driven by Playwright."""

from __future__ import annotations

import json
import os
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import arcrank
from arcrank import MMPRanker, make_ranking_pipeline
from arcrank.server.settings import Settings
from arcrank.text import HashedTextFeatures
from tests.server.conftest import TEXT, TOKEN, start
from tests.server.payloads import PAYLOADS
from tools import screenshots

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
MISSING = "The page is tested in a browser: install it with `apt-get install chromium`."


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(MISSING)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def page_of(browser) -> Iterator[Any]:
    """Open the page of a server; at the end, nothing was asked of another host and nothing failed in the console."""
    contexts, faults = [], []

    def begin(running: Any, model: str = "live", token: str = TOKEN, **options: Any) -> Any:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: (faults.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda one: None if one.url.startswith(running.address) else faults.append(one.url))
        page.on("console", lambda one: faults.append(one.text) if "Content Security" in one.text else None)
        page.goto(f"{running.address}/?model={model}#token={token}")
        page.wait_for_selector("#model-facts:not(:empty)", state="attached")
        return page

    yield begin
    for context in contexts:
        context.close()
    assert faults == []


def ranked(page: Any, text: str = TEXT) -> list[str]:
    page.fill("#text", text)
    page.wait_for_selector(".label")
    page.wait_for_selector("#why:not([hidden]) #why-parts tr")
    return labels(page)


def labels(page: Any) -> list[str]:
    return [one.get_attribute("data-label") for one in page.query_selector_all(".label")]


def settled(page: Any, words: str) -> None:
    """Wait until the page has said something about feedback."""
    page.wait_for_function("words => document.getElementById('moved').textContent.includes(words)", arg=words)


def check_accessibility(page: Any) -> None:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(result => result.violations)")
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_rank_explain_teach_and_undo_with_a_mouse(page_of, serve, tmp_path):
    running = serve("live")
    page = page_of(running)
    before = ranked(page)
    assert before == running.ranking("live")["ranking"]
    assert "#token" not in page.url
    assert page.locator(".cut").count() == 1
    # the words of the document, with their exact parts
    why = running.post("/v1/models/live/explain", {"text": TEXT, "above": before[0], "cut": True}).json
    marked = page.locator("#why-text mark").all_text_contents()
    assert {word for part in why["parts"] for word in part["words"] if " " not in word} >= set(marked) > set()
    assert page.inner_text("#why-title") == f"Why {before[0]}?"
    shown = page.locator("#why-parts .number").first.inner_text()
    assert shown == f"{why['parts'][0]['weight']:+.3f}".replace("-", "−")
    # two pinned labels are compared
    for label in before[:2]:
        page.click(f'.label[data-label="{label}"] .name')
        page.click('[data-action="p"]')
    page.wait_for_function("() => document.getElementById('why-title').textContent.includes('rather than')")
    assert page.inner_text("#why-title") == f"Why {before[0]} rather than {before[1]}?"
    assert page.locator(".verdict.pin").count() == 2
    page.click("#unpin")
    page.wait_for_function("() => !document.getElementById('why-title').textContent.includes('rather than')")
    # higher: the last label and the one above it
    page.click(f'.label[data-label="{before[2]}"] .name')
    page.click('[data-action="h"]')
    settled(page, f"Learnt: {before[2]} above {before[1]}")
    assert running.get("/v1/models/live").json["learnt"] == 1
    page.click("text=Save the model")
    page.wait_for_selector("#toast:has-text('Saved live.arcrank')")
    page.click("#undo")
    settled(page, "Taken back")
    assert labels(page) == before
    assert running.ranking("live")["ranking"] == before
    lines = [json.loads(line) for line in (tmp_path / "live.feedback.jsonl").read_text().splitlines()]
    assert lines[0]["shown"] == before


def test_everything_by_keyboard(page_of, serve):
    running = serve("live")
    page = page_of(running)
    page.keyboard.type(TEXT)  # the field has the focus
    page.wait_for_selector(".label")
    order = labels(page)
    page.keyboard.press("Escape")
    for key in "jjk":
        page.keyboard.press(key)
    assert page.locator(".label.selected").get_attribute("data-label") == order[0]
    assert page.evaluate("document.activeElement.textContent") == order[0]
    page.keyboard.press("n")
    settled(page, f"{order[0]} does not fit")
    assert page.locator(".verdict.no").count() == 1
    page.keyboard.press("u")
    settled(page, "Taken back")
    page.keyboard.press("1")
    page.wait_for_function("() => document.querySelectorAll('#history-list li').length === 2")
    page.keyboard.press("/")
    page.keyboard.type("gra")
    page.wait_for_selector("#add-options li")
    page.keyboard.press("Enter")
    assert page.locator(".label.selected").get_attribute("data-label") == "grain"
    page.keyboard.press("b")
    page.wait_for_selector("#blind[aria-pressed=true]")
    assert labels(page) == sorted(order)
    assert page.locator(".fill").count() == page.locator(".cut").count() == 0
    page.keyboard.press("j")
    assert page.locator("#why").is_hidden()  # margins would tell the order
    page.keyboard.press("?")
    assert page.locator("#help[open]").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("#help[open]").count() == 0


def test_labels_and_documents_full_of_markup(page_of, tmp_path, browser):
    words = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(len(PAYLOADS))]
    model = make_ranking_pipeline(HashedTextFeatures(n_features=4096), MMPRanker(cut_label=True, calibration_folds=0))
    model.fit(words * 2, [frozenset([name]) for name in PAYLOADS] * 2)
    parents = dict.fromkeys(PAYLOADS[1:], PAYLOADS[0]) | {PAYLOADS[0]: None}
    arcrank.save(model, tmp_path / "<b>x.arcrank", card={"hierarchy": parents})
    running = start([tmp_path / "<b>x.arcrank"], Settings(allow_learning=True, token=TOKEN))
    try:
        page = page_of(running, "%3Cb%3Ex")
        text = " ".join([*PAYLOADS, *words])
        ranked(page, text)
        while page.locator("#more").is_visible():
            page.click("#more")
        assert sorted(labels(page)) == sorted(PAYLOADS)
        names = page.locator(".label .name").evaluate_all("all => all.map(one => one.firstChild.textContent)")
        assert sorted(names) == sorted(PAYLOADS)
        for name in PAYLOADS[:3]:
            page.locator(".label .name").nth(labels(page).index(name)).click()
            page.click('[data-action="y"]')
            settled(page, f"{name} fits")
        page.fill("#add-label", "<img")
        page.wait_for_selector("#add-options li")
        assert page.inner_text("#why-text").split() == text.split()
        assert page.evaluate("document.querySelectorAll('main img, main script, main iframe, main svg').length") == 0
    finally:
        running.stop()


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (1280, "light")])
def test_the_page_is_accessible_and_fits(page_of, serve, scheme, width):
    page = page_of(serve("live"), viewport={"width": width, "height": 800}, color_scheme=scheme)
    check_accessibility(page)
    ranked(page)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("y")
    settled(page, "fits")
    page.fill("#add-label", "r")
    page.wait_for_selector("#add-options li")
    check_accessibility(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.keyboard.press("Escape")
    page.click("#help-open")
    check_accessibility(page)


def test_errors_are_shown_in_the_servers_sentences(page_of, serve):
    running = serve("live")
    page = page_of(running, token="a-wrong-token-that-is-long")
    ranked(page)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("y")
    page.wait_for_selector("#token-dialog[open]")
    page.fill("#token", TOKEN)
    page.keyboard.press("Enter")
    settled(page, "fits")  # it was sent again
    page.fill("#text", "a" * 500_001)
    page.wait_for_selector("#error:has-text('500,001 characters')")
    running.stop()
    page.fill("#text", "oil")
    page.wait_for_selector("#error:has-text('The server does not answer')")


def test_features_and_a_server_that_does_not_learn(page_of, server):
    page = page_of(server, "numbers")
    page.fill("#features", '{"height": ')
    page.wait_for_selector("#error:has-text('JSON object')")
    page.fill("#features", '{"height": 1}')
    page.wait_for_selector(".label")
    assert labels(page) == ["b", "a"]
    assert page.locator("#question").evaluate("one => one.hidden")
    assert page.inner_text("#add-title") == "Find a label"


def test_copies(page_of, server):
    page = page_of(server, "news", permissions=["clipboard-read", "clipboard-write"])
    ranked(page)
    found = {}
    for form in ("json", "csv", "curl"):
        page.click(f'[data-copy="{form}"]')
        page.wait_for_selector(f"#toast:has-text('Copied as {'a curl' if form == 'curl' else form.upper()}')")
        found[form] = page.evaluate("navigator.clipboard.readText()")
    ranking = server.ranking("news")
    assert json.loads(found["json"]) == ranking
    assert found["csv"].splitlines()[0] == "rank,label,score,probability,predicted"
    assert found["csv"].splitlines()[1].startswith(f"1,{ranking['ranking'][0]},")
    assert found["curl"].endswith(f"'{server.address}/v1/models/news/rank'")


def test_a_missing_label_is_added_with_the_name_of_who_says_so(page_of, serve, tmp_path):
    running = serve("live")
    page = page_of(running, token=f"{TOKEN}&by=Anna")
    before = ranked(page)
    page.fill("#add-label", "gold")
    page.wait_for_selector("#add-options li:has-text('Add “gold”')")
    page.keyboard.press("Enter")
    settled(page, "Learnt: gold fits")
    assert sorted(labels(page)) == sorted([*before, "gold"])
    assert page.input_value("#by") == "Anna"
    line = json.loads((tmp_path / "live.feedback.jsonl").read_text())
    assert (line["relevant"], line["by"], line["text"], line["shown"]) == (["gold"], "Anna", TEXT, before)
    page.click("#undo")
    settled(page, "Taken back")
    assert labels(page) == before


def test_a_label_far_down_is_found_and_shown_with_its_parents(page_of, tmp_path):
    names = [f"label {n:02}" for n in range(30)]
    model = make_ranking_pipeline(HashedTextFeatures(n_features=256), MMPRanker(cut_label=True, calibration_folds=0))
    model.fit([f"word{chr(97 + n)} oil" for n in range(26)], [[name] for name in names[:26]])
    model[-1].partial_fit(model[0].transform(["oil"]), [[names[29]]], labels=names[26:])
    tree = dict.fromkeys(names, "energy") | {"energy": "all", "all": None}
    arcrank.save(model, tmp_path / "many.arcrank", card={"hierarchy": tree})
    running = start([tmp_path / "many.arcrank"], Settings())
    try:
        page = page_of(running, "many")
        shown = ranked(page, "wordb oil")
        wanted = running.ranking("many", "wordb oil")["ranking"][-1]
        assert wanted not in shown
        page.fill("#add-label", wanted)
        page.wait_for_selector("#add-options li")
        page.keyboard.press("Enter")
        assert labels(page) == [*shown, wanted]
        assert page.locator(".label.selected .path").inner_text() == "all › energy"
        assert page.locator(".label.selected .place").inner_text() == "30"
    finally:
        running.stop()


def test_a_pasted_and_a_dropped_document_are_ranked_in_150_ms(page_of, server):
    page = page_of(server, "news")
    paste = """text => new Promise(done => {
      const list = document.getElementById("labels"), field = document.getElementById("text");
      const watch = (_, one) => { one.disconnect(); done(performance.now() - began); };
      new MutationObserver(watch).observe(list, { childList: true });
      field.value = text;
      const began = performance.now();
      field.dispatchEvent(new InputEvent("input"));
    })"""
    times = [page.evaluate(paste, f"{TEXT} {n}") for n in range(6)]
    assert min(times) < 150, times
    drop = """text => {
      const data = new DataTransfer();
      data.items.add(new File([text], "one.txt", { type: "text/plain" }));
      document.querySelector(".document").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
    }"""
    page.evaluate(drop, "grain wheat bushel")
    page.wait_for_function("text => document.getElementById('why-text').textContent === text", arg="grain wheat bushel")
    assert labels(page) == server.ranking("news", "grain wheat bushel")["ranking"]


@pytest.mark.slow
def test_the_screenshots_of_the_guide_can_be_made(browser, server, tmp_path):
    screenshots.take(browser, server.address, tmp_path, TEXT)
    for name, (width, height, _) in screenshots.VIEWS.items():
        picture = (tmp_path / f"server-{name}.png").read_bytes()
        assert struct.unpack(">II", picture[16:24]) == (width * 3 // 2, height * 3 // 2)  # of the header of a PNG

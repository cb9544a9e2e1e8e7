"""The site is built strictly; its links and anchors lead somewhere, and it loads nothing from other hosts."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
LOADS = {
    "script": ("src",), "link": ("href",), "img": ("src", "srcset"), "iframe": ("src",), "source": ("src", "srcset"),
    "object": ("data",), "embed": ("src",), "video": ("src", "poster"), "audio": ("src",), "track": ("src",),
    "image": ("href", "xlink:href"), "use": ("href", "xlink:href"),
}  # fmt: skip
FOREIGN = re.compile(r"^\s*(?:https?:)?//", flags=re.IGNORECASE)
IN_CSS = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""", flags=re.IGNORECASE)


class Page(HTMLParser):
    """What a page has and asks for: the ids in it, its links, what it loads, and its styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.styles: list[str] = []
        self._in_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._in_style = tag == "style"
        self.ids |= {given[name] for name in ("id", "name") if given.get(name) and (name == "id" or tag == "a")}
        self.styles += [given["style"]] if "style" in given else []
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if given.get("rel") not in ("canonical", "alternate"):
            for name in given.keys() & LOADS.get(tag, ()):
                self.loads += _sources(given[name]) if name == "srcset" else [given[name]]

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.styles.append(data)


def _sources(srcset: str) -> list[str]:
    return [part.split()[0] for part in srcset.split(",") if part.strip()]


@cache
def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def complaints(site: Path) -> Iterator[str]:
    """What is wrong with the pages and the styles of a site."""
    for path in sorted(site.rglob("*.html")):
        page, name = read(path), path.relative_to(site)
        for url in page.links:
            if FOREIGN.match(url):  # whether it is alive could not be checked here
                yield f"{name} links to another host: {url}"
        for url in page.loads:
            if FOREIGN.match(url):
                yield f"{name} loads from another host: {url}"
        for url in (url for style in page.styles for url in IN_CSS.findall(style)):
            yield f"{name} has a style that loads from another host: {url}"
        for url in [*page.links, *page.loads]:
            yield from (f"{name}: {fault}" for fault in _dead(site, path, url))
    for path in sorted(site.rglob("*.css")):
        for url in IN_CSS.findall(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)} loads from another host: {url}"


def _dead(site: Path, page: Path, url: str) -> Iterator[str]:
    parts = urlsplit(url)
    if parts.scheme or parts.netloc:
        return
    target = page
    if parts.path:
        start = site if parts.path.startswith("/") else page.parent
        target = Path(os.path.normpath(start / unquote(parts.path).lstrip("/")))
    target = target / "index.html" if target.is_dir() else target
    if not target.is_file() or not target.is_relative_to(site):
        yield f"dead link {url}"
    elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read(target).ids:
        yield f"dead anchor {url}"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    if importlib.util.find_spec("mkdocs") is None:
        how = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        how("the site cannot be built without the extra arcrank[docs]")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    surroundings = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
def test_the_site_is_built_and_whole(site):
    assert (site / "index.html").is_file()
    assert (site / "reference" / "cli" / "index.html").is_file()
    found = list(complaints(site))
    assert not found, "\n".join(found[:20])


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<a href="../b/">b</a>', None),
        ('<a href="../b/#here">b</a> <a href="#me" id="me">me</a> <a href="/b/index.html#here">b</a>', None),
        ('<a href="mailto:me@elsewhere.example">me</a>', None),
        ('<link rel="canonical" href="https://ours.example/a/"> <img src="data:image/png;base64,AA">', None),
        ("<script>load('https://elsewhere.example/a.js')</script>", None),
        ('<a href="../c/">c</a>', "dead link ../c/"),
        ('<img src="a.png">', "dead link a.png"),
        ('<a href="../../outside.html">out</a>', "dead link ../../outside.html"),
        ('<a href="../b/#there">b</a>', "dead anchor ../b/#there"),
        ('<a href="#there">there</a>', "dead anchor #there"),
        ('<script src="https://elsewhere.example/a.js"></script>', "loads from another host"),
        ('<img srcset="//elsewhere.example/a.png 2x">', "loads from another host"),
        ('<link rel="stylesheet" href="HTTP://elsewhere.example/a.css">', "loads from another host"),
        ("<style>@import '//elsewhere.example/a.css';</style>", "style that loads from another host"),
        ('<p style="background: url(https://elsewhere.example/a.png)">', "style that loads from another host"),
        ('<a href="https://elsewhere.example/">far</a>', "links to another host"),
    ],
)
def test_the_checker(tmp_path, html, fault):
    site = tmp_path / "site"
    for name, text in {"a": html, "b": '<h1 id="here">b</h1>'}.items():
        (site / name).mkdir(parents=True)
        (site / name / "index.html").write_text(text)
    (tmp_path / "outside.html").touch()
    found = list(complaints(site))
    assert len(found) == (fault is not None)
    assert fault is None or fault in found[0]


def test_the_checker_looks_into_styles(tmp_path):
    (tmp_path / "a.css").write_text(
        'p { background: url("a.png") } @font-face { src: url(//elsewhere.example/a.woff) }'
    )
    assert list(complaints(tmp_path)) == ["a.css loads from another host: //elsewhere.example/a.woff"]

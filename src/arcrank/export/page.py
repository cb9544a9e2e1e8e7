"""The page of the server as one file, with a model in it."""

from __future__ import annotations

import base64
import gzip
import hashlib
from html import escape
from importlib.resources import files

from arcrank.export.bundle import bundle

__all__ = ["html_page"]

_LINKS = (
    '<link rel="icon" href="/static/icon.svg" type="image/svg+xml">\n'
    '<link rel="stylesheet" href="/static/style.css">\n'
    '<script type="module" src="/static/main.js"></script>\n'
)
_CURL = '        <button type="button" data-copy="curl" class="quiet">curl</button>\n'


def html_page(name: str, data: bytes) -> bytes:
    """Return the page of a model, whose data `Contents.to_bytes` made.

    Nothing is loaded from anywhere: the Content-Security-Policy names the script and the style by their hashes.
    """
    static = files("arcrank.server").joinpath("static")
    page, style, icon = (static.joinpath(file).read_text(encoding="utf-8") for file in _FILES)
    script = bundle("main")
    packed = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
    image = base64.b64encode(icon.encode()).decode()
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script, style)}">\n'
        f'<link rel="icon" href="data:image/svg+xml;base64,{image}">\n<style>{style}</style>\n'
    )
    tail = f'<script type="text/plain" id="model-data">{packed}</script>\n<script>{script}</script>\n</body>'
    page = _replaced(page, _LINKS, head)
    page = _replaced(page, _CURL, "")
    page = _replaced(page, "<title>arcrank</title>", f"<title>{escape(name)} – arcrank</title>")
    return _replaced(page, "</body>", tail).encode()


_FILES = ("index.html", "style.css", "icon.svg")


def _replaced(page: str, old: str, new: str) -> str:
    before, found, after = page.partition(old)
    assert found, old
    return before + new + after


def _policy(script: str, style: str) -> str:
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"

"""The drawings of the Concepts pages: the code draws what is committed, and nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

matplotlib = pytest.importorskip("matplotlib")

from tools.site import drawings, pictures  # noqa: E402

ROOT = Path(__file__).parents[2]
COMMITTED = sorted((ROOT / "docs" / "pictures").glob("concept-*.svg"))
PAGES = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "concepts").glob("*.md"))


def test_the_files_are_those_that_the_code_writes():
    names = {f"{name}-{kind}.svg" for name in drawings.DRAWINGS for kind in ("light", "dark")}
    assert {path.name for path in COMMITTED} == names


@pytest.mark.slow
@pytest.mark.skipif(matplotlib.__version__ != drawings.DRAWN_WITH, reason="drawn with another matplotlib")
def test_drawing_again_gives_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "PICTURES", tmp_path)
    changed = [path.name for path in drawings.write() if path.read_bytes() != _committed(path.name).read_bytes()]
    assert changed == []


def _committed(name: str) -> Path:
    return ROOT / "docs" / "pictures" / name


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_a_drawing_is_well_formed_and_alone(path):
    tree = ElementTree.parse(path)
    assert tree.getroot().tag == "{http://www.w3.org/2000/svg}svg"
    for node in tree.iter():
        for key, value in node.attrib.items():
            if key.endswith("href") or "url(" in value:
                assert re.fullmatch(r"#\w+|.*url\(#\w+\).*", value), (node.tag, value)
    assert "<image" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", drawings.DRAWINGS)
def test_a_drawing_is_shown_in_both_colours_with_a_description(name):
    light = re.findall(rf"!\[([^\]]+)\]\(\.\./pictures/{name}-light\.svg#only-light\)", PAGES)
    dark = re.findall(rf"!\[([^\]]+)\]\(\.\./pictures/{name}-dark\.svg#only-dark\)", PAGES)
    assert light
    assert light == dark


def test_the_drawings_have_the_numbers_of_the_pages():
    scores = list(drawings.SCORES.values())
    assert f"scores = {scores}" in PAGES
    assert f"arcs = {drawings.CYCLIC}" in PAGES
    assert str(list(drawings.MAPPED.values())) in PAGES
    flows = _committed("concept-flows-light.svg").read_text(encoding="utf-8")
    for number in re.findall(r"(?:out|in) (0\.\d+)", flows):
        assert number in PAGES

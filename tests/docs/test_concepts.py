"""The Concepts pages: their examples run, their numbers are computed, and the code they name is there."""

from __future__ import annotations

import ast
import doctest
import itertools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "concepts").glob("*.md"))
PAPERS = ROOT / "docs" / "concepts" / "papers.md"
CODE = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])(?:\d+\.\d+|\d+/\d+)(?![\w.]*\w)")
OF_THE_CODE = {"0.001", "3/6", "2/6"}  # the value of a parameter; and shares whose quotients are computed


def ids(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_the_examples_of_a_page_run(page):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    text = "\n".join(CODE.findall(page.read_text(encoding="utf-8")))
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    told: list[str] = []
    assert doctest.DocTestRunner(optionflags=flags).run(test, out=told.append).failed == 0, "".join(told)


@pytest.mark.parametrize("page", [page for page in PAGES if page != PAPERS], ids=ids)
def test_the_numbers_of_a_page_are_in_its_examples(page):
    """Every decimal and every fraction that the text or a picture's description states stands in code that is run."""
    text = page.read_text(encoding="utf-8")
    code = "\n".join(CODE.findall(text))
    computed = set(NUMBER.findall(code)) | OF_THE_CODE
    prose = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", CODE.sub(" ", text))
    assert set(NUMBER.findall(prose)) <= computed


def test_what_is_said_of_figure_2():
    """195 graphs of five labels have the figure's fractions; four of them fit the numbers left of its nodes, and the
    page draws one of the four."""
    from tools.site.drawings import CYCLIC

    left = {1: 13, 2: 10, 3: 11, 4: 8, 5: 13}  # how often each number is left in the text of the paper
    assert sum(left.values()) == 55
    found, fitting = 0, []
    for joined in itertools.combinations(itertools.combinations(range(1, 6), 2), 8):
        for turned in itertools.product((False, True), repeat=8):
            arcs = [(b, a) if turn else (a, b) for (a, b), turn in zip(joined, turned, strict=True)]
            if _shares(arcs) != (3, 2, 4, 3, 5):
                continue
            found += 1
            drawn = {one: _times_drawn(one, arcs) for one in left}
            if sum(drawn.values()) == 56 and all(drawn[one] >= left[one] for one in left):
                fitting.append(arcs)
    assert (found, len(fitting)) == (195, 4)
    assert len({frozenset(map(frozenset, arcs)) for arcs in fitting}) == 1
    assert set(CYCLIC) in [set(arcs) for arcs in fitting]


def _shares(arcs):
    """Wrong arcs; wrong heads, and heads; wrong tails, and tails; under the order 1 2 3 4 5."""
    wrong = [arc for arc in arcs if arc[0] > arc[1]]
    counts = (len({arc[end] for arc in some}) for end in (0, 1) for some in (wrong, arcs))
    return (len(wrong), *counts)


def _times_drawn(one, arcs):
    """Three times in whole graphs, once for each of its arcs alone, and in the pieces of heads and of tails."""
    out, into = (sum(arc[end] == one for arc in arcs) for end in (0, 1))
    return 3 + (out + into) + (into + (out > 0)) + (out + (into > 0))


def test_the_papers_page_names_files_and_what_is_in_them():
    text = PAPERS.read_text(encoding="utf-8")
    checked = 0
    for place in re.findall(r"`(?:src|tools|tests)/[^|\n]*", text):
        path: Path | None = None
        for name in re.findall(r"`([^`]+)`", place):
            if "/" in name:
                path = ROOT / name
                assert path.is_file(), name
                continue
            assert path is not None
            assert set(name.split(".")) <= _defined(path), f"{name} is not in {path}"
            checked += 1
    assert checked > 100


def _defined(path: Path) -> set[str]:
    """Names that a file defines: functions, classes, parameters, variables, attributes."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                names.add(name)
    return names

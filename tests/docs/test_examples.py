"""Every example runs, offline and alone, and prints what the guide shows; so do the interactive ones in guides."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.forked import run_python

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SESSION = re.compile(r"```python\n(>>> .*?)```", flags=re.DOTALL)
INTERACTIVE = [
    page for page in sorted((ROOT / "docs" / "guides").glob("*.md")) if SESSION.search(page.read_text("utf-8"))
]
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
SECONDS = 300
"""For a busy machine: on two free cores each takes less than ten."""


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_its_guide_shows(example, tmp_path):
    done = run_python("-W", "error", example, cwd=tmp_path, environment={"TMPDIR": str(tmp_path)}, timeout=SECONDS)
    if "MissingDataError" in done.stderr:
        pytest.skip("the corpus of this example is not on this machine")
    assert done.returncode == 0, done.stderr
    kept = (ROOT / "examples" / "output" / f"{example.stem}.txt").read_text(encoding="utf-8")
    difference = first_difference(kept, done.stdout)
    assert difference is None, f"{difference}\nIf it is right: python examples/{example.name} > examples/output/..."


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_a_guide_shows_the_example_and_its_output(example):
    guides = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "guides").glob("*.md"))
    shown = re.findall(rf'--8<-- "examples/{example.name}(?::(\w+))?"', guides)
    sections = re.findall(r"# --8<-- \[start:(\w+)\]", example.read_text(encoding="utf-8"))
    assert shown in ([""], sections)  # the whole, or every section in order
    assert f'--8<-- "examples/output/{example.stem}.txt"' in guides


@pytest.mark.parametrize("guide", INTERACTIVE, ids=lambda path: path.stem)
def test_the_interactive_examples_of_a_guide_run(guide):
    code = "\n".join(SESSION.findall(guide.read_text(encoding="utf-8")))
    test = doctest.DocTestParser().get_doctest(code, {}, guide.name, str(guide), 0)
    report: list[str] = []
    assert doctest.DocTestRunner().run(test, out=report.append).failed == 0, "".join(report)


def test_no_output_is_left_over():
    assert {path.stem for path in (ROOT / "examples" / "output").iterdir()} == {path.stem for path in EXAMPLES}


@pytest.mark.parametrize(
    ("kept", "found", "same"),
    [
        ("tau 0.59", "tau 0.60", True),  # one unit of the last digit: another machine's rounding
        ("tau 0.59", "tau 0.61", False),
        ("12 tags", "13 tags", False),
        ("role::program 1.0", "role::devel 1.0", False),
        ("a\nb", "a", False),
    ],
)
def test_only_the_last_digit_may_differ(kept, found, same):
    assert (first_difference(kept, found) is None) == same


def first_difference(kept: str, found: str) -> str | None:
    """The first line in which more differs than the last decimal of a number, by one."""
    lines, new = kept.splitlines(), found.splitlines()
    for number, (old_line, new_line) in enumerate(zip(lines, new, strict=False), start=1):
        if not _agree(old_line, new_line):
            return f"line {number} was  {old_line}\nline {number} is   {new_line}"
    return None if len(lines) == len(new) else f"there were {len(lines)} lines and there are {len(new)}"


def _agree(old: str, new: str) -> bool:
    if [part.strip() for part in NUMBER.split(old)] != [part.strip() for part in NUMBER.split(new)]:
        return False
    return all(_near(a, b) for a, b in zip(NUMBER.findall(old), NUMBER.findall(new), strict=True))


def _near(old: str, new: str) -> bool:
    decimals = len(old.partition(".")[2])
    return old == new or (decimals > 0 and abs(float(old) - float(new)) < 1.5 * 10.0**-decimals)

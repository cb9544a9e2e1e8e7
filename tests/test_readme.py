"""What the README and the first page show is run, in order, as a reader would."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
FIRST_PAGE = ROOT / "docs" / "index.md"


def first_page() -> str:
    """The page as the site shows it, with the README's sections in their places."""
    readme = README.read_text(encoding="utf-8")

    def section(found: re.Match[str]) -> str:
        name = re.escape(found.group(1))
        return re.search(rf"\[start:{name}\] -->\n(.*?)<!-- --8<-- \[end:{name}\]", readme, flags=re.DOTALL).group(1)

    return re.sub(r'^--8<-- "README\.md:(\w+)"$', section, FIRST_PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def run(command: str, folder: Path) -> str:
    """Run a line of a shell block with the arcrank of this environment."""
    arcrank = f"{shlex.quote(sys.executable)} -m arcrank"
    line = re.sub(r"\barcrank(?= (check|train|rank|evaluate|explain) )", lambda _: arcrank, command.partition("#")[0])
    done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = blocks(README.read_text(encoding="utf-8"), "python")
    assert len(code) == 4
    exec("\n".join(code), {})
    shown = capsys.readouterr().out
    assert "role::program" in shown
    assert "['travel' 'food']" in shown


@pytest.mark.slow
def test_the_commands_run(tmp_path):
    pages = README.read_text(encoding="utf-8"), first_page()
    commands = list(
        dict.fromkeys(line for page in pages for block in blocks(page, "sh") for line in block.splitlines())
    )
    rows = [{"text": f"{word} number {i}", "labels": [word]} for i in range(8) for word in ("travel", "food", "prices")]
    examples = blocks(FIRST_PAGE.read_text(encoding="utf-8"), "json")[0]
    (tmp_path / "mine.jsonl").write_text(examples + "".join(json.dumps(row) + "\n" for row in rows[:18]))
    (tmp_path / "unseen.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[18:]))
    for page in pages:
        two, five, *_ = blocks(page, "sh")
        assert re.findall(r"^make \w+", two, flags=re.MULTILINE) == ["make demo", "make test"]
        assert five.startswith("pip install .")  # it installed what this test runs in
        assert len(five.splitlines()) == 5
    for command in commands:
        if not command.startswith(("make ", "pip ")):
            assert run(command, tmp_path)
    assert (tmp_path / "mine.arcrank").exists()
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")


def table_rows(text: str) -> list[list[str]]:
    """The cells of every table row, without marks of the best."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip().replace("**", "") for cell in line.strip("|").split("|")] for line in lines]


def test_the_measured_table_is_that_of_the_learners():
    """Every figure stands on the page that `python -m tools.site.learners` writes, for the same corpus and learner."""
    measured = (ROOT / "docs" / "generated" / "learners.md").read_text(encoding="utf-8")
    table = re.search(
        r"## Comparison with one-vs-rest.*?\n\n(\|.*?)\n<!--", README.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    rows, corpus = table_rows(table.group(1))[2:], ""
    assert len(rows) == 12
    for named, learner, *figures in rows:
        corpus = named or corpus
        part = re.search(rf"### {re.escape(corpus)}\n(.*?)(?:\n### |\Z)", measured, flags=re.DOTALL).group(1)
        accuracy, times = (row for row in table_rows(part) if row[0] == learner)
        assert figures == [*accuracy[2:5], times[1]]
    assert "| one-vs-rest LinearSVC | 1.32 |" in first_page()

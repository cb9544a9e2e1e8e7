"""The pages of the reproduced papers: verdicts as measured, one rule for ties, and a table of settings at the end."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
VERDICTS = ("at or better", "within 15 %", "worse")


def measured(page):
    """The number of cells with each verdict, as written by `arcrank reproduce`; those that are 0 are left out."""
    text = (DOCS / f"generated/{page}.md").read_text(encoding="utf-8").split("Verdicts compare")[0]
    found = {verdict: re.search(rf"([\d,]+)\W* {verdict}", text) for verdict in VERDICTS}
    counts = {verdict: match[1] for verdict, match in found.items() if match}
    return {verdict: count for verdict, count in counts.items() if count != "0"}


@pytest.mark.parametrize("page", ["dekel", "crammer", "aiolli", "amini"])
def test_the_overview_has_the_verdicts_of_the_page(page):
    line = next(line for line in (DOCS / "reproduction/index.md").read_text().splitlines() if f"({page}.md)" in line)
    expected = ", ".join(f"{count} {verdict}" for verdict, count in measured(page).items()) or "none"
    assert line.rsplit("|", 2)[1].strip().startswith(expected)


@pytest.mark.parametrize("page", ["crammer", "aiolli"])
def test_a_page_states_its_rule_for_ties_and_ends_with_its_settings(page):
    text = (DOCS / f"reproduction/{page}.md").read_text(encoding="utf-8")
    assert text.count("- **Ties** count as errors") == 1
    last = text.rsplit("\n## ", 1)[1]
    assert last.startswith("Settings\n\n| setting | value | chosen by |\n")
    assert all(row.rsplit("|", 2)[1].strip() for row in last.splitlines() if row.startswith("|"))

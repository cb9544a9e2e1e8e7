from __future__ import annotations

from arcrank.experiments.outcomes import Outcome, Value
from arcrank.experiments.report import markdown, report


def test_names_cannot_change_the_markdown():
    one = Outcome("n", "<t> *a*", "a|b\nc", values=[Value("a|b", "x_y", 1.0), Value("`b`", "y", 2.0, 1.0)])
    text = markdown([one], {"gone": "no [file](here)"})
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert [row.count("|") for row in rows] == [4] * 4 + [3] * 3
    assert "&lt;t&gt; &#42;a&#42;" in text
    assert "[file]" not in text
    both = [Outcome("n", "Table 1", paper="A & B 2002"), Outcome("m", "Table 1", paper="C 2003")]
    assert "## A &amp; B 2002, Table 1\n" in markdown(both, {})
    assert "| &#96;b&#96; |  | 2" in text


def test_holes_in_a_table_are_shown_as_such():
    one = Outcome("n", "<t>", values=[Value("a", "x", 1.0), Value("b", "y", 2.0, 1.0)])
    text = report([one], {})
    assert "&lt;t&gt;" in text
    assert "<td></td>" in text

from __future__ import annotations

from io import StringIO

from rich.console import Console

from arcrank.cli.commands.reproduce import _table
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


def test_every_table_says_how_many_cells_have_each_verdict():
    good = Outcome("good", "t", "A note.", values=[Value("a", "x", 1.0, 2.0)])
    bad = Outcome("bad", "t", values=[Value("a", "x", 9.0, 2.0), Value("b", "x", 1.0)])
    lines = markdown([good, bad], {}).splitlines()
    marks = ['<span class="good">✓</span>', '<span class="warn">~</span>', '<span class="bad">✗</span>']
    counts = [f"{n} at or better {marks[0]}, 0 within 15 % {marks[1]}, {1 - n} worse {marks[2]}" for n in (1, 0)]
    assert f"`good`: {counts[0]}. A note." in lines
    assert f"`bad`: {counts[1]}, 1 without a verdict." in lines
    assert any(line.startswith(f"1 at or better {marks[0]}, 0 within 15 % {marks[1]}, 1 worse") for line in lines)
    assert "<p>0 at or better ✓, 0 within 15 % ~, 1 worse ✗, 1 without a verdict</p>" in report([good, bad], {})


def test_values_that_are_significantly_worse_have_an_arrow_in_tables():
    values = [Value("a", "x", 1.0, spread=0.5, significantly_worse=True), Value("b", "x", 2.0, spread=0.5)]
    one = Outcome("n", "t", values=values)
    text = markdown([one], {})
    assert "| a | 1 <small>± 0.5</small> ↓ |" in text
    assert "| b | 2 <small>± 0.5</small> |" in text
    assert report([one], {}).count("↓") == 1
    output = StringIO()
    Console(file=output).print(_table(one))
    assert "1 ↓" in output.getvalue()

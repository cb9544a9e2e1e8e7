from __future__ import annotations

from arcrank.experiments.outcomes import Outcome, Value, format_verdicts


def test_verdicts_round_as_the_paper_did():
    assert Value("", "", 0.8384, 0.84, higher_is_better=True).verdict == "at or better"
    assert Value("", "", 0.834, 0.84, higher_is_better=True).verdict == "within 15 %"
    assert Value("", "", 0.5, 0.84, higher_is_better=True).verdict == "worse"
    assert Value("", "", 0.5, 0.84, comparable=False).verdict == "no verdict"


def test_counts_of_verdicts_include_zeros():
    values = [Value("a", "x", 1.0, 2.0), Value("b", "x", 9.0, 2.0), Value("c", "x", 1.0)]
    assert format_verdicts(Outcome("n", "t", values=values).verdicts()) == (
        "1 at or better ✓, 0 within 15 % ~, 1 worse ✗, 1 without a verdict"
    )
    assert format_verdicts(Outcome("n", "t", values=values[2:]).verdicts()) == "1 without a verdict"

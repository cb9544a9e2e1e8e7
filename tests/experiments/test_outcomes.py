from __future__ import annotations

from arcrank.experiments.outcomes import Value


def test_verdicts_round_as_the_paper_did():
    assert Value("", "", 0.8384, 0.84, higher_is_better=True).verdict == "at or better"
    assert Value("", "", 0.834, 0.84, higher_is_better=True).verdict == "within 15 %"
    assert Value("", "", 0.5, 0.84, higher_is_better=True).verdict == "worse"
    assert Value("", "", 0.5, 0.84, comparable=False).verdict == "no verdict"

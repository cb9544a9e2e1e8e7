"""Label names that probably mean the same label."""

from __future__ import annotations

from arcrank.datacheck.similar_labels import one_letter_apart, written_alike


def test_names_that_are_near():
    assert written_alike(["a b", "A  B", "ab", "c"]) == [["A  B", "a b", "ab"]]
    assert one_letter_apart(["abcdef", "abcdeg", "abcdefg", "bcdefa", "x" * 10_000, "x" * 9_999]) == [
        ("abcdef", "abcdefg"),
        ("abcdef", "abcdeg"),
        ("abcdefg", "abcdeg"),
    ]

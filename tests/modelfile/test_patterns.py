"""Which patterns of tokens are proved to take linear time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcrank.modelfile.patterns import is_linear

LINEAR = [
    r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\w+", r"[a-zA-Z]{3,}", r"(?u)\b[^\d\W]+\b", r"\S+", "#\\w+", ".", "a|b",
    r"\b[a-z]+\b", r"(?i)\b[a-z]\w{2,15}\b", r"\w{1,50}\b", r"\b[A-Za-z0-9_]+\b", r"[^\W_]+", r"\w*",
]  # fmt: skip
OTHERS = [
    "(a+)+$", "(a|a)*b", r"(?:\w+\s?)+;", r"[a-z]+\b", "[a-z]+;", r"\w+?x", r"\w+\w+", r"\s+$", "a?a?a?aaa", r"(\w)\1+",
    r"\b\w{2,}\b|x", "x{1,200}y", r"\w{200}", r"\b[a-z-]+\b", r"\b[^a]+\b", r"(?=\w+;)\w", "", "(", "[", "\\",
    "(" * 150, "(" * 300, "a{1,99999999999999999999}", r"\w+" + " " * 200,
]  # fmt: skip


@pytest.mark.parametrize("pattern", LINEAR)
def test_linear(pattern):
    assert is_linear(pattern)


@pytest.mark.parametrize("pattern", OTHERS)
def test_not_proved(pattern):
    assert not is_linear(pattern)


PIECE = st.sampled_from(
    ["a", "b", "[ab]", r"\w", r"\W", "[^a]", r"[^\Wa]", ".", r"\d", "-", r"\b", "(a)", "a|b", "^", "$"]
)
REPEAT = st.sampled_from(["", "", "", "+", "*", "?", "{2}", "{1,3}", "{2,}", "+?"])
MORE = st.sampled_from(["", r"\b"])


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(MORE, st.lists(st.tuples(PIECE, REPEAT), min_size=1, max_size=4), MORE)
def test_a_proved_pattern_never_looks_at_a_run_twice(start, pieces, end):
    """No text of one run makes it start again and again: it matches, or gives up within a hundred characters."""
    pattern = start + "".join(one + count for one, count in pieces) + end
    if not is_linear(pattern):
        return
    compiled = re.compile(pattern)
    for text in ("a" * 300, "a" * 299 + "b", "a-" * 150, "ab" * 150, "b" * 299 + "-", "a" * 299 + "1"):
        looked = sum(_reach(compiled, text, at) for at in range(0, len(text), 10))
        assert looked <= 30 * 100 + 2 * len(text)


def _reach(compiled, text, at):
    """How far beyond `at` a failing match depends on the text; a match that succeeds is not tried again."""
    if compiled.match(text, at):
        return 0
    outcomes = [compiled.match(text[:end], at) is not None for end in range(at, len(text))]
    return max((end - at for end, found in enumerate(outcomes, at) if found), default=0)

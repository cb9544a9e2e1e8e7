"""Splitting: what separates words, and what does not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arcrank.text.splitting import split_lowered, split_words


@given(st.text(max_size=60))
def test_words_hold_letters_digits_and_marks_only(text):
    for word in split_words(text):
        assert word
        assert split_words(word) == [word]


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=60))
def test_the_fast_path_for_ascii_agrees_with_the_general_one(text):
    # A letter that is not ASCII, and a space, send the same text down the other path.
    assert ["é", *split_words(text)] == split_words("é " + text)
    assert ["é", *split_lowered(text)] == split_lowered("É " + text)


def test_the_underscore_separates():
    assert split_lowered("Snake_Case") == ["snake", "case"]

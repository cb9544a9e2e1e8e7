"""Words that are remembered become what they become at first."""

import pytest

from arcrank.text import known_words
from arcrank.text.known_words import KnownWords
from arcrank.text.words import Words

TEXTS = [
    "Oil prices rose: oil, the price of oil, 1987.",
    "",
    "the of and",
    "Ärzte und Straßen; naïve cafés, e\u0301 日本語 x² ½",
    "grain GRAIN grains " + "long" * 20,
    "a 3rd word of oil",
]
OPTIONS = [{}, {"digits": "drop", "stem": False}, {"digits": "keep", "stop_words": None}, {"lowercase": False}]


def same(found, expected):
    return found.words == expected.words and all((a == b).all() for a, b in zip(found[1:], expected[1:], strict=True))


@pytest.mark.parametrize("options", OPTIONS)
def test_words_are_the_same_the_first_and_the_second_time(options):
    plain, known = Words(**options), KnownWords(**options)
    for _ in range(2):
        assert [known(text) for text in TEXTS] == [plain(text) for text in TEXTS]
        assert same(known.encode(TEXTS), plain.encode(TEXTS))


@pytest.mark.parametrize(("most", "at_once"), [(1, 1), (3, 2), (8, 5)])
def test_memory_is_bounded(monkeypatch, most, at_once):
    monkeypatch.setattr(known_words, "_MOST_WORDS", most)
    monkeypatch.setattr(known_words, "_WORDS_AT_ONCE", at_once)
    plain, known = Words(), KnownWords()
    for text in TEXTS * 3:
        assert known(text) == plain(text)
        assert len(known._final) <= most
    assert not any(len(word) > known_words._LONGEST_WORD for word in known._final)

"""Tokens: every switch, every script, every bad input."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from arcrank.errors import InputError, ParameterError
from arcrank.text import Tokenizer
from arcrank.text.stopwords import ENGLISH
from arcrank.text.tokens import TokenIds, encode_with

PLAIN = {"digits": "keep", "stop_words": None, "stem": False}


def decode(tokens: TokenIds) -> list[list[str]]:
    return [
        [tokens.words[j] for j in tokens.ids[start:stop]]
        for start, stop in zip(tokens.indptr[:-1], tokens.indptr[1:], strict=True)
    ]


def test_the_papers_steps_by_default():
    text = "The company's 1987 profits rose 12.5 pct, to $3 mln."
    assert Tokenizer()(text) == ["compani", "#", "profit", "rose", "#", "#", "pct", "#", "mln"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ["the", "3rd", "u", "s", "tankers", "of", "1987"]),
        ({"lowercase": False}, ["The", "3rd", "U", "S", "tankers", "of", "1987"]),
        ({"digits": "token"}, ["the", "#rd", "u", "s", "tankers", "of", "#"]),
        ({"digits": "drop"}, ["the", "rd", "u", "s", "tankers", "of"]),
        ({"stop_words": "english"}, ["3rd", "u", "tankers", "1987"]),
        ({"stop_words": ["Tankers", "of"]}, ["the", "3rd", "u", "s", "1987"]),
        ({"stem": True}, ["the", "3rd", "u", "s", "tanker", "of", "1987"]),
        ({"min_length": 3}, ["the", "3rd", "tankers", "1987"]),
        ({"min_length": 3, "digits": "token"}, ["the", "#rd", "tankers", "#"]),
    ],
)
def test_each_step_is_a_switch(changes, words):
    assert Tokenizer(**(PLAIN | changes))("The 3rd U.S. tankers of 1987") == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ångström naïve CRÈME", ["ångström", "naïve", "crème"]),
        ("cafe\u0301", ["caf\u00e9"]),  # a decomposed accent is the same word
        ("東京 株式市場", ["東京", "株式市場"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),  # vowel signs are marks, not separators
        ("ﬁnance ＡＢＣ", ["finance", "abc"]),  # ligatures and full-width letters
        ("под_черк-нуто", ["под", "черк", "нуто"]),
        ("I\u2019m\u00a0here\u2014now", ["i", "m", "here", "now"]),
        ("٣ items", ["٣", "items"]),
        ("", []),
        ("\x03 \n\t ... --", []),
    ],
)
def test_unicode(text, words):
    assert Tokenizer(**PLAIN)(text) == words


def test_digits_of_any_script_are_one_token():
    assert Tokenizer()("٣٤ 12") == ["#", "#"]


def test_other_stemmers():
    assert Tokenizer(stem="french", stop_words=None)("continuellement") == ["continuel"]


def test_words_of_two_letters_are_left_alone():
    assert Tokenizer(stop_words=None)("s as US ass") == ["s", "as", "us", "ass"]


def test_own_stop_words_are_cut_as_the_text_is():
    assert Tokenizer(stop_words=["don't"], stem=False)("I don't know") == ["i", "know"]


def test_the_stop_list_holds_function_words_only():
    assert 250 < len(ENGLISH) < 400
    assert {"the", "of", "and", "not", "themselves"} <= ENGLISH
    assert not {"oil", "c", "r", "bank", "first", "system"} & ENGLISH
    assert all(re.fullmatch("[a-z]+", word) for word in ENGLISH)


@given(st.lists(st.text(max_size=40), max_size=5), st.booleans(), st.sampled_from(["token", "keep", "drop"]))
def test_whole_corpora_give_what_single_texts_give(texts, lowercase, digits):
    tokenizer = Tokenizer(lowercase=lowercase, digits=digits)
    tokens = tokenizer.encode(texts)
    assert decode(tokens) == [tokenizer(text) for text in texts]
    assert tokens.words == sorted(set(tokens.words))
    assert tokens.ids.dtype == np.int32


@given(st.text(alphabet=st.characters(codec="ascii"), max_size=80))
def test_ascii_words_are_what_a_regular_expression_finds(text):
    assert Tokenizer(**PLAIN)(text) == re.findall("[a-z0-9]+", text.lower())


def test_any_callable_will_do():
    tokens = encode_with(str.split, ["b a", "", "a"])
    assert decode(tokens) == [["b", "a"], [], ["a"]]


def test_pickles_and_clones():
    tokenizer = Tokenizer(stop_words=["oil"], digits="drop")
    for copy in (pickle.loads(pickle.dumps(tokenizer)), clone(tokenizer)):
        assert copy.get_params() == tokenizer.get_params()
        assert copy("Oil tankers 3") == tokenizer("Oil tankers 3") == ["tanker"]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one string", r"got one string; wrap it"),
        (b"bytes", r"got one string"),
        (["a", b"b"], r"text 1 is bytes; decode"),
        (["a", None], r"text 1 is missing \(None\)"),
        ([float("nan")], r"text 0 is missing \(nan\); drop the row"),
        (["a", "b", 3], r"text 2 is int, not a string: 3"),
        (np.array([["a"], ["b"]]), r"array of shape \(2, 1\); pass its text column"),
        (7, r"expected a list of texts, got int"),
    ],
)
def test_bad_texts_are_named(texts, message):
    with pytest.raises(InputError, match=message):
        Tokenizer().encode(texts)


def test_one_text_must_be_a_string():
    with pytest.raises(InputError, match="use encode for many texts"):
        Tokenizer()(["a"])


@pytest.mark.parametrize(
    "bad",
    [
        {"digits": "no"},
        {"stop_words": "klingon"},
        {"stop_words": iter(["oil"])},
        {"stop_words": [3]},
        {"stop_words": 3},
        {"stem": "klingon"},
        {"min_length": 0},
        {"min_length": "2"},
    ],
)
def test_bad_parameters(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        Tokenizer(**bad)("text")

"""Counted texts: features of any rows are those of the texts themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arcrank.errors import InputError, ParameterError
from arcrank.text import TextFeatures

WORDS = ["oil", "oils", "crude", "the", "1987", "a1", "Öl", "ship", "ships"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
FEATURES = st.builds(
    TextFeatures,
    ngrams=st.integers(1, 3),
    min_df=st.sampled_from([1, 2, 0.3]),
    max_df=st.sampled_from([1.0, 0.7, 3]),
    stem=st.booleans(),
    idf=st.booleans(),
    norm=st.sampled_from(["l2", "l1", None]),
)


def assert_same_bits(one, other):
    assert one.shape == other.shape
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))


@settings(deadline=None, max_examples=60)
@given(FEATURES, st.lists(TEXT, min_size=2, max_size=10), st.data())
def test_features_of_counted_rows_are_those_of_their_texts(features, texts, data):
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), min_size=1))
    counts, chosen = features.count(texts), [texts[i] for i in rows]
    try:
        expected = features.fit_transform(chosen)
    except InputError:  # no term is left
        with pytest.raises(InputError, match="no term is left"):
            features.fit_counts(counts[rows])
        return
    terms, idf, others = features.terms_, features.idf_, features.transform(texts)
    assert_same_bits(features.fit_transform_counts(counts[rows]), expected)
    assert features.terms_ == terms
    np.testing.assert_array_equal(features.idf_, idf)
    assert_same_bits(features.transform_counts(counts), others)
    assert terms == sorted(terms)


def test_rows_are_selected_as_in_an_array():
    counts = TextFeatures().count(["oil", "crude oil", "ship"])
    assert len(counts[1:]) == len(counts[[0, 2]]) == len(counts[np.array([True, False, True])]) == 2
    with pytest.raises(InputError, match=r"counts\[i : i \+ 1\]"):
        counts[1]


def test_counts_of_other_words_are_refused():
    counts = TextFeatures().count(["oil", "oil"])
    with pytest.raises(ParameterError, match=r"counted with ngrams=2.*have ngrams=1"):
        TextFeatures(ngrams=1).fit_counts(counts)
    with pytest.raises(ParameterError, match=r"counted with stem=True.*have stem=False"):
        TextFeatures(stem=False).fit(["oil", "oil"]).transform_counts(counts)


def test_a_stop_list_may_be_any_collection():
    counts = TextFeatures(stop_words=["a", "the"]).count(["oil", "oil"])
    assert TextFeatures(stop_words={"the", "a"}).fit_counts(counts).terms_ == ["oil"]

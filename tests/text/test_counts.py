"""Term counts: against a pure-Python count, pruning, n-grams, vocabularies."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from arcrank.errors import InputError, ParameterError
from arcrank.text import PivotedLength, TermCounts, Tokenizer

TEXTS = ["crude oil, crude!", "", "oil price of crude oil"]


def grams(words: list[str], n: int) -> list[str]:
    return [" ".join(words[i : i + size]) for size in range(1, n + 1) for i in range(len(words) - size + 1)]


def assert_canonical(X):
    assert X.format == "csr"
    assert X.dtype == np.float64
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    assert (np.diff(rows * (X.shape[1] + 1) + X.indices) > 0).all(), "indices sorted, none twice"


def test_counts_by_hand():
    counter = TermCounts()
    X = counter.fit_transform(TEXTS)
    assert counter.get_feature_names_out().tolist() == ["crude", "oil", "price"]
    assert X.toarray().tolist() == [[2, 1, 0], [0, 0, 0], [1, 2, 1]]
    assert_canonical(X)
    assert (counter.transform(TEXTS) != X).nnz == 0


@given(
    st.lists(st.lists(st.sampled_from("abcde"), max_size=8), min_size=1, max_size=6),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_counts_are_what_pure_python_counts(documents, n, min_df):
    counts = [Counter(grams(words, n)) for words in documents]
    frequency = Counter(term for count in counts for term in count)
    terms = sorted(term for term, rows in frequency.items() if rows >= min_df)
    counter = TermCounts(tokenizer=str.split, ngrams=n, min_df=min_df)
    texts = [" ".join(words) for words in documents]
    if not terms:
        with pytest.raises(InputError, match="no term is left"):
            counter.fit(texts)
        return
    X = counter.fit_transform(texts)
    assert counter.get_feature_names_out().tolist() == terms
    assert X.toarray().tolist() == [[count[term] for term in terms] for count in counts]
    assert_canonical(X)
    again = counter.transform(texts)
    assert_canonical(again)
    assert (again != X).nnz == 0


def test_ngrams_never_cross_texts():
    names = TermCounts(ngrams=2).fit(["crude", "oil"]).get_feature_names_out()
    assert names.tolist() == ["crude", "oil"]


@pytest.mark.parametrize(
    ("limits", "terms"),
    [
        ({"min_df": 2}, ["b", "c"]),
        ({"min_df": 0.7}, ["c"]),
        ({"max_df": 1}, ["a"]),
        ({"max_df": 0.7}, ["a", "b"]),
        ({"min_df": 2, "max_df": 2}, ["b"]),
    ],
)
def test_pruning(limits, terms):
    counter = TermCounts(tokenizer=str.split, **limits).fit(["a b c", "b b c", "c"])
    assert counter.get_feature_names_out().tolist() == terms


def test_a_given_vocabulary_keeps_its_order():
    counter = TermCounts(vocabulary=["price", "oil", "unknown"])
    assert counter.fit_transform(TEXTS).toarray().tolist() == [[0, 1, 0], [0, 0, 0], [1, 2, 0]]
    assert counter.get_feature_names_out().tolist() == ["price", "oil", "unknown"]


def test_no_texts_give_no_rows():
    assert TermCounts().fit(TEXTS).transform([]).shape == (0, 3)


def test_iterators_and_object_arrays_are_texts():
    expected = TermCounts().fit_transform(TEXTS)
    for texts in (iter(TEXTS), np.array(TEXTS), np.array(TEXTS, dtype=object), tuple(TEXTS)):
        assert (TermCounts().fit_transform(texts) != expected).nnz == 0


def test_pickle_clone_pipeline():
    pipeline = make_pipeline(TermCounts(tokenizer=Tokenizer(stem=False)), PivotedLength())
    X = clone(pipeline).set_params(termcounts__tokenizer__stem=True).fit_transform(TEXTS)
    fitted = pipeline.fit(TEXTS)
    assert X.shape == (3, 3)
    assert fitted.get_feature_names_out().tolist() == ["crude", "oil", "price"]
    copy = pickle.loads(pickle.dumps(fitted))
    assert (copy.transform(TEXTS) != fitted.transform(TEXTS)).nnz == 0


@pytest.mark.parametrize(
    "bad",
    [
        {"ngrams": 0},
        {"ngrams": 1.5},
        {"min_df": 0},
        {"min_df": -0.1},
        {"max_df": 1.5},
        {"max_df": True},
        {"vocabulary": ["a", "b", "a"]},
        {"vocabulary": []},
    ],
)
def test_bad_parameters(bad):
    with pytest.raises(ParameterError, match=next(iter(bad))):
        TermCounts(**bad).fit(TEXTS)


def test_nothing_left_is_an_error():
    with pytest.raises(InputError, match="no term is left of 2 texts"):
        TermCounts().fit(["of the", ""])

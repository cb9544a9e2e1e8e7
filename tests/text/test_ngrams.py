"""Terms and their counts, compared with counting runs of words one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from arcrank.errors import ParameterError
from arcrank.text.ngrams import count_terms, select_terms
from arcrank.text.tokens import encode_with

TEXTS = st.lists(st.lists(st.sampled_from(["a", "ab", "b", "#", "ä"]), max_size=7).map(" ".join), max_size=6)


@settings(deadline=None, max_examples=60)
@given(TEXTS, st.integers(1, 4))
def test_counts_are_those_of_all_runs(texts, n):
    terms, counts = count_terms(encode_with(str.split, texts), n)
    rows = [
        Counter(" ".join(words[i : i + m]) for m in range(1, n + 1) for i in range(len(words) - m + 1))
        for words in map(str.split, texts)
    ]
    names = terms.names()
    assert names == sorted(set().union(*rows))
    assert counts.matrix().toarray().tolist() == [[row[name] for name in names] for row in rows]
    found = sparse.csr_matrix((counts.data, counts.indices, counts.indptr), shape=counts.shape)
    assert found.has_canonical_format


def test_some_columns():
    terms, counts = count_terms(encode_with(str.split, ["a b", "b c"]), 2)
    columns = np.array([1, 3])
    assert terms.names(columns) == ["a b", "b c"]
    assert select_terms(counts, columns).matrix().toarray().tolist() == [[1, 0], [0, 1]]


def test_a_term_has_at_least_one_word():
    with pytest.raises(ParameterError, match="ngrams"):
        count_terms(encode_with(str.split, ["a"]), 0)

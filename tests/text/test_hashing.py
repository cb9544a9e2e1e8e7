"""HashedTextFeatures: no state, nothing lost, the same everywhere."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from arcrank.errors import ParameterError
from arcrank.text import HashedTextFeatures, TextFeatures

TEXTS = ["Crude oil prices rose in 1987.", "Oil tankers; crude oil", "", "東京 stock prices fell"]


def test_hashing_needs_no_fit_and_keeps_every_term():
    hashed = HashedTextFeatures(n_features=2**18, sublinear=False, norm=None)
    X = hashed.transform(TEXTS)
    counts = TextFeatures(min_df=1, idf=False, sublinear=False, norm=None).fit_transform(TEXTS)
    assert X.shape == (4, 2**18)
    np.testing.assert_array_equal(np.sort(X.data), np.sort(counts.data))
    assert (hashed.partial_fit(TEXTS).transform(TEXTS) != X).nnz == 0


def test_terms_that_share_a_column_add_up():
    X = HashedTextFeatures(n_features=1, ngrams=1, stop_words=None, sublinear=False, norm=None).transform(["a b a"])
    assert X.toarray().tolist() == [[3.0]]


@pytest.mark.slow
def test_hashes_are_the_same_in_every_process():
    code = (
        "from arcrank.text import HashedTextFeatures;"
        "print(HashedTextFeatures().transform(['crude oil price']).indices.tolist())"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True, text=True
        ).stdout
        for seed in ("1", "2")
    ]
    expected = HashedTextFeatures().transform(["crude oil price"]).indices.tolist()
    assert [json.loads(output) for output in outputs] == [expected, expected]


@pytest.mark.parametrize(
    "bad",
    [
        HashedTextFeatures(n_features=0),
        HashedTextFeatures(n_features=2**31),
        HashedTextFeatures(n_features=1.5),
        HashedTextFeatures(norm="max"),
        HashedTextFeatures(stem="none"),
    ],
)
def test_bad_parameters(bad):
    with pytest.raises(ParameterError):
        bad.fit(TEXTS)

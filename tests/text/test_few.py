"""A few texts, counted one by one, have the features that they have among many."""

import numpy as np
import pytest

from arcrank.text import HashedTextFeatures, TextFeatures
from arcrank.text.few import are_few
from arcrank.text.words import Words

TEXTS = [
    "Oil prices rose: oil, the price of oil, 1987.",
    "",
    "the of and",
    "Ärzte und Straßen; naïve cafés, e\u0301 日本語 x² ½",
    "grain grain grain wheat grain wheat",
    "a word",
    "unseen vocabulary entirely",
]


@pytest.mark.parametrize("ngrams", [1, 2, 3])
@pytest.mark.parametrize(
    "features", [TextFeatures(min_df=1), HashedTextFeatures(n_features=16), TextFeatures(norm="l1")]
)
def test_features_do_not_depend_on_the_number_of_texts(features, ngrams):
    features.set_params(ngrams=ngrams).fit(TEXTS[:6] * 3)
    together = features.transform(TEXTS)
    assert not are_few(TEXTS, Words())
    for start in range(len(TEXTS)):
        few = TEXTS[start : start + 3]
        assert are_few(few, Words())
        found, expected = features.transform(few), together[start : start + 3]
        for name in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert found.shape == expected.shape
        assert found.indices.dtype == together.indices.dtype

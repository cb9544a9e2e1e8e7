"""TextFeatures: values, state, bad input; and what it shares with HashedTextFeatures."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from arcrank.errors import InputError, ParameterError
from arcrank.text import HashedTextFeatures, TextFeatures, Tokenizer

TEXTS = ["Crude oil prices rose in 1987.", "Oil tankers; crude oil", "", "東京 stock prices fell"]
BOTH = [TextFeatures(min_df=1), HashedTextFeatures(n_features=64)]


def assert_canonical(X):
    assert X.format == "csr"
    assert X.dtype == np.float64
    assert X.has_canonical_format


def test_weights_are_those_of_tfidf_vectorizer():
    features = TextFeatures(min_df=1)
    analyzer = Tokenizer(**{k: v for k, v in features.get_params().items() if k in Tokenizer().get_params()})
    peer = TfidfVectorizer(
        tokenizer=analyzer, token_pattern=None, lowercase=False, ngram_range=(1, features.ngrams), sublinear_tf=True
    )
    expected = peer.fit_transform(TEXTS)
    got = features.fit_transform(TEXTS)
    assert features.terms_ == peer.get_feature_names_out().tolist()
    np.testing.assert_allclose(got.toarray(), expected.toarray(), rtol=1e-12)
    np.testing.assert_allclose(features.idf_, peer.idf_)


@pytest.mark.parametrize("features", BOTH)
def test_rows_have_unit_length_and_empty_texts_stay_empty(features):
    X = clone(features).fit(TEXTS).transform(TEXTS)
    assert_canonical(X)
    np.testing.assert_allclose(np.linalg.norm(X.toarray(), axis=1), [1, 1, 0, 1])


@pytest.mark.parametrize("features", BOTH)
def test_fit_transform_is_fit_and_transform(features):
    X = clone(features).fit_transform(TEXTS)
    assert (clone(features).fit(TEXTS).transform(TEXTS) != X).nnz == 0
    assert_canonical(X)


@pytest.mark.parametrize("features", BOTH)
def test_clone_pickle_and_a_pipeline(features):
    pipeline = make_pipeline(clone(features), LogisticRegression()).fit(TEXTS, [1, 1, 0, 0])
    copy = pickle.loads(pickle.dumps(pipeline))
    np.testing.assert_array_equal(copy.decision_function(TEXTS), pipeline.decision_function(TEXTS))
    names = pipeline[:-1].get_feature_names_out()
    assert len(names) == pipeline[0].transform(TEXTS).shape[1]


def test_the_state_is_json_and_one_array():
    features = TextFeatures(min_df=1, stop_words=("rose", "fell")).fit(TEXTS)
    state = features.get_state()
    idf = state.pop("idf")
    restored = TextFeatures.from_state(json.loads(json.dumps(state)) | {"idf": idf})
    assert restored.get_feature_names_out().tolist() == features.terms_
    assert (restored.transform(TEXTS) != features.transform(TEXTS)).nnz == 0
    assert restored.get_state()["parameters"] == state["parameters"]


def test_a_state_that_disagrees_with_itself_is_refused():
    state = TextFeatures(min_df=1).fit(TEXTS).get_state()
    with pytest.raises(InputError, match="idf of shape"):
        TextFeatures.from_state(state | {"idf": state["idf"][1:]})


def test_idf_is_a_switch():
    features = TextFeatures(min_df=1, idf=False, sublinear=False, norm=None, ngrams=1).fit(TEXTS)
    X = features.transform(["oil oil crude"])
    assert (features.idf_ == 1).all()
    assert sorted(X.data.tolist()) == [1, 2]


def test_parameters_changed_after_fit_do_not_half_apply():
    features = TextFeatures(min_df=1).fit(TEXTS)
    before = features.transform(TEXTS)
    features.set_params(stem=False, ngrams=1)
    assert (features.transform(TEXTS) != before).nnz == 0


def test_the_package_does_not_import_numba():
    code = "import sys, arcrank.text; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("features", BOTH)
@pytest.mark.parametrize("texts", ["one string", ["a", None], ["a", b"b"], [float("nan")]])
def test_bad_texts(features, texts):
    with pytest.raises(InputError):
        clone(features).fit(TEXTS).transform(texts)


@pytest.mark.parametrize(
    "bad",
    [
        TextFeatures(norm="max"),
        TextFeatures(digits="x"),
        TextFeatures(ngrams=0),
    ],
)
def test_bad_parameters(bad):
    with pytest.raises(ParameterError):
        bad.fit(TEXTS)

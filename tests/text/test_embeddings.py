"""Static embeddings: vectors, their place beside words, and weights that are missing or others."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

import arcrank
from arcrank import RocchioRanker, make_ranking_pipeline
from arcrank.errors import InputError, ModelFileError, ParameterError
from arcrank.text import EmbeddingFeatures, TextAndEmbeddings, TextFeatures
from arcrank.text.embeddings import embeddings_installed

pytestmark = pytest.mark.skipif(not embeddings_installed(), reason="needs the extra embeddings")

TEXTS = ["crude oil", "petroleum exports", "the wedding of a princess", ""]


def test_similar_texts_have_similar_vectors_of_unit_length():
    X = EmbeddingFeatures().fit_transform(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), [1, 1, 1, 0])
    assert X[0] @ X[1] > X[0] @ X[2] + 0.2
    np.testing.assert_array_equal(EmbeddingFeatures().fit().transform(TEXTS[1:]), X[1:])


def test_fewer_dimensions_are_the_first_ones():
    wide, narrow = EmbeddingFeatures().fit_transform(TEXTS), EmbeddingFeatures(dimensions=64).fit_transform(TEXTS)
    first = wide[:3, :64] / np.linalg.norm(wide[:3, :64], axis=1, keepdims=True)
    np.testing.assert_allclose(narrow[:3], first, atol=1e-6)


def test_words_and_embeddings_are_side_by_side():
    both = TextAndEmbeddings(words=TextFeatures(min_df=1), embeddings=EmbeddingFeatures(dimensions=16), weight=0.25)
    X = both.fit_transform(TEXTS)
    words, vectors = both.words_.transform(TEXTS).toarray(), both.embeddings_.transform(TEXTS)
    np.testing.assert_array_equal(X.toarray(), np.hstack([words, 0.25 * vectors]))
    np.testing.assert_array_equal(X.toarray(), both.transform(TEXTS).toarray())
    names = both.get_feature_names_out()
    assert (len(names), names[0], names[-1]) == (X.shape[1], "crude", "embedding 15")
    again = TextAndEmbeddings.from_fitted(both.words_, both.embeddings_, 0.25)
    assert (again.transform(TEXTS) != X).nnz == 0
    assert clone(again).fit(TEXTS).get_feature_names_out().tolist() == names.tolist()


def test_explanations_name_the_words_of_the_text():
    both = TextAndEmbeddings(words=TextFeatures(min_df=1), embeddings=EmbeddingFeatures(dimensions=2))
    model = make_ranking_pipeline(both, RocchioRanker()).fit(["crude oil prices", "wheat harvest"], ["oil", "grain"])
    assert "Prices" in [name for name, _ in model.explain("Prices of oil", "oil", "grain").parts]


def test_nothing_is_downloaded_and_wordllama_is_not_imported():
    code = (
        "import socket, sys\n"
        "def refuse(*_): raise OSError('no network')\n"
        "socket.socket.connect = refuse\n"
        "from arcrank.text import EmbeddingFeatures\n"
        "assert EmbeddingFeatures().fit_transform(['oil']).any()\n"
        "assert not {'wordllama', 'requests'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_bad_parameters_and_texts():
    for bad in ({"model": "other"}, {"dimensions": 0}, {"dimensions": 257}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            EmbeddingFeatures(**bad).fit()
    with pytest.raises(ParameterError, match="weight"):
        TextAndEmbeddings(weight=0).fit(TEXTS)
    with pytest.raises(InputError, match="text 1 is missing"):
        EmbeddingFeatures().fit().transform(["oil", None])


def test_a_model_needs_the_weights_that_it_was_trained_with(tmp_path, monkeypatch):
    model = make_ranking_pipeline(EmbeddingFeatures(dimensions=8), RocchioRanker()).fit(TEXTS[:2], ["a", "b"])
    model[0].digest_ = "0" * 16
    arcrank.save(model, tmp_path / "other")
    with pytest.raises(ModelFileError, match="other weights of wordllama"):
        arcrank.load(tmp_path / "other")
    monkeypatch.setattr("arcrank.text.embeddings.find_spec", lambda _: None)
    from arcrank.text import embeddings

    embeddings._load.cache_clear()
    with pytest.raises(ModelFileError, match=r"arcrank\[embeddings\]"):
        arcrank.load(tmp_path / "other")

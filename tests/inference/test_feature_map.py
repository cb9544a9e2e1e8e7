"""Features of files in the columns of models."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import arcrank
from arcrank.datasets import Corpus
from arcrank.errors import InputError
from arcrank.inference.feature_map import FeatureMap, corpus_features


def test_names_are_put_into_place_and_unknown_ones_counted():
    columns = FeatureMap("named", 3, ["x", "y", "z"])
    X = columns.matrix(csr_matrix([[1.0, 2.0, 3.0], [0.0, 4.0, 0.0]]), ["z", "new", "x"])
    np.testing.assert_array_equal(X.toarray(), [[3, 0, 1], [0, 0, 0]])
    assert columns.ignored == 2


def test_numbers_are_cut_and_widened():
    columns = FeatureMap("numbered", 2)
    np.testing.assert_array_equal(columns.matrix(csr_matrix([[1.0]]), None).toarray(), [[1, 0]])
    np.testing.assert_array_equal(columns.matrix(csr_matrix([[1.0, 0, 5.0]]), None).toarray(), [[1, 0]])
    assert columns.ignored == 1
    with pytest.raises(InputError, match="numbered, but those of the file are named"):
        columns.matrix(csr_matrix([[1.0]]), ["x"])


def test_folded_columns_are_those_of_the_stream():
    columns = FeatureMap("folded", 8)
    assert columns.matrix(csr_matrix(([2.0], ([0], [9])), shape=(1, 10)), None).toarray()[0, 1] == 2
    one, two = (columns.matrix(csr_matrix([[1.0, 2.0]]), names) for names in (["x", "y"], ["y", "x"]))
    assert one.sum() == two.sum() == 3


def test_of_a_corpus_and_back_from_a_card(tmp_path):
    corpus = Corpus(["a", "b"], X=csr_matrix(np.eye(2)), feature_names=["x", "y"], label_sets=[["a"], ["b"]])
    columns = FeatureMap.of_corpus(corpus)
    ranker = arcrank.RocchioRanker().fit(corpus.X, corpus.label_sets)
    arcrank.save(ranker, tmp_path / "m", card={"columns": columns.to_card()})
    again = FeatureMap.of_model(arcrank.load(tmp_path / "m"))
    assert (again.kind, again.width, again.names) == ("named", 2, ["x", "y"])
    texts = Corpus(["a"], texts=["oil"], label_sets=[["a"]], source="file")
    with pytest.raises(InputError, match="takes features, but this file holds texts"):
        corpus_features(ranker, texts)

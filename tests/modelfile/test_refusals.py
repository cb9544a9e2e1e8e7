"""What a model file cannot hold is refused by name, before anything is written."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import arcrank
from arcrank.decompositions import get_decomposition
from arcrank.errors import ModelFileError
from arcrank.text import TermCounts, TextFeatures
from tests.modelfile.models import GRADES, SETS, TEXTS, TOPICS, X


def my_kernel(A, B):
    return A @ B.T if isinstance(A, np.ndarray) else (A @ B.T).toarray()


def my_words(text):
    return text.split()


def my_cut(heads, tails, row):
    return [list(range(len(heads)))]


class MyRanker(arcrank.RocchioRanker):
    pass


def on_text(*steps):
    return make_pipeline(*steps).fit(TEXTS, TOPICS)


CASES = {
    "LogLinearRanker.*parameter decomposition is the function my_cut": lambda: arcrank.LogLinearRanker(my_cut).fit(
        X, SETS
    ),
    "LogLinearRanker.*parameter decomposition is .*of type": lambda: arcrank.LogLinearRanker(
        get_decomposition("domination")
    ).fit(X, SETS),
    "PreferenceMachine.*parameter kernel is the function my_kernel": lambda: arcrank.PreferenceMachine(
        kernel=my_kernel
    ).fit(X, SETS),
    "MMPRanker.*parameter kernel is the function my_kernel": lambda: arcrank.MMPRanker(kernel=my_kernel).fit(X, SETS),
    "SemiSupervisedRankBoost.*parameter discount": lambda: arcrank.SemiSupervisedRankBoost(
        2, discount=lambda similarity: similarity
    ).fit(X, GRADES),
    "CountVectorizer.*parameter tokenizer is the function my_words": lambda: on_text(
        CountVectorizer(tokenizer=my_words, token_pattern=None), arcrank.RocchioRanker()
    ),
    "CountVectorizer.*parameter analyzer is the function my_words": lambda: on_text(
        CountVectorizer(analyzer=my_words), arcrank.RocchioRanker()
    ),
    "TermCounts.*parameter tokenizer is the function my_words": lambda: on_text(
        TermCounts(tokenizer=my_words), arcrank.RocchioRanker()
    ),
    "MaxAbsScaler cannot be saved": lambda: on_text(CountVectorizer(), MaxAbsScaler(), arcrank.RocchioRanker()),
    "Ridge cannot be saved": lambda: Ridge().fit(X, X[:, 0]),
    "MyRanker cannot be saved": lambda: MyRanker().fit(X, SETS),
    "str cannot be saved": lambda: on_text(CountVectorizer(), "passthrough", arcrank.RocchioRanker()),
    "TextFeatures cannot be saved as the last step": lambda: TextFeatures(min_df=1).fit(TEXTS),
    "RocchioRanker cannot be saved before it is fitted": arcrank.RocchioRanker,
    "CountVectorizer cannot be saved before it is fitted": lambda: make_pipeline(
        CountVectorizer(), arcrank.RocchioRanker().fit(X, SETS)
    ),
    "dict cannot be saved": dict,
}


@pytest.mark.parametrize("said", CASES)
def test_refused_by_name(said, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"what was there")
    model = CASES[said]()
    with pytest.raises(ModelFileError, match=said):
        arcrank.save(model, path)
    assert path.read_bytes() == b"what was there"
    assert list(tmp_path.iterdir()) == [path]


def test_the_remedy_is_told(tmp_path):
    with pytest.raises(ModelFileError, match="holds no code. Train it with one of the named choices"):
        arcrank.save(arcrank.LogLinearRanker(my_cut).fit(X, SETS), tmp_path / "model")
    with pytest.raises(ModelFileError, match="Pipeline after text features .*CountVectorizer"):
        arcrank.save(Ridge(), tmp_path / "model")


@pytest.mark.parametrize("codes", [np.eye(3, dtype=np.longdouble), np.eye(3) * (1 + 0j)])
def test_arrays_without_a_portable_form(codes, tmp_path):
    machine = arcrank.PreferenceMachine().fit(X, SETS).set_params(codes=codes)
    with pytest.raises(ModelFileError, match="parameter codes"):
        arcrank.save(machine, tmp_path / "model")


def test_other_byte_orders_become_little(tmp_path):
    machine = arcrank.PreferenceMachine().fit(X, SETS).set_params(codes=np.eye(3).astype(">f8"))
    arcrank.save(machine, tmp_path / "model")
    assert arcrank.load(tmp_path / "model").codes.tolist() == np.eye(3).tolist()

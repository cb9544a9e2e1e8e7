"""Models of arrays: the same rankings and explanations as by the estimators of the same file."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import arcrank
from arcrank._csr import Csr
from arcrank.datasets import Corpus
from arcrank.inference.array_model import ArrayPipeline, LinearModel, ShortlistModel, load_for_ranking
from arcrank.inference.predictor import Predictor
from arcrank.solvers.products import row_products
from arcrank.text import TextFeatures
from tests.modelfile.models import MODELS, SETS, TEXTS, TOPICS, X
from tests.modelfile.store import FOLDER

LINEAR = [
    "log-linear",
    "log-linear boosting",
    "log-linear label features",
    "log-linear dual text",
    "machine",
    "machine codes",
    "average",
    "semi-supervised",
    "ordinal",
    "prank",
    "mmp",
]
LINEAR += ["mmp average text", "mmp mostly zero", "shortlist"]
ROWS = np.where(np.abs(X) > 1, X, 0.0) * 1.5


def calibrated():
    y = TOPICS * 5
    ranker = arcrank.LogLinearRanker(cut_label=True, C=10)
    return arcrank.make_ranking_pipeline(TextFeatures(min_df=1), ranker).fit(TEXTS * 5, y)


def calibrated_online():
    return arcrank.MMPRanker(cut_label=True, average=True).fit(np.tile(X, (3, 1)), SETS * 3).calibrate(X, SETS)


def calibrated_single():
    return arcrank.LogLinearRanker(cut_label=True).fit(np.tile(X, (3, 1)), ["a", "b", "c"] * 12)


def calibrated_shortlist():
    ranker = arcrank.ShortlistRanker(cut_label=True, random_state=0)
    X = sp.csr_matrix(np.abs(np.tile(ROWS, (3, 1))))
    return ranker.fit(X, SETS * 3).calibrate(X, SETS * 3)


def is_light(model):
    return isinstance(model, ArrayPipeline | LinearModel | ShortlistModel)


def ranked(model, documents, **options):
    return [document.to_json() for document in Predictor(model).rank(documents, **options)]


def assert_equal(path, documents):
    light, full = load_for_ranking(path), arcrank.load(path)
    for top, explain in ((None, 0), (2, 3)):
        assert ranked(light, documents, top=top, explain=explain) == ranked(full, documents, top=top, explain=explain)
    one, predictors = documents[:1], (Predictor(light), Predictor(full))
    assert ranked(light, one, explain=3) == ranked(full, one, explain=3) == ranked(full, documents, explain=3)[:1]
    if getattr(full[-1] if hasattr(full, "steps") else full, "cut_label", False):
        first, second = (predictor.explain(predictor.features(one), 0, None, None, 5) for predictor in predictors)
        assert first == second


def documents_for(model):
    if isinstance(model, ArrayPipeline):
        return Corpus(labels=[], texts=[*TEXTS, "", "unknown", "Oil OIL oils 12 naïve"], label_sets=[[]] * 9)
    return Corpus(labels=[], X=sp.csr_matrix(ROWS[:, : model.n_features_in_]), label_sets=[[]] * len(ROWS))


@pytest.mark.parametrize("name", MODELS)
def test_every_linear_model_is_read_as_arrays(name, tmp_path):
    arcrank.save(MODELS[name](), tmp_path / "model")
    light = load_for_ranking(tmp_path / "model")
    assert is_light(light) == (name in LINEAR)
    if is_light(light):
        assert_equal(tmp_path / "model", documents_for(light))


@pytest.mark.parametrize("make", [calibrated, calibrated_online, calibrated_single, calibrated_shortlist])
def test_cut_and_probabilities_are_those_of_the_estimators(make, tmp_path):
    model = make()
    arcrank.save(model, tmp_path / "model")
    light = load_for_ranking(tmp_path / "model")
    assert is_light(light)
    documents = documents_for(light)
    assert next(Predictor(light).rank(documents)).probabilities is not None
    assert_equal(tmp_path / "model", documents)
    recall = [Predictor(one).threshold(None, 0.8) for one in (light, arcrank.load(tmp_path / "model"))]
    assert recall[0] == recall[1]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.arcrank")), ids=lambda path: path.stem)
def test_files_of_earlier_versions(path):
    light = load_for_ranking(path)
    assert is_light(light) == any(path.stem.split("-", 1)[1] == name.replace(" ", "-") for name in LINEAR)
    if is_light(light):
        assert_equal(path, documents_for(light))


@pytest.mark.parametrize("n", [0, 1, 4, 5, 40])
def test_few_rows_are_multiplied_as_many_are(n):
    rows = sp.random(n, 30, 0.3, "csr", random_state=n)
    W = np.random.default_rng(0).normal(size=(30, 7))
    light = Csr(rows.data, rows.indices, rows.indptr, rows.shape)
    assert row_products(light, W).tobytes() == row_products(rows, W).tobytes() == np.asarray(rows @ W).tobytes()
    assert light[1:3].matrix().toarray().tolist() == rows[1:3].toarray().tolist()

"""Model files of ShortlistRanker: nothing changes on the way, and damaged files are refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import scipy.sparse as sp

import arcrank
from arcrank import ShortlistRanker
from arcrank.errors import ModelFileError
from arcrank.modelfile.registry import part_of


@pytest.fixture(scope="module", params=[{}, {"cut_label": True}, {"prune": 0, "neighbours": 0}])
def ranker(request):
    rng = np.random.default_rng(0)
    X = sp.random(60, 30, 0.2, random_state=1, format="csr")
    names = [[f"s{j}" for j in rng.choice(20, 3, replace=False)] for _ in range(60)]
    return ShortlistRanker(random_state=0, **request.param).fit(X, names), X


def test_a_loaded_model_is_the_same(ranker, tmp_path):
    model, X = ranker
    arcrank.save(model, tmp_path / "model.arcrank")
    loaded = arcrank.load(tmp_path / "model.arcrank")
    assert np.array_equal(loaded.score_labels(X), model.score_labels(X))
    assert loaded.predict(X) == model.predict(X)
    assert loaded.explain(X[[0]], "s1", "s2") == model.explain(X[[0]], "s1", "s2")
    assert loaded.history_ == model.history_
    more, model = (X[:5], [["s1", "s2", "new"]] * 5), copy.deepcopy(model)
    for one in (model, loaded):
        assert "new" in one.partial_fit(*more).labels_  # from the same state, to the same weights
    assert np.array_equal(loaded.score_labels(X), model.score_labels(X))


def _harmed(learnt, name, change):
    values = learnt[name].copy()
    change(values)
    return {**learnt, name: values}


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("weight_ptr", lambda v: v.__setitem__(1, 10**6), "weight_ptr"),
        ("weight_labels", lambda v: v.__setitem__(0, 21), "weight_labels has numbers"),
        ("weight_labels", lambda v: v.__setitem__(slice(0, 2), 3), "do not ascend"),
        ("weights", lambda v: v.__setitem__(0, np.nan), "weights"),
        ("list_documents", lambda v: v.__setitem__(0, 60), "list_documents has numbers"),
        ("list_ptr", lambda v: v.__setitem__(-1, 1), "list_ptr"),
        ("member_labels", lambda v: v.__setitem__(0, 21), "member_labels has numbers"),
        ("member_ptr", lambda v: v.__setitem__(1, -1), "member_ptr"),
    ],
)
def test_damaged_arrays_are_refused(name, change, message):
    X = sp.random(60, 30, 0.2, random_state=1, format="csr")
    Y = np.random.default_rng(0).random((60, 20)) < 0.2
    model = ShortlistRanker(random_state=0).fit(X, Y.astype(int))
    part = part_of(model)
    learnt = {**part.learnt(model), "kind": "indicator"}
    part.check(part.parameters(model), learnt)
    with pytest.raises(ValueError, match=message):
        part.check(part.parameters(model), _harmed(learnt, name, change))


def test_a_damaged_file_is_refused(ranker, tmp_path):
    path = tmp_path / "model.arcrank"
    arcrank.save(ranker[0], path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(ModelFileError):
        arcrank.load(path)

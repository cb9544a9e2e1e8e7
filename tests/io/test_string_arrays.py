"""Label names keep type and value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arcrank
from arcrank.io.string_arrays import StoredNames, name_arrays

STRANGE = ["🚢🛢️", "a\nb", "tab\there", "\"quoted'", "x" * 10_000, "\ud800", "\ud83d\ude00", "bell\a", " ", "\u202e"]


def again(ranker, folder):
    arcrank.save(ranker, folder / "model")
    return arcrank.load(folder / "model")


def assert_same_names(got, expected):
    assert [(type(name), repr(name)) for name in got] == [(type(name), repr(name)) for name in expected]


@pytest.mark.parametrize("learner", [arcrank.RocchioRanker, arcrank.MMPRanker, arcrank.LogLinearRanker])
def test_strange_text(learner, tmp_path):
    rows = np.eye(len(STRANGE))
    ranker = learner().fit(rows, [[name] for name in STRANGE])
    loaded = again(ranker, tmp_path)
    assert_same_names(loaded.labels_.tolist(), sorted(STRANGE))
    assert loaded.rank(rows).tolist() == ranker.rank(rows).tolist()
    assert loaded.predict(rows) == ranker.predict(rows)


@pytest.mark.parametrize(
    "names",
    [
        [3, 1, 2**40],
        [[0.1], [-0.0], [float("inf")]],
        [True, False],
        np.array([1, 2, 3], dtype=np.int8),
        np.array([1.0, 2.0], dtype=np.float32),
        np.array(["a", "bcd"]),
        np.array([2**63, 1], dtype=np.uint64),
    ],
)
@pytest.mark.parametrize("learner", [arcrank.RocchioRanker, arcrank.MMPRanker])
def test_other_types(names, learner, tmp_path):
    ranker = learner().fit(np.eye(len(names)), names)
    loaded = again(ranker, tmp_path)
    assert loaded.labels_.dtype == ranker.labels_.dtype
    assert loaded.labels_.tobytes() == ranker.labels_.tobytes()


def test_mixed_types(tmp_path):
    ranker = arcrank.RocchioRanker().fit(np.eye(4), ["a", "b", "c", "d"])
    ranker.labels_ = np.array(["1", 1, 1.0, True], dtype=object)
    assert_same_names(again(ranker, tmp_path).labels_.tolist(), ["1", 1, 1.0, True])


def test_other_names_are_refused(tmp_path):
    ranker = arcrank.RocchioRanker().fit(np.eye(2), ["a", "b"])
    ranker.labels_ = np.array(["a", None], dtype=object)
    with pytest.raises(arcrank.errors.ModelFileError, match="RocchioRanker cannot be saved: labels holds None"):
        arcrank.save(ranker, tmp_path / "model")
    assert not list(tmp_path.iterdir())


NAME = st.one_of(
    st.text(st.characters(codec=None)),
    st.integers(),
    st.floats(allow_nan=False),
    st.booleans(),
    st.text("\ud83d\ude00\ud800a", max_size=5),
)


@settings(deadline=None)
@given(st.lists(NAME))
def test_any_names(names):
    assert_same_names(StoredNames(name_arrays(names), "list").expand(), names)


def test_names_that_end_outside_their_bytes():
    arrays = name_arrays(["ab", "c"])
    for ends in ([1, 2], [2, 4], [3, 3, 2], [5, 3]):
        with pytest.raises(ValueError, match="outside"):
            StoredNames(arrays | {"ends": np.array(ends)}, "list")

"""TableFeatures: what each kind of column becomes, tables of all libraries, and errors that name the column."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone

import arcrank
from arcrank import LogLinearRanker, make_ranking_pipeline
from arcrank.errors import InputError, ParameterError
from arcrank.tables import TableFeatures

DAY = datetime.date(2024, 1, 31)


def features_of(**column):
    features = TableFeatures().fit(column)
    return dict(zip(features.get_feature_names_out(), features.transform(column).toarray().T.tolist(), strict=True))


def test_numbers_are_standardised_and_missing_ones_are_marked():
    found = features_of(age=[1.0, None, 3.0, 5.0])
    assert found["age is missing"] == [0, 1, 0, 0]
    np.testing.assert_allclose(np.std(found["age"]), 1)
    assert found["age"][1] == found["age"][2]  # the median
    assert features_of(age=[7, 7])["age"] == [0, 0]


def test_categories_have_a_feature_each_and_rare_ones_share_one():
    table = {"colour": ["red", "blue", "red", "blue", "mauve", "teal", None]}
    features = TableFeatures().fit(table)
    names = ["colour = blue", "colour = red", "colour is rare", "colour is missing"]
    assert features.get_feature_names_out().tolist() == names
    rows = features.transform({"colour": ["red", "teal", "unknown", None]}).toarray().tolist()
    assert rows == [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    few = TableFeatures(max_categories=1, min_frequency=0.1).fit(table).get_feature_names_out().tolist()
    assert few == ["colour = blue", "colour is rare", "colour is missing"]


def test_truth_values_and_dates():
    assert features_of(member=[True, False, None, True])["member"] == [1, 0, 1, 1]
    found = features_of(joined=[DAY, DAY + datetime.timedelta(days=1), None])
    assert found["joined month = 1"] == [1, 0, 0]
    assert found["joined weekday = Thursday"] == [0, 1, 0]
    assert found["joined is missing"] == [0, 0, 1]
    assert found["joined"][0] < found["joined"][1]


def test_texts_are_named_by_their_terms():
    found = features_of(notes=["crude oil prices rise", "wheat prices fall again", None])
    assert found["notes: price"][0] > 0
    assert found["notes is missing"] == [0, 0, 1]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2.5", "", "nan"], "number"),
        (["true", "FALSE"], "flag"),
        (["2024-01-31", "2024-02-01T10:00"], "date"),
        (["a b c d", "e f g h"], "text"),
        (["a b c d", "a b c d", "a b c d"], "category"),
        ([3, "x"], "category"),
        ([None, ""], "ignore"),
    ],
)
def test_kinds_are_guessed_from_values(values, kind):
    assert TableFeatures().fit({"x": values, "y": range(len(values))}).kinds_["x"] == kind


def table(n=60):
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": draw.normal(40, 10, n).round(),
            "colour": draw.choice(["red", "blue", "green"], n),
            "joined": pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 900, n), "D"),
            "member": draw.random(n) < 0.5,
        }
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[3, "colour"] = None
    frame.loc[5, "joined"] = pd.NaT
    return frame, np.where(frame.colour.eq("red"), "a", np.where(frame.age > 40, "b", "c"))


def test_a_model_of_a_table_learns_is_saved_and_explains(tmp_path):
    frame, y = table()
    model = make_ranking_pipeline(TableFeatures(), LogLinearRanker(C=10)).fit(frame, y)
    assert (model.predict(frame) == y).mean() > 0.9
    arcrank.save(model, tmp_path / "model")
    loaded = arcrank.load(tmp_path / "model")
    expected = model.score_labels(frame)
    np.testing.assert_array_equal(loaded.score_labels(frame), expected)
    why = loaded.explain(frame[frame.colour.eq("red")].iloc[:1], "a", "b")
    assert why.parts[0][0] == "colour = red"
    # The same table in other forms, with its columns in another order and one more
    np.testing.assert_array_equal(loaded.score_labels(pa.Table.from_pandas(frame)), expected)
    np.testing.assert_array_equal(loaded.score_labels(frame[frame.columns[::-1]].assign(more=1)), expected)
    np.testing.assert_array_equal(loaded.score_labels(frame.to_dict("records")), expected)
    strings = {name: ["" if pd.isna(value) else str(value) for value in frame[name]] for name in frame}
    np.testing.assert_array_equal(loaded.score_labels(strings), expected)


def test_errors_name_the_column():
    features = TableFeatures().fit({"age": [1, 2], "joined": [DAY, DAY], "colour": ["x", "y"]})
    with pytest.raises(InputError, match=r"no column 'age' \(numbers\).*it has 'colour'"):
        features.transform({"colour": ["x"]})
    with pytest.raises(InputError, match="column 'age' holds 'old' in row 1, where numbers"):
        features.transform({"age": [1, "old"], "joined": [DAY, DAY], "colour": ["x", "y"]})
    with pytest.raises(InputError, match="column 'joined' holds 3 in row 0, where dates"):
        features.transform({"age": [1], "joined": [3], "colour": ["x"]})
    with pytest.raises(InputError, match="column 'colour' holds"):
        features.transform({"age": [1], "joined": [DAY], "colour": [["x"]]})
    with pytest.raises(InputError, match="'age' has 1 rows and 'colour' has 2"):
        TableFeatures().fit({"age": [1], "colour": ["x", "y"]})
    with pytest.raises(InputError, match="A table is needed"):
        TableFeatures().fit([[1, 2]])
    with pytest.raises(InputError, match="nothing to learn from"):
        TableFeatures().fit({"age": []})


def test_kinds_may_be_given():
    given = TableFeatures(kinds={"code": "category", "id": "ignore"}).fit({"code": [1, 1, 2, 2], "id": [1, 2, 3, 4]})
    assert clone(given).fit({"code": [1, 1], "id": [1, 2]}).get_feature_names_out().tolist() == ["code = 1"]
    with pytest.raises(ParameterError, match="'id' has 'key'"):
        TableFeatures(kinds={"id": "key"}).fit({"id": [1]})
    with pytest.raises(ParameterError, match="'code', which is not in the table"):
        TableFeatures(kinds={"code": "number"}).fit({"id": [1]})
    for bad in ({"min_frequency": 0}, {"min_frequency": 1.5}, {"max_categories": 0}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            TableFeatures(**bad).check_parameters()

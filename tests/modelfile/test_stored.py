"""Every format ever written stays readable, and scores as it did."""

from __future__ import annotations

import json

import numpy as np
import pytest

import arcrank
from arcrank.modelfile import read_card
from arcrank.modelfile.container import FORMAT
from tests.modelfile.models import input_of, scores_of
from tests.modelfile.store import FOLDER

STORED = {
    file: facts for path in sorted(FOLDER.glob("*.json")) for file, facts in json.loads(path.read_text("utf-8")).items()
}


@pytest.mark.parametrize("file", STORED)
def test_scores_as_it_did(file):
    model = arcrank.load(FOLDER / file)
    got, expected = scores_of(model, input_of(STORED[file]["model"])), np.array(STORED[file]["scores"])
    if "candidates" in file:  # recorded as a matrix with -inf beyond an instance's candidates
        expected = expected[np.isfinite(expected)]
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-13)  # other processors sum in another order
    assert model.model_card_ == {"hierarchy": {"oil": None, "ship 🚢": "oil"}, "measures": {"ap": 0.5}}
    assert read_card(FOLDER / file)["card"] == model.model_card_


@pytest.mark.parametrize("name", ["log-linear", "machine", "machine-rbf"])
def test_files_from_before_intercepts_were_scaled(name):
    model = arcrank.load(FOLDER / f"format2-{name}.arcrank")
    assert model.intercept == "regularised"
    assert isinstance(model.C, float | int)


def test_there_are_files_of_every_format():
    assert {read_card(FOLDER / file)["format"] for file in STORED} == set(range(1, FORMAT + 1))
    assert {path.name for path in FOLDER.glob("*.arcrank")} == set(STORED)

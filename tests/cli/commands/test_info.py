"""`arcrank info`: the card, without loading the model."""

from __future__ import annotations

import arcrank
from tests.cli.commands.test_rank import loaded_by
from tests.cli.conftest import call, failed, run
from tests.cli.json_schema import check_output


def test_from_a_shell(model, tmp_path):
    result = run("info", model, "--json")
    assert result.code == 0, result.err
    check_output(result.json, "info")
    assert (result.json["learner"], result.json["labels"]) == ("log-linear", 3)
    assert result.json["card"]["documents"] == 60
    failed(run("info", tmp_path / "none"), "no such model file")


def test_the_arrays_are_checked_where_that_is_asked_for(model, tmp_path):
    assert "the manifest only" in call("info", model).out
    assert "every byte" in call("info", model, "--check").out
    assert call("info", model, "--check", "--json").json["checked"] is True
    flipped = bytearray(model.read_bytes())
    flipped[-1] ^= 1
    (tmp_path / "flipped").write_bytes(flipped)
    assert call("info", tmp_path / "flipped", "--json").json["checked"] is False
    failed(call("info", tmp_path / "flipped", "--check"), "damaged", "the checksum of")


def test_nothing_heavy_is_imported(model):
    assert not loaded_by("info", model) & {"numpy", "scipy", "sklearn", "numba"}


def test_for_people(train_once, data, tmp_path):
    call("train", data, "--model", tmp_path / "m", "--set", "C=3")
    shown = call("info", tmp_path / "m").out
    for word in ("learner", "C=3", "average precision", "cross-validat", "duality gap", "news.jsonl", "chosen"):
        assert word in shown
    online = call("info", train_once("--learner", "mmp", "--set", "n_features=4096")).out
    assert "each measured before it was learnt" in online


def test_a_model_that_was_saved_in_python(tmp_path):
    ranker = arcrank.RocchioRanker().fit([[1, 0], [0, 1]], ["tea", "milk"])
    arcrank.save(ranker, tmp_path / "m", card={"cups": 2, "hierarchy": {"tea": None, "milk": None}})
    shown = call("info", tmp_path / "m").out
    assert "rocchio" in shown
    assert "cups" in shown
    assert "2 labels" in shown


def test_what_is_no_model(data, model, tmp_path):
    failed(call("info", data), "not an arcrank model file")
    failed(call("info", tmp_path), "is a folder")
    cut = tmp_path / "cut"
    cut.write_bytes(model.read_bytes()[:500])
    failed(call("info", cut), str(cut))

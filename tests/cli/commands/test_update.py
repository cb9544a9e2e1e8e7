"""`arcrank update`: online models go on learning, new labels included."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import arcrank
from arcrank.modelfile import read_card
from tests.cli.conftest import call, failed, run, text_rows, write_rows
from tests.cli.json_schema import check_output


def test_from_a_shell(online_model, tmp_path):
    model = shutil.copy(online_model, tmp_path / "m.arcrank")
    rows = [{"text": "gold and silver ounce", "labels": ["gold 🥇"]}] * 3
    result = run("update", model, write_rows(tmp_path / "new.jsonl", rows), "--json")
    assert result.code == 0, result.err
    check_output(result.json, "update")
    assert (result.json["documents"], result.json["new_labels"]) == (3, ["gold 🥇"])
    assert call("rank", model, stdin="silver").json["ranking"][0] == "gold 🥇"
    card = read_card(model)["card"]
    assert (card["documents"], card["updates"][0]["documents"], card["labels"]) == (63, 3, 4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.arcrank", "new.jsonl"]


def test_a_model_of_very_many_labels(tmp_path):
    old = text_rows(60, seed=0)
    model, data = tmp_path / "m.arcrank", write_rows(tmp_path / "old.jsonl", old)
    assert call("train", data, "--model", model, "--learner", "shortlist").code == 0
    loaded = arcrank.load(model)
    features = loaded[0].transform([row["text"] for row in old])
    loaded[-1].calibrate(features, [{*row["labels"]} for row in old])
    arcrank.save(loaded, model, card=read_card(model)["card"])
    rows = [{"text": "gold and silver ounce of oil", "labels": ["gold"]}] * 3
    result = call("update", model, write_rows(tmp_path / "new.jsonl", rows), "--json")
    check_output(result.json, "update")
    assert (result.json["new_labels"], result.json["validation"]) == (["gold"], None)
    assert "are lost by the update" in result.err
    assert "gold" in call("rank", model, stdin="oil").json["ranking"]
    assert not hasattr(arcrank.load(model)[-1], "calibration_")


def test_it_is_as_if_it_had_never_stopped(tmp_path):
    halves = [write_rows(tmp_path / f"{part}.jsonl", text_rows(30, seed=part)) for part in (0, 1)]
    both = tmp_path / "both.jsonl"
    both.write_text("".join(path.read_text() for path in halves))
    arguments = ("--learner", "mmp", "--set", "n_features=256", "--set", "average=true", "--set", "shuffle=false")
    call("train", both, "--model", tmp_path / "at-once", *arguments)
    call("train", halves[0], "--model", tmp_path / "later", *arguments)
    first, all_of_them = (read_card(tmp_path / name)["card"]["validation"] for name in ("later", "at-once"))
    result = call("update", tmp_path / "later", halves[1])
    assert "learnt 30 documents" in result.out
    new = read_card(tmp_path / "later")["card"]["validation"]
    assert [told["documents"] for told in (first, new, all_of_them)] == [30, 30, 60]
    for name, mean in all_of_them["measures"].items():
        assert (first["measures"][name] + new["measures"][name]) / 2 == pytest.approx(mean)
    one = write_rows(tmp_path / "one.jsonl", text_rows(1))
    call("train", halves[0], "--model", tmp_path / "other", *arguments)
    assert "learnt 1 document in" in call("update", tmp_path / "other", one).out
    one, two = (arcrank.load(tmp_path / name)[-1] for name in ("at-once", "later"))
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_documents_in_runs_of_one_label_are_told(online_model, tmp_path):
    model = shutil.copy(online_model, tmp_path / "m.arcrank")
    rows = [{"text": f"{word} {i}", "labels": [word]} for word in ("crude", "grain", "ship") for i in range(30)]
    result = call("update", model, write_rows(tmp_path / "new.jsonl", rows))
    assert "on 90 documents in file order" in result.out
    assert "sorted or grouped by label" in result.err
    assert "Shuffle the file first." in result.err
    mixed = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]
    assert call("update", model, write_rows(tmp_path / "new.jsonl", mixed)).err == ""


def test_documents_that_prefer_nothing_are_not_judged(online_model, tmp_path):
    model = shutil.copy(online_model, tmp_path / "m.arcrank")
    path = write_rows(tmp_path / "new.jsonl", [{"text": "oil", "labels": []}])
    result = call("update", model, path, "--json")
    assert (result.json["validation"]["documents"], result.json["validation"]["measures"]["size_loss"]) == (0, None)


def test_features_keep_their_columns(tmp_path):
    first, second = tmp_path / "1.svm", tmp_path / "2.svm"
    first.write_text("a 1:1\nb 2:1\n")
    second.write_text("c 300000:1\n")
    call("train", first, "--model", tmp_path / "m", "--learner", "perceptron")
    assert call("update", tmp_path / "m", second, "--json").json["new_labels"] == ["c"]
    assert call("rank", tmp_path / "m", stdin="300000:2\n").json["ranking"][0] == "c"


def test_texts_are_not_mixed_with_features(online_model, data, tmp_path):
    rows, before = tmp_path / "rows.svm", online_model.read_bytes()
    rows.write_text("a 1:1\nb 2:1\n")
    failed(call("update", online_model, rows), "rows.svm", "takes texts", "was not changed")
    assert online_model.read_bytes() == before
    call("train", rows, "--model", tmp_path / "m", "--learner", "mmp")
    failed(call("update", tmp_path / "m", data), "takes features")


def test_wrong_use(model, online_model, data, tmp_path):
    failed(call("update", data, online_model), "MODEL comes first: arcrank update MODEL DATA")
    failed(call("update", model, data), "LogLinearRanker", "--learner mmp")
    failed(call("update", online_model, tmp_path / "none.jsonl"), "no such file")
    failed(call("update", tmp_path / "none", data), "no such model file")
    before = online_model.read_bytes()
    bad = tmp_path / "bad.jsonl"
    bad.write_text(data.read_text() + "no JSON\n")
    failed(call("update", online_model, bad), f"{bad}:61: ", "--on-error skip")
    assert online_model.read_bytes() == before
    ranker = arcrank.MMPRanker().fit([[1.0, 0.0], [0.0, 1.0]], [["a"], ["b"]])
    arcrank.save(ranker, tmp_path / "by-hand")
    failed(call("update", tmp_path / "by-hand", data), "partial_fit")

"""`arcrank explain`: parts that sum to the margin, and labels by name."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pytest

import arcrank
from tests.cli.conftest import call, failed, run
from tests.cli.json_schema import check_output


def test_from_a_shell(model):
    text = "oil from a tanker in port, wheat"
    result = run("explain", model, "--text", text, "--above", "crude", "--below", "ship", "--json")
    assert result.code == 0, result.err
    check_output(result.json, "explain")
    pipeline = arcrank.load(model)
    why = pipeline[-1].explain(pipeline[0].transform([text]), "crude", "ship")
    assert result.json["margin"] == pytest.approx(why.margin, rel=1e-12)
    names = pipeline[0].get_feature_names_out()
    assert [part["feature"] for part in result.json["parts"]] == [names[column] for column, _ in why.parts]
    failed(run("explain", model, "--text", text, "--above", "crud"), '"crud"', '"crude"')


@pytest.mark.parametrize("top", [0, 1, 3, 20])
def test_parts_sum_to_the_margin_exactly(model, online_model, top):
    for path in (model, online_model):
        text = "oil barrel opec wheat tanker port cargo corn"
        found = call(
            "explain", path, "--text", text, "--above", "crude", "--below", "grain", "--top", top, "--json"
        ).json
        total = found["intercept"]
        for part in found["parts"]:
            total += part["weight"]
        assert total + found["rest"] == found["margin"]
        weights = [abs(part["weight"]) for part in found["parts"]]
        assert weights == sorted(weights, reverse=True)
        assert found["rest_count"] == 0 or len(found["parts"]) == top


def test_the_table_sums_as_it_stands(model):
    shown = call("explain", model, "--text", "oil barrel wheat tanker cargo corn", "--top", "3").out
    margin = Decimal(re.search(r"margin ([+-][\d.]+)", shown)[1])
    parts = [Decimal(value) for value in re.findall(r"│ +([+-][\d.]+) │", shown)]
    assert len(parts) == 5
    assert sum(parts) == margin


def test_words_are_shown_as_they_are_written(model, online_model):
    text = "Two Tankers, a tanker and TANKERS in ports; oil in 1987"
    shown = run("explain", model, "--text", text).out
    assert "word (its stem in the model)" in shown
    assert re.search(r"│ Tankers, tanker \(tanker\) +│", shown)
    assert re.search(r"│ ports \(port\) +│", shown)
    assert re.search(r"│ oil +│", shown)
    found = run("explain", online_model, "--text", "oil and refineries", "--json").json
    check_output(found, "explain")
    words = {part["feature"]: part["words"] for part in found["parts"]}
    assert words["refineri"] == ["refineries"]
    assert words.get("oil refineri", ["oil refineries"]) == ["oil refineries"]


def test_a_text_without_any_known_word(model, online_model):
    result = run("explain", model, "--text", "xylophone zebra")
    assert result.code == 0, result.err
    assert "knows no word of this document" in result.out
    assert "│" not in result.out
    result = run("explain", model, "--text", "xylophone zebra", "--json")
    assert result.json["parts"] == []
    assert "knows no word" in result.err
    assert "distinguishes these two labels" in run("explain", online_model, "--text", "xylophone zebra").out


def test_the_pair_is_the_best_one_unless_it_is_given(model):
    def pair(*arguments):
        found = call("explain", model, "--text", "oil oil barrel tanker", "--json", *arguments).json
        return found["above"], found["below"]

    assert pair() == ("crude", "ship")
    assert pair("--above", "grain") == ("grain", "crude")
    assert pair("--below", "crude") == ("ship", "crude")


def test_a_file(model, data, tmp_path):
    result = call("explain", model, "--file", data, "--json")
    assert result.code == 0
    assert "the first document" in result.err
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"features": {"x": 1, "y": 3}, "labels": ["a"]}\n{"features": {"y": 2}, "labels": ["b"]}\n')
    call("train", rows, "--model", tmp_path / "m", "--learner", "log-linear", "--validate", "0")
    found = call("explain", tmp_path / "m", "--file", rows, "--json").json
    assert {part["feature"] for part in found["parts"]} == {"x", "y"}


def test_wrong_use(model, train_once, tmp_path):
    failed(call("explain", model), "--text", "--file")
    failed(call("explain", model, "--text", "a", "--file", "b"), "Both --text and --file")
    failed(call("explain", model, "some text"), '(some text). Give the document as --text "..."')
    failed(
        call("explain", model, "--text", "a", "--above", "natural", "gas"),
        "(gas). A value of several words needs quotes",
    )
    failed(call("explain", model, "--file", tmp_path / "none"), "no such file")
    failed(call("explain", model, "--text", "oil", "--above", "crude", "--below", "crude"), "two different")
    (tmp_path / "empty").write_text("\n")
    failed(call("explain", model, "--file", tmp_path / "empty"), "no document")
    kernel = train_once("--learner", "preference-machine", "--set", "kernel=rbf")
    assert "margin" in call("explain", kernel, "--text", "oil").out  # sampled Shapley values
    assert call("rank", kernel, stdin="oil barrel").json["ranking"][0] == "crude"


def test_labels_that_are_probably_meant(tmp_path):
    ranker = arcrank.LogLinearRanker().fit(np.eye(3), [["Öl"], ["Gas"], ["ship\ud800"]])
    arcrank.save(ranker, tmp_path / "m")
    (tmp_path / "d").write_text("0:1\n")
    for given, told in (
        ("öl", 'Did you mean "Öl"?'),
        ("GAS ", 'Did you mean "Gas"?'),
        ("Gaz", 'Did you mean "Gas"?'),
        ("wxyz", 'Its labels include "Gas", '),
    ):
        failed(
            call("explain", tmp_path / "m", "--file", tmp_path / "d", "--above", given), f'"{given}" is not one', told
        )


def test_rounding_has_no_row(model):
    for text in ("oil barrel wheat tanker cargo corn", "oil opec port", "wheat vessel refinery"):
        shown = call("explain", model, "--text", text).out
        assert "(rounding)" not in shown
        assert " more)" not in shown

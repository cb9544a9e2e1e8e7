"""`arcrank tune`: a sorted table of candidates, and the winner kept."""

from __future__ import annotations

import arcrank
from arcrank.modelfile import read_card
from tests.cli.conftest import call, failed, run, text_rows, write_rows
from tests.cli.json_schema import check_output

ARGUMENTS = ("--learner", "log-linear", "-C", "0.001", "-C", "10")


def test_from_a_shell(data, tmp_path):
    model = tmp_path / "m.arcrank"
    cuts = ("--decomposition", "domination", "--decomposition", "zero-one")
    result = run("tune", data, *ARGUMENTS, *cuts, "--model", model, "--json")
    assert result.code == 0, result.err
    check_output(result.json, "tune")
    assert (result.json["measure"], len(result.json["candidates"])) == ("balanced", 4)
    values = [candidate["value"] for candidate in result.json["candidates"]]
    assert values == sorted(values, reverse=True)
    best = result.json["candidates"][0]["parameters"]
    assert best["C"] == 10
    kept = arcrank.load(model)
    assert (kept[-1].C, kept[-1].decomposition) == (10, best["decomposition"])
    assert read_card(model)["card"]["validation"]["how"] == "cross-validation"
    assert "by cross-validation" in call("info", model).out


def test_sorted_by_the_measure_that_is_named(data):
    result = call("tune", data, *ARGUMENTS, "--measure", "average_precision", "--json").json
    values = [candidate["value"] for candidate in result["candidates"]]
    assert result["measure"] == "average_precision"
    assert values == sorted(values, reverse=True)


def test_the_best_cost_at_the_end_of_the_grid(tmp_path):
    rows = [*text_rows(57), *({"text": "oil wheat", "labels": [name]} for name in ("ship", "grain", "crude"))]
    path = write_rows(tmp_path / "noisy.jsonl", rows)
    result = call("tune", path, "--learner", "log-linear", "-C", "0.03", "-C", "0.3", "--json")
    assert result.json["candidates"][0]["parameters"]["C"] == 0.3
    assert (
        "Note: C=0.3 is the largest value tried; a larger one may be better (compare with arcrank tune -C 0.3 -C 1"
        in (result.err)
    )
    assert "value tried" not in call("tune", path, "--learner", "log-linear", "-C", "0.3").err


def test_measures_that_do_not_suit_the_data(tmp_path):
    path = write_rows(tmp_path / "l.jsonl", [{"text": "oil", "layers": [["a"], ["b"], ["c"]]}] * 30)
    failed(call("tune", path, "--measure", "coverage"), "The measure coverage is for label sets", "disagreement_error")


def test_the_table(data):
    result = call("tune", data, *ARGUMENTS, "--learner", "rocchio", "--folds", "2")
    assert "2-fold cross-validation of 60 documents" in result.out
    assert "rocchio" in result.out
    assert "balanced" in result.out
    assert " 10 " in result.out
    assert "10.0" not in result.out


def test_a_hierarchy(data, tmp_path):
    tree = tmp_path / "tree.json"
    tree.write_text('{"goods": null, "crude": "goods", "grain": "goods", "ship": null}')
    result = call("tune", data, *ARGUMENTS, "--hierarchy", tree, "--model", tmp_path / "m", "--json")
    assert result.json["measure"] == "disagreement_error", result.err
    assert read_card(tmp_path / "m")["card"]["hierarchy"]["crude"] == "goods"
    assert "goods (other)" in arcrank.load(tmp_path / "m")[-1].labels_
    failed(call("tune", data, "--learner", "mmp", "--learner", "perceptron", "--hierarchy", tree), "perceptron takes")
    tree.write_text('{"crude": null}')
    failed(call("tune", data, "--hierarchy", tree), "2 labels are not in")


def test_options_that_no_candidate_would_see(data):
    failed(
        call("tune", data, "--learner", "mmp", "-C", "1", "-C", "10"),
        "-C has no meaning for mmp",
        "--learner log-linear",
    )
    failed(
        call("tune", data, "--learner", "mmp", "--decomposition", "identity"), "--decomposition has no meaning for mmp"
    )
    failed(call("tune", data, "-C", "1", "--set", "C=3"), "-C and --set C=3")


def test_one_bar(data):
    result = call("tune", data, *ARGUMENTS, terminal=True)
    assert "2/2" in result.err


def test_online_learners(data, tmp_path):
    result = call("tune", data, "--learner", "mmp", "--learner", "perceptron", "--model", tmp_path / "m", "--json")
    assert result.code == 0, result.err
    assert {candidate["learner"] for candidate in result.json["candidates"]} == {"mmp", "perceptron"}
    assert call("update", tmp_path / "m", data).code == 0


def test_wrong_use(data, tmp_path):
    failed(call("tune", tmp_path / "none.jsonl"), "no such file")
    failed(call("tune", data, "--model", tmp_path), "is a folder")
    failed(call("tune", data, "--learner", "mmp", "--learner", "log-linear"), "Tune them separately")
    failed(call("tune", data, "--measure", "beauty"), "'beauty'")
    for wrong in (("--set", "C=-1"), ("-C", "-1"), ("--set", "tol=x")):
        result = call("tune", data, *wrong)
        failed(result, "must be a number greater than 0")
        assert "read 60" not in result.err
    failed(call("tune", write_rows(tmp_path / "few.jsonl", text_rows(4))), "too few", "--folds")

"""`arcrank train`: every kind of input and supervision, what it tells, and how it fails."""

from __future__ import annotations

import doctest
import gzip
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arcrank
from arcrank.modelfile import read_card
from arcrank.training.plan import parse_settings
from tests.cli.conftest import call, command, failed, run, text_rows, write_rows
from tests.cli.json_schema import check_output

STRANGE = ["🦊 fox", "new\nline", "tab\tbed", 'quote"s', "x" * 10_000, "[bold]red[/bold]", "back\\slash", "{}"]
BOTH = ("log-linear", "preference-machine")
QUICK = ("--learner", "log-linear", "--validate", "0")


def test_from_a_shell(tmp_path, data):
    model = tmp_path / "m.arcrank"
    result = run("train", data, "--model", model, "--json")
    assert result.code == 0, result.err
    check_output(result.json, "train")
    assert (result.json["documents"], result.json["labels"], result.json["skipped"]) == (60, 3, {})
    assert result.json["validation"]["documents"] == 60
    assert result.json["validation"]["how"] == "cross-validation"
    assert len(result.json["chosen"]["tried"]) >= 8
    assert result.json["chosen"]["why"] in result.err
    assert result.json["bytes"] == model.stat().st_size
    assert arcrank.load(model)[-1].labels_.tolist() == ["crude", "grain", "ship"]
    assert [path.name for path in tmp_path.iterdir()] == ["m.arcrank"]


def test_the_report_for_people(tmp_path, data):
    result = call("train", data, "--model", tmp_path / "m", "--learner", "log-linear")
    assert "log-linear: 60 documents, 3 labels" in result.out
    assert "on 6 documents held out: average precision" in result.out
    assert "duality gap" in result.out
    assert f"saved to {tmp_path / 'm'} ({(tmp_path / 'm').stat().st_size / 1e3:.1f} kB)" in result.out
    assert "one-error" in result.out
    assert "Measured on only 6 documents" in result.err


def test_auto_shows_what_it_tried(tmp_path, data):
    result = call("train", data, "--model", tmp_path / "m", "--json")
    lines = result.err.splitlines()
    tried = [line for line in lines if line.startswith("│") and any(name in line for name in BOTH)]
    assert "Compared in 3 folds" in result.err
    marked = [line for line in tried if line.startswith("│ *")]
    chosen = result.json["chosen"]
    assert len(tried) == len(chosen["tried"])
    assert len(marked) == len(chosen["members"]) == sum(one["selected"] for one in chosen["tried"])
    for line, member in zip(marked, chosen["members"], strict=True):
        assert member["learner"] in line
        assert f" {member['parameters']['C']:g} " in line


def test_auto_measures_on_held_out_documents_if_asked(tmp_path, data):
    result = call("train", data, "--model", tmp_path / "m", "--validate", "0.2", "--json").json
    assert (result["validation"]["how"], result["validation"]["documents"]) == ("held-out", 12)
    assert {one["documents"] for one in result["chosen"]["tried"]} == {48}
    assert call("train", data, "--model", tmp_path / "m", "--validate", "0", "--json").json["validation"] is None


def test_the_measure_that_auto_chooses_by(tmp_path, data):
    arguments = ("train", data, "--model", tmp_path / "m", "--validate", "0")
    chosen = call(*arguments, "--measure", "average_precision", "--json").json["chosen"]
    assert chosen["measure"] == "average_precision"
    assert "average precision" in chosen["why"]
    nothing = call(*arguments, "--measure", "one_error", "--learner", "mmp")
    failed(nothing, "--learner mmp leaves nothing to select", "arcrank tune --learner mmp --measure one_error")
    failed(call(*arguments, "--measure", "beauty"), "'beauty'")
    path = write_rows(tmp_path / "l.jsonl", [{"text": "oil", "layers": [["a"], ["b"], ["c"]]}] * 30)
    layers = call("train", path, "--model", tmp_path / "m", "--measure", "coverage")
    failed(layers, "The measure coverage is for label sets", "disagreement_error")


def test_one_document_is_one(tmp_path):
    path = write_rows(tmp_path / "two.jsonl", text_rows(5))
    result = call("train", path, "--model", tmp_path / "m", "--learner", "log-linear", "--validate", "0.2")
    assert "on 1 document held out: " in result.out
    assert "Measured on only 1 document" in result.err


def test_a_big_model_of_hashed_features_tells_how_to_make_it_smaller(tmp_path, data, monkeypatch):
    arguments = ("train", data, "--model", tmp_path / "m", "--learner", "mmp", "--set", "n_features=4096")
    assert "n_features" not in call(*arguments).err
    monkeypatch.setattr("arcrank.cli.commands.train._BIG", 1000)
    assert "--set n_features=1024" in call(*arguments).err


def test_models_of_hashed_features_hold_what_was_met(tmp_path, data):
    result = call("train", data, "--model", tmp_path / "m", "--learner", "perceptron", "--json").json
    assert result["features"] == 2**18
    assert result["bytes"] < 50_000


def test_progress_on_a_terminal(tmp_path, data):
    result = call("train", data, "--model", tmp_path / "m", *QUICK, terminal=True)
    assert result.code == 0
    assert "reading" in result.err
    assert "training" in result.err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "text,labels\noil barrel,crude\nwheat corn,grain;food\n"),
        ("a.tsv", "oil barrel\tcrude\nwheat corn\tgrain;food\n"),
        ("a.svm", "crude 1:1 3:0.5\ngrain,food 2:1\n"),
        ("two.csv", "text,labels\noil barrel,crude;energy\nwheat corn,grain;food\n"),
        ("a.jsonl", '{"features": {"x": 1.5}, "labels": ["crude"]}\n{"features": {"y": 2}, "labels": ["grain"]}\n'),
        ("b.jsonl", '{"text": "oil", "arcs": [["crude", "grain"]]}\n{"text": "corn", "ranking": ["grain", "crude"]}\n'),
        ("c.jsonl", '{"text": "oil", "layers": [["crude"], ["gas"], ["grain"]]}\n'),
    ],
)
@pytest.mark.parametrize("learner", ["auto", "preference-machine", "mmp"])
def test_every_kind_of_file(tmp_path, name, text, learner):
    path = tmp_path / name
    path.write_text(text)
    result = call("train", path, "--model", tmp_path / "m", "--learner", learner, "--json", "--set", "random_state=3")
    assert result.code == 0, result.err
    check_output(result.json, "train")
    # what was learnt can be asked for again, without its labels
    asked = call("rank", tmp_path / "m", path)
    assert asked.code == 0, asked.err
    assert len(asked.rows) == result.json["documents"]


@pytest.mark.parametrize("learner", ["rocchio", "perceptron"])
def test_the_other_learners(tmp_path, data, learner):
    result = call("train", data, "--model", tmp_path / "m", "--learner", learner, "--json")
    assert result.code == 0, result.err
    assert read_card(tmp_path / "m")["learner"] == learner
    assert result.json["validation"]["measures"]["ranking_loss"] < 0.5


@pytest.mark.parametrize("learner", ["auto", "log-linear", "preference-machine", "mmp"])
def test_documents_with_one_label_each_get_one_label(tmp_path, learner):
    random = np.random.default_rng(0)
    words = {"tea": "cup leaf green", "milk": "cow white cream", "coffee": "bean roast black"}
    rows = [
        {"text": " ".join(random.choice([*words[name].split(), "warm", "drink"], 4)), "label": name}
        for name in random.permutation([*words] * 30).tolist()
    ]
    file = write_rows(tmp_path / "drinks.jsonl", rows)
    result = call("train", file, "--model", tmp_path / "m", "--learner", learner, "--validate", "0")
    assert result.code == 0, result.err
    ranked = call("rank", tmp_path / "m", file, "--top", "0").rows
    online = learner == "mmp"  # it may see documents with several labels later
    assert arcrank.load(tmp_path / "m")[-1]._kind == ("sets" if online else "single")
    if not online:
        assert [row["predicted"] for row in ranked] == [row["ranking"][:1] for row in ranked]
        np.testing.assert_allclose([sum(row["probability"]) for row in ranked], 1)
        measures = call("evaluate", tmp_path / "m", file, "--json").json["measures"]
        assert measures["subset accuracy"] == pytest.approx(1 - measures["one-error"])
        assert "best label by accuracy" in call("info", tmp_path / "m").out


def test_names_survive_byte_for_byte(tmp_path):
    rows = [{"text": f"word{j} oil", "labels": [name]} for j, name in enumerate(STRANGE)] * 2
    for arguments in (QUICK, ("--learner", "mmp", "--set", "n_features=64")):
        model = tmp_path / "strange.arcrank"
        result = call("train", write_rows(tmp_path / "strange.jsonl", rows), "--model", model, *arguments)
        assert result.code == 0, result.err
        ranked = call("rank", model, tmp_path / "strange.jsonl", "--top", "0").rows
        assert all(sorted(row["ranking"]) == sorted(STRANGE) for row in ranked)
        assert sorted(arcrank.load(model)[-1].labels_.tolist()) == sorted(STRANGE)
        assert call("info", model).code == call("rank", model, terminal=True, stdin="oil").code == 0


def test_standard_input(tmp_path):
    rows = "".join(json.dumps(row) + "\n" for row in text_rows(20))
    result = call("train", "-", "--model", tmp_path / "m", *QUICK, "--json", stdin=rows)
    assert result.json["documents"] == 20
    table = "text,labels\noil,crude\ncorn,grain\n"
    result = call("train", "-", "--format", "csv", "--model", tmp_path / "m", *QUICK, "--json", stdin=table)
    assert result.json["documents"] == 2


def test_a_hierarchy_ranks_leaves(tmp_path, data):
    tree = tmp_path / "tree.json"
    tree.write_text('{"goods": null, "crude": "goods", "grain": "goods", "ship": null}')
    lines = tmp_path / "tree.tsv"
    lines.write_text("crude\tgoods\ngrain\tgoods\nship\t\n")
    for path in (tree, lines):
        for learner in ("log-linear", "mmp"):
            result = call("train", data, "-m", tmp_path / "m", "--learner", learner, "--hierarchy", path, "--json")
            assert result.code == 0, result.err
            assert result.json["labels"] == 4
            assert "domination_error" in result.json["validation"]["measures"]
            card = read_card(tmp_path / "m")["card"]
            assert card["hierarchy"]["crude"] == "goods"
    assert "goods (other)" in call("rank", tmp_path / "m", data).rows[0]["ranking"]


def test_hierarchies_that_are_none(tmp_path, data):
    tree = tmp_path / "tree"
    arguments = ("train", data, "--model", tmp_path / "m", *QUICK, "--hierarchy", tree)
    failed(call(*arguments), str(tree), "No such file")
    assert "standard input" not in call(*arguments).err
    tree.write_text('{"crude": null, "grain": null}')
    row = next(row for row in text_rows() if "ship" in row["labels"])
    told = f"news.jsonl: 1 label is not in {tree}: ship; the first is in document '{row['id']}'."
    failed(call(*arguments), told, f"arcrank check {data} --hierarchy {tree}")
    plain = write_rows(tmp_path / "plain.jsonl", [{"text": "oil", "labels": [name]} for name in ("crude", "ship")])
    failed(call("train", plain, *arguments[2:]), "ship; the first is in document 2.")
    names = [f"{place} port" for place in range(5)]
    many = write_rows(tmp_path / "many.jsonl", [{"text": "oil", "labels": names[::-1]}])
    failed(call("train", many, *arguments[2:]), "5 labels are not in", "4 port, 3 port, 2 port and 2 more;")
    tree.write_text('{"crude": "grain", "grain": "crude", "ship": null}')
    failed(call(*arguments), f"{tree}: ", "crude -> grain -> crude", "another parent")
    assert "news.jsonl" not in call(*arguments).err
    tree.write_text('{"crude": null, "grain": null, "ship": null}')
    layers = write_rows(tmp_path / "layers.jsonl", [{"text": "oil", "layers": [["crude"], ["grain"]]}])
    failed(call("train", layers, *arguments[2:]), "needs label sets")
    for text in ("{", "crude", '{"crude": 3}'):
        tree.write_text(text)
        failed(call(*arguments), str(tree), "child<TAB>parent")


@pytest.mark.parametrize("learner", ["rocchio", "perceptron"])
def test_learners_of_label_sets_name_those_that_can_do_more(tmp_path, data, learner):
    tree = tmp_path / "tree.json"
    tree.write_text('{"goods": null, "crude": "goods", "grain": "goods", "ship": null}')
    arguments = ("--model", tmp_path / "m", "--learner", learner)
    told = (
        f"--learner {learner} takes label sets only",
        "Use --learner auto, log-linear, preference-machine, mmp, online-preference-machine, trees or shortlist.",
    )
    failed(call("train", data, *arguments, "--hierarchy", tree), *told, "--hierarchy turns them into layers")
    tree.write_text('{"crude": null, "grain": null, "ship": null}')
    assert call("train", data, *arguments, "--hierarchy", tree).code == 0


def test_layers_for_a_learner_of_label_sets(tmp_path):
    rows = [{"text": "oil", "layers": [["crude"], ["gas"], ["grain"]]}] * 2
    path = write_rows(tmp_path / "layers.jsonl", rows)
    failed(call("train", path, "-m", tmp_path / "m", "--learner", "rocchio"), "layers.jsonl holds layers")


@pytest.mark.slow
def test_compilation_is_announced_once(tmp_path, data):
    """In a process of its own, with an empty cache: the kernels of this one are compiled."""
    told = "Compiling for this machine, once (some seconds) ..."
    command = [sys.executable, "-m", "arcrank", "train", data, "-m", tmp_path / "m", "--learner", "mmp"]
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    runs = [subprocess.run(command, capture_output=True, text=True, env=env, check=True).stderr for _ in range(2)]
    assert [run.count(told) for run in runs] == [1, 0]


def test_online_learners_stream(tmp_path, data):
    arguments = ("train", data, "--model", tmp_path / "m", "--learner", "mmp", "--set", "n_features=512", "--json")
    once = call(*arguments).json
    check_output(once, "train")
    assert once["validation"]["how"] == "progressive"
    assert once["features"] == 512
    twice = call(*arguments, "--set", "epochs=2").json
    assert twice["validation"] == once["validation"]  # the second pass judges what has been learnt
    told = call(*arguments[:-1]).out
    assert "each measured before it was learnt" in told
    assert "(wrongly ordered pairs per document)" in told
    failed(call(*arguments, "--set", "epochs=0"), "epochs")
    failed(call(*arguments, "--set", "shuffle=yes"), "shuffle must be True or False")
    failed(call(*arguments, "--set", "random_state=-1"), "random_state must be a whole number from 0", "got -1")
    failed(call("train", "-", *arguments[2:], "--set", "epochs=2"), "standard input")


def one_label_rows(n: int, seed: int) -> list[dict[str, Any]]:
    """Documents of ten classes, sorted by class; one word in six tells it."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(n):
        name = chr(97 + 10 * number // n)
        words = [f"{name * 2}{chr(97 + random.integers(20))}" for _ in range(5)]
        words += [f"x{chr(97 + random.integers(26))}{chr(97 + random.integers(26))}" for _ in range(25)]
        rows.append({"text": " ".join(words), "labels": [name]})
    return rows


def test_a_file_sorted_by_class_is_learnt_as_well_as_a_shuffled_one(tmp_path):
    rows = one_label_rows(1000, seed=0)
    files = {"sorted": rows, "mixed": [rows[i] for i in np.random.default_rng(1).permutation(len(rows))]}
    unseen = write_rows(tmp_path / "unseen.jsonl", one_label_rows(300, seed=2))
    arguments = ("--model", tmp_path / "m", "--learner", "mmp", "--set", "n_features=4096", "--json")
    losses, trained = {}, {}
    for name, given in files.items():
        trained[name] = call("train", write_rows(tmp_path / f"{name}.jsonl", given), *arguments)
        losses[name] = call("evaluate", tmp_path / "m", unseen, "--json").json["measures"]["ranking loss"]
    assert losses["sorted"] < 1.5 * losses["mixed"] < 0.2
    assert "sorted or grouped by label" in trained["sorted"].err
    assert "It was shuffled before learning" in trained["sorted"].err
    assert "sorted or grouped" not in trained["mixed"].err
    validation = trained["sorted"].json["validation"]
    assert validation["order"] == "shuffled"
    assert validation["measures"]["ranking_loss"] > losses["sorted"]  # the mean over all models on the way


def test_losses_in_file_order_are_not_presented_as_those_of_new_documents(tmp_path):
    path = write_rows(tmp_path / "sorted.jsonl", one_label_rows(200, seed=0))
    arguments = ("train", path, "--model", tmp_path / "m", "--learner", "mmp", "--set", "n_features=512")
    told = call(*arguments, "--set", "shuffle=false")
    assert "on 200 documents in file order, each measured before it was learnt" in told.out
    assert "say nothing about new documents" in told.err
    found = call(*arguments, "--set", "shuffle=false", "--json").json
    check_output(found, "train")
    assert found["validation"]["order"] == "file"
    assert found["validation"]["measures"]["ranking_loss"] < 0.1  # which is what would mislead
    assert "in file order" in call("info", tmp_path / "m").out
    assert "on 200 documents in random order" in call(*arguments).out


def test_the_order_is_drawn_by_random_state(tmp_path, data):
    def weights(*settings):
        call("train", data, "--model", tmp_path / "m", "--learner", "mmp", "--set", "n_features=512", *settings)
        return arcrank.load(tmp_path / "m")[-1].coef_

    np.testing.assert_array_equal(weights(), weights("--random-state", "0"))
    np.testing.assert_array_equal(weights("--set", "random_state=3"), weights("--random-state", "3"))
    assert (weights() != weights("--random-state", "3")).any()
    assert (weights() != weights("--set", "shuffle=false")).any()


@pytest.mark.parametrize("form", ["gz", "stdin"])
def test_packed_files_and_standard_input_are_shuffled_too(tmp_path, data, form):
    arguments = ("--model", tmp_path / "m", "--learner", "perceptron", "--set", "n_features=512", "--json")
    plain = call("train", data, *arguments).json
    if form == "stdin":
        found = call("train", "-", *arguments, stdin=data.read_bytes()).json
    else:
        (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress(data.read_bytes()))
        found = call("train", tmp_path / "d.jsonl.gz", *arguments).json
    assert found["validation"] == plain["validation"]


def test_a_hierarchy_is_learnt_in_random_order_too(tmp_path, data):
    (tmp_path / "tree.tsv").write_text("crude\tenergy\ngrain\t\nship\t\n")
    arguments = ("train", data, "--model", tmp_path / "m", "--learner", "mmp", "--hierarchy", tmp_path / "tree.tsv")
    assert call(*arguments, "--json").json["parameters"]["shuffle"] is True
    assert arcrank.load(tmp_path / "m")[-1].shuffle is True


def test_bad_rows(tmp_path, data):
    path = tmp_path / "bad.jsonl"
    path.write_text(data.read_text() + "no JSON\n")
    for learner in ("log-linear", "mmp"):
        arguments = ("train", path, "--model", tmp_path / "m", "--learner", learner, "--json")
        failed(call(*arguments), f"{path}:61: ", "invalid JSON", "--on-error skip")
        assert not (tmp_path / "m").exists()
    result = call(*arguments, "--on-error", "skip")
    assert (result.json["documents"], sum(result.json["skipped"].values())) == (60, 1)
    whole = call("train", path, "--model", tmp_path / "m", *QUICK, "--json", "--on-error", "skip").json
    assert result.json["skipped"] == whole["skipped"]  # the reasons, whichever way the file is read
    path.write_text("no JSON\n")
    failed(call("train", path, "--model", tmp_path / "m2", *QUICK, "--on-error", "skip"), "no row could be read")


def test_wrong_use_from_a_shell(tmp_path, data):
    failed(run("train", tmp_path / "none.jsonl", "--model", tmp_path / "m"), "none.jsonl", "no such file")
    failed(run("train", data, "--model", tmp_path / "m", "--learner", "boosting"), "'boosting'", "log-linear")


def test_wrong_files(tmp_path, data):
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "same.jsonl").write_text('{"text": "oil", "labels": ["crude"]}\n')
    (tmp_path / "queries.svm").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    (tmp_path / "rows.dat").write_text("x\n")
    model = ("--model", tmp_path / "m")
    failed(call("train", tmp_path / "empty.jsonl", *model), "has no rows")
    failed(call("train", tmp_path / "empty.jsonl", *model, "--learner", "mmp"), "has no rows")
    failed(call("train", tmp_path / "same.jsonl", *model), "nothing to learn")
    failed(call("train", tmp_path / "same.jsonl", *model, "--learner", "mmp"), "nothing to learn")
    failed(call("train", tmp_path / "queries.svm", *model, "--learner", "rocchio"), "does not rank candidates")
    failed(call("train", tmp_path / "rows.dat", *model), "rows.dat", "--format")
    failed(call("train", tmp_path, *model), "is a folder")
    failed(call("train", data, "--model", tmp_path), "is a folder")
    failed(call("train", data, "--model", tmp_path / "no" / "m"), "there is no folder")


def test_wrong_settings(tmp_path, data):
    arguments = ("train", data, "--model", tmp_path / "m")
    failed(call(*arguments, "--set", "C"), "NAME=VALUE")
    failed(call(*arguments, "--set", "D=3"), "no such parameter", "fit_intercept", "min_df")
    for wrong in ("C=-1", "C=abc", "tol=0", "min_df=-1", "decomposition=none", "D=3"):
        for learner in ("log-linear", "auto"):
            result = call(*arguments, "--set", wrong, "--learner", learner)
            failed(result, wrong.partition("=")[0])
            assert "read 60" not in result.err
    failed(call(*arguments, "--set", "virtual=x", "--learner", "log-linear"), "Values are JSON or plain text")
    failed(call(*arguments, "--set", "stop_words=der,die"), """'stop_words=["der","die"]'""")
    failed(call(*arguments, "--set", "n_features=abc", "--learner", "mmp"), "n_features must be")
    failed(call(*arguments, "--learner", "mmp", "--decomposition", "domination"), "mmp has no decomposition")
    failed(call(*arguments, "--validate", "1.5"), "--validate")


def test_settings_reach_learner_and_features(tmp_path, data):
    settings = ("--set", "C=7", "--set", "ngrams=1", "--set", "stem=False", "--decomposition", "zero-one")
    result = call("train", data, "--model", tmp_path / "m", *QUICK, *settings, "--json")
    model = arcrank.load(tmp_path / "m")
    assert (model[-1].C, model[-1].decomposition, model[-1].random_state) == (7, "zero-one", 0)
    assert (model[0].ngrams, model[0].stem, model[0].min_df) == (1, False, 1)
    assert result.json["parameters"]["C"] == 7


@pytest.mark.parametrize("learner", ["auto", "log-linear"])
def test_c_by_the_data(tmp_path, data, learner):
    result = call("train", data, "-m", tmp_path / "m", "--learner", learner, "--set", "C=scale", "--json").json
    check_output(result, "train")
    if learner == "auto":
        assert all(isinstance(tried["parameters"]["C"], float) for tried in result["chosen"]["tried"])
    else:
        ranker = arcrank.load(tmp_path / "m")[-1]
        assert ranker.C == "scale"
        assert ranker.C_ > 0


def test_values_are_json_or_names_of_python_or_text():
    given = {"1e-3": 0.001, "null": None, "none": None, "None": None, "True": True, "false": False, "german": "german"}
    for text, value in {**given, '["der", "die"]': ["der", "die"], "der,die": "der,die"}.items():
        assert parse_settings([f"stem={text}"]) == {"stem": value}


def test_the_guide_to_other_languages(tmp_path, monkeypatch):
    page = (Path(__file__).parents[3] / "docs" / "guides" / "language.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (name, rows), *_ = re.findall(r'```json title="(.+)"\n(.+?)```', page, re.DOTALL)
    Path(name).write_text(rows, encoding="utf-8")
    for line in re.findall(r"```sh\narcrank (.+)\n```", page):
        assert call(*shlex.split(line)).code == 0
    words = arcrank.load("nachrichten.arcrank")[0]
    assert (words.language_, words.make_tokenizer()("Die Häuser")) == ("german", ["haus"])
    assert call("rank", "nachrichten.arcrank", stdin="viele Häuser").json["ranking"][0] == "wohnen"
    assert sorted(arcrank.load("eigene.arcrank")[0].stop_words) == ["das", "der", "die", "ein"]
    python = doctest.DocTestParser().get_doctest(
        "".join(re.findall(r"```pycon\n(.+?)```", page, re.DOTALL)), {}, "page", None, 0
    )
    assert doctest.DocTestRunner().run(python).failed == 0
    told = set(re.findall(r"'(\w+)'", call("train", name, "--model", "m", "--set", "stem=?").err))
    listed = set(re.findall(r"\w+", page.partition("lists those of your version.")[2].partition("##")[0]))
    assert told <= listed
    if version("PyStemmer").startswith("3.1"):  # the version of the list
        assert told == listed


def test_options_from_environment_and_file(tmp_path, data, monkeypatch):
    options = tmp_path / "options.toml"
    options.write_text(f'[train]\nlearner = "rocchio"\nmodel = "{tmp_path / "m"}"\nrandom-state = 5\n')
    assert call("--config", options, "train", data, "--json").json["learner"] == "rocchio"
    monkeypatch.setenv("ARCRANK_TRAIN_LEARNER", "perceptron")
    assert call("train", data, "--model", tmp_path / "m", "--json").json["learner"] == "perceptron"


def test_auto_keeps_what_was_set_and_gives_up_on_few_documents(tmp_path, data):
    result = call("train", data, "--model", tmp_path / "m", "--set", "C=3", "--json")
    assert {trial["parameters"]["C"] for trial in result.json["chosen"]["tried"]} == {3}
    few = write_rows(tmp_path / "few.jsonl", text_rows(8))
    result = call("train", few, "--model", tmp_path / "m", "--json")
    assert (result.json["learner"], result.json["chosen"]["tried"]) == ("preference-machine", [])
    assert "too few" in result.err


def test_what_does_not_converge_is_told_without_our_source(tmp_path, data):
    result = call("train", data, "--model", tmp_path / "m", *QUICK, "--set", "max_iter=1", "--set", "tol=1e-9")
    assert result.code == 0
    assert "warning: " in result.err
    assert ".py" not in result.err


@pytest.mark.parametrize("learner", ["log-linear", "mmp"])
def test_interrupted_training_leaves_nothing(tmp_path, online_model, learner):
    model = shutil.copy(online_model, tmp_path / "m.arcrank")
    arguments = command("train", "-", "--model", model, "--learner", learner)
    child = subprocess.Popen(arguments, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    rows = "".join(json.dumps(row) + "\n" for row in text_rows(3000)).encode()
    child.stdin.write(rows)  # more than a pipe holds: when this returns the command is reading
    child.stdin.flush()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert (child.returncode, out) == (130, b"")
    assert b"Interrupted" in err
    assert b"Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["m.arcrank"]
    assert model.read_bytes() == online_model.read_bytes()


def test_documents_without_any_label(tmp_path):
    path = write_rows(tmp_path / "unlabelled.jsonl", [{"text": "oil", "labels": []}, {"text": "wheat", "labels": []}])
    result = call("train", path, "--model", tmp_path / "m.arcrank")
    failed(result, "no document has a label, so there is nothing to learn")
    assert not (tmp_path / "m.arcrank").exists()


def test_few_documents_have_a_cut_but_no_probabilities(tmp_path):
    path = write_rows(tmp_path / "few.jsonl", text_rows(9))
    result = call("train", path, "--model", tmp_path / "m.arcrank", "--json")
    assert result.json["parameters"]["cut_label"] is True
    assert result.json["calibration"] is None
    assert "warning" not in result.err
    ranked = call("rank", tmp_path / "m.arcrank", path, "--recall", "0.9")
    assert "The model has no probabilities" in ranked.err

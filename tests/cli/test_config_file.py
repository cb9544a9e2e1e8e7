"""The file of `--config`, as users write it."""

from __future__ import annotations

import pytest

from arcrank.cli.app import app
from arcrank.cli.config_file import options_of
from tests.cli.conftest import call, failed
from tests.cli.running import assert_told, shell


def test_dashes_in_a_group_within_the_command(tmp_path):
    options = tmp_path / "options.toml"
    options.write_text('[data.convert]\non-error = "skip"\n')
    (tmp_path / "rows.jsonl").write_text('{"text": "tea", "labels": ["a"]}\n{"text": "mil\n')
    done = shell("--config", options, "data", "convert", "rows.jsonl", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Wrote 1 row" in done.stderr


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[rank]\ntpo = 3\n", ["tpo is not an option of [rank]", "Did you mean top?"]),
        ("[trian]\nC = 3\n", ["trian is not the table of a command", "Did you mean train?"]),
        ("[Rank]\nTOP = 3\n", ["Rank is not the table of a command", "Did you mean rank?"]),
        ("[rank]\nTOP = 3\n", ["TOP is not an option of [rank]", "Did you mean top?"]),
        ("[tune]\nC = 3\n", ["C is not an option of [tune]", "Did you mean cost?"]),
        ("[train]\ndata = 'x'\n", ["data of [train] is an argument", "on the command line"]),
        ("learner = 'mmp'\n", ["learner is an option", "Put it under [train] or [tune]"]),
        ("tpo = 3\n", ["tpo is not the table of a command", "Available: train"]),
        ("[data.list]\nsplit = 3\n", ["split is not an option of [data.list]"]),
        ("[data]\nconvert = 3\n", ["data.convert is not the table of a command"]),
        ("[rank\n", ["cannot be read", "omit --config"]),
    ],
)
def test_a_file_with_mistakes(tmp_path, text, parts):
    options = tmp_path / "options.toml"
    options.write_text(text)
    assert_told(shell("--config", options, "data", "list"), str(options), *parts)


def test_a_file_that_is_not_there(tmp_path):
    done = shell("--config", tmp_path / "none.toml", "data", "list")
    assert_told(done, "none.toml", "No such file")
    assert done.stderr.count("none.toml") == 1


def test_the_long_name_is_the_key_and_the_variable(tmp_path, data, monkeypatch):
    for text in ("cost = [3]\nlearner = ['log-linear']", "cost = 3\nlearner = 'log-linear'"):
        (tmp_path / "o.toml").write_text(f"[tune]\n{text}\n")
        tuned = call("--config", tmp_path / "o.toml", "tune", data, "--json")
        assert [one["parameters"]["C"] for one in tuned.json["candidates"]] == [3], tuned.err
    monkeypatch.setenv("ARCRANK_TUNE_COST", "7")
    tuned = call("tune", data, "--learner", "log-linear", "--json")
    assert [one["parameters"]["C"] for one in tuned.json["candidates"]] == [7]
    assert "warning" not in tuned.err


def test_every_option_has_its_long_name():
    from typer.main import get_command

    commands = [get_command(app)]
    for command in commands:
        commands += getattr(command, "commands", {}).values()
        for option in options_of(command):
            assert f"--{option.name.replace('_', '-')}" in option.opts


def test_a_variable_that_no_option_reads_is_told(monkeypatch):
    monkeypatch.setenv("ARCRANK_DATA_LIST_JSNO", "1")
    monkeypatch.setenv("ARCRANK_RANK_TPO", "1")
    done = call("data", "list")
    assert done.code == 0
    assert "warning: ARCRANK_DATA_LIST_JSNO is set, but data list has no such option" in done.err
    assert "Did you mean ARCRANK_DATA_LIST_JSON?" in done.err
    assert "TPO" not in done.err


def test_a_bad_value_is_told_with_its_place(tmp_path, monkeypatch):
    options = tmp_path / "options.toml"
    options.write_text("[rank]\ntop = 'x'\n")
    failed(call("--config", options, "rank", "m"), f"top = 'x' under [rank] of {options}")
    monkeypatch.setenv("ARCRANK_RANK_TOP", "many")
    failed(call("rank", "m"), "the environment variable ARCRANK_RANK_TOP=many")
    failed(call("rank", "m", "--top", "y"), "'--top'")


def test_an_option_of_the_program_after_the_command():
    failed(call("train", "x", "--config", "o.toml"), "--config goes before the command: arcrank --config ... train")


def test_debugging_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("ARCRANK_DEBUG", "1")
    assert "Traceback" in shell("info", tmp_path / "nothing").stderr
    monkeypatch.setenv("ARCRANK_DEBUG", "0")
    assert "Traceback" not in shell("info", tmp_path / "nothing").stderr

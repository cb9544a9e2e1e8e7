"""What is said where: lines now and then, bars on terminals, names on one line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import numpy as np
import pytest

import arcrank
from arcrank._wording import number, printable
from arcrank.cli import progress
from arcrank.cli.console import write_json
from arcrank.cli.files import check_model_output
from arcrank.cli.progress import Meter
from tests.cli.conftest import Result, Screen, call, command, failed, run


def test_a_line_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 0.0)
    with Meter("reading", 10, "bytes") as meter:
        meter.advance(2e6)
    with Meter("tuning") as meter:
        meter.advance(3, "fold 1")
    with Meter("silent", quiet=True) as meter:
        meter.advance(3)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("reading: 2.0 MB, ")
    assert captured.err.endswith("tuning: fold 1\n")


def test_a_bar_on_a_terminal(monkeypatch):
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    with Meter("learning", 100, "documents") as meter:
        meter.move(50)
    assert "learning" in screen.getvalue()
    assert "50 documents" in screen.getvalue()


def test_no_color(model, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in call("rank", model, stdin="oil", terminal=True).out


def test_json_is_readable_and_strict(capsys):
    name = "Öl\n🦊\ud800\x00\x7f\x85\u2028"
    write_json({name: [float("nan"), 1.5, (2, float("inf"))]})
    line = capsys.readouterr().out
    assert line.startswith('{"Öl\\n🦊\\ud800\\u0000\\u007f\\u0085\\u2028"')
    assert len(line.splitlines()) == 1
    assert json.loads(line.encode()) == {name: [None, 1.5, [2, None]]}


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_output_is_utf8_whatever_the_locale(tmp_path, encoding):
    ranker = arcrank.LogLinearRanker().fit(np.eye(2), [["Öl 🦊\ud800"], ["b"]])
    arcrank.save(ranker, tmp_path / "m")
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    result = run("rank", tmp_path / "m", stdin="0:1\n", env=environment)
    assert result.json["ranking"][0] == "Öl 🦊\ud800"
    assert "Öl 🦊\\ud800" in result.out
    (tmp_path / "a.jsonl").write_text('{"text": "a", "labels": ["Öl 🦊"]}\n' * 3, encoding="utf-8")
    assert "Öl 🦊" in run("check", tmp_path / "a.jsonl", "--json", env=environment).out
    done = subprocess.run(command("check", tmp_path / "a.jsonl"), capture_output=True, env=environment, check=False)
    assert done.returncode == 3, done.stderr


def test_names_and_numbers_for_people():
    assert printable("tab\tbed 🦊 \ud800") == "tab\\tbed 🦊 \\ud800"
    assert [number(value) for value in (None, float("nan"), 0.12345, 12345.6)] == ["-", "-", "0.1235", "12,346"]


def test_half_a_character_in_a_label(tmp_path):
    labels = ["a\ud800", "b", "c"]
    ranker = arcrank.LogLinearRanker().fit(np.eye(3), [[label] for label in labels])
    arcrank.save(ranker, tmp_path / "m")
    assert call("rank", tmp_path / "m", stdin="0:1\n").json["ranking"][0] == "a\ud800"
    assert "a\\ud800" in call("rank", tmp_path / "m", stdin="0:1\n", terminal=True).out


@pytest.mark.parametrize("link", [False, True])
def test_what_is_read_is_not_written_over(model, data, tmp_path, link):
    rows, known = (shutil.copy(path, tmp_path / path.name) for path in (data, model))
    before = rows.read_bytes(), known.read_bytes()
    out, kept = rows, known
    if link:
        out, kept = tmp_path / "link.jsonl", tmp_path / "link.arcrank"
        out.symlink_to(rows)
        kept.symlink_to(known)
    for arguments in (
        ("train", rows, "-m", out),
        ("tune", rows, "-m", out),
        ("evaluate", known, rows, "--report", out),
        ("evaluate", known, rows, "--report", kept),
        ("data", "convert", rows, out),
    ):
        failed(call(*arguments), f"{arguments[-1]} is a file to read", "another path")
    assert (rows.read_bytes(), known.read_bytes()) == before


def test_standard_input_is_not_written_over(data, tmp_path):
    rows = shutil.copy(data, tmp_path / "a.jsonl")
    with rows.open("rb") as stream:
        failed(run_on(stream, "data", "convert", "-", rows), "is a file to read")
    assert rows.read_bytes() == data.read_bytes()


def run_on(stream, *arguments):
    done = subprocess.run(command(*arguments), stdin=stream, capture_output=True, check=False, timeout=120)
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_only_models_and_reports_are_written_over(model, data, tmp_path):
    other = tmp_path / "notes.md"
    other.write_text("my notes")
    failed(call("train", data, "-m", other), "notes.md exists", "not a file that --model writes", "another path")
    failed(call("tune", data, "-m", other), "not a file that --model writes")
    failed(
        call("evaluate", model, data, "--report", other),
        "notes.md exists",
        "not a file that --report writes",
        "another path",
    )
    failed(
        call("evaluate", model, data, "--report", shutil.copy(model, tmp_path / "m")), "not a file that --report writes"
    )
    failed(call("reproduce", "--report", shutil.copy(other, tmp_path / "notes.txt")), "not a file that --report writes")
    failed(call("reproduce", "--report", tmp_path / "m"), "not a file that --report writes")
    assert other.read_text() == "my notes"
    report = tmp_path / "report.html"
    report.touch()
    for _ in range(2):
        assert call("evaluate", model, data, "--report", report).code == 0
    check_model_output(shutil.copy(model, tmp_path / "m"), str(data), None)

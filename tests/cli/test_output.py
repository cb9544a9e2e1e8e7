"""What is said where: lines now and then, bars on terminals, names on one line."""

from __future__ import annotations

import json

import numpy as np

import arcrank
from arcrank.cli import output
from arcrank.cli.output import Meter, number, printable, write_json
from tests.cli.conftest import Screen, call


def test_a_line_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(output, "_SECONDS_BETWEEN_LINES", 0.0)
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


def test_json_is_ascii_and_strict(capsys):
    write_json({"a\n🦊\ud800": [float("nan"), 1.5, (2, float("inf"))]})
    line = capsys.readouterr().out
    assert line.isascii()
    assert json.loads(line) == {"a\n🦊\ud800": [None, 1.5, [2, None]]}


def test_names_and_numbers_for_people():
    assert printable("tab\tbed 🦊 \ud800") == "tab\\tbed 🦊 \\ud800"
    assert [number(value) for value in (None, float("nan"), 0.12345, 12345.6)] == ["-", "-", "0.1235", "12,346"]


def test_half_a_character_in_a_label(tmp_path):
    labels = ["a\ud800", "b", "c"]
    ranker = arcrank.LogLinearRanker().fit(np.eye(3), [[label] for label in labels])
    arcrank.save(ranker, tmp_path / "m")
    assert call("rank", tmp_path / "m", stdin="0:1\n").json["ranking"][0] == "a\ud800"
    assert "a\\ud800" in call("rank", tmp_path / "m", stdin="0:1\n", terminal=True).out

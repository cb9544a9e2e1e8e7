"""`arcrank leaderboard`: the order of labels by votes alone."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.conftest import call, failed, run
from tests.cli.json_schema import check_output

VOTES = "winner,loser,judge\n" + 6 * "tea,milk,Ann\n" + 2 * "milk,tea,Bo\n" + 4 * "milk,water,Bo\n" + "tea,water,Cy\n"


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(VOTES, encoding="utf-8")
    return path


def test_from_a_shell(votes):
    result = run("leaderboard", votes, "--json")
    assert result.code == 0, result.err
    check_output(result.json, "leaderboard")
    assert result.json["labels"] == ["tea", "milk", "water"]
    assert result.json["wins"] == [[0, 6, 1], [2, 0, 4], [0, 0, 0]]
    first = result.json["standings"][0]
    assert (first["wins"], first["losses"]) == (7, 2)
    assert first["low"] < first["strength"] < first["high"]


def test_people_see_a_table_and_the_notes(votes):
    shown = call("leaderboard", votes, "--samples", "20").out
    assert re.search(r"13 votes over 3 labels.*tea.*milk.*water", shown, re.DOTALL)
    assert "2 judges with fewer than 10 votes" not in shown
    assert "3 judges with fewer than 10 votes" in shown


def test_a_page_is_written(votes, tmp_path):
    page = tmp_path / "report.html"
    done = call("leaderboard", votes, "--html", page, "--samples", "20")
    assert f"The report is in {page}" in done.err
    html = page.read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="arcrank-data">(.*?)</script>', html)[1])
    check_output(data, "leaderboard")
    assert "<svg" in html
    assert "Votes of votes.csv" in html
    failed(call("leaderboard", votes, "--html", votes), "is a file to read")


def test_standard_input_and_rows_that_cannot_be_read(votes):
    lines = '{"winner": "tea", "loser": "milk"}\n{"winner": "tea", "loser": "tea"}\n'
    failed(call("leaderboard", "-", stdin=lines), "'tea' is compared with itself")
    done = call("leaderboard", "-", "--on-error", "skip", "--json", stdin=lines)
    assert done.json["votes"] == 1
    assert "Left out 1 row: invalid vote (1)." in done.err
    failed(call("leaderboard", votes, "--level", "2"), "level must be")


def test_votes_need_no_text_and_a_file_needs_votes(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("prompt,winner,loser\nhot,tea,milk\n,milk,tea\n,tea,milk\n", encoding="utf-8")
    found = call("leaderboard", path, "--json").json
    assert (found["votes"], found["contradicted_cases"]) == (3, 0)  # votes without a text are about different cases
    path.write_text("winner,loser\n", encoding="utf-8")
    failed(call("leaderboard", path), "has only a header", "A first line looks like this: winner,loser")

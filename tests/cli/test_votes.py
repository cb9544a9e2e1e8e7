"""Votes from the command line: check, train, rank, evaluate and update take them without any option."""

from __future__ import annotations

import json
import random

import pytest

import arcrank
from tests.cli.conftest import call

PROMPTS = {"coder": "fix a bug in my python code", "bard": "write a poem about rain", "euler": "solve an equation"}


@pytest.fixture(scope="module")
def votes(tmp_path_factory):
    """Three models that are best at one thing each, and one that is bad at all."""
    draw = random.Random(0)
    rows = ["prompt,winner,loser"]
    for number in range(60):
        best = draw.choice(list(PROMPTS))
        loser = draw.choice([name for name in (*PROMPTS, "old") if name != best])
        rows.append(f"{PROMPTS[best]} please {number % 9},{best},{loser}")
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_three_columns_need_no_option(votes, tmp_path):
    model = tmp_path / "m.arcrank"
    trained = call("train", votes, "--model", model)
    assert trained.code == 0, trained.err
    ranked = call("rank", model, "-", stdin="a new prompt\nmy python code\n")
    assert ranked.code == 0, ranked.err
    lines = [json.loads(line) for line in ranked.out.splitlines()]
    assert sorted(lines[0]["ranking"]) == ["bard", "coder", "euler", "old"]
    assert lines[1]["ranking"][0] == "coder"
    again = call("rank", model, votes)  # the prompts of a file of votes
    assert len(again.out.splitlines()) == 60
    measured = call("evaluate", model, votes, "--json")
    assert measured.code == 0, measured.err
    assert json.loads(measured.out)["documents"] == 60


def test_check_does_not_take_votes_for_duplicates(votes):
    checked = call("check", votes, "--json")
    assert checked.code == 0, checked.err
    assert "duplicate" not in checked.out.lower()


def test_online_learners_are_trained_and_updated(votes, tmp_path):
    model = tmp_path / "o.arcrank"
    assert call("train", votes, "--model", model, "--learner", "mmp").code == 0
    updated = call("update", model, votes, "--json")
    assert updated.code == 0, updated.err
    assert json.loads(updated.out)["documents"] == 60


def test_ties_are_counted_and_scores_are_read(tmp_path):
    table = tmp_path / "votes.csv"
    rows = "".join(
        f"{word} day,tea,milk,{outcome}\n" for word in ("hot", "cold") for outcome in ("a", "tie", "neither")
    )
    table.write_text(f"text,a,b,outcome\n{rows}", encoding="utf-8")
    quick = ("--learner", "log-linear", "--validate", "0")
    trained = call("train", table, "--model", tmp_path / "t.arcrank", *quick)
    assert trained.code == 0, trained.err
    assert "4 votes for a tie or for neither label say nothing about the order." in trained.err
    table.write_text("text,L:tea,L:milk\nhot,1,2\ncold,5,3\n", encoding="utf-8")
    options = ("--better", "lower", "--margin", "difference")
    assert call("train", table, "--model", tmp_path / "s.arcrank", *quick, *options).code == 0
    ranked = call("rank", tmp_path / "s.arcrank", "-", stdin="cold\n")
    assert json.loads(ranked.out)["ranking"] == ["milk", "tea"]


def test_label_features_are_saved_with_the_model(votes, tmp_path):
    features = {"bard": [1, 0], "coder": [0, 1], "euler": [0, 1], "old": [0, 0]}
    given = ("--set", f"label_features={json.dumps(features)}", "--validate", "0")
    trained = call("train", votes, "--model", tmp_path / "m.arcrank", "--learner", "log-linear", *given)
    assert trained.code == 0, trained.err
    ranked = call("rank", tmp_path / "m.arcrank", "-", stdin="my python code\n")
    assert json.loads(ranked.out)["ranking"][0] == "coder"
    ranker = arcrank.load(tmp_path / "m.arcrank")[-1].add_labels({"new": [0, 1]})
    assert ranker.labels_.tolist() == ["bard", "coder", "euler", "old", "new"]


def test_a_wrong_vote_is_named_by_its_line(tmp_path):
    table = tmp_path / "votes.csv"
    table.write_text("text,a,b,outcome\nhot,tea,milk,left\n", encoding="utf-8")
    failed = call("train", table, "--model", tmp_path / "m.arcrank")
    assert failed.code != 0
    assert "votes.csv:2: unknown outcome" in failed.err

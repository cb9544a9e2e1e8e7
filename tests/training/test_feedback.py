"""Models that learn from a file and from the journal of a server."""

import json

import pytest

import arcrank
from arcrank.modelfile import read_card
from tests.cli.conftest import call, failed, text_rows, write_rows

TEXT = "tanker cargo bushel"


def journal(path, *preferences):
    lines = [{"seq": n, "id": f"a{n}", "text": TEXT, **one} for n, one in enumerate(preferences, start=1)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def scores_of(path):
    model = arcrank.load(path)
    return dict(zip(model.labels_.tolist(), model.score_labels([TEXT])[0].tolist(), strict=True))


@pytest.mark.parametrize("learner", ["log-linear", "preference-machine", "mmp", "perceptron"])
def test_feedback_is_learnt_beside_the_documents(tmp_path, learner):
    data = write_rows(tmp_path / "news.jsonl", text_rows(60))
    hashed = ["--set", "n_features=512"] if learner in ("mmp", "perceptron") else []
    options = ["--learner", learner, "--validate", "0", *hashed]
    assert call("train", data, "--model", tmp_path / "without", *options).code == 0
    before = scores_of(tmp_path / "without")
    first, *_, last = sorted(before, key=before.get, reverse=True)
    preferences = journal(tmp_path / "j", *[{"arcs": [[last, first]]}] * 40, {"relevant": [last]})
    done = call("train", data, "--model", tmp_path / "with", *options, "--feedback", preferences)
    assert done.code == 0, done.err
    after = scores_of(tmp_path / "with")
    assert after[last] - after[first] > before[last] - before[first]
    card = read_card(tmp_path / "with")["card"]
    assert card["feedback"]["applied"] == 41
    assert hasattr(arcrank.load(tmp_path / "with")[-1], "calibration_") == (
        learner in ("log-linear", "preference-machine")
    )


def test_retracted_feedback_and_empty_journals_change_nothing(tmp_path):
    data = write_rows(tmp_path / "news.jsonl", text_rows(60))
    options = ["--learner", "log-linear", "--validate", "0"]
    path = journal(tmp_path / "j", {"arcs": [["crude", "ship"]]})
    path.write_text(path.read_text() + '{"seq": 2, "retract": "a1"}\n')
    found = []
    for more in ([], ["--feedback", path]):
        assert call("train", data, "--model", tmp_path / "m", *options, *more).code == 0
        found.append(arcrank.load(tmp_path / "m").score_labels([TEXT]).tolist())
    assert found[0] == found[1]


def test_what_cannot_be_learnt_is_refused_first(tmp_path):
    data = write_rows(tmp_path / "news.jsonl", text_rows(60))
    failed(call("train", data, "--model", tmp_path / "m", "--feedback", tmp_path / "none"), "there is no such file")
    (tmp_path / "j").write_text("{}\n")
    failed(call("train", data, "--model", tmp_path / "m", "--feedback", tmp_path / "j"), "j:1: not a line")
    failed(call("train", "-", "--model", tmp_path / "m", "--feedback", tmp_path / "j", stdin="{}"), "standard input")

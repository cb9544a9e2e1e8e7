"""Feedback: recorded, learnt, taken back, replayed."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import arcrank
from arcrank.datasets.journal import read_journal
from arcrank.inference.predictor import Predictor
from arcrank.modelfile import read_card
from arcrank.server.live_predictor import LivePredictor
from tests.server.conftest import TEXT, TOKEN

LIVE = "/v1/models/live"


def preference(id, text=TEXT, **more):
    return {"id": id, "text": text, **(more or {"arcs": [["grain", "crude"]]})}


def test_a_preference_moves_labels_at_once_and_undo_brings_them_back(serve, tmp_path):
    running = serve("live")
    before = running.ranking("live")
    assert running.write(f"{LIVE}/feedback", preference("a"))["state"] == "learnt"
    after = running.ranking("live")
    places = after["ranking"].index("grain"), before["ranking"].index("grain")
    assert places[0] <= places[1]
    assert after["scores"] != before["scores"]
    undone = running.write(f"{LIVE}/undo", {"id": "a"})
    assert (undone["state"], undone["learnt"]) == ("retracted", 0)
    assert running.ranking("live") == before  # to the last bit
    lines = [json.loads(line) for line in (tmp_path / "live.feedback.jsonl").read_text().splitlines()]
    assert [line["seq"] for line in lines] == [1, 2]
    assert {"id", "when", "text", "arcs", "model", "checksum", "learnt"} <= set(lines[0])
    assert lines[1]["retract"] == "a"


def test_a_repeated_id_is_acknowledged_and_ignored(serve, tmp_path):
    running = serve("live")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: running.write(f"{LIVE}/feedback", preference(f"a{n % 4}")), range(16)))
    assert sorted(answer["state"] for answer in answers) == ["learnt"] * 4 + ["repeated"] * 12
    assert len((tmp_path / "live.feedback.jsonl").read_text().splitlines()) == 4
    assert running.get(LIVE).json["learnt"] == 4
    assert running.write(f"{LIVE}/undo", {"id": "a1"})["state"] == "retracted"
    assert running.write(f"{LIVE}/undo", {"id": "a1"})["state"] == "repeated"
    assert running.write(f"{LIVE}/feedback", preference("a1"))["state"] == "repeated"  # it stays taken back
    assert running.get(LIVE).json["learnt"] == 3


def test_a_restart_replays_the_journal(serve):
    running = serve("live")
    for n, label in enumerate(["grain", "ship", "grain"]):
        running.write(f"{LIVE}/feedback", preference(f"a{n}", relevant=[label], irrelevant=["crude"]))
    running.write(f"{LIVE}/undo", {"id": "a1"})
    learnt = running.ranking("live")
    running.stop()
    assert serve("live").ranking("live") == learnt


def test_learn_saves_and_nothing_is_learnt_twice(serve, tmp_path):
    running = serve("live")
    running.write(f"{LIVE}/feedback", preference("a"))
    learnt = running.ranking("live")
    first = running.get(LIVE).json["checksum"]
    saved = running.write(f"{LIVE}/learn", {})
    assert (saved["saved"], saved["learnt"]) == (True, 0)
    assert saved["checksum"] != first
    assert running.write(f"{LIVE}/learn", {})["detail"] == "Nothing was pending."
    assert read_card(tmp_path / "live.arcrank")["card"]["feedback"]["applied"] == 1
    assert arcrank.load(tmp_path / "live.arcrank").rank([TEXT]).tolist() == [learnt["ranking"]]
    running.stop()
    again = serve("live")
    assert again.ranking("live") == learnt
    assert again.get(LIVE).json["learnt"] == 0


@pytest.mark.parametrize("restart", [False, True])
def test_what_a_saved_model_has_learnt_can_be_taken_back(serve, restart):
    running = serve("live")
    before = running.ranking("live")
    running.write(f"{LIVE}/feedback", preference("a"))
    running.write(f"{LIVE}/learn", {})
    running.write(f"{LIVE}/feedback", preference("b", relevant=["ship"]))
    if restart:
        running.stop()
        running = serve("live")
    running.write(f"{LIVE}/undo", {"id": "a"})
    running.write(f"{LIVE}/undo", {"id": "b"})
    assert running.ranking("live") == before
    running.write(f"{LIVE}/learn", {})
    running.stop()
    assert serve("live").ranking("live") == before


def test_votes(serve):
    running = serve("live")
    before = running.ranking("live")
    for outcome in ("tie", "neither", "b", "a"):
        running.write(f"{LIVE}/feedback", preference(outcome, vote={"a": "crude", "b": "ship", "outcome": outcome}))
        if outcome == "tie":
            assert running.ranking("live") == before  # it says nothing about the order
    after = running.ranking("live")
    assert after != before


def test_a_new_label_is_learnt_if_wanted(serve):
    running = serve("live")
    wrong = running.post(f"{LIVE}/feedback", preference("a", relevant=["gold"]), Authorization=f"Bearer {TOKEN}")
    assert (wrong.status, "is not one of the 3 labels" in wrong.json["detail"]) == (422, True)
    for n in range(5):
        running.write(f"{LIVE}/feedback", preference(f"b{n}", "bullion", relevant=["gold"], new_labels=True))
    assert running.ranking("live", "bullion")["ranking"][0] == "gold"
    assert running.get(f"{LIVE}/labels?prefix=go").json["labels"][0]["label"] == "gold"
    running.write(f"{LIVE}/learn", {})
    running.stop()
    assert serve("live").ranking("live", "bullion")["ranking"][0] == "gold"


def test_a_batch_learner_records(serve, tmp_path):
    running = serve("news")
    before = running.ranking("news")
    answer = running.write("/v1/models/news/feedback", preference("a"))
    assert (answer["state"], answer["pending"]) == ("recorded", 1)
    assert "arcrank train DATA --feedback news.feedback.jsonl --model news.arcrank" in answer["detail"]
    assert running.ranking("news") == before
    refused = running.post("/v1/models/news/learn", {}, Authorization=f"Bearer {TOKEN}")
    assert (refused.status, "arcrank train DATA --feedback" in refused.json["detail"]) == (409, True)
    assert running.write("/v1/models/news/undo", {"id": "a"})["pending"] == 0
    assert len(read_journal(tmp_path / "news.feedback.jsonl").live()) == 0


@pytest.mark.parametrize("name", ["plain", "average", "machine"])
def test_other_online_learners_learn_arcs(serve, name):
    running = serve(name)
    found = running.ranking(name)
    first, *_, last = found["ranking"]
    for n in range(10):
        running.write(f"/v1/models/{name}/feedback", preference(f"a{n}", arcs=[[last, first]]))
    score = dict(zip(*(running.ranking(name)[part] for part in ("ranking", "scores")), strict=True))
    assert score[last] > found["scores"][-1]
    assert score[first] < found["scores"][0]


@pytest.mark.parametrize("name", ["live", "plain", "average", "machine"])
def test_a_live_predictor_is_the_predictor(models, name, rows):
    model = arcrank.load(models[name])
    live, usual = LivePredictor(model), Predictor(model)
    X = usual.transformers.transform([row["text"] for row in rows])
    np.testing.assert_allclose(live.scores(X), usual.scores(X), rtol=1e-12, atol=1e-15)
    why, as_usual = (one.margin(X[:1], 0, 2) for one in (live, usual))
    assert why.parts == as_usual.parts


def test_a_live_predictor_is_the_predictor_after_a_new_label(models, rows):
    """Means of a label run over the rounds in which it was known."""
    model = arcrank.load(models["average"])
    X = model[0].transform([row["text"] for row in rows])
    model[-1].partial_fit(X[:9], [["gold"]] * 9)
    np.testing.assert_allclose(LivePredictor(model).scores(X), Predictor(model).scores(X), rtol=1e-12, atol=1e-15)


def test_the_journal_says_who_when_on_what_and_what_was_shown(serve, tmp_path):
    running = serve("machine")
    checksum = running.get("/v1/models/machine").json["checksum"]
    said = {"relevant": ["ship"], "irrelevant": ["grain"], "shown": ["crude", "ship"], "by": "Anna"}
    running.write("/v1/models/machine/feedback", preference("a", **said))
    running.write("/v1/models/machine/undo", {"id": "a", "by": "Bob"})
    first, second = map(json.loads, (tmp_path / "machine.feedback.jsonl").read_text().splitlines())
    when = datetime.fromisoformat(first.pop("when"))
    assert abs(datetime.now(UTC) - when) < timedelta(minutes=5)
    assert first == {
        "seq": 1, "id": "a", "text": TEXT, **said, "model": "machine", "checksum": checksum, "learnt": 0,
    }  # fmt: skip
    assert (second["seq"], second["retract"], second["by"]) == (2, "a", "Bob")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"arcs": [["crude", "crude"]]}, "preferred to itself"),
        ({"arcs": [["crude", "ship"], ["ship", "crude"]]}, "both above and below"),
        ({"relevant": ["crude"], "irrelevant": ["crude"]}, "preferred to itself"),
        ({"arcs": [["crude", "ship"]], "relevant": ["crude"]}, "got arcs, relevant"),
        ({"vote": {"a": "ship", "b": "ship", "outcome": "a"}}, "two different labels"),
        ({"vote": {"a": "ship", "b": "crude", "outcome": "c"}}, "outcome"),
        ({"by": "me"}, "none of them"),
        ({"relevant": ["a\0b"], "new_labels": True}, "NUL"),
        ({"text": None, "arcs": []}, "none of them"),
        ({"relevant": [f"l{n}" for n in range(200)], "irrelevant": [f"m{n}" for n in range(200)]}, "40,400 arcs"),
    ],
)
def test_wrong_preferences_are_refused_and_not_recorded(serve, tmp_path, more, words):
    running = serve("live")
    answer = running.post(f"{LIVE}/feedback", preference("a", **more), Authorization=f"Bearer {TOKEN}")
    assert (answer.status, words in answer.json["detail"]) == (422, True), answer.json
    assert (tmp_path / "live.feedback.jsonl").read_bytes() == b""


def test_writing_needs_the_token(serve):
    running = serve("live")
    for headers in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": TOKEN},
        {"Authorization": f"Basic {TOKEN}"},
    ):
        for path, body in (("feedback", preference("a")), ("undo", {"id": "a"}), ("learn", {})):
            answer = running.post(f"{LIVE}/{path}", body, **headers)
            assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    unknown = running.post(f"{LIVE}/undo", {"id": "x"}, Authorization=f"Bearer {TOKEN}")
    assert unknown.status == 404


def test_a_journal_that_is_too_short_is_refused(serve, tmp_path):
    running = serve("live")
    running.write(f"{LIVE}/feedback", preference("a"))
    running.write(f"{LIVE}/learn", {})
    running.stop()
    (tmp_path / "live.feedback.jsonl").unlink()
    with pytest.raises(arcrank.errors.ParameterError, match="has learnt 1 line of its journal"):
        serve("live")


def test_a_new_model_file_gets_the_feedback_it_has_not_learnt(serve, tmp_path, models):
    running = serve("live", watch=0.05)
    running.write(f"{LIVE}/feedback", preference("a"))
    learnt = running.ranking("live")
    running.write(f"{LIVE}/learn", {})
    shutil.copy(models["live"], tmp_path / "new")
    (tmp_path / "new").replace(tmp_path / "live.arcrank")  # a model that knows nothing of the feedback
    while not running.application.store["live"].swaps:
        pass
    assert running.get(LIVE).json["learnt"] == 1
    assert running.ranking("live") == learnt

"""What clients can read, and what they are told when they ask wrongly."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

import arcrank
from arcrank.inference.predictor import Predictor
from arcrank.server.settings import Settings
from arcrank.tables import TableFeatures
from tests.server.conftest import TEXT, start

NEWS = "/v1/models/news"


def test_a_ranking_is_the_predictors(server, models, rows):
    texts = [row["text"] for row in rows[:20]]
    answer = server.post(f"{NEWS}/rank", {"texts": texts, "top": 2}).json
    model = arcrank.load(models["news"])
    predictor = Predictor(model)
    assert [one["ranking"] for one in answer["documents"]] == model.rank(texts, top=2).tolist()
    scores = predictor.scores(predictor.transformers.transform(texts))
    for one, row in zip(answer["documents"], scores, strict=True):
        assert one["scores"] == sorted(row.tolist(), reverse=True)[:2]
        assert len(one["probability"]) == 2
    assert len(answer["checksum"]) == 64


def test_concurrent_requests_get_the_answers_of_single_ones(server, rows):
    texts = [row["text"] for row in rows[:20]] * 3
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda text: server.ranking("news", text), texts))
    assert found == [server.ranking("news", text) for text in texts[:20]] * 3


def test_one_wrong_request_of_a_batch_fails_alone(server):
    def ask(features):
        return server.post("/v1/models/numbers/rank", {"features": features, "top": 2})

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, [{"height": 1.0}, {"width": 2.0}] * 8))
    assert {answer.status for answer in answers} == {200}
    mixed = server.post("/v1/models/numbers/rank", {"text": "height"})
    assert mixed.status == 422
    assert "takes features" in mixed.json["detail"]


def test_rows_of_a_table(tmp_path):
    table = {"age": [20, 25, 70, 80] * 5, "job": ["nurse", None, "nurse", "clerk"] * 5}
    model = arcrank.make_ranking_pipeline(TableFeatures(), arcrank.LogLinearRanker())
    arcrank.save(model.fit(table, ["books", "books", "travel", "travel"] * 5), tmp_path / "people.arcrank")
    running = start([tmp_path / "people.arcrank"], Settings())
    try:
        people = [{"age": 75, "job": "clerk"}, {"age": 22}, {"age": 75, "job": None, "shoe": True}]
        answer = running.post("/v1/models/people/rank", {"features": people})
        assert [one["ranking"][0] for one in answer.json["documents"]] == ["travel", "books", "travel"]
        assert running.get("/v1/models/people").json["takes"] == "table"
        wrong = running.post("/v1/models/people/rank", {"features": {"age": "old"}})
        assert (wrong.status, "holds 'old'" in wrong.json["detail"]) == (422, True)
        why = running.post("/v1/models/people/explain", {"features": people[0], "above": "travel", "below": "books"})
        assert why.status == 200
    finally:
        running.stop()


@pytest.mark.parametrize("value", ["wide", True, None])
def test_features_are_numbers(server, value):
    answer = server.post("/v1/models/numbers/rank", {"features": {"width": value}})
    assert (answer.status, "the model takes numbers" in answer.json["detail"]) == (422, True)


def test_features(server):
    answer = server.post("/v1/models/numbers/rank", {"features": [{"width": 1}, {"height": 1, "unknown": 2}]}).json
    assert [one["ranking"][0] for one in answer["documents"]] == ["a", "b"]
    assert answer["documents"][1]["known_features"] == 1


def test_thresholds(server):
    few, many = (server.post(f"{NEWS}/rank", {"text": TEXT, "threshold": p}).json for p in (0.99999, 0.0))
    assert few["documents"][0]["predicted"] == []
    assert len(many["documents"][0]["predicted"]) == 3
    both = server.post(f"{NEWS}/rank", {"text": TEXT, "threshold": 0.5, "recall": 0.5})
    assert (both.status, both.json["detail"][:33]) == (422, "threshold and recall both decide ")
    none = server.post("/v1/models/live/rank", {"text": TEXT, "threshold": 0.5})
    assert (none.status, "no probabilities" in none.json["detail"]) == (422, True)


def test_a_cut_without_probabilities_predicts_positive_scores(server):
    found = server.ranking("live")
    above = [label for label, score in zip(found["ranking"], found["scores"], strict=True) if score > 0]
    assert found["predicted"] == above


@pytest.mark.parametrize("body", [{}, {"above": "ship"}, {"above": "ship", "below": "crude"}, {"cut": True, "top": 0}])
@pytest.mark.parametrize("model", ["news", "live"])
def test_an_explanation_adds_up(server, model, body):
    why = server.post(f"/v1/models/{model}/explain", {"text": TEXT, **body}).json
    total = why["intercept"]
    for part in why["parts"]:
        total += part["weight"]
    assert total + why["rest"] == why["margin"]
    found = server.ranking(model)
    score = dict(zip(found["ranking"], found["scores"], strict=True))
    below = 0.0 if why["below"] == "CUT" else score[why["below"]]
    assert why["margin"] == pytest.approx(score[why["above"]] - below)
    marked = {TEXT[start:end] for part in why["parts"] for start, end in part["spans"]}
    assert {"oil", "tanker", "port"} <= marked
    assert all(set(words.split()) <= set(TEXT.split()) for words in marked)


def test_labels_are_found_by_their_letters(server):
    assert [one["label"] for one in server.get(f"{NEWS}/labels?prefix=R").json["labels"]] == ["crude", "grain"]
    assert server.get(f"{NEWS}/labels?limit=1").json == {"labels": [{"label": "crude", "parent": "energy"}], "total": 3}
    assert server.get(f"{NEWS}/labels?limit=0").status == 422


def test_models_are_described(server):
    assert [one["name"] for one in server.get("/v1/models").json["models"]] == ["news", "numbers", "live"]
    news, numbers = server.get(NEWS).json, server.get("/v1/models/numbers").json
    assert (news["takes"], news["cut"], news["calibrated"], news["learning"]) == ("text", True, True, "off")
    assert (numbers["takes"], numbers["cut"], numbers["labels"]) == ("features", False, 2)


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("rank", {}, 422, 'Give one of "text"'),
        ("rank", {"text": "a", "texts": ["b"]}, 422, "got text and texts"),
        ("rank", {"texts": []}, 422, "1 to 1,000 documents; got 0"),
        ("rank", {"texts": ["a"] * 1001}, 422, "got 1,001"),
        ("rank", {"text": "a", "top": 0}, 422, "$.top"),
        ("rank", {"text": 3}, 422, "$.text"),
        ("rank", {"txt": "a"}, 422, "txt"),
        ("rank", {"text": "a" * 500_001}, 422, "500,001 characters"),
        ("rank", b"{", 400, "not valid JSON"),
        ("rank", b'{"text": NaN}', 400, "not valid JSON"),
        ("rank", b'{"features": {"a": 1e999}}', 422, "out of range"),
        ("rank", {"features": {"a": 1e101}}, 422, "1e+100"),
        ("rank", b'{"text": "\\ud800"}', 400, "not valid JSON"),
        ("rank", b'{"text": "\xff"}', 400, "not valid JSON"),
        ("rank", b"[" * 500_000, 422, "object"),
        ("rank", b'{"features": ' + b'{"a":' * 100_000, 422, "features"),
        ("explain", {"text": "a", "above": "shop"}, 422, 'Did you mean "ship"'),
        ("explain", {"text": "a", "above": "ship", "below": "ship"}, 422, "same label"),
        ("explain", {"text": "a", "below": "ship", "cut": True}, 422, "Give one of them"),
        ("explain", {"text": "a", "features": {}}, 422, "got both"),
        ("nothing", {"text": "a"}, 404, "/openapi.json"),
        ("feedback", {"id": "1", "text": "a", "arcs": []}, 403, "--allow-learning"),
    ],
)  # fmt: skip
def test_wrong_requests_are_answered_in_sentences(server, path, body, status, words):
    answer = server.post(f"{NEWS}/{path}", body)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    assert words in answer.json["detail"], answer.json
    assert answer.json["detail"].endswith((".", "?"))


def test_too_many_labels_are_refused(server):
    answer = server.post("/v1/models/nothing/rank", {"text": "a"})
    assert (answer.status, answer.json["detail"]) == (
        404,
        "This server has no model of that name. Its models are: news, numbers, live.",
    )


def test_other_content_and_methods(server):
    form = server.request("POST", f"{NEWS}/rank", b"text=a", **{"Content-Type": "text/plain"})
    assert (form.status, "Content-Type: application/json" in form.json["detail"]) == (415, True)
    wrong = server.request("DELETE", f"{NEWS}/rank")
    assert (wrong.status, wrong.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "path",
    [
        "/v1/models//rank",
        "/v1/models/news/rank/",
        "/v1/models/",
        "/v1/models/{model}/rank",
        "/static/news/page.js",
        "//",
    ],
)
def test_a_path_that_is_no_route_is_not_found(server, path):
    assert server.post(path, {"text": "oil"}).status == 404


def test_head_is_answered_like_get_without_a_body(server):
    for path in ("/livez", "/v1/models/news", "/"):
        found, whole = server.request("HEAD", path), server.get(path)
        assert (found.status, found.body) == (200, b"")
        assert found.headers["content-length"] == str(len(whole.body))
    assert server.request("HEAD", "/v1/models/news/rank").headers["allow"] == "POST"


def test_a_foreign_host_is_refused(server):
    """A page of another site could use a name that leads to this machine."""
    assert server.get("/v1/models", Host="evil.example").status == 421
    assert server.get("/v1/models", Host=f"localhost:{server.port}").status == 200


def test_every_answer_has_the_headers_of_a_safe_page(server):
    for path in ("/", "/static/main.js", "/v1/models", "/nothing"):
        headers = server.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_the_page_is_cached_by_its_content(server):
    tag = server.get("/").headers["etag"]
    assert server.get("/", **{"If-None-Match": tag}).status == 304


def test_health_and_metrics(server):
    server.ranking("news")
    assert server.get("/livez").json == server.get("/readyz").json == {"status": "ok"}
    lines = server.get("/metrics").body.decode().splitlines()
    ranked = [line for line in lines if line.startswith('arcrank_requests_total{route="/v1/models/{model}/rank"')]
    assert any('status="200"' in line and int(line.split()[-1]) > 0 for line in ranked)
    assert any(line.startswith("process_resident_memory_bytes") for line in lines)
    for line in lines:
        assert line.startswith("# ") or len(line.rsplit(" ", 1)) == 2


def test_openapi_describes_every_route(server):
    document = server.get("/openapi.json").json
    assert document["openapi"] == "3.1.0"
    assert set(document["paths"]) == {
        "/v1/models", NEWS.replace("news", "{model}"), "/livez", "/readyz", "/metrics", "/openapi.json",
        *(f"/v1/models/{{model}}/{one}" for one in ("rank", "explain", "labels", "feedback", "undo", "learn")),
    }  # fmt: skip
    named = set(document["components"]["schemas"])
    used = {part.split('"')[0] for part in json.dumps(document).split("#/components/schemas/")[1:]}
    assert used <= named
    assert {"RankRequest", "Problem"} <= used

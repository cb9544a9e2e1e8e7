from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import arcrank
from arcrank import metrics
from arcrank.datasets import read_corpus
from arcrank.errors import InputError
from arcrank.evaluation import compare, evaluate
from arcrank.evaluation.report.report import report
from arcrank.evaluation.report.svg import Axis, Series, bar_plot, line_plot
from arcrank.evaluation.scoring import BlockScorer
from arcrank.text import TextFeatures, TfIdf
from tests.cli.json_schema import check_output
from tests.cli.running import assert_told, call, shell, write_rows

STRANGE = [
    "🦊 fox",
    "new\nline",
    "tab\tbed",
    "quo\"te's & <b>",
    "</script><script>alert(1)</script>",
    "cr\rlf",
    "bell\x07",
    "x" * 10_000,
]
WORDS = ["oil", "ship", "grain", "gold", "tea", "coffee", "steel", "wool"]


def made_rows(labels, n=48):
    """Documents whose words tell their one or two labels."""
    rows = []
    for i in range(n):
        a, b = i % len(labels), (i * 3 + 1) % len(labels)
        rows.append({"id": f"d{i}", "text": f"{WORDS[a]} {WORDS[b]} news", "labels": sorted({labels[a], labels[b]})})
    return rows


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("evaluate")


@pytest.fixture(scope="module")
def data(place):
    return write_rows(place / "data.jsonl", made_rows(WORDS))


@pytest.fixture(scope="module")
def strange(place):
    return write_rows(place / "strange.jsonl", made_rows(STRANGE))


def saved(path, corpus, y=None, **more):
    ranker = arcrank.LogLinearRanker(C=10.0, tol=1e-2, random_state=0)
    sets = [set(names) for names in corpus.label_sets or []]  # lists of two names each could be arcs
    model = make_pipeline(TextFeatures(min_df=1), ranker).fit(corpus.texts, sets if y is None else y)
    arcrank.save(model, path, **more)
    return path


@pytest.fixture(scope="module")
def model(place, data):
    return saved(place / "model.arcrank", read_corpus(data))


@pytest.fixture(scope="module")
def strange_model(place, strange):
    return saved(place / "strange.arcrank", read_corpus(strange))


def test_the_shell_gives_measures_and_a_report(model, data, tmp_path):
    page = tmp_path / "report.html"
    done = shell("evaluate", model, data, "--report", page)
    assert done.returncode == 0, done.stderr
    assert "average precision" in done.stdout
    assert str(page) in done.stderr
    assert "<svg" in page.read_text(encoding="utf-8")


def test_a_model_with_probabilities_shows_f1_and_calibration(model, data, tmp_path):
    corpus, path = read_corpus(data), tmp_path / "calibrated.arcrank"
    ranker = arcrank.LogLinearRanker(C=10.0, tol=1e-2, cut_label=True, random_state=0)
    arcrank.save(make_pipeline(TextFeatures(min_df=1), ranker).fit(corpus.texts, [*map(set, corpus.label_sets)]), path)
    found, plain = (json.loads(call("evaluate", name, data, "--json").stdout) for name in (path, model))
    check_output(found, "evaluate")
    check_output(plain, "evaluate")
    assert found["measures"]["micro F1"] > 0.9
    assert found["calibration"]["labels"]["low"] <= found["measures"]["calibration error"]
    assert all(row["f1"] > 0.5 for row in found["labels"])
    assert plain["calibration"] is plain["labels"][0]["f1"] is None
    for name, calibrated in ((path, True), (model, False)):
        told = " ".join(call("evaluate", name, data).stdout.split())
        assert ("average rank ┃ F1 ┃" in told) == calibrated
        assert ("The calibration error is 0." in told) == calibrated


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (None, ["there is no such file"]),
        (b"", ["has no rows"]),
        (b'{"text": "a", "labels": ["oil"]}\nno json\n', [":2:", "invalid JSON"]),
    ],
)
def test_bad_data_is_told_in_a_few_lines(model, tmp_path, content, parts):
    path = tmp_path / "bad.jsonl"
    if content is not None:
        path.write_bytes(content)
    assert_told(shell("evaluate", model, path), "bad.jsonl", *parts)


def test_features_are_no_texts(model, tmp_path):
    rows = [{"features": {"a": 1}, "labels": ["oil"]}]
    done = call("evaluate", model, write_rows(tmp_path / "d.jsonl", rows))
    assert "the model takes texts" in str(done.exception)


def test_a_damaged_model_is_refused(model, data, tmp_path):
    damaged = tmp_path / "damaged.arcrank"
    raw = bytearray(model.read_bytes())
    raw[len(raw) // 2] ^= 1
    damaged.write_bytes(raw)
    assert_told(shell("evaluate", damaged, data), "damaged.arcrank")


def test_places_that_cannot_be_written_are_refused_before_the_work(model, data, tmp_path):
    done = call("evaluate", model, data, "--report", tmp_path / "no" / "x.html")
    assert "there is no folder" in str(done.exception)


def test_json_fits_its_schema_and_agrees_with_the_metrics(model, data):
    done = call("evaluate", model, data, "--json")
    assert done.exit_code == 0, done.exception
    found = json.loads(done.stdout)
    check_output(found, "evaluate")
    corpus, loaded = read_corpus(data), arcrank.load(model)
    scores = loaded[-1].score_labels(loaded[0].transform(corpus.texts))
    Y, told = corpus.indicator(), found["measures"]
    assert told["average precision"] == pytest.approx(metrics.average_precision(Y, scores))
    assert told["max F1"] == pytest.approx(metrics.max_f1(Y, scores))
    assert told["recall at 3"] == pytest.approx(metrics.recall_at(Y, scores, 3))
    assert told["domination error"] == pytest.approx(metrics.domination_error(corpus.graphs(), scores))
    assert [row["support"] for row in found["labels"]] == np.asarray(Y.sum(axis=0)).ravel().tolist()


def test_the_json_is_the_dictionary_of_the_library(model, data):
    told = json.loads(call("evaluate", model, data, "--json").stdout)
    assert told == evaluate(arcrank.load(model), read_corpus(data), name=str(model)).to_dict()


@pytest.fixture(scope="module")
def other(place, data):
    """A model of fewer documents."""
    return saved(place / "other.arcrank", read_corpus(data)[:12])


def test_two_models_are_compared(model, other, data, tmp_path):
    page = tmp_path / "c.html"
    done = shell("evaluate", model, other, data, "--report", page)
    assert done.returncode == 0, done.stderr
    assert "model.arcrank" in done.stdout
    assert "wins / ties / losses" in done.stdout
    names = (str(model), str(other))
    found = compare(arcrank.load(model), arcrank.load(other), read_corpus(data), names=names)
    assert "".join(found.verdict.split()) in "".join(done.stdout.split())
    assert f"where they are right: {found.labels}" in done.stdout
    assert "model.arcrank or other.arcrank" in page.read_text(encoding="utf-8")


def test_the_json_of_a_comparison(model, other, data):
    told = json.loads(call("evaluate", model, other, data, "--json").stdout)
    check_output(told, "evaluate-compare")
    names = (str(model), str(other))
    assert told == compare(arcrank.load(model), arcrank.load(other), read_corpus(data), names=names).to_dict()
    alone = json.loads(call("evaluate", other, data, "--json").stdout)["measures"]
    assert {name: one["b"] for name, one in told["measures"].items()} == alone


def test_arguments_that_are_no_two_models(model, data):
    assert_told(shell("evaluate", model, data, data), "this is not a model file", "MODEL [MODEL] DATA")
    assert_told(shell("evaluate", model, model, model, data), "but got 3", "two at a time")
    assert_told(shell("evaluate", data, model), "MODEL comes first")


def test_blocks_make_no_difference(model, data):
    corpus, loaded = read_corpus(data), arcrank.load(model)
    whole, parts = evaluate(loaded, [corpus]), evaluate(loaded, [corpus[:7], corpus[7:8], corpus[8:]])
    assert whole.measures == pytest.approx(parts.measures)
    np.testing.assert_allclose(whole.recall, parts.recall)
    assert whole.worst == parts.worst
    assert whole.per_label == parts.per_label


def test_standard_input_and_skipped_rows(model, data):
    done = call("evaluate", model, "-", "--on-error", "skip", "--json", stdin=data.read_text() + "no json\n")
    assert json.loads(done.stdout)["skipped"] == {"invalid JSON": 1}
    done = call("evaluate", model, "-", "--on-error", "skip", stdin="no json\n")
    assert "no row could be read" in str(done.exception)


def test_a_file_without_any_known_label_is_refused(model, tmp_path):
    strange = write_rows(tmp_path / "d.jsonl", [{"text": "oil", "labels": [name]} for name in "xyz"])
    assert_told(shell("evaluate", model, strange), "3 unknown labels (x, y, z)", "8 labels (coffee,", "or train")
    empty = write_rows(tmp_path / "e.jsonl", [{"text": "oil", "labels": []}])
    assert_told(shell("evaluate", model, empty), "e.jsonl: no document has a label")
    layers = '{"text": "oil", "layers": [["oil"], ["new"]]}'
    assert_told(
        shell("evaluate", model, "-", stdin=layers), "standard input: no document has a label that the model knows"
    )


def test_labels_that_the_model_does_not_know_are_told(model, tmp_path):
    rows = [{"text": "oil", "labels": ["tea", "new"]}, {"text": "tea", "labels": ["new"]}, {"text": "", "labels": []}]
    path, page = write_rows(tmp_path / "d.jsonl", rows), tmp_path / "r.html"
    done = shell("evaluate", model, path, "--json", "--report", page)
    found = json.loads(done.stdout)
    check_output(found, "evaluate")
    assert found["unknown_labels"] == {"new": 2}
    assert (found["documents"], found["documents_with_unknown_labels"], found["documents_left_out"]) == (3, 2, 2)
    assert found["measures"]["zero-one error"] == 1.0  # of the one document that can be judged
    for sentence in (
        "1 label is unknown to the model and left out of every measure, in 2 documents: new.",
        "2 documents have no label to measure by and are left out of every measure.",
        "Measured on only 1 document",
    ):
        assert sentence in done.stderr
        assert sentence in page.read_text(encoding="utf-8")


def test_documents_that_the_model_has_learnt_from_are_told(data, tmp_path):
    copy = tmp_path / "data.jsonl"
    copy.write_bytes(data.read_bytes())
    trained = tmp_path / "m.arcrank"
    assert not shell("train", "data.jsonl", "-m", trained, "--learner", "log-linear", cwd=tmp_path).returncode
    renamed, shorter = tmp_path / "other.jsonl", tmp_path / "new" / "data.jsonl"
    shorter.parent.mkdir()
    renamed.symlink_to(copy)
    shorter.write_text("".join(copy.read_text().splitlines(keepends=True)[:-1]))
    for path, is_told in ((copy, True), (data, True), (shorter, False)):
        page = tmp_path / "r.html"
        done = shell("evaluate", trained, path, "--json", "--report", page)
        assert ("has learnt from" in done.stderr) == is_told, path
        assert ("has learnt from" in page.read_text(encoding="utf-8")) == is_told
        assert json.loads(done.stdout)["learnt_from"] == is_told
    assert "has learnt from" in shell("evaluate", trained, "other.jsonl", cwd=tmp_path).stderr


def test_measures_say_what_they_mean(model, data, tmp_path):
    page = tmp_path / "r.html"
    done = shell("evaluate", model, data, "--report", page)
    assert re.search(r"one-error .*│ 0 +│ share of documents whose first label is wrong", done.stdout)
    assert "Measured on" not in done.stderr
    assert "one-error and precision at 1 need not add up to 1" in page.read_text(encoding="utf-8")


def test_every_kind_of_supervision_is_judged(model, tmp_path):
    rows = [
        {"text": "oil news", "labels": ["oil"]},
        {"text": "ship news", "layers": [["ship"], ["oil", "new"], ["tea"]]},
        {"text": "tea news", "arcs": [["tea", "oil"], ["oil", "ship"], ["ship", "new"]]},
    ]
    found = evaluate(arcrank.load(model), [read_corpus(write_rows(tmp_path / "d.jsonl", rows))])
    assert (found.n_documents, found.n_sets) == (3, 1)
    assert {row.label: row.support for row in found.per_label if row.support} == {"oil": 1, "ship": 1, "tea": 1}
    only = evaluate(arcrank.load(model), [read_corpus(tmp_path / "d.jsonl")[1:]])
    assert "average precision" not in only.measures
    assert "disagreement error" in report(only)


def test_models_of_a_hierarchy_are_judged_on_leaves(tmp_path):
    parents = {"goods": None, "oil": "goods", "ship": "goods", "tea": None}
    rows = [{"text": f"{word} news", "labels": sets} for word, sets in
            (("oil", ["goods", "oil"]), ("ship", ["ship"]), ("trade", ["goods"]), ("tea", ["tea"]))]  # fmt: skip
    corpus = read_corpus(write_rows(tmp_path / "d.jsonl", rows))
    graphs = arcrank.graphs.Hierarchy(parents).leaf_graphs(corpus.label_sets)
    loaded = arcrank.load(saved(tmp_path / "m.arcrank", corpus, graphs, card={"hierarchy": parents}))
    found = evaluate(loaded, [corpus])
    assert found.labels[0] == "goods (other)"
    assert found.per_label[0].support == 1
    assert not found.unknown_labels
    assert found.measures["zero-one error"] == 0.0


def test_models_on_features_know_their_columns(tmp_path):
    rows = [{"features": {"a": 1.0}, "labels": ["x"]}, {"features": {"b": 1.0, "c": 2.0}, "labels": ["y"]}]
    corpus = read_corpus(write_rows(tmp_path / "d.jsonl", rows))
    ranker = arcrank.LogLinearRanker(C=10.0).fit(corpus.X, corpus.label_sets)
    path = tmp_path / "m.arcrank"
    arcrank.save(ranker, path, card={"columns": {"kind": "named", "names": corpus.feature_names}})
    turned = read_corpus(write_rows(tmp_path / "turned.jsonl", rows[::-1]))
    assert evaluate(arcrank.load(path), [turned]).measures["zero-one error"] == 0.0


def test_transformed_features_keep_their_names(tmp_path):
    """Batches of documents lack some of the columns, and have others, in another order."""
    first = {"features": {"a": 1.0, "c": 1.0}, "labels": ["x"]}
    rows = [first, {"features": {"b": 1.0, "c": 2.0}, "labels": ["y"]}] * 3
    corpus = read_corpus(write_rows(tmp_path / "d.jsonl", rows))
    path = tmp_path / "m.arcrank"
    model = arcrank.make_ranking_pipeline(TfIdf(), arcrank.LogLinearRanker(C=10.0)).fit(corpus.X, corpus.label_sets)
    arcrank.save(model, path, card={"columns": {"kind": "named", "names": corpus.feature_names}})
    data = write_rows(tmp_path / "new.jsonl", [{"features": {"z": 1.0, "b": 3.0}, "labels": ["y"]}])
    assert json.loads(call("evaluate", path, data, "--json").stdout)["measures"]["zero-one error"] == 0.0
    assert json.loads(call("rank", path, data).stdout)["ranking"] == ["y", "x"]
    why = json.loads(call("explain", path, "--file", data, "--json").stdout)
    assert "b" in json.dumps(why)
    assert "x1" not in json.dumps(why)


def test_rankers_of_documents_are_refused():
    ranker = arcrank.RankBoost(2).fit([[1.0], [0.0], [2.0]], [1, 0, 1])
    with pytest.raises(InputError, match="ranks documents, not labels"):
        BlockScorer(ranker)


def test_strange_names_survive_in_json_and_in_the_page(strange_model, strange, tmp_path):
    page = tmp_path / "r.html"
    done = call("evaluate", strange_model, strange, "--json", "--report", page)
    assert {row["label"] for row in json.loads(done.stdout)["labels"]} == {*STRANGE}
    text = page.read_text(encoding="utf-8")
    block = re.search(r'<script type="application/json" id="arcrank-data">(.*?)</script>', text, re.DOTALL)
    assert {row["label"] for row in json.loads(block[1])["labels"]} == {*STRANGE}
    assert "alert(1)</script>" not in text
    assert text.count("<script") == 2
    shown = html.unescape(re.sub(r"<[^>]*>", "", text.replace(block[0], "")))
    assert "quo\"te's & <b>" in shown
    assert "(10,000 characters)" in shown


def test_the_page_needs_nothing_but_itself(model, data, tmp_path):
    page = tmp_path / "r.html"
    assert call("evaluate", model, data, "--report", page).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)\s*=|https?:|url\(|@import", text)
    assert "prefers-color-scheme" in text
    assert 'name="viewport"' in text


class Inline(HTMLParser):
    """The texts of a page's scripts and styles, its policy, and attributes that would be code or style."""

    def __init__(self, text):
        super().__init__()
        self.kind, self.texts, self.policy, self.attributes = "", [], {}, set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.attributes |= {name for name in given if name == "style" or name.startswith("on")}
        self.kind = f"{tag}-src" if tag in ("script", "style") and given.get("type") != "application/json" else ""
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(rule.strip().split(" ", 1) for rule in given["content"].split(";"))

    def handle_data(self, data):
        if self.kind:
            self.texts.append((self.kind, data))
        self.kind = ""


def test_the_page_allows_its_own_script_and_style_only(strange_model, strange, tmp_path):
    page = tmp_path / "r.html"
    assert call("evaluate", strange_model, strange, "--report", page).exit_code == 0
    found = Inline(page.read_text(encoding="utf-8"))
    assert {kind for kind, _ in found.texts} == {"script-src", "style-src"}
    for kind, text in found.texts:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in found.policy[kind].split()
    assert "unsafe" not in " ".join(found.policy.values())
    assert found.policy["default-src"] == "'none'"
    assert not found.attributes


def test_terminals_get_no_control_characters_of_labels(strange_model, strange):
    done = call("evaluate", strange_model, strange)
    assert "bell\\x07" in done.stdout
    assert "\x07" not in done.stdout


def test_plots_of_little_or_nothing():
    flat = line_plot([Series("<a>", [1.0], [2.0]), Series("b", [], [])], Axis("x", log=True), Axis("y", log=True))
    assert "&lt;a&gt;" in flat
    assert "nan" not in line_plot([Series("a", [0.0, 1.0], [float("nan"), 1.0])], Axis("x"), Axis("y"))
    assert bar_plot([], [], Axis("x"), Axis("y")).startswith("<figure>")


def test_options_come_from_the_environment_and_a_file_too(model, data, tmp_path, monkeypatch):
    options = tmp_path / "options.toml"
    options.write_text("[evaluate]\njson = true\n")
    assert json.loads(call("--config", options, "evaluate", model, data).stdout)["documents"] == 48
    monkeypatch.setenv("ARCRANK_EVALUATE_JSON", "1")
    assert json.loads(call("evaluate", model, data).stdout)["documents"] == 48


def test_many_labels_are_summed_up_by_frequency(tmp_path):
    rows = [{"text": f"word{at} word{at + 1}", "labels": [f"label {at}", "all"]} for at in range(210)]
    data = write_rows(tmp_path / "many.jsonl", rows)
    ranker = arcrank.RocchioRanker()
    pipeline = arcrank.make_ranking_pipeline(TextFeatures(min_df=1), ranker)
    pipeline.fit([row["text"] for row in rows], [frozenset(row["labels"]) for row in rows])
    arcrank.save(pipeline, tmp_path / "many.arcrank")
    shown = call("evaluate", tmp_path / "many.arcrank", data)
    assert shown.exit_code == 0, shown.exception
    lines = [line.split("│") for line in shown.output.splitlines() if "│" in line]
    bands = {cells[1].strip(): cells[2].strip() for cells in lines if len(cells) == 6}
    assert bands["1"] == "210"
    assert bands["101 to 500"] == "1"

"""Pages with a model inside, in a real browser: they rank and explain as the server does."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import Stemmer

import arcrank
from arcrank import AverageRanker, LogLinearRanker, MMPRanker, PreferenceMachine, ShortlistRanker, make_ranking_pipeline
from arcrank.datasets import load_debtags_sample
from arcrank.errors import ParameterError
from arcrank.export import contents_of, fit_weights, html_page, with_weights
from arcrank.export.bundle import bundle
from arcrank.server.routes import _explanation
from arcrank.server.schemas import ExplainRequest
from arcrank.server.served_model import ServedModel
from arcrank.text import HashedTextFeatures, SignedTfIdf, TextFeatures, TfIdf
from tests.cli.conftest import call, failed, text_rows
from tests.server.test_page import browser, check_accessibility, ranked  # noqa: F401

STRANGE = [
    "Ärzte und Straßen: Prüfungsergebnisse, Häuserfronten; naïve cafés",
    "ﬁnancial İSTANBUL ΟΔΟΣ ΣΑΣ 1987 3rd ٣٤ x² ½ Ⅷ देवनागरी 日本語 e\u0301",
    "don't stop-words re-enter 𝒳𝓎 🎉 a_b <b>bold</b> \u200b\ufeff end",
    "",
    "ǅ ẞ ß ŉ ﬀ K Å",
]
_PARTS = (
    "y a e ing ed ly ness ational li s ss ies eed past ion b tt ue qu erin nen ung keit ig st isch syst em ß ä "
    "heit lich nis se u i k ize ative ous ment ogist et gener inter tr plan"
)


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return text_rows(60)


def served(model: Any, rows: list[dict[str, Any]], folder: Path, *, single: bool = False, **card: Any) -> ServedModel:
    y = [row["labels"][0] if single else frozenset(row["labels"]) for row in rows]
    model.fit([row["text"] for row in rows], y)
    path = folder / "news.arcrank"
    arcrank.save(model, path, card=card)
    return ServedModel.read(path, "news", estimators=True)


def written(found: ServedModel, path: Path, limit: float = 20e6) -> Path:
    contents = contents_of(found)
    _, page = fit_weights(contents.weights, lambda w: html_page(found.name, contents.to_bytes(w)), int(limit))
    path.write_bytes(page)
    return path


@pytest.fixture
def open_page(browser):  # noqa: F811
    """Open a file; at the end, nothing was loaded from anywhere and nothing failed in the console."""
    contexts, faults = [], []

    def begin(path: Path, **options: Any) -> Any:
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda one: faults.append(one.text))
        allowed = (path.as_uri(), "data:image/svg+xml", "blob:")
        page.on("request", lambda one: None if one.url.startswith(allowed) else faults.append(one.url))
        page.goto(path.as_uri())
        page.wait_for_selector("#model-facts:not(:empty)", state="attached")
        return page

    yield begin
    for context in contexts:
        context.close()
    assert faults == []


def test_the_page_ranks_and_explains_as_the_server_does(open_page, rows, tmp_path):
    model = make_ranking_pipeline(TextFeatures(min_df=1), LogLinearRanker(C=10, cut_label=True))
    found = served(model, rows, tmp_path, hierarchy={"crude": "energy", "energy": None})
    page = open_page(written(found, tmp_path / "page.html"))
    text = "OPEC's oil tankers in the port of grains & oil"
    shown = ranked(page, text)
    expected = json.loads(next(iter(found.predictor.rank(found.corpus([text])))).to_json())
    answer = page.evaluate("text => api_module().post('/rank', { text })", text)["documents"][0]
    assert shown == answer["ranking"] == expected["ranking"]
    assert answer["predicted"] == expected["predicted"]
    assert answer["known_features"] == expected["known_features"]
    np.testing.assert_allclose(answer["scores"], expected["scores"], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(answer["probability"], expected["probability"], rtol=1e-6)
    for question in ({"above": shown[1], "cut": True}, {"above": shown[0], "below": shown[2]}, {"above": shown[1]}):
        why = page.evaluate("body => api_module().post('/explain', body)", {"text": text, **question, "top": 3})
        asked = _explanation(found, text, ExplainRequest(text=text, **question, top=3))
        assert [part["feature"] for part in why["parts"]] == [part.feature for part in asked.parts]
        assert [part["spans"] for part in why["parts"]] == [list(map(list, part.spans)) for part in asked.parts]
        assert [part["words"] for part in why["parts"]] == [part.words for part in asked.parts]
        assert why["margin"] == pytest.approx(asked.margin, rel=1e-5)
    found_labels = page.evaluate("() => api_module().get('/labels?prefix=CR&limit=5')")
    assert found_labels == {"labels": [{"label": "crude", "parent": "energy"}], "total": len(shown)}
    assert page.locator("#question, [data-copy=curl], #history").filter(visible=True).count() == 0
    check_accessibility(page)


def test_the_page_has_the_probabilities_of_single_labels(open_page, rows, tmp_path):
    model = make_ranking_pipeline(TextFeatures(min_df=1), LogLinearRanker(C=10, cut_label=True))
    found = served(model, rows, tmp_path, single=True)
    page = open_page(written(found, tmp_path / "page.html"))
    for text in ("oil", "a ship carries grain", "nothing known"):
        expected = json.loads(next(iter(found.predictor.rank(found.corpus([text])))).to_json())
        answer = page.evaluate("text => api_module().post('/rank', { text })", text)["documents"][0]
        assert answer["predicted"] == expected["predicted"] == expected["ranking"][:1]
        np.testing.assert_allclose(answer["probability"], expected["probability"], rtol=1e-6)
        assert sum(answer["probability"]) == pytest.approx(1)


def test_pages_work_on_a_phone_and_in_the_dark(open_page, rows, tmp_path):
    model = make_ranking_pipeline(TextFeatures(min_df=1), LogLinearRanker(cut_label=True))
    path = written(served(model, rows, tmp_path), tmp_path / "page.html")
    page = open_page(path, viewport={"width": 320, "height": 640}, color_scheme="dark")
    ranked(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{}, {"language": "german"}, {"stem": "english", "stop_words": None, "ngrams": 3, "digits": "drop", "norm": "l1"},
     {"lowercase": False, "stem": False, "min_length": 3, "digits": "keep", "sublinear": False, "norm": None}],
)  # fmt: skip
def test_features_equal_those_of_python(open_page, rows, tmp_path, options):
    texts = STRANGE + load_debtags_sample().texts[:400]
    features = TextFeatures(min_df=1, **options)
    found = served(make_ranking_pipeline(features, PreferenceMachine()), rows, tmp_path)
    page = open_page(written(found, tmp_path / "page.html"))
    load = "async texts => { const model = await model_module().loadModel(); return texts.map(text => model."
    tokens = page.evaluate(f"{load}reader.tokens(text)) }}", texts)
    tokenizer = found.predictor.transformers[0].make_tokenizer()
    assert tokens == [tokenizer(text) for text in texts]
    given = [row["text"] for row in rows[:20]]
    X = found.predictor.transformers.transform(given)
    for row, x in zip(page.evaluate(f"{load}rowOf({{text}})) }}", given), X, strict=True):
        assert [column for column, _ in row] == x.indices.tolist()
        np.testing.assert_allclose([value for _, value in row], x.data, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["porter", "english", "german"])
def test_stems_equal_those_of_snowball(browser, name):  # noqa: F811
    if Stemmer.version() < "3.1" and name != "porter":
        pytest.skip("The English and German stems are those of Snowball 3.1.")
    parts = _PARTS.split()
    draw = random.Random(0)
    words = ["".join(draw.choices(parts, k=draw.randint(1, 5))) for _ in range(20_000)]
    words = [word for word in words if len(word) > 2]
    page = browser.new_page()
    page.add_script_tag(content=bundle(name))
    stem = {"porter": "stemPorter", "english": "stemEnglish", "german": "stemGerman"}[name]
    assert page.evaluate(f"words => words.map({name}_module().{stem})", words) == Stemmer.Stemmer(name).stemWords(words)
    page.close()


@pytest.mark.parametrize("weighting", [None, TfIdf(), SignedTfIdf(sublinear=True, norm="l1")], ids=str)
def test_averages_of_linear_rankers_and_models_of_features(open_page, tmp_path, weighting):
    X, y = [[0, 3.0], [0.5, 1]] * 6, [["a"], ["b"]] * 6
    average = AverageRanker([("one", LogLinearRanker()), ("two", PreferenceMachine())])
    model = average if weighting is None else make_ranking_pipeline(weighting, average)
    card = {"columns": {"kind": "named", "names": ["height", "width"]}}
    arcrank.save(model.fit(X, y), tmp_path / "n.arcrank", card=card)
    found = ServedModel.read(tmp_path / "n.arcrank", "n", estimators=True)
    page = open_page(written(found, tmp_path / "page.html"))
    page.fill("#features", '{"width": 2, "depth": 1}')
    page.wait_for_selector(".label")
    documents: list[dict[str, float]] = [{"width": 2, "depth": 1}, {"height": 0.5, "width": 3}, {"height": 0}]
    if type(weighting) is not TfIdf:
        documents.append({"height": 2, "width": -1})
    for features in documents:
        answer = page.evaluate("features => api_module().post('/rank', { features })", features)["documents"][0]
        expected = next(iter(found.predictor.rank(found.corpus([features]))))
        assert answer["ranking"] == expected.labels
        np.testing.assert_allclose(answer["scores"], expected.scores, rtol=1e-6)


def test_weights_get_coarser_until_the_page_fits():
    weights = np.random.default_rng(0).normal(size=(4000, 20))
    sizes = {}

    def make(stored):
        sizes[stored.description] = stored.values.nbytes
        return bytes(stored.values.nbytes)

    for limit, kind in ((400_000, np.float32), (200_000, np.int16), (90_000, np.int8)):
        stored, _ = fit_weights(weights, make, limit)
        assert stored.values.dtype == kind
        error = np.abs(stored.restored() - weights).max()
        assert error <= {np.float32: 1e-6, np.int16: 1e-4, np.int8: 0.02}[kind]
    with pytest.raises(ParameterError, match="larger --max-size"):
        fit_weights(weights, make, 1000)


def test_with_weights_ranks_by_the_coarse_weights(rows, tmp_path):
    words = TextFeatures(min_df=1)
    found = served(make_ranking_pipeline(words, MMPRanker(average=True)), rows, tmp_path)
    contents = contents_of(found)
    stored, _ = fit_weights(contents.weights, lambda one: bytes(one.values.nbytes), contents.weights.size + 1)
    scores = with_weights(found.model, stored).score_labels(["oil tanker"])
    exact = found.model.score_labels(["oil tanker"])
    assert 0 < np.abs(scores - exact).max() < 0.05 * np.abs(exact).max()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (make_ranking_pipeline(TextFeatures(min_df=1), PreferenceMachine(kernel="rbf")), "Machine has no weight"),
        (make_ranking_pipeline(TextFeatures(min_df=1), ShortlistRanker()), "ShortlistRanker has no weight"),
        (make_ranking_pipeline(HashedTextFeatures(n_features=64), MMPRanker()), "HashedTextFeatures"),
        (make_ranking_pipeline(TextFeatures(min_df=1, stem="french"), LogLinearRanker()), "those of french"),
    ],
)  # fmt: skip
def test_models_that_a_page_cannot_hold(rows, tmp_path, model, words):
    with pytest.raises(ParameterError, match=words):
        contents_of(served(model, rows, tmp_path))


def test_the_command_writes_a_page_and_prints_what_changed(rows, tmp_path):
    served(make_ranking_pipeline(TextFeatures(min_df=1), LogLinearRanker(cut_label=True)), rows, tmp_path)
    data = tmp_path / "data.jsonl"
    data.write_text("\n".join(json.dumps(row) for row in rows))
    done = call("export", tmp_path / "news.arcrank", "--html", tmp_path / "a.html", "--data", data)
    assert "average precision: " in done.err
    assert "32-bit weights" in done.err
    page = (tmp_path / "a.html").read_text()
    assert page.count("<script") == 2
    assert "script-src 'sha256-" in page
    failed(call("export", tmp_path / "news.arcrank", "--html", data), "exists already")

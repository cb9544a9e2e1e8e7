"""An estimator that selects its features, learner and C."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import arcrank
from arcrank import CUT, AutoRanker
from arcrank.datasets import load_label_ranking, load_mulan
from arcrank.errors import InputError, ModelFileError, ParameterError
from arcrank.evaluation import evaluate
from arcrank.graphs import as_graphs
from arcrank.metrics import average_precision, disagreement_error
from arcrank.text import SignedTfIdf, TfIdf
from tests.estimator_checks import parametrize_with_checks

TEXTS = ["crude oil prices rise", "a ship carries wheat", "oil tankers leave", "wheat and maize harvest"] * 8
TOPICS = [["oil"], ["ship", "grain"], ["oil", "ship"], ["grain"]] * 8


@pytest.fixture(scope="module")
def texts():
    return AutoRanker().fit(TEXTS, TOPICS)


def same(a, b, X):
    np.testing.assert_array_equal(a.score_labels(X), b.score_labels(X))


def test_a_list_of_texts(texts):
    assert texts.rank(["the price of oil"], top=1).tolist() == [["oil"]]
    assert texts.predict(["maize harvest"]) == [["grain"]]
    assert texts.predict_proba(["wheat"]).shape == (1, 3)
    assert texts.labels_.tolist() == texts.classes_.tolist() == ["grain", "oil", "ship"]
    why = texts.explain("oil and wheat", above="oil", below=CUT)
    assert {name for name, _ in why.parts} == {"oil", "wheat"}
    assert 0.5 < texts.predict_above_proba(["oil"], "oil", "grain")[0] <= 1.0
    assert texts.score(TEXTS, TOPICS) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("form", [tuple, np.array, pd.Series, lambda x: pd.Series(x, index=range(5, 37))])
def test_other_forms_of_texts(texts, form):
    same(AutoRanker().fit(form(TEXTS), TOPICS), texts, TEXTS)


def test_a_column_of_a_data_frame(texts):
    frame = pd.DataFrame({"id": range(32), "body": TEXTS})
    auto = AutoRanker(texts="body").fit(frame, TOPICS)
    same(auto, texts, TEXTS)
    np.testing.assert_array_equal(auto.rank(frame), texts.rank(TEXTS))
    assert auto.explain("oil", above="oil", below="ship").margin > 0
    with pytest.raises(ParameterError, match=r"texts='text' is not a column of X; its columns are 'id', 'body'"):
        AutoRanker(texts="text").fit(frame, TOPICS)
    frame.loc[3, "body"] = None
    with pytest.raises(InputError, match="Row 3 of the column 'body' is"):
        AutoRanker(texts="body").fit(frame, TOPICS)
    with pytest.raises(InputError, match="not a DataFrame"):
        AutoRanker(texts="body").fit(np.ones((32, 2)), TOPICS)


def test_one_text_is_not_a_list(texts):
    with pytest.raises(InputError, match="give a list of texts"):
        texts.rank("the price of oil")
    with pytest.raises(InputError, match="X has 1 instances and y has 32"):
        AutoRanker().fit(TEXTS[:1], TOPICS)


@pytest.fixture(scope="module")
def medical(corpus_of):
    corpus = corpus_of(load_mulan, "medical")
    X, y = sp.csr_matrix(corpus.X), [frozenset(names) for names in corpus.label_sets]
    train, test = corpus.splits["train"], corpus.splits["test"]
    return X[train], [y[i] for i in train], X[test], as_graphs([y[i] for i in test], labels=corpus.labels)


@pytest.mark.slow
def test_the_choice_is_better_than_its_worst_candidates_and_nearly_the_best(medical):
    X, y, Z, truth = medical
    auto = AutoRanker().fit(X, y)
    values = [one["value"] for one in auto.trials_]
    assert auto.measure_ == "balanced"
    chosen = (auto.validation_["measures"]["average_precision"] + 1 - auto.validation_["measures"]["ranking_loss"]) / 2
    assert chosen >= max(values) - 1e-12
    aligned = truth
    scores = np.full(aligned.shape, -9.0)
    column = {name: j for j, name in enumerate(aligned.labels)}
    scores[:, [column[name] for name in auto.labels_]] = auto.score_labels(Z)
    assert average_precision(aligned, scores) > 0.87


def test_the_same_seed_gives_the_same_model_in_any_number_of_threads(medical):
    X, y, Z, _ = medical
    first = AutoRanker(random_state=3).fit(X[:100], y[:100])
    second = clone(first).set_params(n_jobs=2).fit(X[:100], y[:100])
    same(first, second, Z)
    assert [one | {"seconds": 0} for one in first.trials_] == [one | {"seconds": 0} for one in second.trials_]


@pytest.mark.slow
def test_rankings_of_dense_features(corpus_of):
    corpus = corpus_of(load_label_ranking, "glass")
    X, ranks = corpus.X, corpus.graphs()
    rows = np.random.default_rng(0).permutation(len(ranks))
    train, test = rows[:150], rows[150:]
    X = np.asarray(X.todense()) if sp.issparse(X) else X
    auto = AutoRanker().fit(X[train], ranks[train])
    linear = AutoRanker(learners=["log-linear"]).fit(X[train], ranks[train])
    assert auto.measure_ == "disagreement_error"
    errors = [disagreement_error(ranks[test], model.score_labels(X[test])) for model in (auto, linear)]
    assert errors[0] < 0.8 * errors[1]  # a linear model is too simple
    assert not hasattr(auto, "predict_proba")
    assert auto.predict(X[test]).shape == ranks[test].shape


@pytest.mark.slow
def test_few_words_are_not_a_table():
    tea, milk = ["green tea", "black tea", "tea cup"], ["cold milk", "milk cow", "warm milk"]
    auto = AutoRanker(random_state=0).fit((tea + milk) * 8, (["tea"] * 3 + ["milk"] * 3) * 8)
    assert auto.model_.steps[0][1].transform(tea).shape[1] < 20
    assert {record["learner"] for record in auto.trials_} <= {"preference-machine", "log-linear"}
    assert not any("kernel" in str(record) for record in auto.trials_)


def test_units_do_not_matter(corpus_of):
    corpus = corpus_of(load_label_ranking, "iris")
    X = np.asarray(corpus.X.todense()) if sp.issparse(corpus.X) else np.asarray(corpus.X)
    graphs = corpus.graphs()
    plain, scaled = AutoRanker().fit(X, graphs), AutoRanker().fit(X * [1e-3, 1.0, 50.0, 1e4] + 7.0, graphs)
    np.testing.assert_allclose(plain.score_labels(X), scaled.score_labels(X * [1e-3, 1.0, 50.0, 1e4] + 7.0), atol=1e-4)


def test_what_was_compared(texts):
    summary = texts.summary()
    assert summary.startswith("AutoRanker selected ")
    assert "balanced measure" in summary
    assert summary.count("\n") >= len(texts.trials_) + 1
    frame = texts.trials_.to_pandas()
    assert {"learner", "decomposition", "C", "value", "seconds", "selected"} <= set(frame.columns)
    assert len(frame) == len(texts.trials_)
    assert frame["selected"].any()
    html = texts._repr_html_()
    assert html.count("<tr") == len(texts.trials_) + 1
    assert "selected" in html
    assert "AutoRanker" in AutoRanker(measure="one_error")._repr_html_()


def test_progress_is_shown_on_standard_error(capsys):
    AutoRanker(verbose=1, learners=["log-linear"]).fit(TEXTS, TOPICS)
    err = capsys.readouterr().err
    assert "selecting a ranker" in err
    assert "log-linear (" in err
    assert "selected" in err


def test_model_files(texts, tmp_path):
    path = tmp_path / "m.arcrank"
    arcrank.save(texts, path, card={"from": "tests"})
    again = arcrank.load(path)
    assert isinstance(again, AutoRanker)
    same(again, texts, TEXTS)
    assert again.predict(TEXTS) == texts.predict(TEXTS)
    assert again.trials_ == texts.trials_
    assert again.trials_.to_pandas().equals(texts.trials_.to_pandas())
    assert again.summary() == texts.summary()
    assert again.model_card_ == {"from": "tests"}
    assert again.get_params() == texts.get_params()
    arcrank.save(again, path)
    assert arcrank.load(path).model_card_ == {"from": "tests"}
    with pytest.raises(ModelFileError, match="before it is fitted"):
        arcrank.save(AutoRanker(), path)


def test_dense_models_are_saved_with_their_scaler(tmp_path, corpus_of):
    corpus = corpus_of(load_label_ranking, "iris")
    X = np.asarray(corpus.X.todense()) if sp.issparse(corpus.X) else np.asarray(corpus.X)
    auto = AutoRanker().fit(X, corpus.graphs())
    arcrank.save(auto, tmp_path / "m.arcrank")
    same(arcrank.load(tmp_path / "m.arcrank"), auto, X)


def test_sparse_matrices_of_few_features(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal([0.0, 5.0, -2.0], size=(60, 3))
    Y = (X[:, :2] > [0.0, 5.0]).astype(int)
    auto = arcrank.AutoRanker(learners=["log-linear"]).fit(sp.csr_matrix(X), Y)
    np.testing.assert_allclose(auto.score_labels(sp.csr_matrix(X)), auto.score_labels(X))
    arcrank.save(auto, tmp_path / "m.arcrank")
    model = arcrank.load(tmp_path / "m.arcrank")
    np.testing.assert_array_equal(model.predict(sp.csr_matrix(X)), auto.predict(X))
    assert evaluate(model, sp.csr_matrix(X), Y).measures == evaluate(model, X, Y).measures


def test_going_on_learning():
    auto = AutoRanker(learners=["mmp"]).fit(TEXTS, TOPICS)
    before = auto.score_labels(["oil"])
    auto.partial_fit(["oil wheat"], [["grain"]])
    assert (auto.score_labels(["oil"]) != before).any()
    with pytest.raises(AttributeError):
        _ = AutoRanker(learners=["log-linear"]).fit(TEXTS, TOPICS).partial_fit


@pytest.mark.slow
def test_fitting_the_choice_to_other_documents(texts):
    auto = clone(texts).fit(TEXTS, TOPICS)
    auto.refit(TEXTS[:20], TOPICS[:20])
    assert [one["value"] for one in auto.trials_] == [one["value"] for one in texts.trials_]
    assert (auto.score_labels(TEXTS) != texts.score_labels(TEXTS)).any()


def test_few_documents_have_no_probabilities():
    auto = AutoRanker().fit(TEXTS[:8], TOPICS[:8])
    assert len(auto.trials_) == 0
    assert "too few" in auto.selected_
    assert auto.validation_ is None
    assert auto.predict(["wheat harvest"]) == [["grain"]]
    assert not hasattr(auto, "predict_proba")


def test_before_fit():
    with pytest.raises(NotFittedError):
        AutoRanker().rank(["oil"])
    with pytest.raises(InputError, match="requires y"):
        AutoRanker().fit(TEXTS, None)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"measure": "accuracy"}, "measure must be auto or one of balanced"),
        ({"measure": None}, "measure must be auto or one of balanced"),
        ({"budget": 0}, "budget must be"),
        ({"budget": "1 h"}, "budget must be"),
        ({"learners": ["trees of wisdom"]}, "learners must be"),
        ({"max_members": 0}, "max_members must be"),
        ({"parameters": {"depth": 1}}, "'depth' is not a parameter"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        AutoRanker(**parameters).fit(TEXTS, TOPICS)


def test_a_measure_of_label_sets_for_rankings():
    with pytest.raises(ParameterError, match="measure one_error is for label sets"):
        AutoRanker("one_error").fit(np.eye(3), np.array([[1, 2, 3], [2, 1, 3], [3, 2, 1]]))


@parametrize_with_checks([AutoRanker(learners=["log-linear"], max_members=1)])
def test_scikit_learn(estimator, check):
    check(estimator)


def test_tables_of_several_kinds(tmp_path):
    random = np.random.default_rng(0)
    colours, ages = random.choice(["red", "green", "blue"], 60), random.integers(20, 70, 60).astype(float)
    y = [
        ["warm" if colour == "red" else "cold", *(["old"] if age > 45 else [])]
        for colour, age in zip(colours, ages, strict=True)
    ]
    ages[::7] = np.nan
    frame = pd.DataFrame({"colour": colours, "age": ages})
    auto = AutoRanker(learners=["log-linear"]).fit(frame, y)
    assert [set(names) & {"warm", "cold"} for names in auto.predict(frame)] == [
        set(names) & {"warm", "cold"} for names in y
    ]
    why = auto.explain(frame.iloc[[0]], above="warm", below="cold")
    assert any(str(name).startswith("colour = ") for name, _ in why.parts)
    arcrank.save(auto, tmp_path / "m.arcrank")
    same(arcrank.load(tmp_path / "m.arcrank"), auto, frame)
    same(AutoRanker(learners=["log-linear"]).fit(frame.to_dict("list"), y), auto, frame)
    with pytest.raises(InputError, match="no column 'age'"):
        auto.rank(frame[["colour"]])


def test_the_language_is_told(capsys):
    german = ["Der Preis von Öl steigt und fällt", "Ein Schiff mit Weizen ist auf dem Meer"] * 12
    AutoRanker(verbose=1, learners=["log-linear"]).fit(german, ["öl", "schiff"] * 12)
    assert "German" in capsys.readouterr().err


def test_very_many_labels(tmp_path, monkeypatch):
    monkeypatch.setattr("arcrank.training.plan.MOST_LABELS", 10)
    random = np.random.default_rng(0)
    words = [f"word{a}{b}" for a in "abcde" for b in "abcdefgh"]
    sets = [sorted({*random.choice(20, 2).tolist()}) for _ in range(300)]
    documents = [" ".join([words[j] for j in names] + random.choice(words[20:], 3).tolist()) for names in sets]
    auto = AutoRanker(text_parameters={"stem": False}).fit(documents, [[f"l{j}" for j in names] for names in sets])
    assert "too many" in auto.selected_
    assert type(auto.model_[-1]).__name__ == "ShortlistRanker"
    assert auto.rank([f"{words[3]} {words[25]}"], top=1).tolist() == [["l3"]]
    found = [{*names} for names in auto.predict(documents)]
    right = sum(len(a & {f"l{j}" for j in b}) for a, b in zip(found, sets, strict=True))
    assert 2 * right / (sum(map(len, found)) + sum(map(len, sets))) > 0.9
    assert auto.predict_proba([f"{words[3]} {words[25]}"]).max() > 0.5
    arcrank.save(auto, tmp_path / "m.arcrank")
    same(arcrank.load(tmp_path / "m.arcrank"), auto, documents[:9])


def rare_words(n=250, seed=0):
    """Documents of a rare word that says what they are about, and frequent ones that do not."""
    random = np.random.default_rng(seed)
    topics = random.integers(6, size=n)
    X = np.hstack([np.zeros((n, 150)), random.random((n, 50)) < 0.25]).astype(float)
    X[np.arange(n), 25 * topics + random.integers(25, size=n)] = 1.0
    return sp.csr_matrix(X), topics


def test_sparse_features_are_weighted_where_that_is_better(tmp_path):
    X, y = rare_words()
    new, truth = rare_words(seed=1)
    quick = {"learners": ["preference-machine"], "max_members": 1}
    auto, plain = AutoRanker(**quick).fit(X, y), AutoRanker(**quick, tfidf=False).fit(X, y)
    assert [one["parameters"]["features"] for one in auto.trials_[:2]] == ["as given", "tf-idf"]
    assert isinstance(auto.model_[0], SignedTfIdf)
    assert not hasattr(plain.model_, "steps")
    assert (auto.predict(new) == truth).mean() > (plain.predict(new) == truth).mean() + 0.2
    arcrank.save(auto, tmp_path / "m.arcrank")
    same(arcrank.load(tmp_path / "m.arcrank"), auto, new)
    assert np.isfinite(auto.score_labels(-new)).all()  # never negative in training
    scores = auto.score_labels(new)
    auto.refit(X, y)
    np.testing.assert_array_equal(auto.score_labels(new), scores)
    frame = pd.DataFrame(X.toarray()).rename(columns="word {}".format)
    named = AutoRanker(**quick).fit(frame, y)
    np.testing.assert_array_equal(named.score_labels(frame), auto.score_labels(X))
    why = named.explain(frame[:1], above=y[0], below=(y[0] + 1) % 6)
    assert {name for name, _ in why.parts} == {f"word {column}" for column in X[0].indices}


def test_features_are_taken_as_given_where_weights_do_not_suit_or_help():
    X, y = rare_words()
    equally_frequent = sp.csr_matrix(X[:, :150])  # tf-idf weights are all but equal
    options = {"learners": ["preference-machine"], "max_members": 1, "parameters": {"C": 1.0}}
    for features, compared in ((-X, False), (np.exp(X[:, 150:].toarray()), False), (equally_frequent, True)):
        auto = AutoRanker(**options).fit(features, y)
        assert any("features" in one["parameters"] for one in auto.trials_) == compared
        assert not any(isinstance(step, TfIdf) for _, step in getattr(auto.model_, "steps", []))


def test_features_that_no_document_has():
    auto = AutoRanker(learners=["log-linear"]).fit(sp.csr_matrix((60, 700)), [["a"], ["b"], ["b"]] * 20)
    assert auto.rank(sp.csr_matrix((1, 700)), top=1).tolist() == [["b"]]


@pytest.mark.parametrize(
    "learner", ["mmp", "online-preference-machine", "perceptron", "rocchio", "trees", "log-linear"]
)
def test_every_learner_compares_weights(learner):
    X, y = rare_words(120)
    auto = AutoRanker(learners=[learner]).fit(X, y)
    first, second = (one["parameters"] for one in auto.trials_[:2])
    assert [first["features"], second["features"]] == ["as given", "tf-idf"]
    assert ("C" in first) == (learner == "log-linear")
    assert auto.rank(X).shape == (120, 6)


def test_candidates_have_label_correlations_where_the_model_has():
    X, y = rare_words(120)
    options = {"learners": ["log-linear"], "tfidf": False, "max_members": 1}
    found = [AutoRanker(**options, parameters={"C": 1.0, "label_correlations": on}).fit(X, y) for on in (True, False)]
    first, second = (auto.trials_[0]["value"] for auto in found)
    assert first != second
    assert [hasattr(auto.model_, "label_correlations_") for auto in found] == [True, False]


def test_embeddings_where_words_alone_do_not_generalise(tmp_path):
    drinks = [
        "coffee",
        "tea",
        "milk",
        "juice",
        "beer",
        "wine",
        "water",
        "cocoa",
        "lemonade",
        "espresso",
        "whisky",
        "cider",
    ]
    animals = ["dog", "cat", "horse", "cow", "sheep", "goat", "wolf", "lion", "tiger", "rabbit", "mouse", "bear"]
    y = ["drink"] * 12 + ["animal"] * 12
    auto = AutoRanker(embeddings=True, learners=["preference-machine"], max_members=1).fit(drinks + animals, y)
    assert [one["parameters"]["features"] for one in auto.trials_[:2]] == ["words", "words and embeddings"]
    assert auto.predict(["lemon tea with a pig", "brandy", "donkey"])[1:].tolist() == ["drink", "animal"]
    arcrank.save(auto, tmp_path / "m.arcrank")
    same(arcrank.load(tmp_path / "m.arcrank"), auto, ["brandy"])
    auto.refit(drinks + animals, y)
    assert auto.predict(["brandy"]).tolist() == ["drink"]
